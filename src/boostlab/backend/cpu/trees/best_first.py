"""Trees grown best first in one compiled call (see `kernels.best_first`): a limit on leaves, or few rows and slots.

A round's trees for several classes are grown in one call, by all threads.

Measured against `general`: on 500 rows of 30 columns a tree takes a fifth of the time; on 100,000 of 50 columns half;
on 50,000 sparse rows of 12 stored cells half.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.followed_histograms import Follower, Rounded, scaled
from boostlab.backend.cpu.kernels.best_first import leaves_ahead, most_histograms
from boostlab.backend.cpu.kernels.grown_tree import write_trees, write_votes
from boostlab.backend.cpu.kernels.node_facts import CUT, FACTS
from boostlab.backend.cpu.kernels.tree_histogram import class_totals
from boostlab.backend.cpu.kernels.tree_kinds import classes_grower, labels_grower, numbers_grower
from boostlab.backend.cpu.pairs import Pair, shown
from boostlab.backend.cpu.threads import is_worth
from boostlab.backend.cpu.trees.growth_codes import growth_codes
from boostlab.contract import Stop, Task
from boostlab.contract.criterion import SIGNED, Separable, explains
from boostlab.contract.growth import FLOOR, NO_SPLIT, Grown, Limits, Strategy, TreeArrays, deepest, most_leaves
from boostlab.contract.voter import compact

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]

MOST_INTEGERS = 1 << 24  # integers in the histograms of all leaves
TOGETHER = 1 << 21  # rows of all trees that grow together, 40 bytes each: one tree of a larger table keeps threads busy
NO_LOWS = np.empty(0, bool)
NOTHING = np.zeros(1)  # what a tree votes that is not split


class RoundedRows(NamedTuple):
    """What is summed, tree after tree: the rows as integers, and what these are worth."""

    source: tuple[Array, ...]  # of the rows, as the kernel wants them, a row a tree
    totals: list[list[int]]  # over all rows, as the kernel's histogram has them
    units: Array  # what a unit of a sum is worth
    gross: Array  # the sums of magnitudes
    powers: list[int]
    wholes: list[float]  # what impurities are made of
    roots: Callable[[Array], object] | None = None  # write the histograms of all rows, where they are known
    centres: Sequence[float] = (0.0,)  # of the targets
    spent: Array | None = None  # memory of integers, a row a tree, that votes may be written to afterwards


class BestFirst(Strategy):
    """Growth of a node after the other by one compiled call, the node with the largest gain first.

    Parameters
    ----------
    learner : Limits
        When to stop.
    rows : CpuSample
        The sample.
    team : int, optional
        How many threads grow a tree together; as many as the sample has, if there is enough to share.
    """

    name = "best_first"

    @classmethod
    def serves(cls, learner: Limits, rows: CpuSample, criterion: Separable, task: Task) -> bool:
        """Labels, numbers and classes (these on numbers only), histograms of all leaves in memory."""
        if learner.min_samples_leaf > 1 or learner.min_samples_split > 2 or learner.ccp_alpha > 0:
            return False
        if learner.constraints is not None:
            return False
        codes = rows.codes
        if task.by_label or codes.n_rows >= 2**31:
            return False
        if criterion.by_class:
            n_channels = rows.n_named(task.target)
            if rows.slots.categories:
                return False
        else:
            n_channels = 2
            if not criterion.two or not (criterion.labels or criterion.residual is not None):
                return False
        return n_channels * codes.n_slots * most_leaves(learner, codes.n_rows) <= MOST_INTEGERS and not rows.hides_rows

    @classmethod
    def preference(cls, learner: Limits, rows: CpuSample, criterion: Separable, task: Task) -> int:
        """Above `general`."""
        return 2

    def __init__(self, learner: Limits, rows: CpuSample, team: int | None = None) -> None:
        super().__init__(learner, rows)
        codes, slots = rows.codes, rows.slots
        self.codes, self.slots, self.cells = codes, slots, growth_codes(codes)
        self.limit = most_leaves(learner, codes.n_rows)
        worth = codes.threads if is_worth(codes.n_rows * codes.width // 2, codes.threads) else 1
        self.team, self.together = worth if team is None else team, TOGETHER
        self.columns = slots.starts, *slots.count_cuts(), slots.filled, slots.categorical
        self.points = slots.point_starts, slots.points, slots.some_missing, slots.heavier_below
        self.workspaces: dict[tuple[int, int, int], Workspace] = {}  # by the numbers of channels, trees and threads
        self.follower: Follower | None = None
        self.pair: Pair | None = None

    def grow(self, criterion: Separable, task: Task) -> Grown | Stop:
        """Grow a tree."""
        return self._grow(criterion, self._channels(criterion, task), criterion.numbers(task.params), self.team)[0]

    def grow_each(self, criterion: Separable, tasks: Sequence[Task]) -> list[Grown | Stop] | None:
        """Grow trees by numbers together, so many that the threads have work to share."""
        n, size = self.codes.n_rows, len(tasks)
        parts = -(-size * n // self.together)
        if criterion.residual is None or parts >= size:
            return None
        if not is_worth(size // parts * n * self.codes.width // 2, self.codes.threads):
            return None
        numbers, grown = criterion.numbers(tasks[0].params), list[Grown | Stop]()
        votes = np.empty((size, n))  # one array, so that nothing copies them side by side
        for part in range(parts):
            first, last = size * part // parts, size * (part + 1) // parts
            made = self._numbers(criterion, tasks[first:last], first)
            grown += self._grow(criterion, made, numbers, self.codes.threads, votes[first:last])
        return grown

    def _grow(
        self, criterion: Separable, made: RoundedRows, numbers: Array, team: int, out: Array | None = None
    ) -> list[Grown | Stop]:
        """Grow trees together; their votes are written to the rows of `out` where there is one."""
        trees, K = len(made.totals), len(made.totals[0])
        kind = K, trees, team
        if kind not in self.workspaces:
            self.workspaces[kind] = Workspace(self, *kind)
        space = self.workspaces[kind]
        if made.roots is not None:
            made.roots(space.hists)
        space.totals[:, :: space.most] = made.totals
        limits = self.limit, deepest(self.learner), space.ahead, FLOOR * np.array(made.wholes)
        costs = made.units, made.gross, numbers
        facts = team, space.table, made.source, made.roots is not None, costs, limits, space.nodes, space.shared
        self._kernel(criterion).together(team, lambda met, _: (met, *facts))
        told = space.facts[0], space.gains[0], space.totals[0], space.sizes
        write_trees(*told, self.slots.starts, self.points, space.trees)
        ends = list(accumulate(space.sizes.tolist(), initial=0))
        spans = [slice(*ends[tree : tree + 2]) for tree in range(trees)]
        found = [
            self._tree(criterion, made, numbers, space, tree, span) if span.stop - span.start > 1 else None
            for tree, span in enumerate(spans)
        ]
        grown = [NOTHING if one is None else one[0].values for one in found]
        values = grown[0] if trees == 1 else np.concatenate(grown)
        votes = self._votes(space, values, out, made.spent) if any(found) else ()
        return [NO_SPLIT if one is None else Grown(one[0], votes[k], one[1]) for k, one in enumerate(found)]

    def _tree(
        self, criterion: Separable, made: RoundedRows, numbers: Array, space: Workspace, tree: int, span: slice
    ) -> tuple[TreeArrays, tuple[float, float] | None]:
        """Return a tree that has grown, given where its nodes are, and all weight and that of wrong rows, if known."""
        feature, threshold, missing_low, children, gains, totals, source = (x[span].copy() for x in space.trees)
        starts, lows = self._categories(space, feature, threshold, missing_low, source)
        sums, gross = self._sums(criterion, totals), made.gross[tree]
        values = criterion.leaves_of(sums * made.units[tree], gross, numbers)
        if criterion.centred:
            values = values + made.centres[tree]
        power = made.powers[tree]
        gains /= scaled(sum(made.totals[tree]), power) if criterion.by_class else criterion.weight(gross)
        arrays = TreeArrays(feature, threshold, missing_low, children, starts, lows, values, gains)
        if not criterion.heaviest:
            return arrays, None
        errors = [criterion.error(total) for total in sums[feature < 0]]
        whole, wrong = (scaled(sum(e[i] for e in errors), power) for i in (0, 1))
        return arrays, (whole, wrong)

    def _kernel(self, criterion: Separable) -> Any:
        """Return the compiled growth."""
        if criterion.by_class:
            return classes_grower(criterion.fold, criterion.close, self.codes.kind)
        if criterion.labels:
            return labels_grower(criterion.cost, explains(criterion.cost), self.codes.kind)
        assert criterion.residual is not None
        return numbers_grower(criterion.cost, explains(criterion.cost), criterion.residual, self.codes.kind)

    def _sums(self, criterion: Separable, totals: Array) -> Array:
        """Return the nodes' sums as the criterion wants them: of labels, w and w y."""
        if not criterion.labels:
            return totals
        return np.stack([totals[:, 1] + totals[:, 0], totals[:, 1] - totals[:, 0]], axis=1)

    def _votes(self, space: Workspace, values: Array, out: Array | None, spent: Array | None) -> Array:
        """Write what the leaves of all trees vote."""
        if out is None:
            values = compact(values)
            if spent is not None and values.dtype == np.float64:
                out = spent.view(np.float64)
            else:
                out = np.empty((1, self.codes.n_rows), values.dtype)
        facts = space.members, space.facts[0], space.trees[-1][: len(values)], values
        write_votes.shared(4 * out.size, self.codes.threads, *facts, 0, out.size, out)
        return out

    def _categories(
        self, space: Workspace, feature: Array, threshold: Array, missing_low: Array, source: Array
    ) -> tuple[Array, Array]:
        """Return where every node's low categories start, and these; correct the cuts where categories are split."""
        slots, n = self.slots, len(feature)
        if not slots.categories:
            return np.zeros(n + 1, np.int64), NO_LOWS
        parts = [NO_LOWS] * n
        for i in np.flatnonzero((feature >= 0) & slots.categorical[feature]).tolist():
            j, node = int(feature[i]), int(source[i])
            width, cut = int(slots.n_bins[j]) + 1, int(space.facts[0, node, CUT] - slots.starts[j])
            low = slots.low_slots(j, cut, 0, space.orders[0, node, :width])
            parts[i], threshold[i], missing_low[i] = low[:-1], 0.0, low[-1]
        return np.cumsum([0, *map(len, parts)]), np.concatenate(parts)

    # -- channels ------------------------------------------------------------------------------------------------------

    def _channels(self, criterion: Separable, task: Task) -> RoundedRows:
        """Round the rows as `general` does."""
        if criterion.by_class:
            return self._classes(task)
        if criterion.labels:
            return self._labels(criterion, task)
        if task.counts is None:
            return self._numbers(criterion, [task], self.rows.turn)
        return self._one_by_one(criterion, task)

    def _classes(self, task: Task) -> RoundedRows:
        count = self.rows.counter(task.target)
        count.round(self.rows.tame(task.weight), task.counts)
        unit, totals = math.ldexp(1.0, -count.power), np.zeros(count.width, np.int64)
        class_totals(count.q, count.classes, totals)
        source, units, gross = (count.q[None], count.classes[None]), np.array([[unit]]), (totals * unit)[None]
        return RoundedRows(source, [totals.tolist()], units, gross, [count.power], [count.whole * unit])

    def _labels(self, criterion: Separable, task: Task) -> RoundedRows:
        mine, roots = self._signed(criterion, self.rows.tame(task.weight), task)
        assert mine.q is not None
        unit, whole = math.ldexp(1.0, -mine.power), math.ldexp(mine.gross, -mine.power)
        units, gross, totals = np.array([[unit, unit]]), np.array([[whole, whole]]), [[mine.minus, mine.plus]]
        whole = criterion.weight(gross[0])
        return RoundedRows((mine.q[None],), totals, units, gross, [mine.power], [whole], roots)

    def _signed(self, criterion: Separable, weight: Array, task: Task) -> tuple[Follower, Any]:
        """Return w y as integers, and what writes their histogram, if that is known."""
        if task.counts is not None:
            drawn = Rounded(self.rows.masses, self.codes, SIGNED, sided=True)
            drawn.count(weight, task.target, task.counts)
            return drawn, None
        if self.follower is None:
            self.follower = self.cells.follower(self.rows.masses)
        self.follower.update(weight, task.target)
        return self.follower, self.cells.root(self.follower)

    def _numbers(self, criterion: Separable, tasks: Sequence[Task], turn: int) -> RoundedRows:
        """Round the rows for some tasks of a round, the first of which has this turn."""
        assert criterion.residual is not None
        if self.pair is None:
            two = [Rounded(self.rows.masses, self.codes, form) for form in criterion.forms]
            self.pair = Pair(two, criterion.residual, self.codes.threads)
        pair, weights = self.pair, _as_rows([self.rows.tame(task.weight) for task in tasks])
        targets = _as_rows([task.target for task in tasks])
        pair.take_turn(turn)
        centres = pair.means(weights, targets) if criterion.centred else [0.0] * len(tasks)
        wholes = pair.spread(weights, targets, centres)
        powers, totals, grosses = zip(*(zip(*found, strict=True) for found in pair.found), strict=True)
        units = np.array([[math.ldexp(1.0, -power) for power in two] for two in powers])
        gross = units * grosses
        source, first = (*pair.q, weights, targets, np.array(centres)), [power for power, _ in powers]
        (q, p), pair.q = pair.q, []
        roots, sums = self.cells.roots(q, p), [list(t) for t in totals]
        return RoundedRows(source, sums, units, gross, first, wholes, roots, centres, p)

    def _one_by_one(self, criterion: Separable, task: Task) -> RoundedRows:
        """Round the numbers of a draw, a channel after the other."""
        rows, weight, target, counts = self.rows, self.rows.tame(task.weight), task.target, task.counts
        centre = 0.0
        if criterion.centred:
            target, centre = rows.centred(weight, target, counts)
        span = criterion.span(weight, target)
        two = self._both(criterion, weight, target, counts)
        units = np.array([[math.ldexp(1.0, -f.power) for f in two]])
        gross = np.array([[math.ldexp(f.gross, -f.power) for f in two]])
        whole = criterion.weight(gross[0]) if span is None else rows.sums(span, counts)[1]
        present = weight if counts is None else weight * (counts > 0)
        source = *(f.q[None] for f in two if f.q is not None), shown(present)[None], shown(target)[None], np.zeros(1)
        return RoundedRows(source, [[f.total for f in two]], units, gross, [two[0].power], [whole], None, [centre])

    def _both(self, criterion: Separable, weight: Array, target: Array, counts: Array | None) -> Sequence[Follower]:
        """Return both channels of a draw as integers."""
        assert counts is not None
        two = [Rounded(self.rows.masses, self.codes, form) for form in criterion.forms]
        for one in two:
            one.count(weight, target, counts)
        return two


def _as_rows(columns: Sequence[Array]) -> Array:
    """Return columns of numbers as rows of one array, which is theirs where they lie behind one another there."""
    first, n, whole = columns[0], len(columns[0]), columns[0].base
    if len(columns) == 1:
        return shown(first)[None]
    places = [x.__array_interface__["data"][0] for x in columns]
    alike = all(x.base is whole and x.dtype == np.float64 and x.flags.c_contiguous for x in columns)
    if whole is None or not alike or not whole.flags.c_contiguous or np.any(np.diff(places) != n * first.itemsize):
        return shown(np.stack(columns))
    start = (places[0] - whole.__array_interface__["data"][0]) // first.itemsize
    return shown(whole.reshape(-1)[start : start + n * len(columns)].reshape(-1, n))


class Workspace:
    """What growth of so many trees with so many channels needs, made once a session."""

    def __init__(self, grower: BestFirst, n_channels: int, trees: int, team: int) -> None:
        codes, K, self.ahead = grower.codes, n_channels, leaves_ahead(team, trees)
        leaves = most_histograms(grower.limit, self.ahead)
        self.most = 2 * leaves - 1  # nodes of a tree
        size, n, numbers = trees * self.most, trees * codes.n_rows, K * codes.n_slots
        widest = int(np.diff(codes.starts).max()) if grower.slots.categories else 0
        self.table = grower.cells.arrays(K), grower.columns
        self.facts, self.gains = np.empty((team, size, FACTS), np.int64), np.empty((team, size))
        self.totals, self.orders = np.empty((team, size, K), np.int64), np.empty((team, size, widest), np.int64)
        self.nodes = self.facts, self.gains, self.totals, self.orders
        self.members, self.hists = np.empty(n, np.int32), np.empty((trees * leaves, numbers), np.int64)
        self.sizes = np.empty(trees, np.int64)
        found = np.empty((team, size)), np.empty((team, size, 2), np.int64)
        lows, parts = np.empty((trees * self.ahead, team), np.int64), np.empty((team, numbers), np.int64)
        self.shared = self.members, np.empty(n, np.int32), self.hists, parts, *found, lows, self.sizes
        whole = np.empty(size, np.int64), np.empty(size), np.empty(size, bool), np.empty((size, 2), np.int64)
        self.trees = *whole, np.empty(size), np.empty((size, K), np.int64), np.empty(size, np.int64)
