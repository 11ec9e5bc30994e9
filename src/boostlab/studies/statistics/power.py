"""What a study of so many data sets and tests could see at all."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
from scipy import stats


def most_lost(n: int, tests: int, *, level: float = 0.05) -> int:
    """Return the largest sum of ranks that a method may lose and still be significantly better after Holm's correction.

    The smallest of several p-values is multiplied by their number.  The sets are ranked by the size of the difference,
    1 being the smallest, and Wilcoxon's p is exact and two-sided.

    Parameters
    ----------
    n : int
        Number of data sets.
    tests : int
        Number of tests that are corrected for.
    level : float, default=0.05
        Of significance.

    Returns
    -------
    int
        -1 where nothing could be significant.

    Examples
    --------
    >>> most_lost(12, 21), most_lost(46, 10), most_lost(6, 21)
    (2, 287, -1)
    """
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, n + 1):
        ways[rank:] += ways[:-rank].copy()
    p = 2.0 * np.cumsum(ways) / 2.0**n
    return int(np.searchsorted(p * tests, level)) - 1


def detectable(n: int, tests: int, spread: float, *, level: float = 0.05, power: float = 0.8) -> float:
    """Return the mean difference that Wilcoxon's test would find with some probability, after Holm's first step.

    By the normal approximation, with Wilcoxon's efficiency of 3/pi for normal differences.

    Parameters
    ----------
    n, tests : int
        Number of data sets, and of tests that are corrected for.
    spread : float
        Standard deviation of the differences over the data sets.
    level, power : float
        Of the test.

    Examples
    --------
    >>> round(detectable(12, 21, 1.0), 2), round(detectable(46, 10, 1.0), 2)
    (1.15, 0.55)
    """
    z = stats.norm.isf(level / (2 * tests)) + stats.norm.ppf(power)
    return float(z * spread / sqrt(n * 3 / pi))
