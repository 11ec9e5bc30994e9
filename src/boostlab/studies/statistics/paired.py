"""Paired t-tests over repeated random splits, and the marks in the papers' tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from boostlab.studies.statistics.pairs import differences

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class PairedT:
    """A paired t-test.

    Attributes
    ----------
    difference : float
        Mean of a - b.
    standard_error : float
        Of that mean, corrected if the test was.
    t, p : float
        Statistic and two-sided p-value; p is NaN for a single pair.
    n : int
        Number of pairs.
    """

    difference: float
    standard_error: float
    t: float
    p: float
    n: int


def paired_t_test(a: npt.ArrayLike, b: npt.ArrayLike, *, test_ratio: float | None = None) -> PairedT:
    """Test whether two algorithms differ in mean error over the same splits.

    Random splits of one data set share training rows, so the plain test is too ready to see a difference.  With
    `test_ratio` the variance of the mean is (1/n + test_ratio) var(a - b) instead of var(a - b)/n, which is Nadeau and
    Bengio's correction.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Errors of the two algorithms.
    test_ratio : float, optional
        Test rows divided by training rows, for the corrected test.

    Returns
    -------
    PairedT
        If all differences are 0, p is 1.

    References
    ----------
    Nadeau & Bengio 2003, Inference for the generalization error.

    Examples
    --------
    >>> a, b = [0.10, 0.13, 0.12, 0.11], [0.12, 0.14, 0.15, 0.13]
    >>> round(paired_t_test(a, b).p, 3), round(paired_t_test(a, b, test_ratio=0.5).p, 3)
    (0.016, 0.066)
    """
    if test_ratio is not None and not test_ratio >= 0.0:
        raise ValueError(f"test_ratio={test_ratio!r} is not possible; it is test rows divided by training rows.")
    d = differences(a, b)
    n = len(d)
    if n < 2:
        return PairedT(float(d.mean()) if n else np.nan, np.nan, np.nan, np.nan, n)
    mean = float(d.mean())
    variance = 0.0 if (d == d[0]).all() else float(d.var(ddof=1))
    error = float(np.sqrt((1.0 / n + (test_ratio or 0.0)) * variance))
    if error == 0.0:
        t = float(np.sign(mean) * np.inf) if mean else 0.0
    else:
        t = mean / error
    return PairedT(mean, error, t, float(2.0 * stats.t.sf(abs(t), n - 1)), n)


@dataclass(frozen=True, eq=False)
class Marks:
    """One row of a table of errors.

    Attributes
    ----------
    means, standard_errors : array of shape (k,)
        Over the repeats; NaN for an algorithm without results.
    best : int
        The column with the smallest mean, the first of several; -1 if there is none.
    p : array of shape (k,)
        Of the paired t-test against the best; 1 for the best itself.
    marked : array of bool of shape (k,)
        The best and those not significantly different from it, which papers print bold.
    """

    means: Array
    standard_errors: Array
    best: int
    p: Array
    marked: Array


def mark_best(errors: npt.ArrayLike, *, level: float = 0.01, test_ratio: float | None = None) -> Marks:
    """Find the best algorithm on a data set, and those that are not significantly different from it.

    Parameters
    ----------
    errors : array-like of shape (n_repeats, k)
        One column an algorithm; NaN where there is no result.  Two algorithms are compared over the repeats that both
        have.
    level : float, default=0.01
        An algorithm is significantly different if p <= level.
    test_ratio : float, optional
        Test rows divided by training rows, for Nadeau and Bengio's corrected test.

    Returns
    -------
    Marks

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(0, 0.01, (50, 1))
    >>> errors = np.array([0.10, 0.1001, 0.12]) + noise + rng.normal(0, 0.002, (50, 3))
    >>> mark_best(errors).marked.tolist()
    [True, True, False]
    """
    table = np.asarray(errors, float)
    if table.ndim != 2:
        raise ValueError(f"Errors must be a table, repeats by algorithms; this has the shape {table.shape}.")
    seen = np.isfinite(table)
    counts = seen.sum(axis=0)
    means = np.array([table[seen[:, j], j].mean() if n else np.nan for j, n in enumerate(counts)])
    spreads = np.array([table[seen[:, j], j].std(ddof=1) if n > 1 else np.nan for j, n in enumerate(counts)])
    best = int(np.nanargmin(np.round(means, 12))) if counts.any() else -1
    p = np.full(table.shape[1], np.nan)
    for j in np.flatnonzero(counts):
        both = seen[:, j] & seen[:, best]
        p[j] = 1.0 if j == best else paired_t_test(table[both, j], table[both, best], test_ratio=test_ratio).p
    standard_errors = spreads / np.sqrt(np.maximum(counts, 1))
    return Marks(means, standard_errors, best, p, p > level)
