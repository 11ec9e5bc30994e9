"""Usual rounds of a rule in formulas on stumps, many in one compiled call.

They work on the very state of the general loop (scores, weights that follow them, a rule's column, and the scales of
the channels) and leave it as that loop would, to the bit, so that the two may take turns.  The compiled loop
(`kernels.usual_rounds`) is the same for all tables; what it calls is prepared here, for small tables by `usual_small`
and for large ones, whose rows a team of threads shares, by `usual_large`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.compiling import admit, part
from boostlab.backend.cpu.formulas import evaluation, shown, stamp_of_formula
from boostlab.backend.cpu.fused import MadeRounds, in_a_call
from boostlab.backend.cpu.in_parts import NO_PLAN, in_parts
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.prepared import ROW, copy_to_each, prepare
from boostlab.backend.cpu.kernels.vote_update import add_to_decayed, add_votes
from boostlab.contract import Plain, edge_sums, error_sums, loss_sum, squared_error_sums, weight_sum
from boostlab.contract.criterion import Criterion
from boostlab.contract.formula import n_values, parameters
from boostlab.contract.usual import UNUSUAL, UsualRound

if TYPE_CHECKING:
    from boostlab.backend.cpu.followed_histograms import Follower
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
    given = [what for what in (plan, step, check) if what is not None]
    admit(*given)
    stamp = -1 - sum(map(stamp_of_formula, given))
    plan, check = plan or no_decision, check or no_decision

    @in_parts
    def decide(which: int, first_sum: int, last_sum: int, me: int, numbers: Array, ints: Array) -> None:
        """Do as the plan (0), the step (1) or the check (2) says, and write what it says."""
        mine = numbers[me]
        sums = mine[first_sum:last_sum]
        if which == 1:
            ints[me, of.SAID] = step(sums, mine) + max(0, stamp)
        else:
            ints[me, of.SAID] = plan(sums, mine) if which == 0 else check(sums, mine)

    return decide


class PreparedCalls:
    """What the compiled loop of usual rounds calls, reads and writes, of every thread that takes part.

    Parameters
    ----------
    rows : CpuSample
        The sample.
    criterion : Criterion
        Of one channel, or of two whose leaves are a formula.
    sides : int
        Which side of a cut may vote +1: 0 either, +1 or -1 only the one.
    """

    def __init__(self, rows: Any, criterion: Criterion, sides: int) -> None:
        self.rows, self.criterion, self.sides = rows, criterion, sides
        slots = rows.slots
        widths = np.diff(slots.starts)
        low = np.where(np.repeat(slots.some_missing, widths), -1, slots.heavier_below)
        self.slots = slots.starts, slots.n_bins, low.astype(np.int8)
        self.calls: Array = np.empty((0, 0, 0), np.int64)  # of every member
        self.ints, self.floats = np.zeros((self.size, of.INTEGERS), np.int64), np.zeros((self.size, of.FLOATS))
        self.numbers: Array = np.empty((self.size, 0))
        self.held: list[Any] = []  # the calls' arguments

    @property
    def size(self) -> int:
        """How many threads share the rows."""
        return 1

    def make_space(self) -> None:
        """Make space for calls."""
        self.calls, self.held = np.zeros((self.size, of.CALLS, ROW), np.int64), []

    def call(
        self, which: int, kernel: Any, args: tuple[Any, ...], found: Array = NOTHING, changing: Any = None
    ) -> None:
        """Prepare a call of the first member, and keep what it looks at."""
        self.held.append(args)
        prepare(self.calls[0, which], kernel, args, found[None], changing)

    def take(self, found: Array, told: Array) -> int:
        """Take up to as many rounds as can be told; return how many."""
        given = self.calls, *self.slots, self.ints, self.floats, self.numbers, found, told
        done: int = of.usual_rounds.together(self.size, lambda team, _: (team, *given))
        return done


class UsualRounds(PreparedCalls):
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

    def __init__(self, rows: CpuRows, plain: Plain | None, criterion: Criterion, sides: int) -> None:
        super().__init__(rows, criterion, sides)
        self.prepared: tuple[Any, ...] = ()  # what the calls are made of

    def pays(self, most: int) -> bool:
        """Return whether up to `most` rounds are faster here than one after the other in the general loop: always."""
        return True

    def release(self) -> None:
        """Let go of workspace until more rounds are asked for: of small tables there is little."""

    def rounds(self, state: Any, most: int) -> MadeRounds | None:
        """Take up to `most` rounds in one compiled call; None if the next one is unusual."""
        rows = self.rows
        usual = rows.rule.usual(state)
        followers = None if usual is None else self._scaled(usual)
        if usual is None or followers is None:
            return None
        self._enter(usual, state.t)
        self._prepare(usual)
        numbers = list(usual.numbers.values())
        self.numbers[:, : len(numbers)], self.numbers[:, len(numbers) :] = numbers, 0.0
        most = in_a_call(most, self.size, rows.n_rows * len(rows.slots.n_bins))
        ints = self.ints[0]
        found, told = np.empty((most, of.PLACE - of.FOUND), np.int64), np.empty((most, ints[of.BEFOREHAND]))
        done = self.take(found, told)
        self._leave(usual, followers, state.t + done, done > 0)
        if not done:
            return None
        found, n, end = found[:done], int(ints[of.MINE]), int(ints[of.AFTERWARDS])
        said = told[:done].tolist()
        facts = [usual.facts(state, one[:n], one[n:end], one[end:]) for one in said]
        leaves, alphas = found[:, of.LEFT - of.FOUND :].view(np.float64), [one[0] for one in said]
        decays = None if usual.decay is None else [one[self.names[usual.decay]] for one in said]
        return MadeRounds(found, leaves, alphas, facts, decays)

    # -- the state of the general loop -------------------------------------------------------------------------------

    def _scaled(self, usual: UsualRound) -> dict[int, Follower] | None:
        """Return the followers of the channels; None if they have no scales yet."""
        raise NotImplementedError

    def _first_weights(self, usual: UsualRound) -> tuple[Array, Array]:
        """Return the weights and targets of the next round, as `task` makes them."""
        rows = self.rows
        if usual.weigh is None:
            return rows.exponentials(), rows.y
        numbers = [usual.numbers[name] for name in parameters(usual.weigh) if name in usual.numbers]
        if usual.logarithms:
            return rows.weigh(usual.weigh, *numbers), rows.y
        found = rows.each(usual.weigh, *numbers)
        return (found[0], found[1]) if found.ndim == 2 else (found, rows.y)

    def _enter(self, usual: UsualRound, t: int) -> None:
        """Take the scores, the weights and the rule's column over; `columns` are what formulas see."""
        raise NotImplementedError

    def _leave(self, usual: UsualRound, followers: dict[int, Follower], t: int, some: bool) -> None:
        """Hand them back after round t, and say whether there are new rounds."""
        raise NotImplementedError

    # -- calls -------------------------------------------------------------------------------------------------------

    def _is_prepared(self, usual: UsualRound) -> bool:
        """Return whether the calls are those of the last time."""
        return (*usual.formulas, *usual.numbers) == self.prepared

    def _prepare(self, usual: UsualRound) -> bool:
        """Pack the calls, where they are not those of the last time; return whether they are new."""
        if self._is_prepared(usual):
            return False
        self.make_space()
        self.prepared = *usual.formulas, *usual.numbers
        self._place(usual)
        self._weights(usual)
        starts = [int(self.ints[0, at]) for at in (of.MINE, of.AFTERWARDS, of.BEFOREHAND)]
        self._summed(of.BEFORE, usual.before, starts[2])
        self._search(usual)
        if not self.ints[0, of.OF_SEARCH]:
            self._summed(of.SUMS, usual.sums, starts[0])
        self._summed(of.AFTER, usual.after, starts[1], usual.smallest)
        for j, other in enumerate(usual.others):
            self._summed(of.OTHERS + 3 * j, other, starts[1])
        self._decisions(usual)
        self._votes(usual)
        copy_to_each(self.calls)
        return True

    def _weights(self, usual: UsualRound) -> None:
        """Prepare weights and targets, and how weights follow a vote."""
        raise NotImplementedError

    def _search(self, usual: UsualRound) -> None:
        """Prepare rounding, search and votes."""
        raise NotImplementedError

    def _votes(self, usual: UsualRound) -> None:
        """Prepare what a vote changes."""
        raise NotImplementedError

    def _joins(self, usual: UsualRound, F: Array) -> None:
        """Prepare how votes join the scores."""
        n = self.rows.n_rows
        if self.rows.rule.joins is not None:
            self._formula(of.ADVANCE, self.rows.rule.joins, F[None, None])
        elif usual.decay is None:
            self.call(of.ADVANCE, add_votes, (F, 0.0, self.columns["h"], 0, n), changing={1: 0})
        else:
            changing = {1: self.names[usual.decay], 2: 0}
            self.call(of.ADVANCE, add_to_decayed, (F, 0.0, 0.0, self.columns["h"], 0, n), changing=changing)

    def _summed(self, which: int, what: Any, at: int, smallest: bool = False) -> None:
        """Prepare a formula, and behind it its sums, and its smallest values; they go to the numbers from `at` on."""
        raise NotImplementedError

    def _place(self, usual: UsualRound) -> None:
        """Say where the round's numbers are: those of the rule, the sums, the criterion's, and the largest logarithm
        of a weight.
        """
        criterion, ints = self.criterion, self.ints
        self.names = {name: at for at, name in enumerate(usual.numbers)}
        mine, after, before = (0 if f is None else n_values(f) for f in (usual.sums, usual.after, usual.before))
        after = max([after, *map(n_values, usual.others)])
        sizes = len(self.names), mine, (1 + usual.smallest) * after, before, len(criterion.names), 1
        ends = np.cumsum(sizes)
        self.numbers = np.zeros((self.size, ends[-1]))
        ints[:, of.MINE : of.TAKES] = ends[:4]
        ints[:, of.TAKES : of.TAKES + sizes[4]] = [self.names[name] for name in criterion.names]
        by_search = KNOWN.get((len(criterion.forms), criterion.opposite), {})
        ints[:, of.OF_SEARCH] = by_search.get(usual.sums, of.NO_SUMS)

    def _decisions(self, usual: UsualRound) -> None:
        """Prepare the plan, the step and the check."""
        decide, ints = decisions_of(*usual.decisions), self.ints[0]
        places = of.BEFOREHAND, of.MINE, of.AFTERWARDS
        for at, (which, what) in enumerate(zip((of.PLAN, of.STEP, of.CHECK), usual.decisions, strict=True)):
            if what is not None:
                first, last = (int(ints[place]) for place in (places[at], places[at] + 1))
                self.call(which, decide, (at, first, last, self.numbers, self.ints))

    def _formula(self, which: int, what: Any, out: Array, each: int = 0) -> None:
        """Prepare a formula of columns and of the round's numbers; each is how many blocks a thread evaluates."""
        names = parameters(what)
        mine = tuple(name for name in names if name in self.columns)
        given = [shown(self.columns[name]) if name in mine else 0.0 for name in names]
        changing = {at: self.names[name] for at, name in enumerate(names) if name not in mine}
        where = *given, out, each, 0, self.rows.n_rows, NO_PLAN
        self.call(which, evaluation(what, mine), where, changing=changing)

    columns: dict[str, Array]
