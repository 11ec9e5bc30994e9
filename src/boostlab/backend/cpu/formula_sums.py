"""Exact sums and extremes of formulas over a sample, in one compiled call.

The values of a block stay in a core's cache while their largest magnitude and their sums at the powers of two are
taken (see `passes`), whatever the formula.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import BLOCK, VALUE, address
from boostlab.backend.cpu.formulas import CELLS
from boostlab.backend.cpu.in_parts import InParts, parts_of
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.passes import NO_MASS, Layout, Passes, Task

Array = npt.NDArray[Any]


class FormulaSums:
    """Sums and extremes of formulas over a sample.

    Parameters
    ----------
    masses : Masses
        How much every row counts.
    threads : int
        How many threads share the rows.
    """

    def __init__(self, masses: Masses, threads: int) -> None:
        self.masses, self.threads = masses, threads
        self._workspace, self._at = NO_MASS, 0
        self._layouts: dict[Any, tuple[Layout, int, tuple[int, ...], float]] = {}

    @cached_property
    def passes(self) -> Passes:
        """The passes, with space of their own."""
        return Passes(*self.masses.as_arrays)

    def __reduce__(self) -> Any:
        """Copy what it is made of: a plan holds addresses."""
        return FormulaSums, (self.masses, self.threads)

    def totals(
        self, loop: InParts, given: list[Any], shape: tuple[int, ...], guess: Array, out: Array | None = None
    ) -> tuple[list[float], Array]:
        """Return the sum of mass * x for each of a formula's values x, as `Masses.total` does, and a next guess.

        Parameters
        ----------
        loop : InParts
            The formula's kernel (see `formulas.evaluation`).
        given : list
            The formula's arguments.
        shape : tuple of ints
            How many values it has a row, and how many labels each has, if any: all of one sum.
        guess : int array of shape (any, n_values)
            Powers of two that values may be rounded at.
        out : array, optional
            Gets all values.
        """
        task, layout, at, examples = self._laid_out(loop, given, shape, len(guess), out)
        found, guess = self.passes.totals(task, layout, at, examples, guess)
        return [math.ldexp(signed, -power) for power, signed, _ in found], guess

    def largest(
        self, loop: InParts, given: list[Any], shape: tuple[int, ...], sign: int, out: Array | None = None
    ) -> float:
        """Return the largest value of a formula, with the sign -1 the smallest; write all values to `out` if asked."""
        task, layout, at, _ = self._laid_out(loop, given, shape, 0, out)
        return self.passes.largest(task, layout, at, sign)

    def _laid_out(
        self, loop: InParts, given: list[Any], shape: tuple[int, ...], n_powers: int, kept: Array | None
    ) -> tuple[Task, Layout, int, float]:
        """Return the task that writes a formula's values, how they lie, where, and how many are summed."""
        key = shape, n_powers, kept is None
        known = self._layouts.get(key)
        if known is None:
            known = self._layouts[key] = self._layout(*key)
        layout, size, block_shape, examples = known
        rows, each = self.masses.n_rows, layout.numbers.item(1)
        if kept is not None:
            return (loop, (*given, kept[None], 0, 0, rows)), layout, address(kept), examples
        if len(self._workspace) < size:
            self._workspace = np.empty(size)
            self._at = address(self._workspace)
        out = self._workspace[:size].reshape(block_shape)
        return (loop, (*given, out, each, 0, rows)), layout, self._at, examples

    def _layout(
        self, shape: tuple[int, ...], n_powers: int, in_blocks: bool
    ) -> tuple[Layout, int, tuple[int, ...], float]:
        """Return the layout of values, the space that blocks take and its shape, and how many values are summed."""
        rows, n_values, width = self.masses.n_rows, shape[0], math.prod(shape[1:])
        cells = (CELLS + VALUE * (1 + n_powers)) * n_values * width * rows
        parts = max(min(parts_of(cells, self.threads), rows), 1)
        each = -(-rows * n_values * width // (parts * BLOCK))
        block_rows = -(-rows // (parts * each)) if in_blocks else 0
        layout = Layout(parts, each, rows, n_values, width, block_rows)
        block_shape = parts, *shape, block_rows
        return layout, math.prod(block_shape), block_shape, float(self.masses.n_examples * width)
