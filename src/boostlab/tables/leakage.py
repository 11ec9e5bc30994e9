"""Columns that say the target outright: most likely written down after it, and not known when it is to be predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Array = npt.NDArray[Any]

_ERROR = 0.01  # of the rows that a column alone may get wrong to be suspected
_EXPLAINED = 0.99  # of the variance that a column alone explains
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
    {0: 'alone predicts 100 % of the rows'}
    """
    rows = leak_rows(len(y))
    return leaks_of(X[rows], y[rows], categorical, is_numeric)


def leak_rows(n_rows: int) -> Array:
    """Return the rows that are looked at."""
    return np.random.default_rng(0).permutation(n_rows)[:_ROWS]


def leaks_of(X: Array, y: Array, categorical: list[int], is_numeric: bool) -> dict[int, str]:
    """Return what `leaks` does, given the rows that are looked at, in their order."""
    learn, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    if len(test) < 10:
        return {}
    base = _spread(y[test], np.full(len(test), _centre(y[learn], is_numeric)), is_numeric)
    found = {}
    for j in range(X.shape[1]):
        guess = (_by_category if j in categorical else _by_tree)(X[:, j], y, learn, test, is_numeric)
        off = _spread(y[test], guess, is_numeric)
        if is_numeric and base > 0 and off < (1.0 - _EXPLAINED) * base:
            found[j] = f"alone explains {100 * (1 - off / base):.1f} % of the variance"
        elif not is_numeric and off <= _ERROR and off <= base / 10:
            found[j] = f"alone predicts {100 * (1 - off):.3g} % of the rows"
    return found


def _by_category(column: Array, y: Array, learn: Array, test: Array, is_numeric: bool) -> Array:
    """Return what the rows of the same category say; the last category is for missing values."""
    size = int(np.nanmax(column, initial=0)) + 2
    cells = np.where(np.isnan(column), size - 1, column).astype(int)
    centre = _centre(y[learn], is_numeric)
    if is_numeric:
        counts = np.bincount(cells[learn], minlength=size)
        sums = np.bincount(cells[learn], weights=y[learn], minlength=size)
        return np.where(counts > 0, sums / np.maximum(counts, 1), centre)[cells[test]]
    table = np.zeros((size, int(y.max()) + 1))
    np.add.at(table, (cells[learn], y[learn]), 1.0)
    return np.where(table.sum(axis=1) > 0, table.argmax(axis=1), centre)[cells[test]]


def _by_tree(column: Array, y: Array, learn: Array, test: Array, is_numeric: bool) -> Array:
    """Return what a small tree of this column alone says."""
    tree = DecisionTreeRegressor(max_leaf_nodes=64) if is_numeric else DecisionTreeClassifier(max_leaf_nodes=16)
    guess: Array = tree.fit(column[learn, None], y[learn]).predict(column[test, None])
    return guess


def _centre(y: Array, is_numeric: bool) -> float:
    return float(y.mean()) if is_numeric else float(np.bincount(y).argmax())


def _spread(y: Array, guess: Array, is_numeric: bool) -> float:
    return float(np.mean((y - guess) ** 2)) if is_numeric else float(np.mean(y != guess))
