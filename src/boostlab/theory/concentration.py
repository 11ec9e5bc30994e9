"""How far a mean can be from its sample mean: Hoeffding, Bernstein, empirical Bernstein, and their uniform form.

All are one-sided: with probability at least 1 - delta the true mean is at most the value.  The sample Z_1, ..., Z_n is
drawn independently from one distribution on [0, b].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.theory.bound import Bound, bound, check_delta, check_positive, check_values


def hoeffding(values: npt.ArrayLike, delta: float = 0.05, b: float = 1.0, n_functions: int = 1) -> Bound:
    """Return Hoeffding's bound: mean + b sqrt(ln(|F| / delta) / (2n)).

    Parameters
    ----------
    values : array-like of shape (n,)
        The sample, in [0, b].
    delta : float, default=0.05
        Probability of failure.
    b : float, default=1.0
        Range of the values.
    n_functions : int, default=1
        |F|: with more than one the bound holds for all functions of a finite class at once (the class must be fixed
        before the sample is seen).

    Returns
    -------
    Bound

    References
    ----------
    Hoeffding 1963, Probability inequalities for sums of bounded random variables.

    Examples
    --------
    >>> round(hoeffding([0, 1, 0, 0], delta=0.5).value, 4)
    0.5444
    """
    Z = check_values(values, "values", 0.0, check_positive("b", b))
    log_term = log(check_positive("n_functions", n_functions) / check_delta(delta))
    terms = {"mean": Z.mean(), "deviation": b * sqrt(log_term / (2 * len(Z)))}
    return bound(sum(terms.values()), terms, b)


def bernstein(values: npt.ArrayLike, variance: float, delta: float = 0.05, b: float = 1.0) -> Bound:
    """Return Bernstein's bound: mean + sqrt(2 V ln(1/delta) / n) + b ln(1/delta) / (3n).

    Parameters
    ----------
    values : array-like of shape (n,)
        The sample, in [0, b].
    variance : float
        The true variance V, known from elsewhere; with the sample's own use `empirical_bernstein`.
    delta : float, default=0.05
        Probability of failure.
    b : float, default=1.0
        Range of the values.

    Returns
    -------
    Bound

    References
    ----------
    Bernstein 1924; the form of Maurer & Pontil 2009, Theorem 3.

    Examples
    --------
    >>> fair = [0, 1] * 50
    >>> bernstein(fair, 0.25).value < bernstein(fair, 0.5).value
    True
    """
    Z = check_values(values, "values", 0.0, check_positive("b", b))
    n, log_term = len(Z), log(1 / check_delta(delta))
    V = check_positive("variance", variance, open_=False)
    terms = {"mean": Z.mean(), "variance": sqrt(2 * V * log_term / n), "range": b * log_term / (3 * n)}
    return bound(sum(terms.values()), terms, b)


def empirical_bernstein(
    values: npt.ArrayLike, delta: float = 0.05, b: float = 1.0, form: str = "maurer_pontil"
) -> Bound:
    """Return the empirical Bernstein bound, which needs no knowledge of the variance.

    mean + sqrt(2 Vhat ln(2/delta) / n) + 7 b ln(2/delta) / (3(n - 1)), with the unbiased sample variance
    Vhat = (1 / (n(n-1))) sum_{i<j} (Z_i - Z_j)^2.

    Parameters
    ----------
    values : array-like of shape (n,)
        The sample, in [0, b]; at least two values.
    delta : float, default=0.05
        Probability of failure.
    b : float, default=1.0
        Range of the values.
    form : {"maurer_pontil", "gao_zhou", "audibert"}, default="maurer_pontil"
        The form above; with 3n in the last denominator (n >= 5; constant not checked against the article); or
        mean + sigma sqrt(2 ln(3/delta) / n) + 3 b ln(3/delta) / n with the biased standard deviation sigma.

    Returns
    -------
    Bound

    References
    ----------
    Maurer & Pontil 2009, Empirical Bernstein bounds and sample variance penalization; Gao & Zhou 2013; Audibert, Munos
    & Szepesvari 2007.

    Examples
    --------
    >>> rare = [1] * 10 + [0] * 990
    >>> empirical_bernstein(rare).value < hoeffding(rare).value
    True
    """
    Z = check_values(values, "values", 0.0, check_positive("b", b), least=2)
    n, delta = len(Z), check_delta(delta)
    assumptions = {}
    if form == "audibert":
        log_term = log(3 / delta)
        spread, last = Z.std() * sqrt(2 * log_term / n), 3 * b * log_term / n
    elif form in ("maurer_pontil", "gao_zhou"):
        log_term = log(2 / delta)
        spread = sqrt(2 * Z.var(ddof=1) * log_term / n)
        last = 7 * b * log_term / (3 * (n - 1 if form == "maurer_pontil" else n))
        if form == "gao_zhou":
            assumptions["n >= 5"] = n >= 5
    else:
        raise ValueError(f'form={form!r} is not known; use "maurer_pontil", "gao_zhou" or "audibert".')
    terms = {"mean": Z.mean(), "variance": spread, "range": last}
    return bound(sum(terms.values()), terms, b, assumptions, unverified=form == "gao_zhou")


def uniform_empirical_bernstein(
    values: npt.ArrayLike, log_covering: float, delta: float = 0.05, b: float = 1.0
) -> Bound:
    """Return the uniform empirical Bernstein bound, Theorem 1 of the VadaBoost paper.

    mean + sqrt(18 Vhat ln(M(n)/delta) / n) + 15 b ln(M(n)/delta) / (n - 1), for all functions of a class at once,
    whichever of them the values come from.

    Parameters
    ----------
    values : array-like of shape (n,)
        The losses of one function of the class, in [0, b].
    log_covering : float
        ln of the uniform covering number N_inf(1/n, F, 2n); M(n) is ten times that number.  0 for a single function,
        ln |F| for a finite class.
    delta : float, default=0.05
        Probability of failure.
    b : float, default=1.0
        Range of the values.

    Returns
    -------
    Bound

    References
    ----------
    Maurer & Pontil 2009, Theorem 6; Shivaswamy & Jebara 2011, Theorem 1.

    Examples
    --------
    >>> uniform_empirical_bernstein([0.0] * 10, 0.0).assumptions
    {'n >= 16': False}
    """
    Z = check_values(values, "values", 0.0, check_positive("b", b), least=2)
    n = len(Z)
    log_term = log(10.0) + check_positive("log_covering", log_covering, open_=False) - log(check_delta(delta))
    terms = {
        "mean": Z.mean(),
        "variance": sqrt(18 * Z.var(ddof=1) * log_term / n),
        "range": 15 * b * log_term / (n - 1),
    }
    return bound(sum(terms.values()), terms, b, {"n >= 16": n >= 16})


@dataclass(frozen=True)
class Interval:
    """Two ends between which a mean lies with probability at least 1 - delta.

    Attributes
    ----------
    lower, upper : float
        The ends, cut off at 0 and b.
    mean : float
        The sample mean.
    delta : float
        Probability of failure, both sides together.
    method : str
        Where the ends come from.
    """

    lower: float
    upper: float
    mean: float
    delta: float
    method: str

    def __contains__(self, value: float) -> bool:
        return bool(self.lower <= value <= self.upper)


def empirical_bernstein_interval(values: npt.ArrayLike, delta: float = 0.05, b: float = 1.0) -> Interval:
    """Return the two-sided empirical Bernstein interval: the bound for Z and for b - Z, each with delta / 2.

    Parameters
    ----------
    values : array-like of shape (n,)
        The sample, in [0, b]; for an error, 1 where a held-out row is predicted wrongly and 0 elsewhere.
    delta : float, default=0.05
        Probability of failure.
    b : float, default=1.0
        Range of the values.

    Returns
    -------
    Interval

    Examples
    --------
    >>> found = empirical_bernstein_interval([0, 1] * 500)
    >>> 0.5 in found, round(found.upper - found.mean, 3)
    (True, 0.057)
    """
    Z = check_values(values, "values", 0.0, check_positive("b", b), least=2)
    upper = empirical_bernstein(Z, delta / 2, b)
    width = upper.value - upper.terms["mean"]
    mean = upper.terms["mean"]
    return Interval(max(0.0, mean - width), min(b, mean + width), mean, delta, "empirical Bernstein")


def exact_interval(wrong: npt.ArrayLike, delta: float = 0.05) -> Interval:
    """Return Clopper and Pearson's interval for a probability, which for 0/1 values is the exact one.

    Parameters
    ----------
    wrong : array-like of shape (n,)
        Truth values, or 0 and 1.
    delta : float, default=0.05
        Probability of failure.

    Returns
    -------
    Interval

    References
    ----------
    Clopper & Pearson 1934.

    Examples
    --------
    >>> found = exact_interval([0] * 20)
    >>> found.lower, round(found.upper, 4)
    (0.0, 0.1684)
    """
    from scipy.stats import binomtest

    Z = check_values(np.asarray(wrong, dtype=np.float64), "wrong", 0.0, 1.0)
    if not np.isin(Z, (0.0, 1.0)).all():
        raise ValueError("wrong must hold 0 and 1 only; for other values use empirical_bernstein_interval.")
    found: Any = binomtest(int(Z.sum()), len(Z)).proportion_ci(1 - check_delta(delta), "exact")
    return Interval(float(found.low), float(found.high), float(Z.mean()), delta, "exact binomial")
