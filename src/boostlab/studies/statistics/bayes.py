"""How likely it is that one algorithm is better, worse, or the same for all practical purposes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from boostlab.studies.statistics.pairs import differences

_BLOCK = 2000


@dataclass(frozen=True)
class Posterior:
    """Probabilities that the first algorithm's error is lower, practically equal, and higher; they sum to 1."""

    better: float
    equal: float
    worse: float


def correlated_t(a: npt.ArrayLike, b: npt.ArrayLike, *, test_ratio: float, rope: float = 0.0) -> Posterior:
    """Return the posterior of the difference on one data set, from errors on splits that share training rows.

    The mean difference is Student's t with n - 1 degrees of freedom around mean(a - b), with the squared scale
    (1/n + test_ratio) var(a - b).  Without a region of practical equivalence, `better` is one minus the one-sided
    p-value of Nadeau and Bengio's corrected test.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Errors of the two algorithms on the same splits, at least two.
    test_ratio : float
        Test rows divided by training rows; 1 / (k - 1) for k-fold cross-validation.
    rope : float, default=0.0
        Errors that differ by less are practically equal.

    Returns
    -------
    Posterior
        For `poisson_binomial_test` take better + equal / 2.

    References
    ----------
    Corani & Benavoli 2015, A Bayesian approach for comparing cross-validated algorithms on multiple data sets.

    Examples
    --------
    >>> result = correlated_t([0.10, 0.13, 0.12, 0.11], [0.12, 0.14, 0.15, 0.13], test_ratio=0.5)
    >>> round(result.better, 3), round(result.worse, 3)
    (0.967, 0.033)
    """
    _check(rope)
    if not test_ratio >= 0.0:
        raise ValueError(f"test_ratio={test_ratio!r} is not possible; it is test rows divided by training rows.")
    d = differences(a, b)
    n = len(d)
    if n < 2:
        raise ValueError("There must be at least two splits to tell chance from difference.")
    mean = float(d.mean())
    if (d == d[0]).all():
        mean = float(d[0])
        equal = float(abs(mean) <= rope)
        return Posterior(float(mean < -rope), equal, float(mean > rope))
    scale = np.sqrt((1.0 / n + test_ratio) * d.var(ddof=1))
    better = float(stats.t.cdf((-rope - mean) / scale, n - 1))
    worse = float(stats.t.sf((rope - mean) / scale, n - 1))
    return Posterior(better, max(0.0, 1.0 - better - worse), worse)


def bayesian_signed_rank(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    rope: float = 0.01,
    prior: float = 0.5,
    n_samples: int = 20000,
    random_state: int | np.random.Generator | None = 0,
) -> Posterior:
    """Return how likely it is that one algorithm is better over data sets like these.

    The Bayesian form of the signed-rank test: the data sets' shares in the population are drawn from a Dirichlet
    process whose prior is one more data set without a difference; each draw says whether the mean of two random data
    sets' differences is most often below, within, or above the region of practical equivalence.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Mean errors of the two algorithms on the same data sets.
    rope : float, default=0.01
        Errors that differ by less are practically equal.
    prior : float, default=0.5
        Weight of the prior's data set.
    n_samples : int, default=20000
        Number of draws.
    random_state : int, numpy Generator or None, default=0
        Seed.

    Returns
    -------
    Posterior

    References
    ----------
    Benavoli, Corani, Mangili, Zaffalon & Ruggeri 2014, A Bayesian Wilcoxon signed-rank test based on the Dirichlet
    process.

    Examples
    --------
    >>> bayesian_signed_rank([0.1] * 10, [0.2] * 10).better > 0.99
    True
    """
    _check(rope)
    if not prior > 0.0:
        raise ValueError(f"prior={prior!r} is not possible; it must be a number above 0.")
    d = differences(a, b)
    if not len(d):
        raise ValueError("There is no data set to compare on.")
    z = np.concatenate([[0.0], d])
    means = np.round((z[:, None] + z[None, :]) / 2.0, 12)
    below, above = (means < -rope).astype(float), (means > rope).astype(float)
    rng = np.random.default_rng(random_state)
    won = np.zeros(3)
    for start in range(0, n_samples, _BLOCK):
        w = rng.dirichlet([prior] + [1.0] * len(d), min(_BLOCK, n_samples - start))
        low, high = ((w @ side * w).sum(axis=1) for side in (below, above))
        shares = np.round(np.column_stack([low, 1.0 - low - high, high]), 12)
        most = shares == shares.max(axis=1, keepdims=True)
        won += (most / most.sum(axis=1, keepdims=True)).sum(axis=0)  # a tie counts for each of the tied
    return Posterior(*(float(share) for share in won / n_samples))


def _check(rope: float) -> None:
    if not rope >= 0.0:
        raise ValueError(f"rope={rope!r} is not possible; it must be a number of at least 0.")
