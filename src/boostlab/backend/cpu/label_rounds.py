"""Usual rounds of rules with a weight for every row and label on stumps, many in one compiled call.

They work on the state of the general loop (scores, weights and targets) and leave it as that loop would, to the bit, so
that the two may take turns.  The compiled loop (`kernels.label_rounds`) calls what is prepared here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import OWN_ROWS, DenseCodes
from boostlab.backend.cpu.exact_sums import BLOCK, address
from boostlab.backend.cpu.formulas import evaluation, shown
from boostlab.backend.cpu.fused import MadeRounds, in_a_call
from boostlab.backend.cpu.in_parts import NO_PLAN, parts_of
from boostlab.backend.cpu.kernels import label_rounds as of
from boostlab.backend.cpu.kernels.prepared import ADDRESS, ROW, copy_to_each, prepare
from boostlab.backend.cpu.kernels.shared_sums import settle_sums
from boostlab.backend.cpu.kernels.sum_powers import KNOWN
from boostlab.backend.cpu.kernels.vote_update import add_votes, exp_less_of_labels
from boostlab.backend.cpu.member_plans import evaluate_by, follow, member_plans
from boostlab.backend.cpu.scores import adds
from boostlab.backend.cpu.threads import at_once
from boostlab.backend.cpu.usual import decisions_of
from boostlab.contract import LabelRound
from boostlab.contract.criterion import SIGNED, Criterion
from boostlab.contract.formula import LABEL, is_formula, parameters

if TYPE_CHECKING:
    from boostlab.backend.cpu.rows import CpuRows

Array = npt.NDArray[Any]

NOTHING = np.empty((1, 0), np.int64)  # what calls return that write to arrays only
WEIGHTS = 1 << 18  # of rows and labels, up to which these rounds are worth their memory
ALONE = 1 << 21  # cells of a round that one thread adds up sooner than several in the general loop


class LabelRounds:
    """Rounds of one training whose voters vote on every label.

    Parameters
    ----------
    rows : CpuRows
        The sample and the vote on it.
    criterion : Criterion
        With one channel a label.
    """

    @staticmethod
    def serves(rows: CpuRows, criterion: Criterion) -> bool:
        """Return whether it can take a training's rounds: of dense tables of numbers whose rows count once each.

        On large tables it would save little, and its weights and votes would take half as much memory again.
        """
        slots, codes = rows.slots, rows.codes
        if not isinstance(codes, DenseCodes) or slots.nothing or slots.categories or not rows.masses.uniform:
            return False
        if criterion.says_of_label is None or criterion.forms != (SIGNED,) or not adds(rows.rule):
            return False
        return rows.n_rows * rows.n_classes <= WEIGHTS and (_size(rows) > 1 or _cells(rows) <= ALONE)

    def __init__(self, rows: CpuRows, criterion: Criterion) -> None:
        self.rows, self.criterion, self.size = rows, criterion, _size(rows)
        self.powers = np.zeros((self.size, of.POWERS, 1), np.int64)  # that channels are rounded at
        self.release()

    def pays(self, most: int) -> bool:
        """Return whether up to `most` rounds are faster here: not one alone, whose state is copied."""
        return most > 1

    def release(self) -> None:
        """Let go of workspace until more rounds are asked for."""
        self.prepared: tuple[Any, ...] = ()  # what the calls are made of
        self.held: list[Any] = []  # the calls' arguments
        self.columns: dict[str, Array] = {}
        self.kept: Array = np.empty(0)
        self.plans: list[tuple[int, Array]] = []  # the place of a formula, and a plan a member

    def rounds(self, state: Any, most: int) -> MadeRounds | None:
        """Take up to `most` rounds in one compiled call; None if the next one is unusual."""
        rows, usual = self.rows, self.rows.rule.usual(state)
        if not isinstance(usual, LabelRound):
            return None
        self._enter(usual)
        numbers, labels = list(usual.numbers.values()), rows.n_classes
        self.numbers[:, : len(numbers)] = numbers
        most = in_a_call(most, self.size, _cells(rows))
        places, leaves = np.empty((most, of.SIDE + 1 - of.FEATURE), np.int64), np.empty((most, 2 * labels))
        told = np.empty((most, len(numbers)))
        given = self.calls, self.ints, self.numbers, self.leaves, places, leaves, told
        done: int = of.label_rounds.together(self.size, lambda team, _: (team, *given))
        if not done:
            return None
        rows.keep(usual.weights, self.kept)
        facts = [usual.facts(state, one) for one in told[:done].tolist()]
        return MadeRounds(places[:done], leaves[:done].reshape(done, 2, labels), told[:done, 0].tolist(), facts)

    def _enter(self, usual: LabelRound) -> None:
        """Take the scores, the weights and the targets over, and prepare the calls if they are not those for them."""
        rows = self.rows
        weights, targets, F = rows.column(usual.weights), shown(rows.column(usual.targets)), rows.scores.own.T
        made_of = usual.step, usual.sums, usual.log_weight, usual.check, usual.weigh, *usual.numbers
        prepared = *made_of, *usual.params.values(), address(targets), address(F)
        if prepared != self.prepared:
            self.release()
            self.prepared, shape = prepared, F.shape
            self.columns = {"k": rows.k, "F": F, "h": np.empty(shape), usual.targets: targets}
            self.kept = np.empty(shape).T
            self.columns[usual.weights] = self.kept.T
            self._prepare(usual)
        if weights is not self.kept:  # what others look at stays as it is
            self.kept[:] = weights

    # -- calls -------------------------------------------------------------------------------------------------------

    def _prepare(self, usual: LabelRound) -> None:
        """Pack the calls."""
        size, labels, n = self.size, self.rows.n_classes, self.rows.n_rows
        self.calls = np.zeros((size, of.CALLS, ROW), np.int64)
        self.ints, self.leaves = np.zeros((size, of.INTEGERS), np.int64), np.zeros((size, 2 * labels))
        self.names = {name: at for at, name in enumerate(usual.numbers)}
        lost, top = len(self.names), len(self.names) + 1  # and then the sum of the weights, and that of all integers
        self.numbers = np.zeros((size, top + 3))
        D = self.columns[usual.weights]
        weight = D
        if usual.weigh:
            weight = np.empty(D.shape)
            self._formula(of.TASK, usual.weigh[0], weight[None, None], over=usual.weigh[1:])
        self._search(usual, weight)
        self._summed(of.LOST, lost, D, usual.sums)
        self._formula(of.LOGARITHMS, usual.log_weight, D[None, None])
        tops, nothing = np.empty((size, 1)), np.empty(0, np.int64)
        self._plan(of.LOGARITHMS, D, (self._blocks, n, 1, labels, 0, 1, 0), nothing, tops, nothing)
        self._call(of.SETTLE_LARGEST, of.settle_largest, (tops, top, self.numbers))
        self._call(of.EXPONENTIALS, exp_less_of_labels, (D, 0.0, D[None, None], 0, 0, n, NO_PLAN), {1: top})
        self._summed(of.EXPONENTIALS, top + 1, D)
        decide = decisions_of(None, usual.step, usual.check)
        self._call(of.STEP, decide, (1, lost, top, self.numbers, self.ints))
        self._call(of.CHECK, decide, (2, top, top + 2, self.numbers, self.ints))
        flat = self.columns["F"].reshape(-1), self.columns["h"].reshape(-1)
        self._call(of.ADVANCE, add_votes, (flat[0], 0.0, flat[1], 0, flat[0].size), {1: 0})
        copy_to_each(self.calls)
        self._follow_plans()

    @property
    def _blocks(self) -> int:
        """How many blocks a thread's rows are."""
        return -(-self.rows.n_rows * self.rows.n_classes // (self.size * BLOCK))

    def _search(self, usual: LabelRound, weight: Array) -> None:
        """Prepare rounding, search and votes."""
        rows, size, labels, n, call = self.rows, self.size, self.rows.n_classes, self.rows.n_rows, self._call
        codes, slots, criterion = rows.codes, rows.slots, self.criterion
        assert isinstance(codes, DenseCodes)
        (words, base), per_word, step = codes.read, codes.cells.shape[2], of.together(labels)
        q, tops = np.empty(weight.shape, np.int64), np.empty(size)
        found = np.empty((size, of.told_of(labels)), np.int64)
        both, known = np.empty((size, of.POWERS, 1, 2), np.int64), _known(size)
        sums = np.empty((size, -(-labels // step) * step * codes.n_slots), np.int64)
        hist = np.empty((labels, codes.n_slots), np.int64)
        totals, worth = np.empty((size, labels), np.int64), np.empty((size, 2 * labels))
        finds, numbers = np.empty((size, of.LINE), np.int64), criterion.numbers(usual.params)
        rounded = weight, self.columns[usual.targets], np.zeros(1, bool), self.powers, 0, n
        call(of.ROUND, of.round_labels, (*rounded, self.ints, q, tops, both, found))
        settled = float(q.size), self.numbers.shape[1] - 1, self.powers, *known, self.numbers, self.ints
        call(of.SETTLE_ROUND, settle_sums, (tops[:, None], both, *settled))
        places, noted = (words, base * np.uint64(step), codes.starts), (tops, found, self.powers, self.ints)
        call(of.ADD, of.add_labels(per_word, step), (*places, q, 0, n, *noted, totals, worth, sums))
        cuts = slots.starts, slots.possible, slots.possible_below, numbers
        given = 0, len(slots.n_bins), self.ints, totals, worth, sums, hist, finds
        call(of.SEARCH, of.search_of_labels(criterion.cost, step), (*cuts, *given))
        told = codes.cells, slots.starts, slots.n_bins, numbers, finds, hist, 0, n
        vote = of.votes_of_labels(criterion.says_of_label)
        call(of.VOTE, vote, (*told, self.ints, totals, worth, self.leaves, self.columns["h"]))

    def _call(self, which: int, kernel: Any, args: tuple[Any, ...], changing: Any = None) -> None:
        """Prepare a call of the first member, and keep what it looks at."""
        self.held.append(args)
        prepare(self.calls[0, which], kernel, args, NOTHING, changing)

    def _formula(self, which: int, what: Any, out: Array, each: int = 0, over: tuple[Any, ...] = ()) -> None:
        """Prepare a formula of columns and of the round's numbers; each is how many blocks a thread evaluates.

        In place of the other numbers stand formulas over the labels of a row.
        """
        names = [name for name in parameters(what) if name != LABEL]
        mine = tuple(name for name in names if name in self.columns)
        tables, rest = tuple(name for name in mine if self.columns[name].ndim == 2), iter(over)
        inner = tuple((name, next(rest)) for name in names if name not in mine and name not in self.names)
        assert all(is_formula(inside) for _, inside in inner)
        seen = [name for name in names if name not in dict(inner)]
        given = [self.columns[name] if name in mine else 0.0 for name in seen]
        changing = {at: self.names[name] for at, name in enumerate(seen) if name not in mine}
        where = *given, out, each, 0, self.rows.n_rows, NO_PLAN
        self._call(which, evaluation(what, mine, tables, inner), where, changing)

    def _summed(self, which: int, at: int, out: Array, what: Any = None) -> None:
        """Prepare the sum over rows and labels of a column, or of a formula, to go to the numbers at `at`."""
        size, n, labels, each = self.size, self.rows.n_rows, self.rows.n_classes, self._blocks
        block_rows = 0
        if what is not None:
            block_rows = -(-n // (size * each))
            out = np.empty((size, 1, labels, block_rows))
            self._formula(which, what, out, each)
        tops, sums = np.empty((size, 1)), np.empty((size, of.POWERS, 1, 2), np.int64)
        powers = np.zeros((size, of.POWERS, 1), np.int64)
        self._plan(which, out, (each, n, 1, labels, block_rows, 0, of.POWERS), powers, tops, sums)
        settled = tops, sums, float(n * labels), at, powers, *_known(size), self.numbers, self.ints
        self._call(which + 2, settle_sums, settled)

    def _plan(self, which: int, out: Array, what: tuple[int, ...], *found: Array) -> None:
        """Plan the passes over a formula's values, or over a column, and where the members write what they find."""
        self.plans.append((which, member_plans(self.rows.masses, out, what, *found)))
        self.held.append((out, *found))

    def _follow_plans(self) -> None:
        """Let every member follow plans of its own; a formula that is summed is called by these only."""
        calls = self.calls
        for which, plans in self.plans:
            if which != of.EXPONENTIALS:  # the weights are there
                evaluate_by(plans, calls, which)
                calls[:, which, ADDRESS] = 0
            follow(plans, calls, which + 1)


def _known(size: int) -> tuple[Array, Array]:
    """Return space for what passes have found, of every thread (see `sum_powers.take_note`)."""
    return np.zeros((size, 1, KNOWN, 3), np.int64), np.zeros((size, 1), np.int64)


def _cells(rows: CpuRows) -> int:
    """Return how many cells a round adds up; of two labels one's mostly."""
    return rows.n_rows * len(rows.slots.n_bins) * max(rows.n_classes - 1, 1)


def _size(rows: CpuRows) -> int:
    """Return how many threads share the rows: as many as have rows that are many beside their slots."""
    codes: Any = rows.codes
    size = parts_of(rows.n_rows * codes.width, at_once(codes.threads))
    return max(1, min(size, (rows.n_rows * len(codes.words) - 1) // (OWN_ROWS * codes.n_slots)))
