"""What a test can see: the smallest p that so many pairs allow, and the chance to see a difference of a given size."""

from __future__ import annotations

from math import isnan, sqrt

from scipy import stats


def smallest_p(n: int) -> float:
    """Return the smallest two-sided p that a sign test or Wilcoxon's can have, if all of n pairs differ one way.

    Parameters
    ----------
    n : int
        Number of pairs: data sets, or repeats on one.

    Returns
    -------
    float

    Examples
    --------
    >>> smallest_p(5), smallest_p(6)
    (0.0625, 0.03125)
    """
    return min(1.0, 2.0 ** (1 - n))


def power(effect: float, spread: float, n: int, level: float = 0.05) -> float:
    """Return the chance that a paired two-sided t-test shows a mean difference; Wilcoxon's is nearly the same.

    Parameters
    ----------
    effect : float
        The mean difference that is looked for.
    spread : float
        Standard deviation of the differences of single pairs.
    n : int
        Number of pairs.
    level : float, default=0.05
        Of the test.

    Returns
    -------
    float
        NaN where there are fewer than two pairs, or a number is missing.

    Examples
    --------
    >>> round(power(0.5, 1.0, 18), 2), power(0.5, 0.0, 18)
    (0.52, 1.0)
    """
    if n < 2 or isnan(effect) or isnan(spread):
        return float("nan")
    if spread == 0:
        return float(effect != 0)
    shift, edge = abs(effect) / spread * sqrt(n), float(stats.t.ppf(1 - level / 2, n - 1))
    away = stats.nct(n - 1, shift)
    return float(away.sf(edge) + away.cdf(-edge))
