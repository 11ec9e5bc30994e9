"""Usual rounds of a rule in formulas on stumps of a small table, many in one compiled call.

They work on the very state of the general loop (scores, weights that follow them, a rule's column, and the scales of
the channels) and leave it as that loop would, to the bit, so that the two may take turns.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.compiling import admit, part
from boostlab.backend.cpu.exponential_weights import Exponentials
from boostlab.backend.cpu.formulas import evaluation, shown
from boostlab.backend.cpu.fused import PATIENCE, MadeRounds
from boostlab.backend.cpu.in_parts import NO_PLAN, in_parts
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.prepared import ROW, prepare
from boostlab.backend.cpu.kernels.small_table import round_two, votes_of_cut
from boostlab.backend.cpu.kernels.totals import totals_of_each
from boostlab.backend.cpu.kernels.vote_update import add_votes, exp_less
from boostlab.backend.cpu.small import Small, start
from boostlab.contract import Plain, edge_sums, error_sums, loss_sum, squared_error_sums, weight_sum
from boostlab.contract.criterion import SIGNED, Criterion
from boostlab.contract.formula import n_values, parameters
from boostlab.contract.usual import UNUSUAL, UsualRound

if TYPE_CHECKING:
    from boostlab.backend.cpu.rows import CpuRows

Array = npt.NDArray[Any]

NOTHING = np.empty(0, np.int64)  # what calls return that write to arrays only
# Sums that follow from what a search finds, by the number of channels and whether leaves are -1 and +1.
KNOWN: dict[tuple[int, bool], dict[Any, int]] = {
    (1, True): {error_sums: of.ERRORS, edge_sums: of.EDGES},
    (2, True): {squared_error_sums: of.SQUARES},
}
COLUMN_SUMS = {loss_sum: "e", weight_sum: "w"}  # sums of a column as it is


@part
def no_decision(sums: Array, numbers: Array) -> int:
    """Stand for a decision that a rule does not take."""
    return UNUSUAL


@cache
def decisions_of(plan: Any, step: Any, check: Any) -> Any:
    """Return the compiled decisions of a rule."""
    stamp = sum(admit(what) for what in (plan, step, check) if what is not None)
    plan, check = plan or no_decision, check or no_decision

    @in_parts
    def decide(which: int, sums: Array, numbers: Array) -> int:
        """Do as the plan (0), the step (1) or the check (2) says."""
        if which == 1:
            return step(sums, numbers) + max(0, stamp)
        return plan(sums, numbers) if which == 0 else check(sums, numbers)

    return decide


class UsualRounds:
    """Rounds of one training.

    Parameters
    ----------
    rows : CpuRows
        The sample and the vote on it.
    plain : Plain, optional
        Not looked at: what is usual is asked of the rule.
    criterion : Criterion
        Of one channel, or of two whose leaves are a formula.
    sides : int
        Which side of a cut may vote +1: 0 either, +1 or -1 only the one.
    """

    @staticmethod
    def serves(rows: CpuRows, plain: Plain | None, criterion: Criterion) -> bool:
        """Return whether it can take a training's rounds: on tables that are summed anew."""
        if not isinstance(rows.summing, Small) or rows.slots.nothing:
            return False
        if criterion.two:
            return criterion.says is not None and rows.summing.numeric
        return criterion.forms == (SIGNED,)

    def __init__(self, rows: CpuRows, plain: Plain | None, criterion: Criterion, sides: int) -> None:
        assert isinstance(rows.summing, Small)
        self.rows, self.small, self.criterion, self.sides = rows, rows.summing, criterion, sides
        n, slots = rows.n_rows, rows.slots
        self.task, self.F, self.own = np.empty((2, n)), np.empty(n), np.empty(n)
        self.h = np.empty(n, np.int8 if criterion.opposite else np.float64)  # as the general loop has them
        self.columns = {"y": rows.y, "k": rows.k, "F": self.F, "h": self.h, "w": self.task[0], "z": self.task[1]}
        widths = np.diff(slots.starts)
        low = np.where(np.repeat(slots.some_missing, widths), -1, slots.heavier_below)
        self.slots = slots.starts, slots.n_bins, low.astype(np.int8)
        self.calls = np.zeros((of.CALLS, ROW), np.int64)
        self.ints, self.floats = np.zeros(of.INTEGERS, np.int64), np.zeros(of.FLOATS)
        self.prepared: tuple[Any, ...] = ()  # what the calls are made of
        self.held: list[Any] = []  # their arguments

    def pays(self, most: int) -> bool:
        """Return whether up to `most` rounds are faster here than one after the other in the general loop: always."""
        return True

    def rounds(self, state: Any, most: int) -> MadeRounds | None:
        """Take up to `most` rounds in one compiled call; None if the next one is unusual."""
        rows, small, usual = self.rows, self.small, self.rows.rule.usual(state)
        if usual is None:
            return None
        followers, _ = small.followers_of(self.criterion)
        scaled = all(follower.scaled for follower in followers.values())
        if not scaled and small.rounded(self.criterion, *self._weights(usual)) is None:
            return None
        self._prepare(usual)
        self._enter(usual)
        start(self.ints[of.FACTS : of.TOTAL], followers)
        most = min(most, 1 + PATIENCE // (rows.n_rows * len(rows.slots.n_bins) + 1))
        found, told = np.empty((most, of.PLACE - of.FOUND), np.int64), np.empty((most, self.ints[of.BEFOREHAND]))
        done = of.usual_rounds(self.calls, *self.slots, self.ints, self.floats, self.numbers, found, told)
        if not done:
            return None
        self._leave(usual)
        small.take(followers, self.ints[of.KEPT : of.OF_SEARCH])
        found, n, end = found[:done], int(self.ints[of.MINE]), int(self.ints[of.AFTERWARDS])
        said = told[:done].tolist()
        facts = [usual.facts(state, one[:n], one[n:end], one[end:]) for one in said]
        return MadeRounds(found, found[:, of.LEFT - of.FOUND :].view(np.float64), [one[0] for one in said], facts)

    # -- the state of the general loop -------------------------------------------------------------------------------

    def _weights(self, usual: UsualRound) -> tuple[Array, Array]:
        """Return the weights and targets of the next round, as `task` makes them."""
        rows = self.rows
        if usual.weigh is None:
            return rows.exponentials(), rows.y
        numbers = [usual.numbers[name] for name in parameters(usual.weigh) if name in usual.numbers]
        if usual.logarithms:
            return rows.weigh(usual.weigh, *numbers), rows.y
        found = rows.each(usual.weigh, *numbers)
        return (found[0], found[1]) if found.ndim == 2 else (found, rows.y)

    def _enter(self, usual: UsualRound) -> None:
        """Take the scores, the weights and the rule's column over."""
        rows, ints = self.rows, self.ints
        self.F[:], ints[of.FRESH] = rows.scores.now, 0
        self.numbers[: len(usual.numbers)] = list(usual.numbers.values())
        if usual.weigh is None:
            self.task[0], ints[of.FRESH] = rows.exponentials(), 1
            assert rows.exponential_weights is not None
            self.floats[of.MOVED : of.FLOATS] = rows.exponential_weights.up, rows.exponential_weights.down
        if usual.keeps is not None:
            self.own[:] = rows.column(usual.keeps[0])

    def _leave(self, usual: UsualRound) -> None:
        """Hand them back."""
        rows = self.rows
        rows.scores.own[:] = self.F
        if usual.weigh is None and self.ints[of.FRESH]:
            assert rows.exponential_weights is not None
            rows.exponential_weights.own[:] = self.task[0]
            rows.exponential_weights.up, rows.exponential_weights.down = self.floats[of.MOVED : of.FLOATS].tolist()
        else:
            rows.exponential_weights = None
        if usual.keeps is not None:
            rows.keep(usual.keeps[0], self.own.copy())

    # -- calls -------------------------------------------------------------------------------------------------------

    def _prepare(self, usual: UsualRound) -> None:
        """Pack the calls, where they are not those of the last time."""
        what = *usual.formulas, *usual.numbers
        if what == self.prepared:
            return
        rows, ints, w = self.rows, self.ints, self.task[0]
        self.calls[:], self.held, self.prepared = 0, [], what
        mine, after, before, priced, top = self._place(usual)
        columns = self.columns | ({"e": w} if usual.weigh is None else {})
        self.seen = columns if usual.keeps is None else columns | {usual.keeps[0]: self.own}
        if usual.weigh is None:
            self._call(of.LOGARITHMS, of.minus_margins, (rows.y, self.F, w), top.view(np.int64))
            counts = rows.masses.as_arrays[0]
            size = int(counts.sum()) if len(counts) else rows.n_rows
            follow = rows.y, self.h, counts, size, Exponentials.FAR, w, 0.0, self.floats[of.MOVED : of.FLOATS]
            self._call(of.FOLLOW, of.follow_votes, follow, ints[of.FRESH : of.KNOWN], {6: 0})
        else:
            self._formula(of.TASK, usual.weigh, self.task[: n_values(usual.weigh)])
            if usual.logarithms:
                self._call(of.LOGARITHMS, of.largest_value, (w,), top.view(np.int64))
        if usual.weigh is None or usual.logarithms:
            self._call(of.EXPONENTIALS, exp_less, (w, 0.0, 0, rows.n_rows), changing={1: len(self.numbers) - 1})
        self._summed(of.BEFORE, usual.before, before)
        self._search(usual, priced)
        if not ints[of.OF_SEARCH]:
            self._summed(of.SUMS, usual.sums, mine)
        self._summed(of.AFTER, usual.after, after, usual.smallest)
        self._decisions(usual, before, mine, after)
        if usual.keeps is not None:
            self._formula(of.KEEP, usual.keeps[1], self.own[None])
        if rows.rule.joins is None:
            self._call(of.ADVANCE, add_votes, (self.F, 0.0, self.h, 0, rows.n_rows), changing={1: 0})
        else:
            self._formula(of.ADVANCE, rows.rule.joins, self.F[None])

    def _place(self, usual: UsualRound) -> list[Array]:
        """Say where the round's numbers are; return the places of sums, those of the criterion's numbers, and that of
        the largest logarithm of a weight.
        """
        criterion, ints = self.criterion, self.ints
        self.names = {name: at for at, name in enumerate(usual.numbers)}
        mine, after, before = (0 if f is None else n_values(f) for f in (usual.sums, usual.after, usual.before))
        sizes = len(self.names), mine, (1 + usual.smallest) * after, before, len(criterion.names), 1
        ends = np.cumsum(sizes)
        self.numbers = np.zeros(ends[-1])
        ints[of.MINE : of.TAKES] = ends[:4]
        ints[of.TAKES : of.TAKES + sizes[4]] = [self.names[name] for name in criterion.names]
        by_search = KNOWN.get((len(criterion.forms), criterion.opposite), {})
        ints[of.OF_SEARCH] = by_search.get(usual.sums, of.NO_SUMS)
        return [self.numbers[end - size : end] for size, end in zip(sizes[1:], ends[1:], strict=True)]

    def _search(self, usual: UsualRound, priced: Array) -> None:
        """Prepare rounding, search and votes."""
        rows, small, ints, floats, (w, z) = self.rows, self.small, self.ints, self.floats, self.task
        target = z if usual.weigh is not None and n_values(usual.weigh) == 2 else rows.y
        _, forms = small.followers_of(self.criterion)
        given: tuple[Any, ...] = *forms, w, target, *rows.masses.as_arrays, small.q, ints[of.FACTS : of.TOTAL]
        self._call(of.ROUND, round_two, given, ints[of.KNOWN : of.SAID])
        total = ints[of.TOTAL : of.KEPT]
        if self.criterion.two:
            search, given = small.search(self.criterion, priced, total, floats[of.WORTH : of.MOVED])
        else:
            search, given = small.edge_search(self.sides, total)
        self._call(of.SEARCH, search, given, ints[of.FOUND : of.PLACE])
        where = ints[of.PLACE : of.FACTS], floats[of.LEAVES : of.WORTH]
        self._call(of.VOTE, votes_of_cut, (small.cells, *where, self.h))

    def _decisions(self, usual: UsualRound, *sums: Array) -> None:
        """Prepare the plan, the step and the check."""
        decide, said = decisions_of(*usual.decisions), self.ints[of.SAID : of.FOUND]
        for at, (which, what) in enumerate(zip((of.PLAN, of.STEP, of.CHECK), usual.decisions, strict=True)):
            if what is not None:
                self._call(which, decide, (at, sums[at], self.numbers), said)

    def _summed(self, which: int, what: Any, out: Array, smallest: bool = False) -> None:
        """Prepare a formula, and behind it its sums, and its smallest values."""
        if what is None:
            return
        size = n_values(what)
        if what in COLUMN_SUMS:  # which needs no formula's values
            values = self.seen[COLUMN_SUMS[what]][None]
        else:
            values = np.empty((size, self.rows.n_rows))
            self._formula(which, what, values)
        self._call(which + 1, totals_of_each, (values, *self.rows.masses.facts, out[:size]))
        if smallest:
            self._call(of.SMALLEST, of.smallest_of_each, (values, out[size:]))

    def _formula(self, which: int, what: Any, out: Array) -> None:
        """Prepare a formula of columns and of the round's numbers."""
        names = parameters(what)
        mine = tuple(name for name in names if name in self.seen)
        given = [shown(self.seen[name]) if name in mine else 0.0 for name in names]
        changing = {at: self.names[name] for at, name in enumerate(names) if name not in mine}
        where = *given, out[None], 0, 0, self.rows.n_rows, NO_PLAN
        self._call(which, evaluation(what, mine), where, changing=changing)

    def _call(
        self, which: int, kernel: Any, args: tuple[Any, ...], found: Array = NOTHING, changing: Any = None
    ) -> None:
        """Prepare a call, and keep what it looks at."""
        self.held.append(args)
        prepare(self.calls[which], kernel, args, found[None], changing)
