"""Passes over a sample's values, led by one compiled call: sums, extremes, and the integers behind the sums.

What a pass is, and when there is another one, kernels/block_pass.py says; here is the plan that it follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import BLOCK, NO_GUESS, VALUE, address, not_finite
from boostlab.backend.cpu.in_parts import ALONE, NOTHING_TOLD, InParts, parts_of
from boostlab.backend.cpu.kernels import block_pass as block
from boostlab.backend.cpu.kernels.sum_powers import KNOWN, SETTLED
from boostlab.backend.cpu.kernels.tasks import NUMBERS, PLAN, PLAN_AT, PLANNER
from boostlab.backend.cpu.teams import team_of

Array = npt.NDArray[Any]
Sums = tuple[int, int, int]  # the power of two, the sum of q and that of |q|
Task = tuple[InParts, tuple[Any, ...]]  # what writes the values, and its arguments up to the plan

SPACE = block.AT_POWERS, block.AT_TOPS, block.AT_SUMS, block.AT_KNOWN, block.AT_NUMBERS, block.AT_FOUND, block.AT_WANTED
NO_COUNTS, NO_MASS = np.empty(0, np.int32), np.empty(0)


class Layout:
    """How values lie, and which part of them threads look at.

    Parameters
    ----------
    parts, each, rows, n_values, labels, block_rows : int
        How many parts, blocks a part, rows, values a row, labels a value and rows of a block there are; no rows of a
        block where all values are kept.
    """

    __slots__ = ("n_values", "numbers", "parts")

    def __init__(self, parts: int, each: int, rows: int, n_values: int, labels: int, block_rows: int) -> None:
        self.parts, self.n_values = parts, n_values
        self.numbers = np.array([parts, each, rows, n_values, labels, block_rows])


class Passes:
    """A plan, and space for what its passes find.

    Parameters
    ----------
    counts, mass : arrays
        How much every row counts, whole numbers and real ones; empty where there are none.
    """

    def __init__(self, counts: Array = NO_COUNTS, mass: Array = NO_MASS) -> None:
        self._plan, self._held = np.zeros(block.SIZE, np.int64), (counts, mass)
        plan = self._plan
        plan[PLANNER], plan[block.PASS] = block.passes_address(), block.block_pass_address()
        plan[PLAN_AT], plan[PLAN] = address(plan) + 8 * PLAN, address(plan)
        plan[block.COUNTS], plan[block.MASSES] = counts.size, mass.size
        plan[block.AT_COUNTS], plan[block.AT_MASSES] = address(counts), address(mass)
        self._examples = plan[block.EXAMPLES :].view(np.float64)
        self._space = 0, 0, 0  # parts, values and powers that there is space for
        self._lay_out(1, 1, 2)

    @property
    def made(self) -> int:
        """How many passes the last sums took."""
        return self._plan.item(block.MADE)

    def totals(
        self, task: Task | None, layout: Layout, at: int, examples: float, guess: Array, integers: int = 0
    ) -> tuple[list[Sums], Array]:
        """Return the sums of all values, and a next guess.

        Parameters
        ----------
        task : pair, optional
            Writes the values; None where they are there.
        layout : Layout
            Of the values.
        at : int
            The address of the values, or of the blocks.
        examples : float
            How many numbers are summed for a value.
        guess : int array of shape (any, n_values)
            Powers of two that values may be rounded at.
        integers : int
            The address of integers at the power of two that is returned; 0: they are not kept.
        """
        n_values = layout.n_values
        self._lay_out(layout.parts, n_values, len(guess))
        self._powers[: guess.size] = guess.reshape(-1)
        self._examples[0] = examples
        self._follow(task, layout, at, 0, len(guess), integers)
        if self._plan.item(block.STATE) != SETTLED:
            raise not_finite()
        found: list[Any] = self._found.tolist()
        first, last = self._wanted[: 2 * n_values].reshape(2, n_values).tolist()
        return found[:n_values], np.array([last] if first == last else [first, last])

    def largest(self, task: Task | None, layout: Layout, at: int, sign: int) -> float:
        """Return the largest of all values, with the sign -1 the smallest."""
        self._lay_out(layout.parts, layout.n_values, 0)
        self._follow(task, layout, at, sign, 0, 0)
        return sign * self._tops.item(0)

    def _follow(self, task: Task | None, layout: Layout, at: int, sign: int, n_powers: int, integers: int) -> None:
        """Let this thread lead the plan, and a team follow it."""
        plan, parts = self._plan, layout.parts
        plan[block.PARTS : block.SIGN] = layout.numbers
        plan[block.SIGN], plan[block.POWERS], plan[block.AT_BLOCKS] = sign, n_powers, at
        plan[block.AT_INTEGERS], plan[block.AT_TEAM] = integers, 0
        if parts == 1:
            failures = self._lead(task)
        else:
            if task is not None:
                task[0].ready(*task[1], plan, found=NOTHING_TOLD)
            with team_of(parts) as team:
                plan[block.AT_TEAM] = team.numbers[NUMBERS]
                failures = self._lead(task)
        if failures:
            raise MemoryError("A sum over rows found no memory to work in; close other programs, or fit fewer rows.")

    def _lead(self, task: Task | None) -> int:
        if task is None:
            return int(block.run_plan(ALONE, 1, self._plan))
        task[0].alone(*task[1], self._plan, found=NOTHING_TOLD)
        return 0

    def _lay_out(self, parts: int, n_values: int, n_powers: int) -> None:
        """Let there be space for so many numbers, and the plan know where it is."""
        most_parts, most_values, most_powers = self._space
        if parts <= most_parts and n_values <= most_values and n_powers <= most_powers:
            return
        parts, n_values, n_powers = max(parts, most_parts), max(n_values, most_values), max(n_powers, most_powers)
        self._space = parts, n_values, n_powers
        self._powers, self._tops = np.zeros(n_powers * n_values, np.int64), np.zeros(parts * n_values)
        self._sums = np.zeros(2 * parts * n_powers * n_values, np.int64)
        self._known, self._numbers = np.zeros((n_values, KNOWN, 3), np.int64), np.zeros(n_values, np.int64)
        self._found, self._wanted = np.zeros((n_values, 3), np.int64), np.zeros(2 * n_values, np.int64)
        space = self._powers, self._tops, self._sums, self._known, self._numbers, self._found, self._wanted
        for place, x in zip(SPACE, space, strict=True):
            self._plan[place] = address(x)


_free: list[Passes] = []  # of arrays whose values count once each, not in use


def sums_of_array(x: Array, threads: int, guess: Array = NO_GUESS, integers: Array | None = None) -> tuple[Sums, Array]:
    """Return the power of two, the sum of q and that of |q| for an array of values that count once each; and a next
    guess.  Write the integers q, if they are asked for.
    """
    passes, kept = _lent(), 0 if integers is None else address(integers)
    found, guess = passes.totals(None, _layout(x, 1 + len(guess), threads), address(x), float(x.size), guess, kept)
    _free.append(passes)
    return found[0], guess


def largest_of_array(x: Array, sign: int, threads: int) -> float:
    """Return the largest value of an array; with the sign -1 the smallest."""
    passes = _lent()
    top = passes.largest(None, _layout(x, 1, threads), address(x), sign)
    _free.append(passes)
    return top


def _lent() -> Passes:
    """Return passes that nothing else uses."""
    try:
        return _free.pop()
    except IndexError:
        return Passes()


def _layout(x: Array, looks: int, threads: int) -> Layout:
    """Return the layout of a contiguous array of doubles, at every value of which a pass looks so often."""
    parts = min(parts_of(VALUE * looks * x.size, threads), x.size)
    return Layout(parts, -(-x.size // (parts * BLOCK)), x.size, 1, 1, 0)
