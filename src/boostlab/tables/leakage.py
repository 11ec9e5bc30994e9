"""Columns that say the target outright: most likely written down after it, and not known when it is to be predicted.

A column is suspected that determines the target alone, and one that nearly does so where all other columns together say
much less: a strong column among others as strong (the odour of mushrooms, the petals of an iris) is no leak.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Array = npt.NDArray[Any]

_ERROR = 0.01  # of the rows that a column alone may get wrong to be suspected
_EXPLAINED = 0.99  # of the variance that a column alone explains
_STRONG_AREA = 0.98  # under the ROC curve of a column alone, from which on it is held against the others
_STRONG_SHARE = 0.96  # of the variance, likewise
_TIMES = 4.0  # as far from perfect as the column the others together have to be
_ROWS = 20_000  # looked at
_ROWS_OF_ALL = 4_000  # that all others together are judged by
_FEWEST = 10  # test rows of a class whose area says something


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
        off = _spread(y[test], guess if is_numeric else guess.argmax(axis=1), is_numeric)
        if is_numeric and base > 0 and off < (1.0 - _EXPLAINED) * base:
            found[j] = f"alone explains {100 * (1 - off / base):.1f} % of the variance"
        elif not is_numeric and off <= _ERROR and off <= base / 10:
            found[j] = f"alone predicts {100 * (1 - off):.3g} % of the rows"
        elif X.shape[1] > 1 and (merit := _merit(y[test], guess, is_numeric)) > _strong(is_numeric):
            others = _merit(y[test], _by_all_but(j, X, y, learn, test, is_numeric), is_numeric)
            if 1.0 - others > _TIMES * (1.0 - merit):
                found[j] = _said(merit, others, is_numeric)
    return found


def _merit(y: Array, guess: Array, is_numeric: bool) -> float:
    """Return how good a guess is, 1 at best: the mean area of the classes, or the share of the variance."""
    if is_numeric:
        return 1.0 - float(np.mean((y - guess) ** 2) / max(y.var(), np.finfo(float).tiny))
    counts = np.bincount(y, minlength=guess.shape[1])
    areas = [roc_auc_score(y == k, guess[:, k]) for k in np.flatnonzero(counts >= _FEWEST) if counts[k] < len(y)]
    return float(np.mean(areas)) if len(areas) > 1 else 0.0


def _strong(is_numeric: bool) -> float:
    return _STRONG_SHARE if is_numeric else _STRONG_AREA


def _said(merit: float, others: float, is_numeric: bool) -> str:
    if is_numeric:
        return f"alone explains {100 * merit:.0f} % of the variance, all others together {100 * max(others, 0.0):.0f} %"
    return f"alone has an AUC of {merit:.3f}, all others together {others:.3f}"


def _by_all_but(j: int, X: Array, y: Array, learn: Array, test: Array, is_numeric: bool) -> Array:
    """Return what a forest of all other columns says of the test rows."""
    others, learn = np.delete(np.arange(X.shape[1]), j), learn[:_ROWS_OF_ALL]
    kind = RandomForestRegressor if is_numeric else RandomForestClassifier
    forest = kind(50, min_samples_leaf=2, n_jobs=1, random_state=0).fit(X[np.ix_(learn, others)], y[learn])
    return _answers(forest, X[np.ix_(test, others)], int(y.max()) + 1, is_numeric)


def _by_category(column: Array, y: Array, learn: Array, test: Array, is_numeric: bool) -> Array:
    """Return what the rows of the same category say; the last category is for missing values."""
    size = int(np.nanmax(column, initial=0)) + 2
    cells = np.where(np.isnan(column), size - 1, column).astype(int)
    if is_numeric:
        counts = np.bincount(cells[learn], minlength=size)
        sums = np.bincount(cells[learn], weights=y[learn], minlength=size)
        return np.where(counts > 0, sums / np.maximum(counts, 1), y[learn].mean())[cells[test]]
    table = np.zeros((size, int(y.max()) + 1))
    np.add.at(table, (cells[learn], y[learn]), 1.0)
    shares = np.bincount(y[learn], minlength=table.shape[1]) / len(learn)
    table = (table + shares) / (table.sum(axis=1, keepdims=True) + 1.0)  # a new category says what all rows say
    return table[cells[test]]


def _by_tree(column: Array, y: Array, learn: Array, test: Array, is_numeric: bool) -> Array:
    """Return what a small tree of this column alone says."""
    tree = DecisionTreeRegressor(max_leaf_nodes=64) if is_numeric else DecisionTreeClassifier(max_leaf_nodes=16)
    return _answers(tree.fit(column[learn, None], y[learn]), column[test, None], int(y.max()) + 1, is_numeric)


def _answers(model: Any, X: Array, n_classes: int, is_numeric: bool) -> Array:
    """Return numbers, or the probabilities of all classes."""
    if is_numeric:
        return np.asarray(model.predict(X))
    p = np.zeros((len(X), n_classes))
    p[:, model.classes_] = model.predict_proba(X)
    return p


def _centre(y: Array, is_numeric: bool) -> float:
    return float(y.mean()) if is_numeric else float(np.bincount(y).argmax())


def _spread(y: Array, guess: Array, is_numeric: bool) -> float:
    return float(np.mean((y - guess) ** 2)) if is_numeric else float(np.mean(y != guess))
