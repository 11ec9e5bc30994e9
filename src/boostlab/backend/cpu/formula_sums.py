"""Exact sums and extremes of formulas over a sample: a pass over the rows is one compiled call.

The values of a block stay in a core's cache while their largest magnitude and their sums at the powers of two are
taken (see `exact_sums`), whatever the formula.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exact_sums import BLOCK, NO_GUESS, VALUE, address, exact_sums
from boostlab.backend.cpu.formulas import CELLS
from boostlab.backend.cpu.in_parts import InParts, parts_of
from boostlab.backend.cpu.kernels.block_pass import (
    AT_BLOCKS,
    AT_COUNTS,
    AT_MASSES,
    AT_POWERS,
    AT_SUMS,
    AT_TOPS,
    COUNTS,
    MASSES,
    PARTS,
    SIZE,
    block_pass_address,
)
from boostlab.backend.cpu.kernels.tasks import PLAN, PLAN_AT, PLANNER
from boostlab.backend.cpu.masses import Masses

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
        self._plan = np.zeros(SIZE, np.int64)
        self._workspace, self._powers, self._tops, self._sums = (
            np.empty(0, t) for t in (float, np.int64, float, np.int64)
        )

    def __reduce__(self) -> Any:
        """Copy what it is made of: a plan holds addresses."""
        return FormulaSums, (self.masses, self.threads)

    def totals(
        self, loop: InParts, given: list[Any], shape: tuple[int, ...], guess: Array
    ) -> tuple[list[float], Array]:
        """Return the sum of mass * x for each of a formula's values x, as `Masses.total` does, and the powers it took.

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
        """

        def one_pass(powers: Array) -> tuple[Array, Array]:
            return self._pass(loop, given, shape, powers, 0)

        found, powers = exact_sums(one_pass, shape[0], float(self.masses.n_examples * math.prod(shape[1:])), guess)
        return [math.ldexp(signed, -power) for power, signed, _ in found], powers

    def largest(
        self, loop: InParts, given: list[Any], shape: tuple[int, ...], sign: int, out: Array | None = None
    ) -> float:
        """Return the largest value of a formula, with the sign -1 the smallest; write all values to `out` if asked."""
        return sign * float(self._pass(loop, given, shape, NO_GUESS, sign, out)[0][0])

    def _pass(
        self,
        loop: InParts,
        given: list[Any],
        shape: tuple[int, ...],
        powers: Array,
        sign: int,
        kept: Array | None = None,
    ) -> tuple[Array, Array]:
        """Return the largest magnitude of every value, and the sums of q and |q| at powers of two.

        They are overwritten by the next pass.
        """
        rows, n_powers, n_values, width = self.masses.n_rows, len(powers), shape[0], math.prod(shape[1:])
        cells = (CELLS + VALUE * (1 + n_powers)) * n_values * width * rows
        parts = max(min(parts_of(cells, self.threads), rows), 1)
        each = -(-rows * n_values * width // (parts * BLOCK))
        block_rows = -(-rows // (parts * each))
        block_rows = block_rows if kept is None else 0
        self._lay_out(parts, n_values, width * block_rows, n_powers)
        self._powers[: powers.size] = powers.reshape(-1)
        self._plan[PARTS:COUNTS] = parts, each, rows, n_values, width, block_rows, sign, n_powers
        if kept is None:
            self._plan[AT_BLOCKS] = address(self._workspace)
            out = self._workspace[: parts * n_values * width * block_rows].reshape(parts, *shape, block_rows)
            loop.in_so_many(parts, *given, out, each, 0, rows, self._plan)
        else:
            self._plan[AT_BLOCKS] = address(kept)
            loop.in_so_many(parts, *given, kept[None], 0, 0, rows, self._plan)
        tops = self._tops[: parts * n_values].reshape(parts, n_values)
        sums = self._sums[: 2 * parts * n_powers * n_values].reshape(parts, n_powers, n_values, 2)
        return (tops[0], sums[0]) if parts == 1 else (tops.max(axis=0), sums.sum(axis=0))  # NaN stays

    def _lay_out(self, parts: int, n_values: int, block_rows: int, n_powers: int) -> None:
        """Let there be space for so many numbers, and the plan know where it is."""
        plan = self._plan
        if plan[PLANNER] == 0:
            plan[PLANNER], plan[PLAN_AT], plan[PLAN] = block_pass_address(), address(plan) + 8 * PLAN, address(plan)
            counts, mass = self.masses.as_arrays
            plan[COUNTS], plan[MASSES] = counts.size, mass.size
            plan[AT_COUNTS], plan[AT_MASSES] = address(counts), address(mass)
        if len(self._workspace) < parts * n_values * block_rows:
            self._workspace = np.empty(parts * n_values * block_rows)
        if len(self._powers) < n_powers * n_values:
            self._powers = np.empty(n_powers * n_values, np.int64)
            plan[AT_POWERS] = address(self._powers)
        if len(self._tops) < parts * n_values:
            self._tops = np.empty(parts * n_values)
            plan[AT_TOPS] = address(self._tops)
        if len(self._sums) < 2 * parts * n_powers * n_values:
            self._sums = np.empty(2 * parts * n_powers * n_values, np.int64)
            plan[AT_SUMS] = address(self._sums)
