"""The columns of a sample in memory, and formulas over them: values, exact sums, extremes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import NO_GUESS
from boostlab.backend.cpu.exponential_weights import Exponentials
from boostlab.backend.cpu.formula_sums import FormulaSums
from boostlab.backend.cpu.formulas import CELLS, as_number, column_names, evaluation, shown
from boostlab.backend.cpu.fused import FusedRounds
from boostlab.backend.cpu.in_parts import NO_PLAN, NOTHING_TOLD
from boostlab.backend.cpu.kept_weights import KeptWeights
from boostlab.backend.cpu.kernels.vote_update import exp_less, exp_less_of_labels
from boostlab.backend.cpu.label_rounds import LabelRounds
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.near_one import NearOne
from boostlab.backend.cpu.sample import CpuSample
from boostlab.backend.cpu.scores import Scores
from boostlab.backend.cpu.shifted_weights import ShiftedExponentials
from boostlab.backend.cpu.usual import UsualRounds
from boostlab.backend.cpu.usual_large import UsualRoundsOfMany
from boostlab.backend.cpu.usual_small import UsualRoundsOfFew
from boostlab.contract import Plain, Reweigh, Rule, Step
from boostlab.contract.criterion import Criterion
from boostlab.contract.formula import LABEL, by_label, is_formula, n_values, parameters
from boostlab.contract.voter import votes_of

Array = npt.NDArray[Any]
Formula = Callable[..., Any]

MANY = 1 << 16  # values, from which on a formula's are not held for all rows at once


class CpuRows(CpuSample, KeptWeights):
    """A training sample in memory: its columns by name, formulas over them, and the running vote.

    Parameters
    ----------
    rule : Rule
        Says how votes join the scores.
    table : Table
        The binned columns.
    masses : Masses
        How much every row counts, and exact sums of arrays.
    codes : array
        The class index of every row, or the number to predict.
    n_classes : int
        0 where there are numbers to predict.
    """

    def __init__(self, rule: Rule, table: Any, masses: Masses, codes: Array, n_classes: int) -> None:
        super().__init__(table, masses)
        if n_classes:  # one type of integers is one kernel
            codes = codes.astype(np.min_scalar_type(-n_classes), copy=False)
        self.rule, self.k, self.n_classes = rule, codes, n_classes
        self.y = _signs(codes) if n_classes else codes
        for labels in (self.y, self.k):
            labels.setflags(write=False)
        self.scores = Scores(rule, self.n_rows, n_classes, self.threads)
        self.task: Any = None  # the task in question
        self.h: Array | None = None  # the votes in question
        self.known: Mapping[Formula, Any] = {}  # sums that the learner has made already
        self._own: dict[str, Array] = {}  # a rule's memory
        self._names = column_names(())
        self._order: Array | None = None
        self._buffer = np.empty(0)
        self._plans: dict[Formula, Any] = {}
        self._formula_sums = FormulaSums(self.masses, self.threads)
        self._powers: dict[Any, Array] = {}  # of two, that a formula's values, or their exponentials, were rounded at
        self._near_one = NearOne()

    # -- columns -----------------------------------------------------------------------------------------------------

    def column(self, name: str, /) -> Array:
        """Return a column by the name that formulas know it by."""
        if name in ("y", "k", "h"):
            return getattr(self, name)
        if name == "F":
            return self.scores.now
        if name == "w":
            return self.task.weight
        if name == "z":
            return self.task.target
        if name == "e":
            return self.exponentials()
        return self._own[name]

    def keep(self, name: str, what: Any, /, *numbers: Any) -> None:
        """Remember a column of the rule's own: a formula's values, a column, or one number for all rows."""
        if is_formula(what):
            self._own[name] = self.each(what, *numbers)
        else:
            self._own[name] = what if isinstance(what, np.ndarray) else np.full(self.n_rows, float(what))
        if name not in self._names:
            self._names, self._plans = column_names(tuple(self._own)), {}

    def each(self, what: Formula, /, *numbers: Any) -> Array:
        """Return a formula's values, one a row (one row of the result a value, where it gives several)."""
        if self._near_one.looks_at(what):
            column, largest = self._with_largest(what, numbers)
            self._near_one.note(column, largest)
            return column
        column = self._values(what, numbers)
        self._near_one.made(column, what)
        return column

    def _values(self, what: Formula, numbers: tuple[Any, ...]) -> Array:
        out = self.evaluate(what, numbers, np.empty(self.shape_of(what)))
        out = out if out.ndim == 2 else out.transpose(0, 2, 1)  # a label's rows lie side by side
        return out[0] if len(out) == 1 else out

    def each_label(self, what: Formula, /, *numbers: Any) -> list[Any]:
        """Return for every label a formula's values, a column each."""
        out = self.evaluate(what, numbers, np.empty(self.shape_of(what)))
        return [tuple(columns) for columns in out.transpose(1, 0, 2)]

    def total(self, what: Any, /, *numbers: Any) -> Any:
        """Return the sum over the sample of a formula, or a tuple of them; arrays are summed one by one."""
        if not is_formula(what):
            return self.masses.total(what, *numbers)
        if what in self.known and not numbers:
            return self.known[what]
        found = self._sums(what, numbers)
        return found[0] if len(found) == 1 else found

    def largest(self, what: Any, /, *numbers: Any) -> float:
        """Return the largest value of a formula or an array."""
        return self.extreme(what, numbers, 1.0)

    def smallest(self, what: Any, /, *numbers: Any) -> float:
        """Return the smallest value of a formula or an array."""
        return self.extreme(what, numbers, -1.0)

    def weigh(self, what: Any, /, *numbers: Any) -> Array:
        """Return the exponentials of a formula or an array, scaled so that the largest is 1."""
        return self.scaled_exp(what, *numbers)[0]

    def scaled_exp(self, what: Any, /, *numbers: Any) -> tuple[Array, float]:
        """Return w and t with exp(formula) = e^t w, the largest w being 1."""
        if is_formula(what):
            logs, top = self._with_largest(what, numbers)
        else:
            logs = np.array(what, np.float64)
            top = self.masses.largest(logs)
        flat = logs.ravel("K")
        exp_less.shared(CELLS * flat.size, self.threads, flat, top, 0, flat.size)
        self._near_one.note(logs)
        return logs, top

    def exp_and_sum(self, what: Formula, /, *numbers: Any) -> tuple[Array, float, float]:
        """Return w and t as `scaled_exp` does, and the sum of w over the sample, many rows' in the same pass."""
        shape = self.shape_of(what)
        if prod(shape) <= MANY:
            w, top = self.scaled_exp(what, *numbers)
            return w, top, self.masses.total(w)
        w, top = self._with_largest(what, numbers)
        labels, guess = w.T.reshape(1, -1, self.n_rows), self._powers.get((exp_less, what), NO_GUESS)
        given = exp_less_of_labels, [labels[0], top], labels.shape[:-1], guess, labels
        (total,), self._powers[exp_less, what] = self._formula_sums.totals(*given)
        self._near_one.note(w)
        return w, top, total

    def tame(self, weight: Array) -> Array:
        """Return weights whose squares can be formed; exponentials, which stay near 1, are such weights."""
        followed = self.exponential_weights is not None and weight is self.exponential_weights.w
        return weight if followed or self._near_one.knows(weight) else super().tame(weight)

    def new_weights(self, shifts: bool) -> Exponentials:
        """Return the exponential weights of the scores now."""
        F = self.scores.now
        given = self.y if F.ndim == 1 else self.k, F, self.masses.as_arrays[0], self.threads
        return ShiftedExponentials(*given) if shifts else Exponentials(*given)

    def canonical_order(self) -> Array:
        """Return an order of the rows that depends on their content only."""
        if self._order is None:
            mass = None if self.masses.uniform else self.masses.masses
            self._order = self.table.canonical_order(self.k, mass)
        return self._order

    def look_at(self, task: Any, h: Array, known: Mapping[Formula, Any]) -> None:
        """Let formulas see a task and the votes of the voter in question; take note of the sums that are known."""
        self.task, self.h, self.known = task, h, known

    def draw(self, weight: Array, size: int | None, rng: np.random.Generator, systematic: bool = False) -> Array:
        """Return how often each row is picked in so many draws, by default as many as there are examples."""
        size = size or self.masses.draw_size
        return self.masses.draw(weight, size, rng, self.canonical_order(), systematic)

    def fused(
        self, plain: Plain | None, criterion: Criterion, sides: int
    ) -> FusedRounds | UsualRounds | LabelRounds | None:
        """Return many rounds of stumps in one call, of a rule whose step, or whose usual round, is in formulas."""
        if criterion.by_label:
            return LabelRounds(self, criterion) if LabelRounds.serves(self, criterion) else None
        if plain is not None:
            return FusedRounds(self, plain, sides) if self._shifts and FusedRounds.serves(self) else None
        for way in UsualRoundsOfFew, UsualRoundsOfMany:
            if way.serves(self, plain, criterion):
                return way(self, plain, criterion, sides)
        return None

    def watch(self, table: Any) -> WatchedRows:
        """Return other rows whose scores are to be followed."""
        return WatchedRows(table, Scores(self.rule, table.n_rows, self.n_classes, self.threads))

    # -- what a round changes ----------------------------------------------------------------------------------------

    def advance(self, answer: Step | Reweigh, h: Array, voter: Any = None) -> None:
        """Let a voter with these votes join the scores; exponentials that a rule has asked for follow."""
        self.task, self.h, self.known = None, None, {}  # not held beside the next ones
        self.join(answer, h)
        self.move_weights(answer, h, voter, lambda: self.scores.now)

    def join(self, answer: Step | Reweigh, h: Array) -> None:
        """Add a voter's votes to the scores: by the rule's formula where it has one, all threads at work."""
        joins = self.rule.joins
        if joins is None or isinstance(answer, Reweigh) or answer.decay != 1.0 or answer.each is not None:
            self.scores.join(answer, h)
        else:
            self.h = h
            self.scores.take(self.each(joins, answer.alpha, *self.rule.joining))
            self.h = None

    # -- inside ------------------------------------------------------------------------------------------------------

    def _with_largest(self, what: Formula, numbers: tuple[Any, ...]) -> tuple[Array, float]:
        """Return a formula's values and the largest of them, many rows' by one pass."""
        shape = self.shape_of(what)
        if prod(shape) <= MANY:
            values = self._values(what, numbers)
            return values, self.masses.largest(values)
        out = np.empty(shape)
        top = self._formula_sums.largest(*self._given(what, numbers), shape[:-1], 1, out)
        return out[0].T, top

    def extreme(self, what: Any, numbers: tuple[Any, ...], sign: float) -> float:
        if is_formula(what) and prod(shape := self.shape_of(what)) > MANY:
            return self._formula_sums.largest(*self._given(what, numbers), shape[:-1], int(sign))
        x = self.evaluate(what, numbers, self._workspace(self.shape_of(what)))[0] if is_formula(what) else what
        return self.masses.largest(np.asarray(x)) if sign > 0 else self.masses.smallest(np.asarray(x))

    def _sums(self, what: Formula, numbers: tuple[Any, ...]) -> tuple[float, ...]:
        shape = self.shape_of(what)
        if prod(shape) > MANY:
            guess = self._powers.get(what)
            if guess is None:
                guess = np.empty((0, shape[0]), np.int64)
            made = *self._given(what, numbers), shape[:-1], guess
            found, self._powers[what] = self._formula_sums.totals(*made)
            return tuple(found)
        values = self.evaluate(what, numbers, self._workspace(shape))
        if values.ndim == 2:
            return self.masses.totals(values)
        return tuple(self.masses.total(x.T) for x in values)

    def shape_of(self, what: Formula) -> tuple[int, ...]:
        """Return the shape of a formula's values: one a row, or one a row and label."""
        labels = (self.n_classes,) if by_label(what) else ()
        return n_values(what), *labels, self.n_rows

    def _workspace(self, shape: tuple[int, ...]) -> Array:
        size = prod(shape)
        if len(self._buffer) < size:
            self._buffer = np.empty(size)
        return self._buffer[:size].reshape(shape)

    def evaluate(self, what: Formula, numbers: tuple[Any, ...], out: Array) -> Array:
        loop, given = self._given(what, numbers)
        whole = *given, out[None], 0, 0, self.n_rows, NO_PLAN
        if self.threads == 1:  # on some hundred rows, to share the work takes longer than the work
            loop.alone(*whole, found=NOTHING_TOLD)
        else:
            loop.shared(CELLS * out.size, self.threads, *whole)
        return out

    def _given(self, what: Formula, numbers: tuple[Any, ...]) -> tuple[Any, list[Any]]:
        """Return a formula's kernel and its arguments."""
        plan: Any = self._plans.get(what)
        if plan is None:
            names = [name for name in parameters(what) if name != LABEL]
            mine = tuple(name for name in names if name in self._names)
            kernels: dict[tuple[int, ...], Any] = {}
            plan = self._plans[what] = [(name, name in mine) for name in names], mine, len(names) - len(mine), kernels
        names, mine, n_wanted, kernels = plan
        if len(numbers) != n_wanted:
            wanted = [name for name, is_mine in names if not is_mine]
            raise TypeError(f"{what.__name__} takes {len(wanted)} numbers ({', '.join(wanted)}), not {len(numbers)}.")
        rest, given, key = iter(numbers), list[Any](), list[Any]()
        for name, is_mine in names:
            if is_mine:
                column = shown(self.column(name))
                key.append(column.ndim)
                given.append(column)
            elif type(number := next(rest)) is float:
                given.append(number)
            elif is_formula(number):
                key.append((name, number))
            else:
                given.append(as_number(number))
        kernel = kernels.get(kind := tuple(key))
        if kernel is None:
            over = tuple(facts for facts in key if type(facts) is tuple)
            ndims = [facts for facts in key if type(facts) is int]
            tables = tuple(name for name, ndim in zip(mine, ndims, strict=True) if ndim == 2)
            kernel = kernels[kind] = evaluation(what, mine, tables, over)
        return kernel, given


def _signs(codes: Array) -> Array:
    """Return 1 for the class 1 and -1 for the others (a fifth of the time of `np.where`)."""
    y = (codes == 1).astype(np.int8)
    y += y
    y -= 1
    return y


class WatchedRows:
    """Rows that are not trained on, and their scores.

    Parameters
    ----------
    table : Table
        The rows.
    scores : Scores
        The running vote on them.
    """

    def __init__(self, table: Any, scores: Scores) -> None:
        self.table, self.scores = table, scores

    def advance(self, answer: Step | Reweigh, voter: Any) -> None:
        """Let a voter join the scores."""
        self.scores.join(answer, votes_of(voter, self.table))
