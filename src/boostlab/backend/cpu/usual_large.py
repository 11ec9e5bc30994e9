"""Usual rounds on large tables: threads share the rows, and each brings its own up to date (see `shared_rounds`).

Scores, exponential weights and the channels' integers are those of the general loop, changed in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import BLOCK
from boostlab.backend.cpu.exponential_weights import Exponentials
from boostlab.backend.cpu.kernels import shared_rounds as shared
from boostlab.backend.cpu.kernels import shared_sums
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.prepared import ADDRESS
from boostlab.backend.cpu.kernels.sum_powers import KNOWN
from boostlab.backend.cpu.kernels.vote_update import exp_less
from boostlab.backend.cpu.member_plans import evaluate_by, follow, member_plans
from boostlab.backend.cpu.shared_search import SharedSearch
from boostlab.backend.cpu.usual import COLUMN_SUMS, UsualRounds
from boostlab.contract import Plain
from boostlab.contract.criterion import Criterion
from boostlab.contract.formula import n_values
from boostlab.contract.usual import UsualRound

if TYPE_CHECKING:
    from boostlab.backend.cpu.followed_histograms import Follower
    from boostlab.backend.cpu.rows import CpuRows

Array = npt.NDArray[Any]

POWERS = 2  # of two, that a formula's values are summed at in one pass
NO_ROWS = np.empty(0, np.int64)
NO_COSTS = np.empty((0, shared.LINE))


class UsualRoundsOfMany(SharedSearch, UsualRounds):
    """Rounds of one training on a large table."""

    @staticmethod
    def serves(rows: CpuRows, plain: Plain | None, criterion: Criterion) -> bool:
        """Return whether it can take a training's rounds: those whose stumps it can search."""
        return SharedSearch.can(rows, criterion)

    def __init__(self, rows: CpuRows, plain: Plain | None, criterion: Criterion, sides: int) -> None:
        SharedSearch.__init__(self, rows, criterion, sides)
        self.tops, self.lost = np.empty((self.size, shared.LINE)), np.empty((self.size, shared.LINE), np.int64)

    def release(self) -> None:
        super().release()
        self.h, self.task, self.kept = (np.empty(0) for _ in range(3))
        self.prepared, self.columns = (), {}
        self.plans: list[tuple[int, Array]] = []  # the place of a formula, and a plan a member

    # -- the state of the general loop -------------------------------------------------------------------------------

    def _scaled(self, usual: UsualRound) -> dict[int, Follower] | None:
        if not self.follow():
            self.scale(*self._first_weights(usual))
        return self.followers

    def _enter(self, usual: UsualRound, t: int) -> None:
        rows = self.rows
        new = not self._is_prepared(usual)
        self.turns = [] if new else self.turns
        self.take_over()
        if usual.weigh is None:
            rows.exponentials()
            assert rows.exponential_weights is not None
            self.look_at("w", rows.exponential_weights.own)
            self.floats[:, of.MOVED : of.FLOATS] = rows.exponential_weights.up, rows.exponential_weights.down
        elif new:
            self.task = np.empty((n_values(usual.weigh), rows.n_rows))
            self.look_at("w", self.task[0])
        self.look_at("t", self.task[1] if len(self.task) == 2 else rows.y)
        self.look_at("F", rows.scores.own)
        self.ints[:, of.FRESH] = usual.weigh is None
        if not len(self.h):
            self.h = self._space_for_votes()
        self.columns = {"y": rows.y, "k": rows.k, "h": self.h, "F": self.arrays["F"], "w": self.arrays["w"]}
        if len(self.task) == 2:
            self.columns["z"] = self.task[1]
        if usual.weigh is None:
            self.columns["e"] = self.arrays["w"]
        if usual.keeps is not None:
            name, kept = usual.keeps[0], rows.column(usual.keeps[0])
            if kept is not self.kept:  # what others look at stays as it is
                self.look_at("own", kept.copy())
            self.columns[name] = self.arrays["own"]

    def _space_for_votes(self) -> Array:
        """Return space for votes: where integers lay that are summed, if they are not compared with the next ones."""
        if self.criterion.opposite:
            return np.empty(self.rows.n_rows, np.int8)
        return np.empty(self.rows.n_rows) if self.compared else self.arrays["q"][0].view(np.float64)

    def _leave(self, usual: UsualRound, followers: dict[int, Follower], t: int, some: bool) -> None:
        rows = self.rows
        weights = rows.exponential_weights
        if usual.weigh is None and self.ints[0, of.FRESH]:
            assert weights is not None
            weights.up, weights.down = self.floats[0, of.MOVED : of.FLOATS].tolist()
        else:
            rows.exponential_weights = None
        if usual.keeps is not None:
            self.kept = self.arrays["own"].copy()
            rows.keep(usual.keeps[0], self.kept)
        self.hand_back()

    # -- calls -------------------------------------------------------------------------------------------------------

    def _follow_plans(self) -> None:
        """Let every member follow plans of its own; a formula that is summed is called by these only."""
        calls = self.calls
        for which, plans in self.plans:
            evaluate_by(plans, calls, of.AFTER if which == of.SMALLEST else which)
            follow(plans, calls, of.SMALLEST if which == of.SMALLEST else which + 1)
        for which in (of.BEFORE, of.SUMS, of.AFTER, *range(of.OTHERS, of.CALLS, 3)):
            calls[:, which, ADDRESS] = 0

    def _prepare(self, usual: UsualRound) -> bool:
        self.plans = self.plans if self._is_prepared(usual) else []
        new = super()._prepare(usual)
        if new:
            self._follow_plans()
            self.locate(*(plans for _, plans in self.plans))
        return new

    def _weights(self, usual: UsualRound) -> None:
        rows, w, F, n = self.rows, self.arrays["w"], self.arrays["F"], self.rows.n_rows
        if usual.weigh is None:
            self.call(of.LOGARITHMS, shared.minus_margins_of_rows, (rows.y, F, w, 0, n, self.tops))
            self.call(of.LOST, shared.lost_rows, (rows.y, self.h, rows.masses.as_arrays[0], 0, n, self.lost))
            moves = Exponentials.FAR, w, 0.0, 0, n, self.lost, self.ints, self.floats
            self.call(of.FOLLOW, shared.follow_votes, (rows.y, self.h, rows.masses.n_examples, *moves), changing={5: 0})
        else:
            self._formula(of.TASK, usual.weigh, self.task[None])
            if usual.logarithms:
                self.call(of.LOGARITHMS, shared.largest_of_rows, (w, 0, n, self.tops))
        if usual.weigh is None or usual.logarithms:
            self.call(of.TOP, shared.settle_top, (self.tops, self.numbers))
            self.call(of.EXPONENTIALS, exp_less, (w, 0.0, 0, n), changing={1: self.numbers.shape[1] - 1})

    def _search(self, usual: UsualRound) -> None:
        self.prepare_search()
        self.call(of.VOTE, shared.vote_of_rows, (self.codes.cells, 0, self.rows.n_rows, self.ints, self.floats, self.h))

    def _votes(self, usual: UsualRound) -> None:
        if usual.keeps is not None:
            self._formula(of.KEEP, usual.keeps[1], self.arrays["own"][None, None])
        self._joins(usual, self.arrays["F"])

    def _summed(self, which: int, what: Any, at: int, smallest: bool = False) -> None:
        if what is None:
            return
        size, n, values = self.size, self.rows.n_rows, n_values(what)
        each = -(-n * values // (size * BLOCK))
        block_rows = -(-n // (size * each))
        if what in COLUMN_SUMS:  # which needs no formula's values
            out, block_rows = self.columns[COLUMN_SUMS[what]], 0
        else:
            out = np.empty((size, values, block_rows))
            self._formula(which, what, out, each)
        tops, sums = np.empty((size, values)), np.empty((size, POWERS, values, 2), np.int64)
        powers = np.zeros((size, POWERS, values), np.int64)
        self._plan(which, out, (each, n, values, 1, block_rows, 0, POWERS), powers, tops, sums)
        known = np.zeros((size, values, KNOWN, 3), np.int64), np.zeros((size, values), np.int64)
        settled = tops, sums, float(self.rows.masses.n_examples), at, powers, *known, self.numbers, self.ints
        self.call(which + 2, shared_sums.settle_sums, settled)
        if smallest:
            tops = np.empty((size, values))
            self._plan(of.SMALLEST, out, (each, n, values, 1, block_rows, -1, 0), powers, tops, sums)
            self.call(of.SETTLE_SMALLEST, shared_sums.settle_smallest, (tops, at + values, self.numbers))

    def _plan(self, which: int, out: Array, what: tuple[int, ...], *found: Array) -> None:
        """Plan the passes over a formula's values, or over a column, and where the members write what they find."""
        self.plans.append((which, member_plans(self.rows.masses, out, what, *found)))
        self.held.append((out, *found))
