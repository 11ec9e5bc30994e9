"""Full trees for labels, each grown in one compiled call (see `kernels.full` and `kernels.full_classes`).

The trees are those of `tree`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.followed_histograms import Rounded, scaled
from boostlab.backend.cpu.kernels.full_tree import CUT, FACTS, FEATURE, HIGH, LOW, LOWS, grow_full, let_leaves_vote
from boostlab.backend.cpu.kernels.full_tree_classes import class_grower, let_classes_vote
from boostlab.backend.cpu.kernels.histogram import SIGNED
from boostlab.backend.cpu.kernels.ordered import grow_ordered, put_in_order
from boostlab.contract import Task
from boostlab.learners.criteria import ByClass, gini
from boostlab.learners.criterion import Separable
from boostlab.learners.quick import Grown
from boostlab.learners.search import SplitSearch, tame

Array = npt.NDArray[Any]

DEEPEST = np.iinfo(np.int64).max
SMALL = 1 << 23  # cells up to which lists of rows may be kept, at 8 bytes each
SHARE = 14  # rows with a code other than 0 for every slot: if there are more, sums per slot are faster than lists


class Limits(Protocol):
    """What a tree may be (see `DecisionTree`)."""

    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: float
    min_samples_split: float
    ccp_alpha: float


def is_full(learner: Limits, search: SplitSearch) -> bool:
    """Return whether there is a compiled way: no limit on leaves, dense columns, no missing numbers."""
    if learner.max_leaf_nodes is not None or learner.min_samples_leaf > 1 or learner.ccp_alpha > 0:
        return False
    return search.codes.lonely and not misses_numbers(search)


def misses_numbers(search: SplitSearch) -> bool:
    """Return whether any row is in a slot that compiled trees do not look at.

    These are the slots of missing numbers, in columns of nothing else, too, and those of rows so light that the
    sample's masses do not show them.
    """
    taken = search.masses > 0
    if not search.rows.uniform:
        taken = search.codes.sums(np.ones(search.rows.n_rows, np.int64))[0][0] > 0
    return bool((taken & (search.masses == 0)).any() or taken[search.starts[1:] - 1][~search.categorical].any())


class FullGrower:
    """Growth of full trees on one sample, by lists of rows where these are small and by histograms elsewhere.

    Parameters
    ----------
    learner : DecisionTree
        For which `is_full` holds.
    search : SplitSearch
        The sample's columns.
    """

    def __init__(self, learner: Limits, search: SplitSearch) -> None:
        self.search, n = search, search.rows.n_rows
        self.widths = np.where(search.n_bins > 1, search.n_bins, 0).astype(np.int64)
        self.widths[search.categorical] = search.n_bins[search.categorical] + 1  # missing values are a category
        self.deepest = DEEPEST if learner.max_depth is None else learner.max_depth
        self.most = 2 * n if self.deepest >= n.bit_length() else min(2 * n, 2 << self.deepest)  # nodes
        self.fewest = float(learner.min_samples_split) if learner.min_samples_split > 2 else 0.0
        self.bits = n.bit_length()
        self.rounded = Rounded(search.rows, search.codes, SIGNED, sided=True)

    def serves(self, criterion: Separable) -> bool:
        """Return whether `grow` is growth by this criterion: one whose cost is the gini index of labels -1 and +1."""
        return criterion.labels and criterion.heaviest and criterion.cost is gini

    @cached_property
    def lists(self) -> tuple[Array, Array, Array, Array] | None:
        """The rows in the order of every column and where a column starts; room for a copy, and for nodes' stretches.

        None where they would be large, or longer than histograms by far, or where there are categories.
        """
        if self.search.categorical.any():
            return None
        n, d = self.search.rows.n_rows, len(self.widths)
        if n * d > SMALL or self.bits + int(self.widths.max()).bit_length() > 32:
            return None
        cells, starts = self.search.codes.to_read[0], np.empty(d + 1, np.int64)
        put_in_order(cells, self.widths, self.bits, starts, np.empty(0, np.uint32))
        if starts[-1] > SHARE * self.widths.sum():
            return None
        lists = np.empty(starts[-1], np.uint32)
        put_in_order(cells, self.widths, self.bits, starts, lists)
        return lists, starts, np.empty_like(lists), np.empty((n // 2 + 1, d, 2), np.int32)

    def grow_classes(self, task: Task, criterion: ByClass) -> Grown | None:
        """Grow a tree by a criterion of several classes, on columns of numbers; None if no split gains anything."""
        search, n = self.search, self.search.rows.n_rows
        count = search.counter(task.target)
        count.round(tame(task.weight), task.counts)
        whole, unit = count.whole, math.ldexp(1.0, -count.power)
        mass = self._mass(task.counts)
        members, nodes = np.arange(n, dtype=np.int64), np.empty((self.most, FACTS), np.int64)
        totals, gains = np.empty((self.most, count.width), np.int64), np.zeros(self.most)
        size = class_grower(criterion.fold, criterion.close)(
            *(search.codes.to_read[0], self.widths, count.q, count.classes, mass, self.fewest, self.deepest),
            *(unit, 1e-12 * whole * unit, members, nodes, totals, gains),
        )
        if size == 1:
            return None
        values = np.empty(size, criterion.name_type(count.width))
        votes = np.empty(n, values.dtype)
        wrong = let_classes_vote(nodes[:size], totals, members, values, votes)
        cuts, children = self._shape(nodes[:size])
        none = np.zeros(size + 1, np.int64), np.empty(0, bool)  # no categories
        arrays = *cuts, children, *none, values, gains[:size] / (whole * unit)
        return Grown(arrays, votes, (scaled(whole, count.power), scaled(wrong, count.power)))

    def _mass(self, counts: Array | None) -> Array:
        """Return how many examples the rows stand for; nothing if all are one."""
        if counts is not None:
            return counts.astype(np.float64)
        return np.empty(0) if self.search.rows.uniform else self.search.rows.masses.astype(np.float64)

    def _shape(self, nodes: Array) -> tuple[tuple[Array, Array, Array], Array]:
        """Return the nodes' cuts and children as a `Tree` has them."""
        inner = nodes[:, FEATURE] >= 0
        at = np.where(inner, self.search.starts[np.maximum(nodes[:, FEATURE], 0)] + nodes[:, CUT], -1)
        cuts = self.search.cuts_at(at, np.zeros(len(nodes), np.int64))
        return cuts, np.where(inner[:, None], nodes[:, [LOW, HIGH]], 0)

    def grow(self, task: Task) -> Grown | None:
        """Grow a tree by the gini index of labels -1 and +1; None if no split gains anything."""
        search, rows, n = self.search, self.search.rows, self.search.rows.n_rows
        weight, whose = tame(task.weight), self.rounded
        if task.counts is None:
            whose.update(weight, task.target)
        else:
            whose = Rounded(rows, search.codes, SIGNED, sided=True)
            whose.count(weight, task.target, task.counts)
        q, power, whole = whose.q, whose.power, whose.gross
        unit = math.ldexp(1.0, -power)
        limits = q, self._mass(task.counts), self.fewest, self.deepest, unit, 1e-12 * whole * unit
        members, votes = np.arange(n, dtype=np.int64), np.empty(n, np.int8)
        nodes, low = np.empty((self.most, FACTS), np.int64), np.empty(0, bool)
        sums, gains = np.empty((self.most, 2), np.int64), np.zeros(self.most)
        cells, words, _ = search.codes.to_read
        if self.lists is not None:
            lists, starts, copy, bounds = self.lists
            copy[:] = lists
            size = grow_ordered(
                cells, copy, starts, self.widths, self.bits, *limits, members, nodes, sums, gains, bounds
            )
        else:
            columns = search.starts, search.categorical, search.filled, search.masses
            size, low = grow_full(cells, words, self.widths, *columns, *limits, members, nodes, sums, gains)
        if size == 1:
            return None
        nodes, sums, gains = nodes[:size], sums[:size], gains[:size]
        wrong = let_leaves_vote(nodes, sums, members, votes)
        cuts, children = self._shape(nodes)
        values = np.where(sums[:, 1] >= sums[:, 0], 1.0, -1.0)
        categories = _categories(search, nodes, low, cuts) if len(low) else (np.zeros(size + 1, np.int64), low)
        arrays = *cuts, children, *categories, values, gains / (whole * unit)
        return Grown(arrays, votes, (scaled(whole, power), scaled(wrong, power)))


def _categories(search: SplitSearch, nodes: Array, low: Array, cuts: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Return where every node's low categories start, and these; correct the cuts where categories are split."""
    _, threshold, missing_low = cuts
    size, features = np.zeros(len(nodes), np.int64), nodes[:, FEATURE]
    parts = []
    for node in np.flatnonzero((features >= 0) & search.categorical[features]):
        first, size[node] = nodes[node, LOWS], search.n_bins[features[node]]
        threshold[node], missing_low[node] = 0.0, low[first + size[node]]
        parts.append(low[first : first + size[node]])
    return np.append(0, np.cumsum(size)), np.concatenate(parts)
