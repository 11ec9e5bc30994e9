"""Rows in several parts: the driver's side, which decides by sums over all of them and never sees a row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import exact_sums
from boostlab.backend.cpu.followed_histograms import Followers
from boostlab.backend.cpu.kept_weights import KeptWeights
from boostlab.backend.cpu.kernels.small_table import EXTREME
from boostlab.backend.cpu.rows import WatchedRows
from boostlab.backend.cpu.sample import CpuSample
from boostlab.backend.cpu.scores import Scores
from boostlab.backend.partitioned.answers import ALL, Answer, Call
from boostlab.backend.partitioned.channels import PartedClassCount, PartedFollower, PartedPanel
from boostlab.backend.partitioned.column import Formed, PartedColumn
from boostlab.backend.partitioned.exchanges import Exchanges
from boostlab.backend.partitioned.part import Facts, Part
from boostlab.backend.partitioned.scores import (
    PartedExponentials,
    PartedMasses,
    PartedScores,
    PartedShiftedExponentials,
    PartedWatched,
)
from boostlab.backend.partitioned.whole import PartedNode, Parts, Whole
from boostlab.contract import Reweigh, Rule, Step, Task
from boostlab.contract.formula import by_label, is_formula, n_values, parameters
from boostlab.contract.growth import Strategy
from boostlab.contract.rows import NodeHalves
from boostlab.contract.slots import Slots

Array = npt.NDArray[Any]

FEW_CELLS = 1 << 24  # of a table, up to which an exchange costs more than to part and sum leaves for nothing
ALL_VOTES = "This booster looks at all rows' votes in one place; use AdaBoost or LogitBoost, say, instead."
MOST_LEAVES = 64  # that are parted at once


class PartitionedRows(CpuSample, KeptWeights):
    """A training sample in parts (see `contract.rows.Rows`).

    Bits are those of the same rows in memory: all decisions (scales, sides, splits) depend on sums of integers.

    Parameters
    ----------
    rule : Rule
        Says how votes join the scores.
    parts : Parts
        Hold the rows.
    none : Part
        A part without rows: it tells what a column is like before the others make it.
    whole : Whole
        What they are together.
    threads : int
        Of this process, for searches of histograms.
    """

    def __init__(self, rule: Rule, parts: Parts, none: Part, whole: Whole, threads: int = 1) -> None:
        self.rule, self.parts, self.whole, self.threads = rule, parts, whole, threads
        self.exchanges = Exchanges(parts, none)
        self.n, self.n_rows, self.n_sample = whole.n, whole.n_rows, whole.n_examples
        self.n_classes, self.way = whole.n_classes, "followed"
        self.masses: Any = PartedMasses(self)
        self.followers, self._counter = Followers(lambda *what: PartedFollower(self, self._number(), *what)), None
        self._next = 0
        self._powers: dict[Any, Array] = {}  # that sums were rounded at, by kind and place in a round
        self._turns = 0
        self._own: dict[str, PartedColumn] = {}  # a rule's memory
        self.known: Mapping[Any, Any] = {}
        self.y, self.k = self.column("y"), self.column("k")
        self.scores = PartedScores(self)

    # -- asking ------------------------------------------------------------------------------------------------------

    def order(self, operation: str, *args: Any) -> Any:
        """Let the parts do something before the next question; return what it makes, as the part without rows says."""
        return self.exchanges.order(operation, *args)

    def ask(self, question: str, *args: Any) -> Answer:
        """Return the parts' answer to a question."""
        return self.exchanges.ask([(question, args)])[0]

    def ask_at_once(self, questions: Sequence[Call]) -> list[Answer]:
        """Return the answers to several questions, by one exchange."""
        return self.exchanges.ask(questions)

    def compute(self, operation: str, *args: Any) -> PartedColumn:
        """Return a column that an order makes."""
        number = self._number()
        return self._made(number, self.order(operation, number, *args))

    def _made(self, number: int, facts: Facts) -> PartedColumn:
        ndim, width, dtype = facts
        return PartedColumn(self, number, ndim, width, dtype)

    def _number(self) -> int:
        self._next += 1
        return self._next

    def release(self, number: int) -> None:
        """Forget a column that nothing refers to any more, with the next question."""
        self.exchanges.gone.append(number)

    # -- columns -----------------------------------------------------------------------------------------------------

    @property
    def mass(self) -> Array:
        """Not in this process."""
        raise TypeError(ALL_VOTES)

    @cached_property
    def slots(self) -> Slots:
        """The slots of the histogram."""
        power, _, _ = self.rounded(self.ones(), None)
        (masses,) = self.ask("slot_masses", power)
        return Slots(self.whole.starts, self.whole.bins, masses)

    @property
    def codes(self) -> Any:
        """What channels must know of the codes."""
        return self.slots

    @property
    def strategies(self) -> Sequence[type[Strategy]]:
        """None but the general one."""
        return ()

    def ones(self) -> Any:
        """Return a column of ones."""
        return self.compute("ones")

    def column(self, name: str, /) -> Any:
        """Return a column by its name."""
        if name == "e":
            return self.exponentials()
        return self._own[name] if name in self._own else self.compute("named", name)

    def each(self, what: Any, /, *numbers: Any) -> Any:
        """Return a formula's values: a column, or a tuple of them."""
        self._prepare(what)
        columns = self._several("each", what, numbers)
        return columns[0] if len(columns) == 1 else columns

    def values(self, what: Any, columns: Mapping[str, Any], /, *numbers: Any) -> tuple[Any, ...]:
        """Return a formula's values for every row, given its columns by name."""
        return self._several("values", what, tuple(columns.items()), numbers)

    def _several(self, operation: str, what: Any, *args: Any) -> tuple[Any, ...]:
        """Return the columns that an order makes of a formula, one a value."""
        names = tuple(self._number() for _ in range(n_values(what)))
        found = self.order(operation, names, what, *args)
        return tuple(self._made(n, facts) for n, facts in zip(names, found, strict=True))

    def each_label(self, what: Any, /, *numbers: Any) -> list[Any]:
        """Return for every label a formula's values, a column each."""
        found = self.each(what, *numbers)
        columns = found if isinstance(found, tuple) else (found,)
        return list(zip(*(x.T for x in columns), strict=True))

    def side_by_side(self, columns: Sequence[Any]) -> Any:
        """Return columns as those of one column with a value a class."""
        return np.stack(columns, axis=1)

    def keep(self, name: str, what: Any, /, *numbers: Any) -> None:
        """Remember a column of the rule's own."""
        if is_formula(what):
            self._prepare(what)
        self.order("keep", name, what, numbers)

    def look_at(self, task: Any, h: PartedColumn, known: Mapping[Any, Any]) -> None:
        """Let formulas see a task and the votes of the voter in question; take note of the sums that are known."""
        single = isinstance(task, Task)
        self.order("look_at", task.weight if single else None, task.target if single else None, h)
        self.known = known

    def weigh(self, what: Any, /, *numbers: Any) -> PartedColumn:
        """Return the exponentials of a formula, scaled so that the largest is 1."""
        return self.scaled_exp(what, *numbers)[0]

    def scaled_exp(self, what: Any, /, *numbers: Any) -> tuple[PartedColumn, float]:
        """Return w and t with exp(formula) = e^t w, the largest w being 1."""
        logs = self.each(what, *numbers) if is_formula(what) else what
        top = self.largest(logs)
        return self.compute("scaled_exp", logs, top), top

    def exp_and_sum(self, what: Any, /, *numbers: Any) -> tuple[PartedColumn, float, float]:
        """Return w and t as `scaled_exp` does, and the sum of w over the sample."""
        return *(made := self.scaled_exp(what, *numbers)), self.total(made[0])

    def largest(self, what: Any, /, *numbers: Any) -> float:
        """Return the largest value."""
        self._prepare(what)
        return self.ask("largest", what, numbers)[0]

    def smallest(self, what: Any, /, *numbers: Any) -> float:
        """Return the smallest value."""
        self._prepare(what)
        return self.ask("smallest", what, numbers)[0]

    def _prepare(self, what: Any) -> None:
        """Let the parts have the exponential weights where a formula sees them."""
        if is_formula(what) and "e" in parameters(what):
            self.exponentials()

    # -- sums --------------------------------------------------------------------------------------------------------

    def total(self, what: Any, /, *numbers: Any) -> Any:
        """Return exact sums over the sample."""
        if not is_formula(what):
            found = self._sums_of((what, *numbers), None)
            return found[0] if len(found) == 1 else tuple(found)
        if what in self.known and not numbers:
            return self.known[what]
        self._prepare(what)
        sums = [math.ldexp(signed, -power) for power, signed, _ in self._exact(what, numbers, None, n_values(what))]
        return sums[0] if len(sums) == 1 else tuple(sums)

    def sums(self, x: Any, counts: Any = None) -> tuple[float, float]:
        """Return the sums of x and of |x| over the sample, or over a draw."""
        power, signed, gross = self.rounded(x, counts)
        return math.ldexp(signed, -power), math.ldexp(gross, -power)

    def centred(self, weight: Any, target: Any, counts: Any) -> tuple[Any, float]:
        """Return the target less its weighted mean, and the mean."""
        signed, whole = self._sums_of((weight * target, weight), counts)
        centre = signed / whole if whole > 0 else 0.0
        return target - centre, centre

    def tame(self, weight: Any) -> Any:
        """Return weights whose squares can be formed; exponentials, which stay near 1, are such weights."""
        if self.exponential_weights is not None and weight is self.exponential_weights.w:
            return weight
        same = self.compute("same", weight)
        self.exchanges.suppose(("largest", (weight, ())), lambda found: _tamed(same, weight, found[0]))
        return same

    def _sums_of(self, columns: Sequence[Any], counts: Any) -> list[float]:
        """Return the sum of every column, by one exchange where all have one value a row."""
        if not all(isinstance(x, PartedColumn) and x.ndim == 1 for x in columns):
            return [self.sums(x, counts)[0] for x in columns]
        return [math.ldexp(signed, -power) for power, signed, _ in self._exact(columns, (), counts, len(columns))]

    def rounded(self, what: Any, counts: Any, width: int = 1) -> tuple[int, int, int]:
        """Return the power of two that values are rounded at, and the sums of q and |q| (see `Masses.whole`)."""
        if isinstance(what, PartedColumn) and what.ndim == 2:
            width = what.shape[-1]
        return self._exact(what, (), counts, 1, width)[0]

    def _exact(
        self, what: Any, numbers: Sequence[Any], counts: Any, n: int, width: int = 1
    ) -> list[tuple[int, int, int]]:
        if is_formula(what) and by_label(what):
            width = self.n_classes
        size = float(self.n_sample if counts is None else self.sums(counts)[0]) * width
        # Values of one kind change little from round to round: a good guess saves two exchanges.
        kind = what if is_formula(what) else (what[0] if isinstance(what, Formed) else "column", n, width)
        self._turns += 1
        kind = kind, self._turns  # the how-manieth sum of a round
        guess, passes = self._powers.get(kind), 0

        def one_pass(powers: Array) -> tuple[Array, Array]:
            nonlocal passes
            passes += 1
            return self.ask("tops_and_sums", what, numbers, counts, powers.tolist())

        found, powers = exact_sums(one_pass, n, size, np.empty((0, n), np.int64) if guess is None else guess)
        # Where one pass was not enough, the next guess has the powers beside these as well.
        wide = np.unique([row + beside for row in powers for beside in (-1, 0, 1)], axis=0)
        self._powers[kind] = powers if passes == 1 and guess is not None and len(guess) < 3 else wide
        return found

    def _updated_together(self, criterion: Any, weight: Any, target: Any) -> bool:
        """Round and sum the channels of numbers by one exchange; each then finds what it would have asked for."""
        if weight.ndim == 1 and not criterion.labels and len(criterion.forms) == len(self.followers.known) > 1:
            known: list[Any] = [self.follower(c, form) for c, form in enumerate(criterion.forms)]
            if all(f.q for f in known):
                for f in known:
                    f.round(weight, target)
                for f, answer in zip(known, self.ask_at_once([f.question(ALL) for f in known]), strict=True):
                    f.found = answer
        return False

    def _class_count(self, classes: Any) -> Any:
        return PartedClassCount(self, self._number(), classes)

    def _panel(self, forms: tuple[int, ...], weight: Any, target: Any, counts: Any) -> Any:
        return PartedPanel(self, self._number(), forms, weight, target, counts)

    # -- nodes -------------------------------------------------------------------------------------------------------

    def root(self) -> Any:
        """Return the node of all rows."""
        number = self._number()
        self.order("root", number)
        return PartedNode(number, self.n_rows)

    def part(self, node: Any, feature: int, low: Array) -> Any:
        """Part a node's rows: those in the column's low slots, and the others."""
        children = self._number(), self._number()
        self.order("part", node.number, feature, low, children)
        return tuple(PartedNode(number, node.n_rows) for number in children)

    def leaves_at_once(self, left: float) -> int:
        """Return how many of the leaves that lead are worth to be parted at once, if so many splits are left.

        All of them, where that costs less than exchanges; else those that are the most likely to be split.
        """
        few = self.n_rows * len(self.whole.starts) <= FEW_CELLS
        return int(min(left if few else (left + 1) // 2, MOST_LEAVES))

    def halves(self, channels: Any, cuts: Sequence[tuple[Any, int, Array]]) -> list[NodeHalves]:
        """Part some nodes' rows and sum the low side of each, in one exchange."""
        if not cuts:
            return []
        pairs, found = [self.part(*cut) for cut in cuts], []
        sums = [p.question(low.number) for low, _ in pairs for p in channels.parts]
        sizes, *answers = self.ask_at_once([("sizes", ([low.number for low, _ in pairs],)), *sums])
        for (low, high), size in zip(pairs, sizes[0].tolist(), strict=True):
            low.n_rows, high.n_rows = size, high.n_rows - size
            (slots, total), first = channels.empty(), 0
            for p in channels.parts:
                p.write(answers.pop(0), slots[first:], total[first:])
                first += p.width
            found.append(NodeHalves(low, high, 0, slots, total))
        return found

    def n_examples(self, node: Any, counts: Any) -> float:
        """Return the number of examples that a node's rows stand for."""
        if counts is None and self.whole.uniform:
            return float(node.n_rows)
        return float(self.ask("n_examples", node.number, counts)[0])

    def largest_residual(self, node: Any, residual: Any, weight: Any, target: Any, counts: Any, sums: Array) -> float:
        """Return the largest residual(w, t, sums) of a node's rows."""
        return float(self.ask("largest_residual", node.number, residual, weight, target, counts, sums)[0])

    # -- votes -------------------------------------------------------------------------------------------------------

    def leaf_votes(self, leaves: Sequence[Any], values: Array) -> Any:
        """Return the votes of a tree, given its leaves' rows and what these vote."""
        return self.compute("leaf_votes", [leaf.number for leaf in leaves], values)

    def look_up(self, feature: int, values: Array) -> Any:
        """Return for every row the value of its slot in a column."""
        return self.compute("look_up", feature, values)

    def votes(self, voter: Any) -> Any:
        """Return the votes of a voter, or of a tuple of them."""
        column = self.compute("votes", voter)
        column.voter = voter
        return column

    def votes_by_slot(self, voter: Any) -> tuple[slice, Array] | None:
        """Return the slots that a voter votes by and its votes on them; None if they are not those of one column."""
        if isinstance(voter, tuple) or voter.only_column is None:  # a voter a class, or of several columns
            return None
        mine = self.slots.mine(voter.only_column)
        votes = voter.by_slot(mine.stop - mine.start)
        return None if votes is None else (mine, votes)

    def advance(self, answer: Step | Reweigh, h: Any, voter: Any = None) -> None:
        """Let a voter with these votes join the scores; exponentials that a rule has asked for follow."""
        self.order("advance", answer, h)
        self._turns = 0
        self.move_weights(answer, h, voter)

    def new_weights(self, shifts: bool) -> PartedExponentials:
        """Return the exponential weights of the scores now."""
        return PartedShiftedExponentials(self) if shifts else PartedExponentials(self)

    def fused(self, *_: Any) -> None:
        """There is no way to take many rounds in one call."""

    def watch(self, table: Any) -> Any:
        """Return other rows whose scores are to be followed: in parts as well, or in this process."""
        if isinstance(table, PartitionedRows):
            return PartedWatched(table)
        return WatchedRows(table, Scores(self.rule, table.n_rows, self.n_classes, self.threads))

    def draw(self, *_: Any) -> Any:
        """Refuse: a draw walks all rows in one order."""
        raise TypeError("A draw needs all rows in one place; fit without resample=True, or on a table in memory.")

    def canonical_order(self) -> Any:
        """Refuse: it is an order of all rows."""
        raise TypeError(ALL_VOTES)


def _tamed(out: PartedColumn, weight: PartedColumn, largest: float) -> list[Call]:
    """Return the orders that scale weights whose largest is extreme."""
    power = math.frexp(largest)[1]
    return [("elementwise", (out.number, np.ldexp, (weight, -power)))] if abs(power) >= EXTREME else []
