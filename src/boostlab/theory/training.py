"""What the voters' weighted errors promise about the training sample."""

from __future__ import annotations

from math import ceil, exp, inf, log

import numpy as np
import numpy.typing as npt

from boostlab.theory.bound import Array, Bound, bound, check_positive, check_scores, check_values


def _exp(x: float) -> float:
    return exp(min(x, 700.0))


def _errors(errors: npt.ArrayLike) -> Array:
    return check_values(errors, "errors", 0.0, 1.0, least=0)


def normaliser_product(errors: npt.ArrayLike, alphas: npt.ArrayLike) -> Bound:
    """Return prod Z_t, Z_t = (1 - eps_t) e^(-alpha_t) + eps_t e^(alpha_t): the mean of exp(-y F), for any steps.

    It bounds the training error of every booster that weighs rows by exp(-y F) and adds label voters, however it
    chooses its steps.

    Parameters
    ----------
    errors : array-like of shape (T,)
        The voters' weighted errors.
    alphas : array-like of shape (T,)
        Their coefficients.

    Returns
    -------
    Bound

    References
    ----------
    Schapire & Singer 1999, Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.array([0.3, 0.4])
    >>> steps = 0.5 * np.log((1 - errors) / errors)
    >>> bool(np.isclose(normaliser_product(errors, steps).value, adaboost_training_error(errors).value))
    True
    """
    e, a = _errors(errors), check_values(alphas, "alphas", -inf, inf, least=0)
    if len(e) != len(a):
        raise ValueError(f"Give an error and a coefficient a round; there are {len(e)} errors and {len(a)} alphas.")
    with np.errstate(divide="ignore"):
        logs = np.logaddexp(np.log1p(-e) - a, np.log(e) + a)
    value = _exp(float(logs.sum()))
    return bound(value, {"product": value})


def adaboost_training_error(errors: npt.ArrayLike) -> Bound:
    """Return (2.16): the training error is at most prod 2 sqrt(eps_t (1 - eps_t)) <= exp(-2 sum (1/2 - eps_t)^2).

    The value is the product; the exponential form is among the terms.  It is about the sample under the weights that
    training started from, and assumes AdaBoost's own steps alpha_t = (1/2) ln((1 - eps_t) / eps_t).

    Parameters
    ----------
    errors : array-like of shape (T,)
        The voters' weighted errors.

    Returns
    -------
    Bound

    References
    ----------
    Freund & Schapire 1997, Theorem 6.

    Examples
    --------
    >>> found = adaboost_training_error([0.3, 0.3])
    >>> round(found.value, 2), found.value <= found.terms["exponential"]
    (0.84, True)
    """
    return adaboost_margin_bound(errors, 0.0)


def adaboost_margin_bound(errors: npt.ArrayLike, theta: float) -> Bound:
    """Return prod 2 sqrt(eps_t^(1 - theta) (1 - eps_t)^(1 + theta)), a bound on the share of margins <= theta.

    Margins are normalised, y F / sum |alpha|; steps are AdaBoost's.  theta = 0 is (2.16).  For theta above 0 no error
    may exceed 1/2: such a voter has a negative step, and margins are divided by its size.

    Parameters
    ----------
    errors : array-like of shape (T,)
        The voters' weighted errors.
    theta : float in [-1, 1]
        The margin.

    Returns
    -------
    Bound

    References
    ----------
    Schapire, Freund, Bartlett & Lee 1998, Theorem 5.

    Examples
    --------
    >>> adaboost_margin_bound([0.2] * 30, 0.1).value > adaboost_training_error([0.2] * 30).value
    True
    """
    found = arboost_margin_bound(errors, 1.0, theta)
    e = _errors(errors)
    terms = {"product": found.terms["product"]}
    if theta == 0:
        terms["exponential"] = exp(-2 * float(((0.5 - e) ** 2).sum()))
    return bound(found.value, terms, assumptions=found.assumptions)


def adaboost_rounds(gamma: float, error: float | None = None, n: int | None = None) -> Bound:
    """Return (2.17): so many rounds bring the training error to at most `error`, or to zero on n rows.

    ceil(ln(1/error) / (2 gamma^2)), if every voter's error is at most 1/2 - gamma.  Zero training error is an error
    below 1/n: the smallest whole number above ln(n) / (2 gamma^2).

    Parameters
    ----------
    gamma : float in (0, 1/2]
        Every voter is so much better than chance.
    error : float in (0, 1], optional
        The target.
    n : int, optional
        Number of rows, instead: the target is no error at all.

    Returns
    -------
    Bound
        A number of rounds; vacuous only where it is infinite.

    References
    ----------
    Freund & Schapire 1997.

    Examples
    --------
    >>> adaboost_rounds(0.1, error=0.01).value
    231.0
    """
    _check_gamma(gamma, 0.5)
    if (error is None) == (n is None):
        raise ValueError("Give the target error, or the number of rows n for no error at all; one of them.")
    if error is not None:
        if not 0.0 < error <= 1.0:
            raise ValueError(f"error={error!r} is not possible; it must be above 0 and at most 1.")
        rounds = float(ceil(log(1 / error) / (2 * gamma**2)))
    else:
        rounds = float(int(log(check_positive("n", n or 0)) / (2 * gamma**2)) + 1)
    return bound(rounds, {"gamma": gamma}, inf)


def arboost_training_error(errors: npt.ArrayLike, rho: float) -> Bound:
    """Return AR-Boost's Theorem 1: the training error is at most prod Z_t, and that at most an exponential.

    Z_t = (rho^(-1/2) + rho^(1/2)) sqrt(eps_t (1 - eps_t)) <= exp(-((rho + 1)^2 / (2 rho)) g_t^2 + ((rho^2 - 1) / (2
    rho)) g_t), g_t = rho / (rho + 1) - eps_t.  The product is the value, the exponential among the terms.  It falls
    with T only where g_t > (rho - 1) / (rho + 1), that is eps_t < 1 / (rho + 1), strictly (the paper prints >=).

    Parameters
    ----------
    errors : array-like of shape (T,)
        The voters' weighted errors, at most rho / (rho + 1).
    rho : float
        At least 1; 1 is AdaBoost.

    Returns
    -------
    Bound

    References
    ----------
    Saha, Kunapuli, Ray, Maldjian & Natarajan 2013, Theorem 1.

    Examples
    --------
    >>> arboost_training_error([0.3, 0.2], 1.0).value == adaboost_training_error([0.3, 0.2]).value
    True
    """
    found, e = arboost_margin_bound(errors, rho, 0.0), _errors(errors)
    g = rho / (rho + 1) - e
    exponent = -((rho + 1) ** 2) / (2 * rho) * g**2 + (rho**2 - 1) / (2 * rho) * g
    terms = {"product": found.value, "exponential": _exp(float(exponent.sum()))}
    return bound(found.value, terms)


def arboost_margin_bound(errors: npt.ArrayLike, rho: float, theta: float) -> Bound:
    """Return AR-Boost's Theorem 2, a bound on the share of training margins <= theta.

    (rho^((1 + theta)/2) + rho^(-(1 - theta)/2))^T prod sqrt(eps_t^(1 - theta) (1 - eps_t)^(1 + theta)), for normalised
    margins y F / sum |alpha|.  It is a statement about the training sample; rho = 1 is AdaBoost's.  For theta above 0
    every error must be at most rho / (rho + 1), so that no step is negative.

    Parameters
    ----------
    errors : array-like of shape (T,)
        The voters' weighted errors.
    rho : float
        At least 1.
    theta : float in [-1, 1]
        The margin.

    Returns
    -------
    Bound

    References
    ----------
    Saha et al. 2013, Theorem 2.

    Examples
    --------
    >>> arboost_margin_bound([0.1] * 20, 2.0, 0.05).vacuous
    False
    """
    rho = check_positive("rho", rho, 1.0, open_=False)
    if not -1.0 <= theta <= 1.0:
        raise ValueError(f"theta={theta!r} is not possible; normalised margins lie between -1 and 1.")
    e = _errors(errors)
    factor = np.logaddexp(0.5 * (1 + theta) * log(rho), -0.5 * (1 - theta) * log(rho))
    with np.errstate(divide="ignore"):
        logs = [0.5 * p * np.log(x) if p else np.zeros(len(e)) for p, x in ((1 - theta, e), (1 + theta, 1 - e))]
    value = _exp(float(len(e) * factor + sum(part.sum() for part in logs)))
    forward = theta <= 0 or bool((e <= rho / (rho + 1) + 1e-12).all())
    terms = {"product": value, "factor": _exp(float(factor))}
    return bound(value, terms, assumptions={"errors <= rho/(rho + 1)": forward})


def arboost_margin_limit(gamma: float, rho: float) -> float:
    """Return Upsilon: below this margin AR-Boost's Theorem 2 tends to zero with T; 0 where there is none.

    -ln[(1 - (rho + 1) g / rho)(1 + (rho + 1) g)] / ln[(1 + (rho + 1) g) / (1 - (rho + 1) g / rho)], if every error is
    at most rho / (rho + 1) - g.  This replaces the condition printed after the theorem, which is not sufficient.

    Parameters
    ----------
    gamma : float in (0, rho / (rho + 1)]
        g, every voter's goodness.
    rho : float
        At least 1.

    Returns
    -------
    float

    Examples
    --------
    >>> round(arboost_margin_limit(0.2, 1.0), 4)
    0.2058
    """
    rho = check_positive("rho", rho, 1.0, open_=False)
    _check_gamma(gamma, rho / (rho + 1))
    wrong, right = 1 - (rho + 1) * gamma / rho, 1 + (rho + 1) * gamma
    if wrong <= 0:
        return 1.0
    return max(0.0, -log(wrong * right) / log(right / wrong))


def quadratic_risk(F: npt.ArrayLike, y: npt.ArrayLike) -> Bound:
    """Return the mean of (y - F)^2, which bounds the training error: a mistake costs at least 1.

    Parameters
    ----------
    F : array-like of shape (n,)
        Scores.
    y : array-like of shape (n,)
        Labels -1 and +1.

    Returns
    -------
    Bound

    References
    ----------
    Fortier-Dubois, Laviolette, Marchand, Robitaille & Roy 2015.

    Examples
    --------
    >>> quadratic_risk([0.5, -0.5], [1, 1]).value
    1.25
    """
    value = float(np.mean((1 - check_scores(F, y)) ** 2))
    return bound(value, {"risk": value})


def quadboost_rounds(gamma: float, risk: float = 0.0) -> Bound:
    """Return QuadBoost's rate: at most (1 - risk) / gamma^2 rounds to a quadratic risk of `risk`.

    Every round with correlation d > gamma between its classifier and the residual lowers the risk, which starts at 1,
    by d^2.  gamma is not AdaBoost's: it bounds mean|residual| (1 - 2 error), which shrinks as the residuals do.

    Parameters
    ----------
    gamma : float in (0, 1]
        Every round's correlation is at least so large.
    risk : float in [0, 1], default=0.0
        The target (the paper's epsilon, which it forgets in the formula).

    Returns
    -------
    Bound
        A number of rounds.

    References
    ----------
    Fortier-Dubois et al. 2015, section 3.

    Examples
    --------
    >>> quadboost_rounds(0.5, 0.25).value
    3.0
    """
    _check_gamma(gamma, 1.0)
    if not 0.0 <= risk <= 1.0:
        raise ValueError(f"risk={risk!r} is not possible; it must be between 0 and 1.")
    return bound((1 - risk) / gamma**2, {"gamma": gamma}, inf)


def _check_gamma(gamma: float, most: float) -> None:
    if not 0.0 < gamma <= most:
        raise ValueError(f"gamma={gamma!r} is not possible; it must be above 0 and at most {most:g}.")
