"""Full trees for labels and classes, each grown in one compiled call (kernels/full_tree.py, full_tree_classes.py)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.followed_histograms import Rounded, scaled
from boostlab.backend.cpu.kernels.full_tree import CUT, FACTS, FEATURE, HIGH, LOW, LOWS, grow_full, let_leaves_vote
from boostlab.backend.cpu.kernels.full_tree_classes import class_grower, let_classes_vote
from boostlab.contract import Stop, Task
from boostlab.contract.criterion import SIGNED, Separable, explains
from boostlab.contract.growth import FLOOR, NO_SPLIT, Grown, Limits, Strategy, TreeArrays, deepest
from boostlab.contract.slots import Slots

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]

CROWDED = 64  # rows a leaf of a tree with a limit on its depth, from which on `best_first` is faster: 1.1 to 2.2 times


def _is_gini(criterion: Separable) -> bool:
    """Return whether the criterion's cost is the gini index of labels -1 and +1, which is what is compiled."""
    return criterion.labels and criterion.heaviest and explains(criterion.cost) == 2.0


class Full(Strategy):
    """Growth without a limit on leaves, by histograms of nodes.

    One thread grows a tree thirteen times as fast as two that ask node by node (60,000 x 20 numbers).

    Parameters
    ----------
    learner : Limits
        When to stop.
    rows : CpuSample
        The sample.
    """

    name = "full"

    @classmethod
    def serves(cls, learner: Limits, rows: CpuSample, criterion: Separable, task: Task) -> bool:
        """Labels by the gini index, and classes on numbers; dense columns of which no number is missing."""
        if learner.max_leaf_nodes is not None or learner.min_samples_leaf > 1 or learner.ccp_alpha > 0:
            return False
        if learner.constraints is not None:
            return False
        if not isinstance(rows.codes, DenseCodes) or task.by_label or rows.slots.misses_numbers or rows.hides_rows:
            return False
        return not rows.slots.categories if criterion.by_class else _is_gini(criterion)

    @classmethod
    def preference(cls, learner: Limits, rows: CpuSample, criterion: Separable, task: Task) -> int:
        """Above `best_first`, but where leaves have many rows."""
        return 1 if CROWDED << min(deepest(learner), 62) <= rows.n_rows else 3

    def __init__(self, learner: Limits, rows: CpuSample) -> None:
        super().__init__(learner, rows)
        n, self.slots, self.widths = rows.n_rows, rows.slots, widths_of(rows.slots)
        self.deepest = deepest(learner)
        self.most = 2 * n if self.deepest >= n.bit_length() else min(2 * n, 2 << self.deepest)  # nodes
        self.fewest = float(learner.min_samples_split) if learner.min_samples_split > 2 else 0.0
        self.rounded = Rounded(rows.masses, rows.codes, SIGNED, sided=True)

    def grow(self, criterion: Separable, task: Task) -> Grown | Stop:
        """Grow a tree."""
        return self._grow_classes(task, criterion) if criterion.by_class else self._grow_labels(task)

    def _grow_classes(self, task: Task, criterion: Any) -> Grown | Stop:
        """Grow a tree by a criterion of several classes, on columns of numbers."""
        rows, n = self.rows, self.rows.n_rows
        count = rows.counter(task.target)
        count.round(rows.tame(task.weight), task.counts)
        whole, unit = count.whole, math.ldexp(1.0, -count.power)
        mass = self._mass(task.counts)
        members, nodes = np.arange(n, dtype=np.int64), np.empty((self.most, FACTS), np.int64)
        totals, gains = np.empty((self.most, count.width), np.int64), np.zeros(self.most)
        size = class_grower(criterion.fold, criterion.close)(
            *(rows.codes.to_read[0], self.widths, count.q, count.classes, mass, self.fewest, self.deepest),
            *(unit, FLOOR * whole * unit, members, nodes, totals, gains),
        )
        if size == 1:
            return NO_SPLIT
        values = np.empty(size, criterion.name_type(count.width))
        votes = np.empty(n, values.dtype)
        wrong = let_classes_vote(nodes[:size], totals, members, values, votes)
        cuts, children = self._shape(nodes[:size])
        none = np.zeros(size + 1, np.int64), np.empty(0, bool)  # no categories
        arrays = *cuts, children, *none, values, gains[:size] / (whole * unit)
        return Grown(TreeArrays(*arrays), votes, (scaled(whole, count.power), scaled(wrong, count.power)))

    def _mass(self, counts: Array | None) -> Array:
        """Return how many examples the rows stand for; nothing if all are one."""
        if counts is not None:
            return counts.astype(np.float64)
        masses = self.rows.masses
        return np.empty(0) if masses.uniform else masses.masses.astype(np.float64)

    def _shape(self, nodes: Array) -> tuple[tuple[Array, Array, Array], Array]:
        """Return the nodes' cuts and children as a `Tree` has them."""
        inner = nodes[:, FEATURE] >= 0
        at = np.where(inner, self.slots.starts[np.maximum(nodes[:, FEATURE], 0)] + nodes[:, CUT], -1)
        cuts = self.slots.cuts_at(at, np.zeros(len(nodes), np.int64))
        return cuts, np.where(inner[:, None], nodes[:, [LOW, HIGH]], 0)

    def _grow_labels(self, task: Task) -> Grown | Stop:
        """Grow a tree by the gini index of labels -1 and +1."""
        rows, slots, n = self.rows, self.slots, self.rows.n_rows
        weight, whose = rows.tame(task.weight), self.rounded
        if task.counts is None:
            whose.update(weight, task.target)
        else:
            whose = Rounded(rows.masses, rows.codes, SIGNED, sided=True)
            whose.count(weight, task.target, task.counts)
        assert whose.q is not None
        q, power, whole = whose.q, whose.power, whose.gross
        unit = math.ldexp(1.0, -power)
        limits = self.fewest, self.deepest, unit, FLOOR * whole * unit
        members, votes = np.arange(n, dtype=np.int64), np.empty(n, np.int8)
        nodes = np.empty((self.most, FACTS), np.int64)
        sums, gains = np.empty((self.most, 2), np.int64), np.zeros(self.most)
        size, low = self._grow_nodes(q, self._mass(task.counts), limits, (members, nodes, sums, gains))
        if size == 1:
            return NO_SPLIT
        nodes, sums, gains = nodes[:size], sums[:size], gains[:size]
        wrong = let_leaves_vote(nodes, sums, members, votes)
        cuts, children = self._shape(nodes)
        values = np.where(sums[:, 1] >= sums[:, 0], 1.0, -1.0)
        categories = _categories(slots, nodes, low, cuts) if len(low) else (np.zeros(size + 1, np.int64), low)
        arrays = *cuts, children, *categories, values, gains / (whole * unit)
        return Grown(TreeArrays(*arrays), votes, (scaled(whole, power), scaled(wrong, power)))

    def _grow_nodes(self, q: Array, mass: Array, limits: Any, grown: Any) -> tuple[int, Array]:
        """Write the nodes; return how many, and the low categories of those that have some."""
        slots, (cells, words, _) = self.slots, self.rows.codes.to_read
        columns = slots.starts, slots.categorical, slots.filled, slots.masses
        size, low = grow_full(cells, words, self.widths, columns, q, mass, limits, grown)
        return size, low


def widths_of(slots: Slots) -> Array:
    """Return how many codes every column has that nodes are parted by."""
    widths = np.where(slots.n_bins > 1, slots.n_bins, 0).astype(np.int64)
    widths[slots.categorical] = slots.n_bins[slots.categorical] + 1  # missing values are a category
    return widths


def _categories(slots: Slots, nodes: Array, low: Array, cuts: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Return where every node's low categories start, and these; correct the cuts where categories are split."""
    _, threshold, missing_low = cuts
    size, features = np.zeros(len(nodes), np.int64), nodes[:, FEATURE]
    parts = []
    for node in np.flatnonzero((features >= 0) & slots.categorical[features]):
        first, size[node] = nodes[node, LOWS], slots.n_bins[features[node]]
        threshold[node], missing_low[node] = 0.0, low[first + size[node]]
        parts.append(low[first : first + size[node]])
    return np.append(0, np.cumsum(size)), np.concatenate(parts)
