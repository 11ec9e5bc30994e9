"""Usual rounds of a rule in formulas on stumps of a small table, many in one compiled call.

They work on the very state of the general loop (scores, and the scales of the channels) and leave it as that loop
would, to the bit, so that the two may take turns.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.compiling import admit
from boostlab.backend.cpu.formulas import as_number, evaluation, shown
from boostlab.backend.cpu.fused import PATIENCE, MadeRounds
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.prepared import ROW, prepare
from boostlab.backend.cpu.kernels.small_table import round_two, votes_of_cut
from boostlab.backend.cpu.kernels.totals import totals_of_each
from boostlab.backend.cpu.kernels.vote_update import add_votes, exp_less
from boostlab.backend.cpu.small import start
from boostlab.contract.criterion import Criterion
from boostlab.contract.formula import n_values, parameters
from boostlab.contract.usual import UsualRound

if TYPE_CHECKING:
    from boostlab.backend.cpu.rows import CpuRows

Array = npt.NDArray[Any]

NOTHING = np.empty(0, np.int64)  # what calls return that write to arrays only


@cache
def step_of(step: Any) -> Any:
    """Return the compiled step."""
    stamp = admit(step)

    @in_parts
    def decide(sums: Array, numbers: Array) -> int:
        """Do as the step says."""
        return step(sums, numbers) + max(0, stamp)

    return decide


class UsualRounds:
    """Rounds of one training.

    Parameters
    ----------
    rows : CpuRows
        The sample and the vote on it, of a small table.
    criterion : Criterion
        Of two channels, whose leaves are a formula.
    """

    def __init__(self, rows: CpuRows, criterion: Criterion) -> None:
        assert rows.small is not None
        self.rows, self.small, self.criterion = rows, rows.small, criterion
        n, slots = rows.n_rows, rows.slots
        self.task, self.F, self.h = np.empty((2, n)), np.empty(n), np.empty(n)
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
        first, second, _ = small.two(self.criterion)
        if first.q is None or second.q is None:  # no scales to start from
            task = (rows.exponentials(), rows.y) if usual.weigh is None else rows.each(*usual.weigh)
            if small.rounded(self.criterion, *task) is None:
                return None
        self._prepare(usual)
        self.F[:], self.numbers[:] = rows.scores.now, usual.numbers
        start(self.ints[of.FACTS : of.TOTAL], first, second)
        most = min(most, 1 + PATIENCE // (rows.n_rows * len(rows.slots.n_bins) + 1))
        mine, after = self.sums
        found, told = np.empty((most, of.PLACE - of.FOUND), np.int64), np.empty((most, 1 + mine.size + after.size))
        done = of.usual_rounds(self.calls, self.slots, self.ints, self.floats, self.numbers, self.sums, found, told)
        if not done:
            return None
        rows.scores.own[:] = self.F
        rows.losses = None
        small.take(first, second, self.ints[of.KEPT :])
        found, said = found[:done], told[:done].tolist()
        end = 1 + mine.size
        facts = [usual.facts(state, one[1:end], one[end:], one[0]) for one in said]
        return MadeRounds(found, found[:, of.LEFT - of.FOUND :].view(np.float64), [one[0] for one in said], facts)

    # -- calls -------------------------------------------------------------------------------------------------------

    def _prepare(self, usual: UsualRound) -> None:
        """Pack the calls, where they are not those of the last time."""
        what = usual.step, usual.weigh, usual.sums, usual.after, usual.params
        if what == self.prepared:
            return
        rows, small, ints, floats, (w, z) = self.rows, self.small, self.ints, self.floats, self.task
        self.calls[:], self.held, self.prepared = 0, [], what
        if usual.weigh is None:
            self._call(of.MARGINS, of.minus_margins, (rows.y, self.F, w), ints[of.TOP : of.KNOWN])
            self._call(of.EXPONENTIALS, exp_less, (w, 0.0, 0, rows.n_rows), changing=1)
        else:
            self._formula(of.TASK, usual.weigh[0], usual.weigh[1:], self.task)
        _, _, forms = small.two(self.criterion)
        target = rows.y if usual.weigh is None else z
        given: tuple[Any, ...] = *forms, w, target, *rows.masses.as_arrays, small.q, ints[of.FACTS : of.TOTAL]
        self._call(of.ROUND, round_two, given, ints[of.KNOWN : of.SAID])
        sums = ints[of.TOTAL : of.KEPT], floats[of.WORTH : of.FLOATS]
        search, given = small.search(self.criterion, self.criterion.numbers(usual.params or {}), *sums)
        self._call(of.SEARCH, search, given, ints[of.FOUND : of.PLACE])
        self._call(
            of.VOTE, votes_of_cut, (small.cells, ints[of.PLACE : of.FACTS], floats[of.LEAVES : of.WORTH], self.h)
        )
        mine, self.numbers = self._summed(of.SUMS, usual.sums), np.array(usual.numbers, np.float64)
        self._call(of.STEP, step_of(usual.step), (mine, self.numbers), ints[of.SAID : of.FOUND])
        self.sums = mine, np.empty(0) if usual.after is None else self._summed(of.AFTER, usual.after)
        self._call(of.ADVANCE, add_votes, (self.F, 0.0, self.h, 0, rows.n_rows), changing=1)

    def _summed(self, which: int, what: Any) -> Array:
        """Prepare a formula, and behind it its sums; return where these are written."""
        values, sums = np.empty((n_values(what), self.rows.n_rows)), np.empty(n_values(what))
        self._formula(which, what, None, values)
        self._call(which + 1, totals_of_each, (values, *self.rows.masses.facts, sums))
        return sums

    def _formula(self, which: int, what: Any, numbers: tuple[Any, ...] | None, out: Array) -> None:
        """Prepare a formula; None: it has no numbers, or one that changes from call to call."""
        names = parameters(what)
        mine = tuple(name for name in names if name in self.columns)
        rest = iter((0.0,) if numbers is None else numbers)
        given = [shown(self.columns[name]) if name in mine else as_number(next(rest)) for name in names]
        changing = next((at for at, name in enumerate(names) if name not in mine and numbers is None), None)
        self._call(which, evaluation(what, mine), (*given, out, 0, 0, self.rows.n_rows), changing=changing)

    def _call(
        self, which: int, kernel: Any, args: tuple[Any, ...], found: Array = NOTHING, changing: Any = None
    ) -> None:
        """Prepare a call, and keep what it looks at."""
        self.held.append(args)
        prepare(self.calls[which], kernel, args, found[None], changing)
