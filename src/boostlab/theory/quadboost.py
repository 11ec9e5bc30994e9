"""QuadBoost's risk bound, as stated and in a form that its proof supports."""

from __future__ import annotations

from math import inf, log, log2, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.theory.bound import Array, Bound, bound, check_delta, check_positive, check_values
from boostlab.theory.complexity import Complexity, certain

LIPSCHITZ = 2.0  # of the clipped quadratic loss


def theorem1_as_stated(
    scores: npt.ArrayLike,
    coefficients: npt.ArrayLike,
    complexity: float | Complexity,
    p: float = 1.0,
    delta: float = 0.05,
    lipschitz: float = LIPSCHITZ,
    empirical: bool = True,
) -> Bound:
    """Return QuadBoost's Theorem 1 as the paper states it, for the quadratic loss.

    mean (1 - y F)^2 + 2 l ||a||_0^(1 - 1/p) ||a||_p R + sqrt((ln(1/delta) + 2 ln log2(2 ||a||_p)) / (2m)), with
    probability 1 - delta for all coefficients a at once.  With the empirical complexity delta is halved and the last
    term taken three times.  Norms below 1 are raised to 1, where the double logarithm needs it.
    The statement is stronger than its proof: see `theorem1_safe`.

    Parameters
    ----------
    scores : array-like of shape (m,)
        y F of the training rows, not normalised.
    coefficients : array-like
        a, one for every distinct voter (a voter and its complement are one).
    complexity : float or Complexity
        R of the voters; where it is a Monte-Carlo estimate, a tenth of delta is spent on its error.
    p : float in [1, inf], default=1.0
        The norm.
    delta : float, default=0.05
        Probability of failure.
    lipschitz : float, default=2.0
        l, of the loss clipped at 1; 2 for the quadratic.
    empirical : bool, default=True
        Whether R was measured on the sample, and is not its expectation.

    Returns
    -------
    Bound

    References
    ----------
    Fortier-Dubois, Laviolette, Marchand, Robitaille & Roy 2015, Theorem 1.

    Examples
    --------
    >>> theorem1_as_stated([0.9] * 10_000, [0.5, 0.4], 0.01).vacuous
    False
    """
    v, n, a = _parts(scores, coefficients, p)
    m = len(v)
    R, left, sound = certain(complexity, check_delta(delta))
    log_term = log((2 if empirical else 1) / left) + 2 * log(log2(2 * a))
    terms = {
        "risk": float(np.mean((1 - v) ** 2)),
        "complexity": 2 * lipschitz * n ** (1 - _inverse(p)) * a * R,
        "deviation": (3 if empirical else 1) * sqrt(log_term / (2 * m)),
    }
    return bound(sum(terms.values()), terms, 1.0, {"complexity is not an estimate from below": sound})


def theorem1_safe(
    scores: npt.ArrayLike,
    coefficients: npt.ArrayLike,
    complexity: float | Complexity,
    p: float = 1.0,
    delta: float = 0.05,
    lipschitz: float = LIPSCHITZ,
    empirical: bool = True,
) -> Bound:
    """Return QuadBoost's Theorem 1 in a form that its proof supports.

    mean min(1, (1 - y F)^2) + 4 l n^(1 - 1/p) a R + c sqrt(ln log2(2a) / m) + c sqrt((ln(2/delta) + [p > 1]
    ln(n (n + 1))) / (2m)), a = max(||a||_p, 1), n = ||a||_0, c = 1 with the expected complexity and 3 with the
    empirical one.  Being uniform in the norm costs a factor of 2 on the complexity; for p > 1 the class depends on n,
    and a union over n is needed, which the paper leaves out.

    Parameters
    ----------
    scores, coefficients, complexity, p, delta, lipschitz, empirical
        As for `theorem1_as_stated`.

    Returns
    -------
    Bound

    References
    ----------
    Fortier-Dubois et al. 2015; the union as in Mohri, Rostamizadeh & Talwalkar 2012.

    Examples
    --------
    >>> given = dict(scores=[0.9] * 1000, coefficients=[0.5, 0.4], complexity=0.01)
    >>> theorem1_safe(**given).value > theorem1_as_stated(**given).value
    True
    """
    v, n, a = _parts(scores, coefficients, p)
    m, c = len(v), 3 if empirical else 1
    R, left, sound = certain(complexity, check_delta(delta))
    union = log(n * (n + 1)) if p > 1 and n else 0.0
    terms = {
        "risk": float(np.mean(np.minimum((1 - v) ** 2, 1.0))),
        "complexity": 4 * lipschitz * n ** (1 - _inverse(p)) * a * R,
        "all norms": c * sqrt(log(log2(2 * a)) / m),
        "deviation": c * sqrt((log(2 / left) + union) / (2 * m)),
    }
    return bound(sum(terms.values()), terms, 1.0, {"complexity is not an estimate from below": sound})


def _inverse(p: float) -> float:
    return 0.0 if p == inf else 1 / p


def _parts(scores: Any, coefficients: Any, p: float) -> tuple[Array, int, float]:
    """Return the scores, the number of voters with a coefficient, and the norm, at least 1."""
    check_positive("p", p, 1.0, open_=False)
    v = check_values(scores, "scores", -inf, inf)
    a = np.abs(check_values(coefficients, "coefficients", -inf, inf, least=0))
    norm = float(np.linalg.norm(a, p)) if len(a) else 0.0
    return v, int((a > 0).sum()), max(norm, 1.0)
