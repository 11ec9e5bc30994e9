"""Trees of few leaves for labels on large tables, grown by a team of threads in one compiled call: those of `tree`."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import NOTHING, DenseCodes, Followed
from boostlab.backend.cpu.followed_histograms import Follower, scaled
from boostlab.backend.cpu.kernels.crew import CHILD, CUT, DEPTH, FACTS, FEATURE, FIRST, crew_grower
from boostlab.backend.cpu.kernels.sided_histogram import follow_sides, sums_of_sides, write_votes
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.threads import as_team, is_worth, spread, spread_sums
from boostlab.contract import Task
from boostlab.data.table import compact
from boostlab.learners.criterion import Separable
from boostlab.learners.full import misses_numbers
from boostlab.learners.pairs import CELLS, ROOM, n_leaves
from boostlab.learners.quick import DEEPEST, UNFINISHED, Grown, Limits, by_levels
from boostlab.learners.search import SplitSearch

Array = npt.NDArray[Any]

WIDER = 4  # times a plain histogram: where few columns of a word have many bins, the layout does not pay
IDLE = 3  # times as many threads as words: beyond, threads had better share the rows


class SidedFollower(Follower):
    """A follower of two sides whose histogram is laid out as in kernels/sides.py."""

    def __init__(self, rows: Masses, codes: DenseCodes) -> None:
        super().__init__(rows, codes, sided=True)
        self.starts, self.allowed = layout(codes)
        self.reads = codes.words, self.starts, len(codes.starts) - 1

    def _sum(self, q: Array) -> None:
        found = list[tuple[int, int]]()

        def work(first: int, last: int, out: Array) -> None:
            found.append(sums_of_sides(*self.reads, q, first, last, out))

        self.slots = self._spread(work, len(q))
        self.minus, self.plus = (sum(int(f[side]) for f in found) for side in (0, 1))
        self.q = q

    def _changes(self, what: tuple[Any, ...], q: Array, scatter: bool) -> tuple[Followed, Array | None]:
        found, slots, n = list[tuple[int, int, int, int, float]](), None, len(q)

        def work(first: int, last: int, out: Array) -> None:
            found.append(follow_sides(*self.reads, *what, first, last, q, out))

        if scatter:
            slots = self.slots
            slots += self._spread(work, n)
        else:
            spread(lambda a, b: work(a, b, NOTHING), n, 4 * n, self.codes.threads)
        changed, turned, minus, plus = (sum(int(f[i]) for f in found) for i in range(4))
        return Followed(changed, turned, minus, plus, sum(f[4] for f in found)), slots

    def _spread(self, work: Any, n: int) -> Array:
        return spread_sums(work, n, n * self.codes.width, int(self.starts[-1]), self.codes.threads)


def layout(codes: DenseCodes) -> tuple[Array, Array]:
    """Return where the words start in a histogram of kernels/sides.py, and which cuts there are in half of it."""
    slots = np.zeros((len(codes.cells), 8), np.int64)
    slots.flat[: len(codes.starts) - 1] = np.diff(codes.starts)
    tops = np.maximum(slots.max(axis=1), 1)
    starts = np.append(0, np.cumsum(16 * tops))
    # After every bin but the last; behind the bins a column has a slot for missing values.
    allowed = [(np.arange(top)[:, None] < lanes - 2).ravel() for top, lanes in zip(tops, slots, strict=True)]
    return starts, np.concatenate(allowed)


def is_for_crew(learner: Limits, search: SplitSearch) -> bool:
    """Return whether there is this way: few leaves, bytes of numbers of which none is missing, not a small table."""
    codes = search.codes
    if learner.min_samples_leaf > 1 or learner.min_samples_split > 2 or learner.ccp_alpha > 0:
        return False
    if not isinstance(codes, DenseCodes) or codes.kind != "eight" or search.bins.categorical:
        return False
    if misses_numbers(search) or codes.n_rows * codes.width <= CELLS or codes.threads > IDLE * len(codes.words):
        return False
    room = int(layout(codes)[0][-1])
    return room * n_leaves(learner, codes.n_rows) <= ROOM and room <= WIDER * 2 * codes.n_slots


class Crew:
    """The growth of all trees on one sample.

    Parameters
    ----------
    learner : DecisionTree
        For which `is_for_crew` holds.
    search : SplitSearch
        The sample's columns.
    """

    def __init__(self, learner: Limits, search: SplitSearch) -> None:
        assert isinstance(search.codes, DenseCodes)
        self.learner, self.search, self.codes = learner, search, search.codes
        self.limit = n_leaves(learner, self.codes.n_rows)
        cells, threads = self.codes.n_rows * self.codes.width, self.codes.threads
        self.size = min(len(self.codes.words), threads) if is_worth(cells // 2, threads) else 1

    @cached_property
    def room(self) -> tuple[SidedFollower, Array, Array]:
        """Who follows the rows; room for the leaves' histograms, and for rows that are being parted."""
        follower, n = SidedFollower(self.search.rows, self.codes), self.codes.n_rows
        hists = np.empty((self.limit, int(follower.starts[-1])), np.int64)
        return follower, hists, np.empty(n, np.int32 if n < 2**31 else np.int64)

    def serves(self, criterion: Separable, task: Task) -> bool:
        """Return whether a task is for labels, and for all rows."""
        return criterion.labels and task.counts is None and task.weight.ndim == 1

    def grow(self, criterion: Separable, task: Task, weight: Array) -> Grown | None:
        """Grow a tree; None if no split gains anything."""
        (mine, hists, space), search, n = self.room, self.search, self.codes.n_rows
        mine.update(weight, task.target)
        unit, whole = math.ldexp(1.0, -mine.power), math.ldexp(mine.gross, -mine.power)
        members, numbers = np.arange(n, dtype=space.dtype), criterion.numbers(task.params)
        gross, size = np.array([whole, whole]), 2 * self.limit - 1
        nodes, gains, totals = np.empty((size, FACTS), np.int64), np.empty(size), np.empty((size, 2), np.int64)
        found, lows = np.empty((self.size, size, 4), np.int64), np.empty(self.size, np.int64)
        deepest = DEEPEST if self.learner.max_depth is None else self.learner.max_depth
        facts = (
            *(self.size, self.codes.cells, *mine.reads, mine.allowed, mine.q),
            *((mine.minus, mine.plus, unit, whole), numbers, 1e-12 * criterion.weight(gross), self.limit, deepest),
            *(members, space, mine.slots, hists, found, lows, nodes, gains, totals),
        )
        grow = crew_grower(criterion.cost)
        count = as_team(lambda me, team: grow(me, team, *facts), self.size)
        nodes, gains, totals = nodes[:count], gains[:count], totals[:count]
        totals = np.stack([totals.sum(axis=1), totals[:, 1] - totals[:, 0]], axis=1)  # of w and w y
        child = nodes[:, CHILD]
        if count + 1 < 2 * self.limit:
            left = totals[(child == 0) & (nodes[:, DEPTH] < deepest)]
            if any(criterion.remaining(t, np.array([unit, unit]), t, t) > 1e-12 * whole for t in left):
                return UNFINISHED
        if count <= 1:
            return None
        order, children = by_levels(np.where(child[:, None] > 0, child[:, None] + [0, 1], 0))
        at = np.where(child > 0, search.starts[nodes[:, FEATURE]] + nodes[:, CUT], -1)[order]
        values = np.array([criterion.leaf(s, gross, numbers) for s in totals * unit])
        leaves = np.flatnonzero(child == 0)
        leaves = leaves[np.argsort(nodes[leaves, FIRST])]
        spoken = compact(values)[leaves]
        votes = np.empty(n, spoken.dtype)
        write_votes(members, np.append(nodes[leaves, FIRST], n), spoken, votes)
        sums = [criterion.error(t) for t in totals[leaves]] if criterion.heaviest else []
        none = np.zeros(count + 1, np.int64), np.empty(0, bool)  # no categories
        shares = gains[order] / criterion.weight(gross)
        arrays = *search.cuts_at(at, np.zeros_like(at)), children, *none, values[order], shares
        wrong = scaled(sum(w for w, _ in sums), mine.power), scaled(sum(w for _, w in sums), mine.power)
        return Grown(arrays, votes, wrong if criterion.heaviest else None)
