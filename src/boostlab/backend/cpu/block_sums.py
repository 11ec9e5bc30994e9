"""Exact sums of formulas whose values are never held for all rows at once.

A sum needs its values more than once: for the largest magnitude, which gives the power of two to round them at, and for
the integers at that power; often at a second power, because the first sum was small.  A block's values stay
in the cache meanwhile.  A pass also sums at the powers that the last such sum needed: mostly they fit again, and one
pass is all.  Powers follow from the largest magnitude and the integer sums alone, so that a guess decides about time,
never about bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.totals import largest_part, sums_part
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.threads import gather

Array = npt.NDArray[Any]
Evaluate = Callable[[int, int, Array], None]  # writes the values of rows first to last - 1 to an array (values, rows)

ROOM = 1 << 16  # doubles of a block, all its values together: 512 kB, about what a core's cache holds
ENOUGH = 1 << 60  # of the sum of |q|


class Blocks:
    """Sums and extremes over a sample, by blocks of rows.

    Parameters
    ----------
    masses : Masses
        How much every row counts.
    threads : int
        How many threads share the rows.
    """

    def __init__(self, masses: Masses, threads: int) -> None:
        self.masses, self.threads = masses, threads
        self._spare: list[Array] = []  # workspace: a block for every thread

    def serves(self, n_values: int) -> bool:
        """Return whether so many values a row are worth more than one block."""
        return n_values * self.masses.n_rows > ROOM

    def totals(self, evaluate: Evaluate, n_values: int, cells: int, guess: Array) -> tuple[list[float], Array]:
        """Return the sum of mass * x for each of the values x, as `Masses.total` does, and the powers it took.

        Parameters
        ----------
        evaluate : callable
            Writes the values of some rows.
        n_values : int
            How many there are a row.
        cells : int
            What one pass costs (see `threads`).
        guess : int array of shape (any, n_values)
            Powers of two that values may be rounded at.
        """
        found, powers = exact_sums(
            lambda powers: self._pass(evaluate, n_values, cells, powers), n_values, float(self.masses.n_examples), guess
        )
        return [math.ldexp(signed, -power) for power, signed, _ in found], powers

    def largest(self, evaluate: Evaluate, cells: int, sign: float = 1.0) -> float:
        """Return the largest value; with the sign -1 the smallest."""

        def part(first: int, last: int) -> float:
            return max(float((sign * x[0]).max()) for _, _, x in self._blocks(evaluate, 1, first, last))

        return sign * float(np.max(gather(part, self.masses.n_rows, cells, self.threads)))

    def _pass(self, evaluate: Evaluate, n_values: int, cells: int, powers: Array) -> tuple[Array, Array]:
        """Return the largest magnitude of every value, and the sums of q and |q| at powers of two."""
        counts, mass = self.masses.as_arrays

        def part(first: int, last: int) -> tuple[Array, Array]:
            tops, sums = np.zeros(n_values), np.zeros((len(powers), n_values, 2), np.int64)
            top, more = np.empty(n_values), np.empty((n_values, 2), np.int64)
            for a, b, values in self._blocks(evaluate, n_values, first, last):
                largest_part(values, counts[a:b], mass[a:b], 0, b - a, top)
                np.maximum(tops, top, out=tops)  # NaN stays
                for p, power in enumerate(powers):
                    sums_part(values, counts[a:b], mass[a:b], power, 0, b - a, more)
                    sums[p] += more
            return tops, sums

        parts = gather(part, self.masses.n_rows, cells, self.threads)
        return np.max([tops for tops, _ in parts], axis=0), np.sum([sums for _, sums in parts], axis=0)

    def _blocks(self, evaluate: Evaluate, n_values: int, first: int, last: int) -> Any:
        """Yield (first row, last row + 1, values) of one block after another."""
        room = self._spare.pop() if self._spare else np.empty(ROOM)
        step = max(ROOM // n_values, 1)
        try:
            for a in range(first, last, step):
                b = min(a + step, last)
                values = room[: n_values * (b - a)].reshape(n_values, b - a)
                evaluate(a, b, values)
                yield a, b, values
        finally:
            self._spare.append(room)


def exact_sums(
    one_pass: Callable[[Array], tuple[Array, Array]], n_values: int, size: float, guess: Array
) -> tuple[list[tuple[int, int, int]], Array]:
    """Return for each value the power of two, the sum of q and that of |q|, as `fixed_sums` does; and a next guess.

    Parameters
    ----------
    one_pass : callable
        Returns the largest magnitude of every value, and the sums of q and |q| at powers of two.
    n_values : int
        How many values there are a row.
    size : float
        Number of rows, counts included.
    guess : int array of shape (any, n_values)
        Powers of two that values may be rounded at.
    """
    known: list[dict[int, tuple[int, int]]] = [{} for _ in range(n_values)]  # sums of q and |q|, by powers
    powers = guess
    while True:
        tops, found = one_pass(powers)
        if not np.isfinite(tops).all():
            raise ArithmeticError("A sum over rows met NaN or infinity; the rule that asked must bound its values.")
        for row, sums in zip(powers.tolist(), found.tolist(), strict=True):
            for mine, power, (signed, gross) in zip(known, row, sums, strict=True):
                mine[power] = signed, gross
        trails = [_trail(top, mine, size) for top, mine in zip(tops.tolist(), known, strict=True)]
        powers = np.array([[trail[-1] for trail in trails]])
        if all(trail[-1] in mine for trail, mine in zip(trails, known, strict=True)):
            first = np.array([[trail[0] for trail in trails]])
            ends = [(trail[-1], *mine[trail[-1]]) for trail, mine in zip(trails, known, strict=True)]
            return ends, first if (first == powers).all() else np.concatenate([first, powers])


def _trail(top: float, known: dict[int, tuple[int, int]], size: float) -> list[int]:
    """Return the powers that `fixed_sums` tries, as far as the sums are known; the last is the one to sum at."""
    if top == 0.0:
        known[0] = 0, 0
        return [0]
    powers = [61 - math.frexp(size)[1] - math.frexp(top)[1]]
    while powers[-1] in known and (gross := known[powers[-1]][1]) < ENOUGH:
        hidden = gross + int(0.5 * size) + 1  # rounding has hidden at most half a unit a value
        powers.append(powers[-1] + 62 - hidden.bit_length())
    return powers
