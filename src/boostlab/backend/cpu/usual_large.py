"""Usual rounds on large tables: threads share the rows, and each brings its own up to date (see `shared_rounds`).

Scores, exponential weights and the channels' integers are those of the general loop, changed in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.exact_sums import BLOCK, address
from boostlab.backend.cpu.exponential_weights import Exponentials
from boostlab.backend.cpu.in_parts import parts_of
from boostlab.backend.cpu.kernels import block_pass as block
from boostlab.backend.cpu.kernels import shared_rounds as shared
from boostlab.backend.cpu.kernels import shared_sums
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.prepared import ADDRESS, ARGUMENTS
from boostlab.backend.cpu.kernels.small_table import MAGNITUDE
from boostlab.backend.cpu.kernels.tasks import PLAN, PLAN_AT, PLANNED, PLANNED_AT, PLANNER
from boostlab.backend.cpu.kernels.vote_update import add_votes, exp_less
from boostlab.backend.cpu.usual import COLUMN_SUMS, UsualRounds
from boostlab.contract import Plain
from boostlab.contract.criterion import SIGNED, Criterion, explains
from boostlab.contract.formula import n_values
from boostlab.contract.usual import UsualRound

if TYPE_CHECKING:
    from boostlab.backend.cpu.followed_histograms import Follower
    from boostlab.backend.cpu.rows import CpuRows

Array = npt.NDArray[Any]

POWERS = 2  # of two, that a formula's values are summed at in one pass
NO_ROWS = np.empty(0, np.int64)
NO_COSTS = np.empty((0, shared.LINE))


class UsualRoundsOfMany(UsualRounds):
    """Rounds of one training on a large table."""

    @staticmethod
    def serves(rows: CpuRows, plain: Plain | None, criterion: Criterion) -> bool:
        """Return whether it can take a training's rounds: on dense tables."""
        if not isinstance(rows.codes, DenseCodes) or rows.slots.nothing:
            return False
        if criterion.two:
            return criterion.says is not None and not rows.slots.categories
        return criterion.forms == (SIGNED,)

    def __init__(self, rows: CpuRows, plain: Plain | None, criterion: Criterion, sides: int) -> None:
        assert isinstance(rows.codes, DenseCodes)
        codes = self.codes = rows.codes
        self._size = parts_of(rows.n_rows * codes.width, codes.threads)
        super().__init__(rows, plain, criterion, sides)
        self.channels, size, line = len(criterion.forms), self._size, shared.LINE
        self.facts, self.rough = np.zeros((size, line), np.int64), np.zeros((size, line))
        self.tops, self.lost = np.empty((size, line)), np.empty((size, line), np.int64)
        self.finds = np.empty((size, line), np.int64)
        self.level = -1  # after how many rounds the histogram is that of the integers; -1: of none
        self.forms = (MAGNITUDE, SIGNED) if criterion.labels and self.channels == 2 else criterion.forms
        self.followers: dict[int, Follower] = {}
        self.plans: list[tuple[int, Array, Array]]  # the place of a formula, where its values go, a plan a member
        self.release()

    def release(self) -> None:
        self.task, self.q, self.h, self.F, self.w, self.own = [np.empty(0)] * 6
        self.sums, self.hist, self.calls = (np.empty(0, np.int64) for _ in range(3))
        self.level, self.held, self.prepared, self.columns, self.plans = -1, [], (), {}, []

    @property
    def size(self) -> int:
        return self._size

    @property
    def _compared(self) -> bool:
        """Whether integers are compared with the last ones; of targets that are numbers nearly all change."""
        return self.criterion.residual is None

    # -- the state of the general loop -------------------------------------------------------------------------------

    def _scaled(self, usual: UsualRound) -> dict[int, Follower] | None:
        known, criterion = self.rows.followers, self.criterion
        if self.channels == 1:
            self.followers = {0: known.of(0, SIGNED, False, True)}
        elif criterion.labels:  # one follows the magnitudes of both sides
            self.followers = {1: known.of(0, SIGNED, True)}
        else:
            self.followers = {c: known.of(c, form) for c, form in enumerate(criterion.forms)}
        return self.followers if all(f.scaled for f in self.followers.values()) else None

    def _enter(self, usual: UsualRound, t: int) -> None:
        rows, fresh, weights = self.rows, usual.weigh is None, self.w
        if fresh:
            rows.exponentials()
            assert rows.exponential_weights is not None
            weights = rows.exponential_weights.own
            self.floats[:, of.MOVED : of.FLOATS] = rows.exponential_weights.up, rows.exponential_weights.down
        elif not len(weights):
            self.task = np.empty((n_values(usual.weigh), rows.n_rows))
            weights = self.task[0]
        self.w, self.F = self._moved(self.w, weights), self._moved(self.F, rows.scores.own)
        current = self._enter_integers(t) and self._compared and self._is_prepared(usual)
        self.ints[:, of.FRESH], self.ints[:, of.ANEW], self.ints[:, of.KNOWN] = fresh, not current, 0
        if not len(self.h):
            self.h = self._space_for_votes()
        self.columns = {"y": rows.y, "k": rows.k, "F": self.F, "h": self.h, "w": self.w}
        if len(self.task) == 2:
            self.columns["z"] = self.task[1]
        if fresh:
            self.columns["e"] = self.w
        if usual.keeps is not None:
            name, kept = usual.keeps[0], rows.column(usual.keeps[0])
            if kept is not self.own:
                self.own = self._moved(self.own, kept.copy())
                rows.keep(name, self.own)
            self.columns[name] = self.own

    def _enter_integers(self, t: int) -> bool:
        """Take the channels' integers over; return whether the histogram is theirs."""
        held: Array = self.q
        current = self.level == t and all(
            f.q is held or (held.ndim == 2 and f.q is not None and f.q.base is held) for f in self.followers.values()
        )
        if self.channels == 1 and self.followers[0].q is not None:
            held = self.followers[0].q
        for f in self.followers.values():  # not held beside these
            f.q = None
        if not held.size:
            held = np.empty((2, self.rows.n_rows)[2 - self.channels :], np.int64)
        self.q = self._moved(self.q, held)
        return current

    def _space_for_votes(self) -> Array:
        """Return space for votes: where integers lay that are summed, if they are not compared with the next ones."""
        if self.criterion.opposite:
            return np.empty(self.rows.n_rows, np.int8)
        return np.empty(self.rows.n_rows) if self._compared else self.q[0].view(np.float64)

    def _moved(self, old: Array, new: Array) -> Array:
        """Let calls that look at an array look at another one; return this."""
        if old is not new and old.size:
            for rows in (self.calls, *(plans for *_, plans in self.plans)):
                rows[rows == address(old)] = address(new)
        return new

    def _leave(self, usual: UsualRound, followers: dict[int, Follower], t: int, some: bool) -> None:
        rows, ints = self.rows, self.ints[0]
        weights, known = rows.exponential_weights, bool(ints[of.KNOWN])
        if usual.weigh is None and ints[of.FRESH]:
            assert weights is not None
            weights.up, weights.down = self.floats[0, of.MOVED : of.FLOATS].tolist()
        else:
            rows.exponential_weights = None
        for c, follower in followers.items():
            power, signed, gross = ints[of.FACTS + c : of.TOTAL - 2 : 2].tolist()
            follower.power = power
            if known and self._compared:
                follower.take(self.q if self.channels == 1 else self.q[c], power, signed, gross)
        self.level = t if known else -1

    # -- calls -------------------------------------------------------------------------------------------------------

    def _follow_plans(self) -> None:
        """Let every member follow plans of its own; a formula that is summed is called by these only."""
        calls = self.calls
        for which, _, plans in self.plans:
            formula = which if which in (of.BEFORE, of.SUMS, of.AFTER) else of.AFTER
            plans[:, PLANNED], plans[:, PLANNED_AT] = calls[:, formula, ADDRESS], calls[:, formula, ARGUMENTS]
            plans[:, PLAN] = address(plans) + plans.itemsize * plans.shape[1] * np.arange(len(plans))
            plans[:, PLAN_AT] = plans[:, PLAN] + plans.itemsize * PLAN
            plans[:, PLANNER] = block.block_pass_address()
            called = of.SMALLEST if which == of.SMALLEST else which + 1
            calls[:, called, ADDRESS], calls[:, called, ARGUMENTS] = plans[:, PLANNER], plans[:, PLAN_AT]
        for which in (of.BEFORE, of.SUMS, of.AFTER):
            calls[:, which, ADDRESS] = 0

    def _prepare(self, usual: UsualRound) -> bool:
        if not self._is_prepared(usual):
            codes, size = self.codes, self.size
            slots = codes.n_slots + codes.spare if self.channels == 1 else 2 * codes.n_slots
            self.sums, self.hist, self.plans = np.empty((size, slots), np.int64), np.empty(slots, np.int64), []
        new = super()._prepare(usual)
        if new:
            self._follow_plans()
        return new

    def _weights(self, usual: UsualRound) -> None:
        rows, w, n = self.rows, self.w, self.rows.n_rows
        if usual.weigh is None:
            self._call(of.LOGARITHMS, shared.minus_margins_of_rows, (rows.y, self.F, w, 0, n, self.tops))
            self._call(of.LOST, shared.lost_rows, (rows.y, self.h, rows.masses.as_arrays[0], 0, n, self.lost))
            moves = Exponentials.FAR, w, 0.0, 0, n, self.lost, self.ints, self.floats
            self._call(
                of.FOLLOW, shared.follow_votes, (rows.y, self.h, rows.masses.n_examples, *moves), changing={5: 0}
            )
        else:
            self._formula(of.TASK, usual.weigh, self.task[None])
            if usual.logarithms:
                self._call(of.LOGARITHMS, shared.largest_of_rows, (w, 0, n, self.tops))
        if usual.weigh is None or usual.logarithms:
            self._call(of.TOP, shared.settle_top, (self.tops, self.numbers))
            self._call(of.EXPONENTIALS, exp_less, (w, 0.0, 0, n), changing={1: self.numbers.shape[1] - 1})

    def _search(self, usual: UsualRound) -> None:
        rows, codes, slots, n, d = self.rows, self.codes, self.rows.slots, self.rows.n_rows, self.codes.starts.size - 1
        target = self.task[1] if len(self.task) == 2 else rows.y
        what = self.w, target, *rows.masses.as_arrays
        whom = self.ints, self.q, self.facts, self.rough, self.sums
        per_word, (words, base) = codes.cells.shape[2], codes.read
        if self.channels == 1:
            round_rows = shared.one_channel(per_word)
            self._call(of.ROUND, round_rows, (self.criterion.forms[0], words, base, *what, NO_ROWS, 0, n, *whom))
            places, found = (slots.starts, slots.filled, slots.categorical), (self.sums, self.hist, self.finds)
            self._call(of.SEARCH, shared.search_edges, (*places, self.sides, 0, d, self.ints, *found))
            costs = NO_COSTS
        else:
            round_rows, bases = shared.two_channels(per_word), base * np.uint64(2)
            self._call(of.ROUND, round_rows, (*self.forms, words, bases, d, *what, 0, n, *whom))
            criterion, costs = self.criterion, np.empty((self.size, shared.LINE))
            search = shared.search_of_pairs(criterion.cost, explains(criterion.cost), criterion.says)
            numbers = self.ints, self.floats, self.numbers
            self._call(
                of.SEARCH,
                search,
                (slots.starts, *slots.count_cuts(), 0, d, *numbers, self.sums, self.hist, self.finds, costs),
            )
        settled = self.facts, self.rough, self.forms[0], self.channels, self.ints
        self._call(of.SETTLE_ROUND, shared.settle_round, settled)
        changing = n if self._compared else -1
        self._call(of.SETTLE_SEARCH, shared.settle_search, (changing, self.finds, costs, self.ints))
        self._call(of.VOTE, shared.vote_of_rows, (codes.cells, 0, n, self.ints, self.floats, self.h))

    def _votes(self, usual: UsualRound) -> None:
        rows = self.rows
        if usual.keeps is not None:
            self._formula(of.KEEP, usual.keeps[1], self.own[None, None])
        if rows.rule.joins is None:
            self._call(of.ADVANCE, add_votes, (self.F, 0.0, self.h, 0, rows.n_rows), changing={1: 0})
        else:
            self._formula(of.ADVANCE, rows.rule.joins, self.F[None, None])

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
        settled = self.rows.masses.n_examples, at, powers, self.numbers, self.ints
        self._call(which + 2, shared_sums.settle_sums, (tops, sums, float(settled[0]), *settled[1:]))
        if smallest:
            tops = np.empty((size, values))
            self._plan(of.SMALLEST, out, (each, n, values, 1, block_rows, -1, 0), powers, tops, sums)
            self._call(of.SETTLE_SMALLEST, shared_sums.settle_smallest, (tops, at + values, self.numbers))

    def _plan(self, which: int, out: Array, what: tuple[int, ...], *found: Array) -> None:
        """Plan the passes over a formula's values, or over a column, and where the members write what they find."""
        plans, (powers, tops, sums), counts = (
            np.zeros((self.size, block.SIZE), np.int64),
            found,
            self.rows.masses.as_arrays,
        )
        plans[:, block.PARTS : block.COUNTS] = self.size, *what
        plans[:, block.COUNTS], plans[:, block.MASSES] = (len(x) for x in counts)
        plans[:, block.AT_COUNTS], plans[:, block.AT_MASSES] = (address(x) for x in counts)
        plans[:, block.AT_BLOCKS], plans[:, block.AT_TOPS], plans[:, block.AT_SUMS] = map(address, (out, tops, sums))
        each = powers.itemsize * powers[0].size
        plans[:, block.AT_POWERS] = address(powers) + each * np.arange(self.size)
        self.plans.append((which, out, plans))
        self.held.append((out, *found))
