"""Columns that say the target outright: most likely written down after it, and not known when it is to be predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_ERROR = 0.01  # of the rows that a column alone may get wrong to be suspected
_EXPLAINED = 0.99  # of the variance that a column alone explains
_BINS = 64
_ROWS = 20_000  # looked at


def leaks(X: Array, y: Array, categorical: list[int], is_numeric: bool) -> dict[int, str]:
    """Return the columns that determine the target nearly alone, and what they do.

    Half of the rows say what every value of a column goes with, the other half tests it, so a column of many values is
    not suspected for being long.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Numbers, categories as 0, 1, ...; NaN where missing.
    y : array of shape (n_rows,)
        Class numbers, or numbers.
    categorical : list of int
        The columns of categories.
    is_numeric : bool
        Whether y holds numbers.

    Returns
    -------
    dict from int to str

    Examples
    --------
    >>> y = np.arange(200) % 2
    >>> leaks(np.column_stack([y * 2.0, np.arange(200) // 2]), y, [], False)
    {0: 'says it for 100 % of the rows'}
    """
    rows = np.random.default_rng(0).permutation(len(y))[:_ROWS]
    learn, test = rows[::2], rows[1::2]
    if len(test) < 10:
        return {}
    base = _spread(y[test], np.full(len(test), _centre(y[learn], is_numeric)), is_numeric)
    found = {}
    for j in range(X.shape[1]):
        cells = _cells(X[:, j], j in categorical, rows)
        guess = _guess(cells[learn], y[learn], cells[test], is_numeric)
        off = _spread(y[test], guess, is_numeric)
        if is_numeric and base > 0 and off < (1.0 - _EXPLAINED) * base:
            found[j] = f"explains {100 * (1 - off / base):.1f} % of its variance"
        elif not is_numeric and off <= _ERROR and off <= base / 10:
            found[j] = f"says it for {100 * (1 - off):.3g} % of the rows"
    return found


def _cells(column: Array, is_category: bool, rows: Array) -> Array:
    """Return small numbers of the column's values, or of ranges of them; the last is for missing values."""
    there = ~np.isnan(column)
    values = np.unique(column[rows][there[rows]])
    if not is_category and len(values) > _BINS:
        values = np.unique(np.quantile(column[rows][there[rows]], np.linspace(0, 1, _BINS)))
    codes = np.searchsorted(values, column, side="right")
    return np.where(there, codes, len(values) + 1)


def _guess(learn: Array, y: Array, test: Array, is_numeric: bool) -> Array:
    size = int(max(learn.max(initial=0), test.max(initial=0))) + 1
    if is_numeric:
        counts = np.bincount(learn, minlength=size)
        sums = np.bincount(learn, weights=y, minlength=size)
        return np.where(counts > 0, sums / np.maximum(counts, 1), y.mean())[test]
    table = np.zeros((size, int(y.max()) + 1))
    np.add.at(table, (learn, y), 1.0)
    return np.where(table.sum(axis=1) > 0, table.argmax(axis=1), _centre(y, False))[test]


def _centre(y: Array, is_numeric: bool) -> float:
    return float(y.mean()) if is_numeric else float(np.bincount(y).argmax())


def _spread(y: Array, guess: Array, is_numeric: bool) -> float:
    return float(np.mean((y - guess) ** 2)) if is_numeric else float(np.mean(y != guess))
