"""Trees grown best first in one compiled call (see `kernels.best_first`): dense columns, a limit on leaves or few rows.

Measured against `general`: on 500 rows of 30 columns a tree takes a fifth of the time; on 100,000 of 50 columns half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import FOLLOWED, DenseCodes, Followed
from boostlab.backend.cpu.followed_histograms import Follower, Rounded, scaled
from boostlab.backend.cpu.kernels.best_first import MOST, most_histograms
from boostlab.backend.cpu.kernels.grown_tree import write_tree, write_votes
from boostlab.backend.cpu.kernels.node_facts import CUT, FACTS
from boostlab.backend.cpu.kernels.tree_histogram import class_totals, label_changes
from boostlab.backend.cpu.kernels.tree_kinds import classes_grower, labels_grower, numbers_grower
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.pairs import Pair
from boostlab.backend.cpu.threads import WORTH, gather, is_worth
from boostlab.contract import Stop, Task
from boostlab.contract.criterion import SIGNED, Separable, explains
from boostlab.contract.growth import FLOOR, NO_SPLIT, Grown, Limits, Strategy, TreeArrays, deepest, most_leaves
from boostlab.contract.voter import compact

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]

MOST_INTEGERS = 1 << 24  # integers in the histograms of all leaves
SIDE = 1 << 21  # rows of all trees that grow side by side, 40 bytes each: larger tables keep the threads busy anyway
NO_LOWS = np.empty(0, bool)


class RoundedRows(NamedTuple):
    """What is summed: the rows as integers, and what these are worth."""

    source: tuple[Array, ...]  # of the rows, as the kernel wants them
    totals: list[int]  # over all rows, as the kernel's histogram has them
    unit: Array  # what a unit of a sum is worth
    gross: Array  # the sums of magnitudes
    power: int
    whole: float  # what impurities are made of
    root: Array | None = None  # the histogram of all rows, where it is known
    centre: float = 0.0  # of the target


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
        """Labels, numbers and classes (these on numbers only), dense codes, histograms of all leaves in memory."""
        if learner.min_samples_leaf > 1 or learner.min_samples_split > 2 or learner.ccp_alpha > 0:
            return False
        if learner.constraints is not None:
            return False
        codes = rows.codes
        if not isinstance(codes, DenseCodes) or task.by_label or codes.n_rows >= 2**31:
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
        assert isinstance(rows.codes, DenseCodes)
        codes, slots = rows.codes, rows.slots
        self.codes, self.slots = codes, slots
        self.words = codes.for_nodes  # laid out once for all threads that grow trees of their own
        self.limit, self.lanes = most_leaves(learner, codes.n_rows), codes.cells.shape[2]
        worth = codes.threads if is_worth(codes.n_rows * codes.width // 2, codes.threads) else 1
        self.team = worth if team is None else team
        self.columns = slots.starts, *slots.count_cuts(), slots.filled, slots.categorical
        self.points = slots.point_starts, slots.points, slots.some_missing, slots.heavier_below
        self.workspaces: dict[int, Workspace] = {}
        self.follower: LabelFollower | None = None
        self.pair: Pair | None = None
        self.alone: dict[int, BestFirst] = {}  # one for every thread, where tasks are shared

    def grow(self, criterion: Separable, task: Task, out: Array | None = None) -> Grown | Stop:
        """Grow a tree; its votes are written to `out` if they are numbers like those there."""
        made, numbers = self._channels(criterion, task), criterion.numbers(task.params)
        K = len(made.totals)
        if K not in self.workspaces:
            self.workspaces[K] = Workspace(self, K)
        space = self.workspaces[K]
        if made.root is not None:
            space.hists[0] = made.root
        space.totals[:, 0] = made.totals
        grow, limits = self._kernel(criterion), (self.limit, deepest(self.learner), FLOOR * made.whole)
        costs = made.unit, made.gross, numbers
        facts = self.team, space.table, made.source, made.root is not None, costs, limits, space.nodes, space.shared
        n = grow.together(self.team, lambda team, _: (team, *facts))
        if n <= 1:
            return NO_SPLIT
        write_tree(space.facts[0], space.gains[0], space.totals[0], n, self.slots.starts, self.points, space.tree)
        feature, threshold, missing_low, children, gains, totals, source = (x[:n].copy() for x in space.tree)
        starts, lows = self._categories(space, feature, threshold, missing_low, source)
        sums = self._sums(criterion, totals)
        values = criterion.leaves_of(sums * made.unit, made.gross, numbers)
        if criterion.centred:
            values = values + made.centre
        gains /= scaled(sum(made.totals), made.power) if criterion.by_class else criterion.weight(made.gross)
        tree = TreeArrays(feature, threshold, missing_low, children, starts, lows, values, gains)
        votes = self._votes(space, source, values, out)
        if not criterion.heaviest:
            return Grown(tree, votes)
        errors = [criterion.error(total) for total in sums[feature < 0]]
        whole, wrong = (scaled(sum(e[i] for e in errors), made.power) for i in (0, 1))
        return Grown(tree, votes, (whole, wrong))

    def grow_each(self, criterion: Separable, tasks: Sequence[Task]) -> list[Grown | Stop] | None:
        """Let every thread grow trees of its own, where there are enough of them: no thread waits for another."""
        threads, size = self.codes.threads, len(tasks)
        parts = min(threads, size)
        if self.team == 1 or self.rows.small is not None or 2 * size < threads or parts * self.codes.n_rows > SIDE:
            return None
        for first in (size * p // parts for p in range(parts)):
            if first not in self.alone:
                self.alone[first] = BestFirst(self.learner, self.rows.alone())

        votes = np.empty((size, self.codes.n_rows))  # one array, so that nothing copies them side by side

        def work(first: int, last: int) -> list[Grown | Stop]:
            mine, grown = self.alone[first], list[Grown | Stop]()
            for turn in range(first, last):
                mine.rows.turn = turn
                grown.append(mine.grow(criterion, tasks[turn], votes[turn]))
            return grown

        return [one for of_part in gather(work, size, WORTH, parts) for one in of_part]

    def _kernel(self, criterion: Separable) -> Any:
        """Return the compiled growth."""
        if criterion.by_class:
            return classes_grower(criterion.fold, criterion.close, self.lanes)
        if criterion.labels:
            return labels_grower(criterion.cost, explains(criterion.cost), self.lanes)
        assert criterion.residual is not None
        return numbers_grower(criterion.cost, explains(criterion.cost), criterion.residual, self.lanes)

    def _sums(self, criterion: Separable, totals: Array) -> Array:
        """Return the nodes' sums as the criterion wants them: of labels, w and w y."""
        if not criterion.labels:
            return totals
        return np.stack([totals[:, 1] + totals[:, 0], totals[:, 1] - totals[:, 0]], axis=1)

    def _votes(self, space: Workspace, source: Array, values: Array, out: Array | None) -> Array:
        values, n = compact(values), len(source)
        if out is None or out.dtype != values.dtype:
            out = np.empty(self.codes.n_rows, values.dtype)
        facts = space.members, space.facts[0], source, values
        write_votes.shared(4 * self.codes.n_rows, self.codes.threads, *facts, 0, n, out)
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
        return self._labels(criterion, task) if criterion.labels else self._numbers(criterion, task)

    def _classes(self, task: Task) -> RoundedRows:
        count = self.rows.counter(task.target)
        count.round(self.rows.tame(task.weight), task.counts)
        unit = math.ldexp(1.0, -count.power)
        totals = np.zeros(count.width, np.int64)
        class_totals(count.q, count.classes, totals)
        gross = totals * unit
        return RoundedRows(
            (count.q, count.classes), totals.tolist(), np.array([unit]), gross, count.power, count.whole * unit
        )

    def _labels(self, criterion: Separable, task: Task) -> RoundedRows:
        rows, weight, root = self.rows, self.rows.tame(task.weight), None
        mine: Follower
        if task.counts is not None:
            mine = Rounded(rows.masses, self.codes, SIGNED, sided=True)
            mine.count(weight, task.target, task.counts)
        elif rows.small is not None:
            if rows.small.rounded(criterion, weight, task.target) is None:
                rows.followed(0, SIGNED, weight, task.target, True)
            mine = rows.follower(0, SIGNED, True)
        else:
            if self.follower is None:
                self.follower = LabelFollower(rows.masses, self.codes)
            mine = self.follower
            mine.update(weight, task.target)
            root = mine.slots[0]
        assert mine.q is not None
        unit = math.ldexp(1.0, -mine.power)
        whole = math.ldexp(mine.gross, -mine.power)
        gross = np.array([whole, whole])
        return RoundedRows(
            (mine.q,), [mine.minus, mine.plus], np.array([unit, unit]), gross, mine.power, criterion.weight(gross), root
        )

    def _numbers(self, criterion: Separable, task: Task) -> RoundedRows:
        weight, target, counts = self.rows.tame(task.weight), task.target, task.counts
        if counts is None and self.rows.small is None:
            two, target, centre, whole = self._pair(criterion, weight, target)
        else:
            two, target, centre, whole = self._one_by_one(criterion, weight, target, counts)
        unit = np.array([math.ldexp(1.0, -f.power) for f in two])
        gross = np.array([math.ldexp(f.gross, -f.power) for f in two])
        whole = criterion.weight(gross) if whole is None else whole
        present = weight if counts is None else weight * (counts > 0)
        q = [f.q for f in two if f.q is not None]
        source = *q, np.asarray(present, np.float64), np.asarray(target, np.float64)
        root = self.codes.whole("two", *q) if self.rows.small is None else None
        return RoundedRows(source, [f.total for f in two], unit, gross, two[0].power, whole, root, centre)

    def _pair(self, criterion: Separable, weight: Array, target: Array) -> Any:
        """Return both channels, the target less its mean, this, and what impurities are made of."""
        assert criterion.residual is not None
        if self.pair is None:
            two = [Rounded(self.rows.masses, self.codes, form) for form in criterion.forms]
            self.pair = Pair(two, criterion.residual, self.codes.threads)
        self.pair.take_turn(self.rows.turn)
        centre = self.pair.mean(weight, target) if criterion.centred else 0.0
        centred, whole = self.pair.spread(weight, target, centre)
        return self.pair.two, centred, centre, whole

    def _one_by_one(self, criterion: Separable, weight: Array, target: Array, counts: Array | None) -> Any:
        """Do the same for a draw, or for few rows."""
        rows, centre, two = self.rows, 0.0, list[Follower]()
        if criterion.centred:
            target, centre = rows.centred(weight, target, counts)
        span = criterion.span(weight, target)
        if counts is not None:
            for form in criterion.forms:
                two.append(Rounded(rows.masses, self.codes, form))
                two[-1].count(weight, target, counts)
        else:
            assert rows.small is not None
            if rows.small.rounded(criterion, weight, target) is None:
                for c, form in enumerate(criterion.forms):
                    rows.followed(c, form, weight, target)
            two = [rows.follower(c, form) for c, form in enumerate(criterion.forms)]
        return two, target, centre, None if span is None else rows.sums(span, counts)[1]


class Workspace:
    """What growth with so many channels needs, made once a session."""

    def __init__(self, grower: BestFirst, n_channels: int) -> None:
        codes, K, team = grower.codes, n_channels, grower.team
        leaves = most_histograms(grower.limit, team)
        size = 2 * leaves - 1
        widest = int(np.diff(codes.starts).max()) if grower.slots.categories else 0
        bases = (codes.read[1] * np.uint64(K)).astype(np.uint64)
        self.table = (codes.cells, *grower.words, bases), grower.columns
        self.facts, self.gains = np.empty((team, size, FACTS), np.int64), np.empty((team, size))
        self.totals, self.orders = np.empty((team, size, K), np.int64), np.empty((team, size, widest), np.int64)
        self.nodes = self.facts, self.gains, self.totals, self.orders
        n, numbers = codes.n_rows, K * codes.n_slots
        self.members, self.hists = np.empty(n, np.int32), np.empty((leaves, numbers), np.int64)
        found = np.empty((team, size)), np.empty((team, size, 2), np.int64), np.empty((MOST, team), np.int64)
        self.shared = self.members, np.empty(n, np.int32), self.hists, np.empty((team, numbers), np.int64), *found
        whole = np.empty(size, np.int64), np.empty(size), np.empty(size, bool), np.empty((size, 2), np.int64)
        self.tree = *whole, np.empty(size), np.empty((size, K), np.int64), np.empty(size, np.int64)


class LabelFollower(Follower):
    """A follower of labels whose histogram has both sides of a slot side by side (see kernels/tree_histogram.py)."""

    def __init__(self, rows: Masses, codes: DenseCodes) -> None:
        super().__init__(rows, codes, sided=True)
        self.dense, self.lanes, self.numbers = codes, codes.cells.shape[2], 2 * codes.n_slots
        self.reads = codes.words.reshape(-1), codes.read[1] * np.uint64(2), len(codes.starts) - 1

    def _sum(self) -> None:
        assert self.q is not None
        self.slots = self.dense.whole("sides", self.q, self.q)[None]

    def _changes(self, what: tuple[Any, ...], q: Array, scatter: bool) -> tuple[Followed, Array | None]:
        n, codes = len(q), self.codes
        cells, shape = (n * codes.width, (self.numbers,)) if scatter else (FOLLOWED * n, (0,))
        changes, found = label_changes(self.lanes).added(cells, codes.threads, shape, *self.reads, *what, 0, n, q)
        changed, turned, minus, plus = (sum(f[i] for f in found) for i in range(4))
        slots = np.add(self.slots, changes, out=self.slots) if scatter else None
        return Followed(changed, turned, minus, plus, sum(f[4] for f in found)), slots
