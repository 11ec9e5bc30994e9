"""Two algorithms over many data sets: Wilcoxon's signed-rank test, Holm's correction, the size of the difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from boostlab.studies.statistics.pairs import differences

Array = npt.NDArray[Any]

_EXACT_UP_TO = 25
_BLOCK = 2_000_000  # numbers held at once while resampling


@dataclass(frozen=True)
class SignedRank:
    """Wilcoxon's signed-rank test.

    Attributes
    ----------
    better, worse : float
        Sum of the ranks of the data sets on which a has the lower, and the higher, error.
    n : int
        Number of data sets, those without a difference included.
    p : float
        Two-sided.
    exact : bool
        Whether p is exact, or a normal approximation.
    """

    better: float
    worse: float
    n: int
    p: float
    exact: bool


def wilcoxon(a: npt.ArrayLike, b: npt.ArrayLike) -> SignedRank:
    """Test whether two algorithms differ, by the ranks of their differences in error.

    Data sets without a difference are ranked with the others and then left out (Pratt's way).  Up to 25 data sets the
    p-value is exact also where ranks are tied.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Mean errors of the two algorithms on the same data sets.

    Returns
    -------
    SignedRank

    Examples
    --------
    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, 0.5], [0.11, 0.22, 0.33, 0.44, 0.55]).p
    0.0625
    """
    d = differences(a, b)
    ranks = stats.rankdata(np.abs(d)) if len(d) else d
    better, worse = float(ranks[d < 0].sum()), float(ranks[d > 0].sum())
    if not (d != 0).any():
        return SignedRank(better, worse, len(d), 1.0, True)
    if len(d) <= _EXACT_UP_TO:
        return SignedRank(better, worse, len(d), _exact_p(ranks[d != 0], better, worse), True)
    p = float(stats.wilcoxon(d, zero_method="pratt", correction=False, method="asymptotic").pvalue)
    return SignedRank(better, worse, len(d), p, False)


def _exact_p(ranks: Array, better: float, worse: float) -> float:
    """Return how often random signs give a sum of ranks as far from the middle, counting all of them."""
    doubled = np.rint(2.0 * ranks).astype(int)  # tied ranks are halves
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    tail = ways[: int(np.rint(2.0 * min(better, worse))) + 1].sum() / 2.0 ** len(doubled)
    return float(min(1.0, 2.0 * tail))


def holm(p: npt.ArrayLike) -> Array:
    """Return p-values corrected for their number by Holm's method.

    Parameters
    ----------
    p : array-like of shape (n,)
        p-values; NaN where there is none, which does not count.

    Returns
    -------
    array of shape (n,)
        Those at most `level` may be called significant together at that level.

    References
    ----------
    Holm 1979, A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, float)
    there = np.flatnonzero(~np.isnan(values))
    if ((values[there] < 0) | (values[there] > 1)).any():
        raise ValueError("p-values must be numbers from 0 to 1.")
    order = there[np.argsort(values[there], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected = np.full(len(values), np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    return corrected


@dataclass(frozen=True)
class Shift:
    """The typical difference a - b, and an interval for it."""

    estimate: float
    low: float
    high: float
    level: float


def hodges_lehmann(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 5000,
    random_state: int | np.random.Generator | None = 0,
) -> Shift:
    """Return the Hodges-Lehmann difference: the median of the means of all pairs of differences.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Mean errors of the two algorithms on the same data sets.
    level : float, default=0.95
        Of the bootstrap interval, between quantiles over resampled data sets.
    n_resamples : int, default=5000
        Number of bootstrap samples.
    random_state : int, numpy Generator or None, default=0
        Seed of the bootstrap.

    Returns
    -------
    Shift

    Examples
    --------
    >>> hodges_lehmann([0.1, 0.2, 0.3], [0.2, 0.3, 0.4]).estimate
    -0.1
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r} is not possible; it must be a number between 0 and 1.")
    d = differences(a, b)
    if not len(d):
        raise ValueError("There is no data set to compare on.")
    i, j = np.triu_indices(len(d))
    rng = np.random.default_rng(random_state)
    block = max(1, _BLOCK // len(i))
    medians = []
    for start in range(0, n_resamples, block):
        sample = d[rng.integers(len(d), size=(min(block, n_resamples - start), len(d)))]
        medians.append(np.median((sample[:, i] + sample[:, j]) / 2.0, axis=1))
    low, high = np.quantile(np.concatenate(medians), [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Shift(float(np.median((d[i] + d[j]) / 2.0)), float(low), float(high), level)
