"""Exact Shapley values of a vote's scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.shapley import add_shapley, background_patterns, fill_tables, spread, trace_paths
from boostlab.data.table import Table
from boostlab.explain.forest import Forest, steps_and_trees
from boostlab.explain.parts import AdditivePart, AdditiveParts, parts_of, problems
from boostlab.explain.reference import Reference as Background
from boostlab.explain.reference import dense, shares

Array = npt.NDArray[Any]

TABLE = 12  # features on a path up to which a leaf has a table of all patterns
WIDEST = 62  # features on a path: patterns are 64-bit numbers
MOST_NUMBERS = 1 << 22  # numbers in the tables of trees that are worked on together
BLOCK = 2048  # rows that are worked on together
_INVERSE = np.array(
    [[factorial(k) * factorial(n - 1 - k) / factorial(n) if k < n else 0.0 for k in range(64)] for n in range(65)]
)


@dataclass(frozen=True, eq=False)
class Contributions:
    """What every feature adds to the scores of some rows.

    Attributes
    ----------
    values : array of shape (n_rows, n_features), or (n_rows, n_features, n_outputs)
        Shapley values in the units of `decision_function` (of `predict`, for a regressor).
    base_values : array of shape (n_rows,) or (n_rows, n_outputs)
        The mean score; with all values of a row it adds up to the row's score.
    data : array of shape (n_rows, n_features)
        The rows as numbers; categories are numbers from 0, missing values NaN.
    feature_names : list of str
    output_names : list of str
        The class that each score is for; for two classes the second one.
    categories : list
        For every column its categories in order, or None.
    """

    values: Array
    base_values: Array
    data: Array
    feature_names: list[str]
    output_names: list[str]
    categories: list[list[Any] | None]

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype)

    def __getitem__(self, rows: Any) -> Contributions:
        """Return those of some rows."""
        rows = np.atleast_1d(np.arange(len(self))[rows])
        own = self.values[rows], self.base_values[rows], self.data[rows]
        return Contributions(*own, self.feature_names, self.output_names, self.categories)

    def __repr__(self) -> str:
        n, d = self.values.shape[:2]
        return f"<Contributions of {d} features to {len(self.output_names)} score(s) of {n} row(s)>"

    @property
    def scores(self) -> Array:
        """The scores that they add up to."""
        return self.base_values + self.values.sum(axis=1)

    def shown(self, row: int, feature: int) -> str:
        """Return a cell as people write it.

        Parameters
        ----------
        row, feature : int
            Which cell.

        Returns
        -------
        str
        """
        x, known = float(self.data[row, feature]), self.categories[feature]
        if np.isnan(x):
            return "missing"
        return f"{x:g}" if known is None else str(known[int(x)])

    def to_shap(self) -> Any:
        """Return a `shap.Explanation`, which all plots of the package shap take; it names categories."""
        import shap

        display = self.data.astype(object)
        for j, known in enumerate(self.categories):
            if known is not None:
                x = self.data[:, j]
                words = np.array([*map(str, known), "missing"], object)
                display[:, j] = words[np.where(np.isnan(x), len(known), x).astype(np.intp)]
        return shap.Explanation(
            self.values,
            base_values=self.base_values,
            data=self.data,
            display_data=display,
            feature_names=self.feature_names,
            output_names=self.output_names if self.values.ndim == 3 else None,
        )


def contributions(model: Any, X: Any, background: Any = None) -> Contributions:
    """Return the exact Shapley values of a booster's scores.

    Parameters
    ----------
    model : Booster
        Fitted.
    X : array-like of shape (n_rows, n_features)
        Rows to explain.
    background : array-like of shape (m, n_features), optional
        Rows that stand for "not known" (interventional values, exact for these rows; 100 to 1,000 are usual).  Without
        them values are path-dependent, by the shares in which the training rows part at every node (counted on at most
        4,096 of them).

    Returns
    -------
    Contributions
        Stumps: the step functions less their means, either way.

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, explain
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> told = explain.contributions(model, X)
    >>> bool(abs(told.scores - model.decision_function(X)).max() < 1e-12)
    True
    """
    parts = parts_of(model)
    table = model._table(X)
    rows = None if background is None else _background(model, parts, background)
    return of_parts(parts, table, rows)


def side_by_side(told: Sequence[Contributions], code: Array, classes: Array) -> Contributions:
    """Return the contributions to the scores of several binary problems as one.

    Parameters
    ----------
    told : sequence of Contributions
        One a problem, of the same rows.
    code : array of shape (n_classes, n_problems)
        Which side (-1 or +1) a class is on in every problem; 0: it takes no part.
    classes : array
        The labels.
    """
    first = told[0]
    named = problems([str(c) for c in classes], code)
    if len(told) == 1:
        return replace(first, output_names=named)
    values = np.stack([one.values for one in told], axis=2)
    base = np.stack([one.base_values for one in told], axis=1)
    return replace(first, values=values, base_values=base, output_names=named)


def _background(model: Any, parts: AdditiveParts, background: Any) -> Background:
    table = model._table(background)
    return Background(parts.used, dense(table.X, slice(None), parts.used), np.ones(table.n_rows))


def of_parts(parts: AdditiveParts, table: Table, background: Background | None) -> Contributions:
    """Return the contributions of all votes of a model.

    Parameters
    ----------
    parts : AdditiveParts
        The model.
    table : Table
        The rows.
    background : Background, optional
        Rows that stand for features that are left out.
    """
    n, d, used = table.n_rows, len(parts.names), parts.used
    values, base = np.zeros((n, d, len(parts.outputs))), np.zeros(len(parts.outputs))
    first = 0
    for part in parts.votes:
        last = first + part.matrix.shape[1]
        base[first:last] = _add(part, used, table, background, values[:, :, first:last])
        first = last
    data = dense(table.X, slice(None), np.arange(d))
    bases = np.broadcast_to(base, (n, len(base))).copy()
    if len(parts.outputs) == 1:
        values, bases = values[:, :, 0], bases[:, 0]
    return Contributions(values, bases, data, parts.names, parts.outputs, parts.categories)


def _add(part: AdditivePart, used: Array, table: Table, background: Background | None, out: Array) -> Array:
    """Write one vote's contributions to out[row, feature, output], and return its mean scores."""
    forest = part.forest
    if background is not None:
        forest = forest.with_shares(shares(forest, background))  # exact means of the step functions
    elif forest.low_share is None and forest.n_trees:
        raise ValueError(
            "This model kept no training rows to compare with (it was loaded from an old file, or trained on a "
            "stream); give rows of your own: contributions(X, background=rows)."
        )
    constant, steps, trees = steps_and_trees(forest)
    mean = constant + sum((f.mean for f in steps), np.zeros(forest.width))

    def over_rows(add: Callable[[Array, Array], None], cells: int) -> None:
        def work(first: int, last: int) -> None:
            for start in range(first, last, BLOCK):
                stop = min(start + BLOCK, last)
                x = np.ascontiguousarray(dense(table.X, slice(start, stop), used).T)  # one line a column
                phi = np.zeros((forest.width, *x.shape))
                add(x, phi)
                out[start:stop, used] += phi.transpose(2, 1, 0) @ part.matrix

        spread(work, table.n_rows, table.n_rows * cells, table.threads)

    def add_steps(x: Array, phi: Array) -> None:
        for f in steps:
            k = int(np.searchsorted(used, f.feature))
            phi[:, k] += (f(x[k]) - f.mean).T

    over_rows(add_steps, 8 * len(used))
    for group in groups(trees.in_columns(used)):
        deep = Shapley(group, background, table.n_rows, table.threads)
        mean = mean + deep.mean
        over_rows(deep.add, 64 * group.n_trees)
    return part.base + mean @ part.matrix


def groups(forest: Forest) -> Iterator[Forest]:
    """Yield the trees in groups whose tables may fit into a cache together."""
    if not forest.n_trees:
        return
    leaves = forest.feature < 0
    m = np.where(leaves, paths_of(forest)[-1], 0)
    size = np.bincount(forest.tree_of, m * np.exp2(np.minimum(m, TABLE)), forest.n_trees)
    place = np.cumsum(size) // MOST_NUMBERS
    for group in np.unique(place):
        yield forest.take(np.flatnonzero(place == group))


def paths_of(forest: Forest) -> tuple[Array, Array, Array, Array, Array]:
    """Return the features on the path to every node (see `trace_paths`): start, path, share, slot, count."""
    assert forest.low_share is not None
    start = np.concatenate([[0], np.cumsum(forest.depth)]).astype(np.int64)
    path, share = np.empty(start[-1], np.int64), np.empty(start[-1])
    slot = np.zeros(len(forest.feature), np.int64)
    tree = forest.feature, forest.parent, forest.children, forest.low_share
    return start, path, share, slot, trace_paths(*tree, start, path, share, slot)


class Shapley:
    """Shapley values of some trees, whose features are numbers of columns.

    Parameters
    ----------
    forest : Forest
        The trees, with shares.
    background : Background, optional
        Rows that stand for features that are left out, in place of shares.
    n_rows, threads : int
        How many rows are to be explained (tables pay from some on), and by how many threads.
    """

    def __init__(self, forest: Forest, background: Background | None, n_rows: int, threads: int) -> None:
        self.forest = forest
        self.paths = _, _, _, slot, count = paths_of(forest)
        if count.max(initial=0) > WIDEST:
            raise ValueError(
                f"A tree asks {count.max()} different features on one path, and contributions go up to {WIDEST}; grow "
                "trees with a smaller max_depth."
            )
        self.leaves = np.flatnonzero(forest.feature < 0)
        self.nodes = forest.nodes
        none = np.empty(0, np.uint64), np.empty(0), np.zeros(len(self.leaves) + 1, np.int64)
        self.background: Any = none
        if background is not None:
            mass = background.mass / background.mass.sum()
            columns = np.ascontiguousarray(background.X.T)
            self.background = background_patterns(columns, mass, forest.roots, self.nodes, slot, count, self.leaves)
        m = count[self.leaves]
        sizes = np.where((m <= TABLE) & (np.exp2(m) <= 2 * n_rows), m << np.minimum(m, TABLE), -1)
        kept = np.maximum(sizes, 0)
        self.place = np.where(sizes >= 0, np.cumsum(kept) - kept, -1)
        self.tables = np.empty(int(kept.sum()))
        spread(self._fill, len(self.leaves), 64 * len(self.tables), threads)

    def _fill(self, first: int, last: int) -> None:
        start, _, share, _, count = self.paths
        fill_tables(first, last, self.leaves, start, count, share, self.background, _INVERSE, self.place, self.tables)

    @property
    def mean(self) -> Array:
        """The mean raw scores over the reference or background rows."""
        return self.forest.cover[self.leaves] @ self.forest.values[self.leaves]

    def add(self, x: Array, phi: Array) -> None:
        """Add the values of rows x[column, row] to phi[score, column, row]."""
        f = self.forest
        more = self.leaves, self.background, _INVERSE, self.place, self.tables, f.values
        add_shapley(x, f.roots, self.nodes, self.paths, *more, phi)
