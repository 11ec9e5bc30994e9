"""The sample-variance-penalised cost of EBBoost and VadaBoost, its exact round V and the bound U on it."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from boostlab.theory.bound import Array, Bound, bound, check_positive, check_scores, check_values


def svp_cost(F: npt.ArrayLike, y: npt.ArrayLike, lam: float) -> Bound:
    """Return the cost J = (sum e_i)^2 + lambda (n sum e_i^2 - (sum e_i)^2), e_i = exp(-y_i F_i), as a training bound.

    Every mistake has e_i >= 1, so the training error (y F <= 0 counts as an error) is at most sqrt(J) / n, which is
    the value.  The terms hold J itself (`cost`, and `log_cost` where it is too large for a float), the mean of e and
    its biased variance: J = n^2 (mean^2 + lambda variance).

    Parameters
    ----------
    F : array-like of shape (n,)
        Scores.
    y : array-like of shape (n,)
        Labels -1 and +1.
    lam : float
        lambda, at least 0.

    Returns
    -------
    Bound

    References
    ----------
    Shivaswamy & Jebara 2010; 2011, cost (3).

    Examples
    --------
    >>> found = svp_cost([0.0, 0.0], [1, -1], 0.5)
    >>> found.terms["cost"], found.value
    (4.0, 1.0)
    """
    lam = check_positive("lam", lam, open_=False)
    a = -check_scores(F, y)
    n, once, twice = len(a), float(logsumexp(a)), float(logsumexp(2 * a))
    spread = max(n * exp(twice - 2 * once) - 1.0, 0.0)  # variance over squared mean
    log_cost = 2 * once + log(1 + lam * spread)
    mean = exp(min(once - log(n), 350.0))
    terms = {
        "cost": exp(min(log_cost, 700.0)),
        "log_cost": log_cost,
        "mean": mean,
        "variance": mean**2 * spread,
    }
    return bound(exp(min(log_cost / 2 - log(n), 700.0)), terms)


def vada_V(alpha: npt.ArrayLike, w: npt.ArrayLike, lam: float, correct: npt.ArrayLike) -> Any:
    """Return V(alpha): the cost after a step, relative to before, exactly.

    With W_I, W_J the weights of the rows that the voter gets right and wrong and S_I, S_J their sums of squares,
    V = A e^(-2 alpha) + B e^(2 alpha) + 2 (1 - lambda) W_I W_J, A = (1 - lambda) W_I^2 + lambda n S_I, B likewise.

    Parameters
    ----------
    alpha : float or array
        The step, or many of them.
    w : array-like of shape (n,)
        Weights; they are divided by their sum.
    lam : float
        lambda, at least 0.
    correct : array-like of shape (n,)
        Truth values: where the voter is right.

    Returns
    -------
    float, or array of the shape of alpha

    References
    ----------
    Shivaswamy & Jebara 2011, cost (4).

    Examples
    --------
    >>> vada_V(0.0, [0.25] * 4, 0.0, [1, 1, 1, 0])
    1.0
    """
    alpha, w, right = _parts(alpha, w, lam, correct)
    n, W_I, W_J = len(w), w[right].sum(), w[~right].sum()
    A = (1 - lam) * W_I**2 + lam * n * (w[right] ** 2).sum()
    B = (1 - lam) * W_J**2 + lam * n * (w[~right] ** 2).sum()
    return _plain(A * np.exp(-2 * alpha) + B * np.exp(2 * alpha) + 2 * (1 - lam) * W_I * W_J)


def vada_U(alpha: npt.ArrayLike, w: npt.ArrayLike, lam: float, correct: npt.ArrayLike) -> Any:
    """Return U(alpha), the bound on V that VadaBoost minimises: U_I e^(-2 alpha) + U_J e^(2 alpha).

    U_I and U_J are sums of u_i = lambda n w_i^2 + (1 - lambda) w_i.  U - V = (1 - lambda) W_I W_J (e^alpha -
    e^-alpha)^2, so U is at least V for 0 <= lambda <= 1, equal at alpha = 0, and equal everywhere at lambda = 1.

    Parameters
    ----------
    alpha, w, lam, correct
        As for `vada_V`; lambda at most 1.

    Returns
    -------
    float, or array of the shape of alpha

    References
    ----------
    Shivaswamy & Jebara 2011, bound (5).

    Examples
    --------
    >>> w, right = [0.1, 0.2, 0.3, 0.4], [1, 1, 0, 0]
    >>> vada_U(0.5, w, 0.3, right) > vada_V(0.5, w, 0.3, right)
    True
    """
    if lam > 1:
        raise ValueError(f"lam={lam!r} is above 1, where U is no bound on V; use vada_V, which is exact.")
    alpha, w, right = _parts(alpha, w, lam, correct)
    u = lam * len(w) * w**2 + (1 - lam) * w
    return _plain(u[right].sum() * np.exp(-2 * alpha) + u[~right].sum() * np.exp(2 * alpha))


def vadaboost_round_factor(error: float) -> float:
    """Return r(epsilon) of Theorem 5: VadaBoost needs at most so many times AdaBoost's rounds, at lambda = 0.

    r = ln(4 e (1 - e)) / ln(2 e (1 - e) + sqrt(e (1 - e))) for voters of constant error e: 4/3 as e tends to 1/2, and
    2 as e tends to 0.

    Parameters
    ----------
    error : float in (0, 1/2)
        The voters' error.

    Returns
    -------
    float

    References
    ----------
    Shivaswamy & Jebara 2011, Theorem 5.

    Examples
    --------
    >>> round(vadaboost_round_factor(0.4), 3)
    1.336
    """
    if not 0.0 < error < 0.5:
        raise ValueError(f"error={error!r} is not possible; the theorem is about errors between 0 and 1/2.")
    product = error * (1 - error)
    return log(4 * product) / log(2 * product + sqrt(product))


def _parts(alpha: Any, w: Any, lam: float, correct: Any) -> tuple[Array, Array, Array]:
    check_positive("lam", lam, open_=False)
    w = check_values(w, "w", 0.0, np.inf)
    right = np.asarray(correct).astype(bool)
    if right.shape != w.shape or not w.sum() > 0:
        raise ValueError("w and correct must have one entry a row, and some weight must be above zero.")
    return np.asarray(alpha, dtype=np.float64), w / w.sum(), right


def _plain(values: Array) -> Any:
    return float(values) if values.ndim == 0 else values
