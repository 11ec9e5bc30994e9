"""Usual rounds on small tables, whose rows are all rounded and summed anew, by one thread (see `small`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exponential_weights import Exponentials
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.small_table import round_two, votes_of_cut
from boostlab.backend.cpu.kernels.totals import totals_of_each
from boostlab.backend.cpu.kernels.vote_update import exp_less
from boostlab.backend.cpu.small import Small, start
from boostlab.backend.cpu.usual import COLUMN_SUMS, UsualRounds
from boostlab.contract import Plain
from boostlab.contract.criterion import SIGNED, Criterion
from boostlab.contract.formula import n_values
from boostlab.contract.usual import UsualRound

if TYPE_CHECKING:
    from boostlab.backend.cpu.followed_histograms import Follower
    from boostlab.backend.cpu.rows import CpuRows

Array = npt.NDArray[Any]


class UsualRoundsOfFew(UsualRounds):
    """Rounds of one training on a small table."""

    @staticmethod
    def serves(rows: CpuRows, plain: Plain | None, criterion: Criterion) -> bool:
        """Return whether it can take a training's rounds: on tables that are summed anew."""
        if not isinstance(rows.summing, Small) or rows.slots.nothing:
            return False
        if criterion.two:
            return criterion.says is not None and rows.summing.numeric
        return criterion.forms == (SIGNED,)

    def __init__(self, rows: CpuRows, plain: Plain | None, criterion: Criterion, sides: int) -> None:
        super().__init__(rows, plain, criterion, sides)
        assert isinstance(rows.summing, Small)
        self.small, n = rows.summing, rows.n_rows
        self.task, self.F, self.own = np.empty((2, n)), np.empty(n), np.empty(n)
        self.h = np.empty(n, np.int8 if criterion.opposite else np.float64)  # as the general loop has them

    def _scaled(self, usual: UsualRound) -> dict[int, Follower] | None:
        followers, _ = self.small.followers_of(self.criterion)
        if all(follower.scaled for follower in followers.values()):
            return followers
        return None if self.small.rounded(self.criterion, *self._first_weights(usual)) is None else followers

    def _enter(self, usual: UsualRound, t: int) -> None:
        rows, ints = self.rows, self.ints[0]
        start(ints[of.FACTS : of.TOTAL], self.small.followers_of(self.criterion)[0])
        self.F[:], ints[of.FRESH] = rows.scores.now, 0
        if usual.weigh is None:
            self.task[0], ints[of.FRESH] = rows.exponentials(), 1
            assert rows.exponential_weights is not None
            self.floats[0, of.MOVED : of.FLOATS] = rows.exponential_weights.up, rows.exponential_weights.down
        w, z = self.task
        self.columns = {"y": rows.y, "k": rows.k, "F": self.F, "h": self.h, "w": w, "z": z}
        if usual.weigh is None:
            self.columns["e"] = w
        if usual.keeps is not None:
            self.own[:] = rows.column(usual.keeps[0])
            self.columns[usual.keeps[0]] = self.own

    def _leave(self, usual: UsualRound, followers: dict[int, Follower], t: int, some: bool) -> None:
        rows, ints, floats = self.rows, self.ints[0], self.floats[0]
        if not some:
            return
        rows.scores.own[:] = self.F
        if usual.weigh is None and ints[of.FRESH]:
            assert rows.exponential_weights is not None
            rows.exponential_weights.own[:] = self.task[0]
            rows.exponential_weights.up, rows.exponential_weights.down = floats[of.MOVED : of.FLOATS].tolist()
        else:
            rows.exponential_weights = None
        if usual.keeps is not None:
            rows.keep(usual.keeps[0], self.own.copy())
        self.small.take(followers, ints[of.KEPT : of.OF_SEARCH])

    # -- calls -------------------------------------------------------------------------------------------------------

    def _weights(self, usual: UsualRound) -> None:
        rows, ints, w, top = self.rows, self.ints[0], self.task[0], self.numbers[0, -1:]
        if usual.weigh is None:
            self.call(of.LOGARITHMS, of.minus_margins, (rows.y, self.F, w), top.view(np.int64))
            counts = rows.masses.as_arrays[0]
            size = int(counts.sum()) if len(counts) else rows.n_rows
            follow = rows.y, self.h, counts, size, Exponentials.FAR, w, 0.0, self.floats[0, of.MOVED : of.FLOATS]
            self.call(of.FOLLOW, of.follow_votes, follow, ints[of.FRESH : of.KNOWN], {6: 0})
        else:
            self._formula(of.TASK, usual.weigh, self.task[None, : n_values(usual.weigh)])
            if usual.logarithms:
                self.call(of.LOGARITHMS, of.largest_value, (w,), top.view(np.int64))
        if usual.weigh is None or usual.logarithms:
            last = self.numbers.shape[1] - 1
            self.call(of.EXPONENTIALS, exp_less, (w, 0.0, 0, rows.n_rows), changing={1: last})

    def _search(self, usual: UsualRound) -> None:
        rows, small, ints, floats, (w, z) = self.rows, self.small, self.ints[0], self.floats[0], self.task
        target = z if usual.weigh is not None and n_values(usual.weigh) == 2 else rows.y
        _, forms = small.followers_of(self.criterion)
        given: tuple[Any, ...] = *forms, w, target, *rows.masses.as_arrays, small.q, ints[of.FACTS : of.TOTAL]
        self.call(of.ROUND, round_two, given, ints[of.KNOWN : of.SAID])
        total = ints[of.TOTAL : of.KEPT]
        if self.criterion.two:
            priced = self.numbers[0, ints[of.PRICED] : -1]
            search, given = small.search(self.criterion, priced, total, floats[of.WORTH : of.MOVED])
        else:
            search, given = small.edge_search(self.sides, total)
        self.call(of.SEARCH, search, given, ints[of.FOUND : of.PLACE])
        where = ints[of.PLACE : of.FACTS], floats[of.LEAVES : of.WORTH]
        self.call(of.VOTE, votes_of_cut, (small.cells, *where, self.h))

    def _votes(self, usual: UsualRound) -> None:
        if usual.keeps is not None:
            self._formula(of.KEEP, usual.keeps[1], self.own[None, None])
        self._joins(usual, self.F)

    def _summed(self, which: int, what: Any, at: int, smallest: bool = False) -> None:
        if what is None:
            return
        size, out = n_values(what), self.numbers[0]
        if what in COLUMN_SUMS:  # which needs no formula's values
            values = self.columns[COLUMN_SUMS[what]][None]
        else:
            values = np.empty((size, self.rows.n_rows))
            self._formula(which, what, values[None])
        self.call(which + 1, totals_of_each, (values, *self.rows.masses.facts, out[at : at + size]))
        if smallest:
            self.call(of.SMALLEST, of.smallest_of_each, (values, out[at + size : at + 2 * size]))
