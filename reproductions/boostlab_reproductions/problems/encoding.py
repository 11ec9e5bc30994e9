"""Tables with categories, and the three ways to hand them to a booster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """A table whose categorical columns hold the places of their words."""

    X: Any
    names: list[str]
    words: Mapping[str, tuple[str, ...]]

    def named(self, nominal: Sequence[str]) -> NamedColumns:
        """Return the table with some numeric columns turned into categories."""
        if not nominal:
            return self
        X, words = self.X.copy(), dict(self.words)
        for name in nominal:
            j = self._place(name)
            seen = np.isfinite(X[:, j])
            values, places = np.unique(X[seen, j], return_inverse=True)
            X[seen, j] = places
            words[name] = tuple(f"{v:g}" for v in values)
        return NamedColumns(X, self.names, words)

    def ordered(self, orders: Mapping[str, tuple[str, ...]]) -> NamedColumns:
        """Return the table with the words of some columns in another order."""
        if not orders:
            return self
        X, words = self.X.copy(), dict(self.words)
        for name, order in orders.items():
            if sorted(order) != sorted(words[name]):
                raise ValueError(f"Column {name!r} has the words {words[name]}, not {order}.")
            j = self._place(name)
            seen = np.isfinite(X[:, j])
            X[seen, j] = np.array([order.index(w) for w in words[name]], float)[X[seen, j].astype(int)]
            words[name] = order
        return NamedColumns(X, self.names, words)

    def without(self, drop: Sequence[str]) -> NamedColumns:
        """Return the table without some columns."""
        if not drop:
            return self
        gone = {self._place(name) for name in drop}
        left = [j for j in range(len(self.names)) if j not in gone]
        words = {name: w for name, w in self.words.items() if name not in drop}
        return NamedColumns(self.X[:, left], [self.names[j] for j in left], words)

    def take(self, rows: Array) -> NamedColumns:
        """Return some rows."""
        if len(rows) == self.X.shape[0]:
            return NamedColumns(self.X.copy(), self.names, self.words)
        return NamedColumns(self.X[rows], self.names, self.words)

    def holds(self, name: str, word: str) -> Array:
        """Return which rows have this word in this column."""
        return np.asarray(self.X[:, self._place(name)] == self.words[name].index(word))

    def complete(self) -> Array:
        """Return which rows have no missing value."""
        if not isinstance(self.X, np.ndarray):
            return np.ones(self.X.shape[0], bool)
        return np.asarray(~np.isnan(self.X).any(axis=1))

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"There is no column {name!r}; the columns are {', '.join(self.names)}.")
        return self.names.index(name)


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table of numbers; `groups` says which column of words each was made of, or -1."""

    X: Any
    names: list[str]
    categorical: list[int]
    groups: Array


def encoded(columns: NamedColumns, encoding: str, missing_is_category: bool = False) -> Encoded:
    """Return a table of numbers.

    Parameters
    ----------
    columns : NamedColumns
        The table.
    encoding : {"native", "one-hot", "integers"}
        Categories stay, become one column a word (one column in all where there are two words), or plain numbers.
    missing_is_category : bool
        Whether a missing category is a word of its own; else it is NaN in all columns that are made of it.

    Examples
    --------
    >>> columns = NamedColumns(np.array([[0.0, 5.0], [2.0, 6.0], [np.nan, 7.0]]), ["c", "x"], {"c": ("a", "b", "d")})
    >>> encoded(columns, "one-hot").X.tolist()
    [[1.0, 0.0, 0.0, 5.0], [0.0, 0.0, 1.0, 6.0], [nan, nan, nan, 7.0]]
    >>> encoded(columns, "one-hot", missing_is_category=True).names
    ['c=a', 'c=b', 'c=d', 'c=?', 'x']
    """
    words = dict(columns.words)
    X = columns.X
    if missing_is_category:
        for name in words:
            j = columns.names.index(name)
            lost = np.isnan(X[:, j])
            if lost.any():
                X[lost, j] = len(words[name])
                words[name] = (*words[name], "?")
    origins = [j if name in words else -1 for j, name in enumerate(columns.names)]
    if encoding != "one-hot" or not words:
        categorical = [j for j, name in enumerate(columns.names) if name in words] if encoding == "native" else []
        return Encoded(X, columns.names, categorical, np.array(origins))
    parts, names, groups = [], [], []
    for j, name in enumerate(columns.names):
        column = X[:, [j]]
        if name not in words:
            made, labels = column, [name]
        else:
            places = np.arange(len(words[name]))
            if len(places) == 2:
                places = places[1:]
            made = np.where(np.isnan(column), np.nan, column == places)
            labels = [f"{name}={words[name][k]}" for k in places]
        parts.append(made)
        names += labels
        groups += [origins[j]] * len(labels)
    return Encoded(np.hstack(parts), names, [], np.array(groups))


def filled(X: Any, train: Array, groups: Array) -> Any:
    """Return a table without missing values: the mean or the most frequent category of the training rows.

    Parameters
    ----------
    X : array or sparse matrix
        A sparse matrix has no missing values and is returned as it is.
    train : array of int or bool
        The rows to learn from.
    groups : array of int
        For every column the categorical column of which it was made, or -1.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0, 0.0], [3.0, 0.0, 1.0], [np.nan, np.nan, np.nan], [9.0, 0.0, 1.0]])
    >>> filled(X, np.array([0, 1, 3]), np.array([-1, 1, 1])).tolist()[2]
    [4.333333333333333, 0.0, 1.0]
    """
    if not isinstance(X, np.ndarray) or not np.isnan(X).any():
        return X
    X, learnt = X.copy(), X[train]
    for j in np.flatnonzero(np.isnan(X).any(axis=0)):
        together = np.array([j]) if groups[j] < 0 else np.flatnonzero(groups == groups[j])
        lost = np.isnan(X[:, j])
        if lost.any():  # else the columns of this origin are filled already
            seen = learnt[~np.isnan(learnt[:, j])][:, together]
            X[np.ix_(lost, together)] = _typical(seen, bool(groups[j] >= 0))
    return X


def _typical(seen: Array, words: bool) -> Array:
    """Return the row to fill in: zeros if nothing was seen, and of several most frequent categories the first."""
    if not len(seen):
        return np.zeros(seen.shape[1])
    if not words:
        return np.asarray(seen.mean(axis=0))
    values, counts = np.unique(seen, axis=0, return_counts=True)
    return np.asarray(values[np.argmax(counts)])
