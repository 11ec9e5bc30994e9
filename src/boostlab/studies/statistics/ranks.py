"""Many algorithms over many data sets: average ranks, Friedman's test, Nemenyi's critical difference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from boostlab.studies.statistics.pairs import matrix

Array = npt.NDArray[Any]


def average_ranks(errors: npt.ArrayLike) -> Array:
    """Return every algorithm's mean rank over the data sets; 1 is best, and ties share their ranks' mean.

    Parameters
    ----------
    errors : array-like of shape (n, k)
        One row a data set, one column an algorithm.

    Returns
    -------
    array of shape (k,)

    Examples
    --------
    >>> average_ranks([[0.1, 0.2, 0.3], [0.1, 0.1, 0.2]]).tolist()
    [1.25, 1.75, 3.0]
    """
    return np.asarray(stats.rankdata(matrix(errors, least=1), axis=1).mean(axis=0))


@dataclass(frozen=True, eq=False)
class Friedman:
    """Friedman's test that all algorithms are alike.

    Attributes
    ----------
    ranks : array of shape (k,)
        Average ranks.
    chi2, p : float
        Friedman's statistic, corrected for ties, and its p-value.
    F, p_F : float
        Iman and Davenport's statistic, which is less conservative, and its p-value.
    n, k : int
        Number of data sets and of algorithms.
    """

    ranks: Array
    chi2: float
    p: float
    F: float
    p_F: float
    n: int
    k: int


def friedman(errors: npt.ArrayLike) -> Friedman:
    """Test whether any of several algorithms differs from the others, by their ranks on every data set.

    Parameters
    ----------
    errors : array-like of shape (n, k)
        Mean errors, one row a data set, one column an algorithm.

    Returns
    -------
    Friedman
        If all algorithms tie everywhere, both p-values are 1.

    References
    ----------
    Demšar 2006, Statistical comparisons of classifiers over multiple data sets.

    Examples
    --------
    >>> result = friedman([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]])
    >>> result.ranks.tolist(), result.chi2, round(result.F, 6)
    ([1.25, 1.75, 3.0], 6.5, 13.0)
    """
    ranks = stats.rankdata(matrix(errors), axis=1)
    n, k = ranks.shape
    away = ranks - (k + 1) / 2.0
    spread = float((away**2).sum())
    chi2 = (k - 1) * float((away.sum(axis=0) ** 2).sum()) / spread if spread else 0.0
    chi2 = min(chi2, float(n * (k - 1)))  # the largest possible, but for rounding
    rest = n * (k - 1) - chi2
    if n < 2:
        F = p_F = np.nan  # one data set leaves no degrees of freedom
    else:
        F = (n - 1) * chi2 / rest if rest > 0.0 else np.inf
        p_F = float(stats.f.sf(F, k - 1, (k - 1) * (n - 1)))
    return Friedman(ranks.mean(axis=0), chi2, float(stats.chi2.sf(chi2, k - 1)), F, p_F, n, k)


@cache
def _q(level: float, k: int) -> float:
    return float(stats.studentized_range.ppf(1.0 - level, k, np.inf) / np.sqrt(2.0))


def nemenyi(n: int, k: int, *, level: float = 0.05) -> float:
    """Return Nemenyi's critical difference: average ranks further apart than this differ significantly.

    Parameters
    ----------
    n : int
        Number of data sets.
    k : int
        Number of algorithms, at least 2.
    level : float, default=0.05
        Of significance, over all pairs together.

    Returns
    -------
    float

    Examples
    --------
    >>> round(nemenyi(14, 4), 2)
    1.25
    """
    if n < 1 or k < 2 or not 0.0 < level < 1.0:
        raise ValueError(
            f"n={n!r}, k={k!r}, level={level!r} are not possible; there must be at least 1 data set, 2 algorithms, and "
            "a level between 0 and 1."
        )
    return _q(level, k) * float(np.sqrt(k * (k + 1) / (6.0 * n)))


def alike(ranks: npt.ArrayLike, difference: float) -> list[list[int]]:
    """Return the largest groups of algorithms whose average ranks lie within a critical difference.

    Parameters
    ----------
    ranks : array-like of shape (k,)
        Average ranks.
    difference : float
        As from `nemenyi`.

    Returns
    -------
    list of list of int
        Columns, in the order of their ranks; groups of one are left out.

    Examples
    --------
    >>> alike([1.0, 3.0, 1.8, 2.5], 1.0)
    [[0, 2], [2, 3], [3, 1]]
    """
    values = np.asarray(ranks, float)
    order = np.argsort(values, kind="stable")
    groups: list[list[int]] = []
    reached = 0
    for start in range(len(order)):
        end = int(np.sum(values[order] <= values[order[start]] + difference))
        if end > reached and end - start > 1:
            groups.append(order[start:end].tolist())
        reached = max(reached, end)
    return groups
