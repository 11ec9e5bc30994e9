"""Exact sums of functions whose values are never held for all rows at once (of formulas see `formula_sums`).

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

from boostlab.backend.cpu.exact_sums import VALUE, exact_sums
from boostlab.backend.cpu.kernels.totals import tops_and_sums
from boostlab.backend.cpu.masses import Masses

Array = npt.NDArray[Any]
# Writes the values of rows first to last - 1 to an array (values, rows).
Evaluate = Callable[[int, int, Array], None]

BLOCK_DOUBLES = 1 << 16  # doubles of a block, all its values together: 512 kB, about what a core's cache holds


class Blocks:
    """Sums over a sample, by blocks of rows.

    Parameters
    ----------
    masses : Masses
        How much every row counts.
    threads : int
        How many threads share the rows.
    block_doubles : int
        Numbers of a block, for each thread.
    """

    def __init__(self, masses: Masses, threads: int, block_doubles: int = BLOCK_DOUBLES) -> None:
        self.masses, self.threads, self.block_doubles = masses, threads, block_doubles
        self._workspace = np.empty(0)  # workspace

    def totals(self, evaluate: Evaluate, n_values: int, guess: Array) -> tuple[list[float], Array]:
        """Return the sum of mass * x for each of the values x, as `Masses.total` does, and the powers it took.

        Parameters
        ----------
        evaluate : callable
            Writes the values of some rows.
        n_values : int
            How many there are a row.
        guess : int array of shape (any, n_values)
            Powers of two that values may be rounded at.
        """
        size = float(self.masses.n_examples)
        found, powers = exact_sums(lambda powers: self._pass(evaluate, n_values, powers), n_values, size, guess)
        return [math.ldexp(signed, -power) for power, signed, _ in found], powers

    def _pass(self, evaluate: Evaluate, n_values: int, powers: Array) -> tuple[Array, Array]:
        """Return the largest magnitude of every value, and the sums of q and |q| at powers of two."""
        tops, sums = np.zeros((self.threads, n_values)), np.zeros((self.threads, len(powers), n_values, 2), np.int64)
        top, all_ = np.zeros(n_values), np.zeros((len(powers), n_values, 2), np.int64)
        cells = VALUE * (1 + len(powers))
        for a, b, values in self._blocks(evaluate, n_values):
            counts, mass = (x if x.size == 0 else x[a:b] for x in self.masses.as_arrays)
            facts = values, counts, mass, powers, 0, values.shape[1], tops, sums
            tops_and_sums.shared(cells * values.size, self.threads, *facts)
            top, all_ = np.maximum(top, tops.max(axis=0)), all_ + sums.sum(axis=0)  # NaN stays
            tops[:], sums[:] = 0.0, 0  # there may be fewer parts the next time
        return top, all_

    def _blocks(self, evaluate: Evaluate, n_values: int) -> Any:
        """Yield (first row, last row + 1, values) of one block after another: what the threads' caches hold."""
        n, step = self.masses.n_rows, max(self.block_doubles * self.threads // n_values, 1)
        size = n_values * min(n, step)
        if len(self._workspace) < size:
            self._workspace = np.empty(size)
        for a in range(0, n, step):
            b = min(a + step, n)
            values = self._workspace[: n_values * (b - a)].reshape(n_values, b - a)
            evaluate(a, b, values)
            yield a, b, values
