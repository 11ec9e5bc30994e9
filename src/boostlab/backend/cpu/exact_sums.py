"""Sums over rows as `fixed_sums` makes them, by passes that several threads share.

Powers of two to round at follow from the largest magnitude and the integer sums alone; a pass gives both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.fixed_point import fixed_part
from boostlab.backend.cpu.kernels.sum_powers import KNOWN, NOT_FINITE, SETTLED, note_pass

Array = npt.NDArray[Any]

VALUE = 2  # cells of a histogram, that a value's magnitude, or its sums at one power, cost as much as
NO_GUESS = np.empty((0, 1), np.int64)


def rounded(x: Array, power: int, threads: int) -> tuple[Array, int, int]:
    """Return q = rint(x * 2^power), and the sums of q and |q|."""
    out, flat = np.empty(x.shape, np.int64), x.reshape(-1)
    found = fixed_part.shared(VALUE * flat.size, threads, flat, power, 0, flat.size, out.reshape(-1))
    return out, sum(signed for signed, _ in found), sum(gross for _, gross in found)


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
    known, numbers = np.empty((n_values, KNOWN, 3), np.int64), np.zeros(n_values, np.int64)
    found, wanted = np.empty((n_values, 3), np.int64), np.empty((2, n_values), np.int64)
    powers = guess
    while True:
        tops, sums = one_pass(powers)
        given = np.ascontiguousarray(tops, np.float64), sums.reshape(-1), powers.reshape(-1)
        state = note_pass(*given, size, known, numbers, found, wanted)
        if state == NOT_FINITE:
            raise not_finite()
        powers = wanted[1:].copy()
        if state == SETTLED:
            return [(power, signed, gross) for power, signed, gross in found.tolist()], next_guess(wanted)


def next_guess(wanted: Array) -> Array:
    """Return the powers to try the next time, given the first ones that were tried and the ones that fitted."""
    return wanted[1:].copy() if (wanted[0] == wanted[1]).all() else wanted.copy()


def not_finite() -> ArithmeticError:
    """Return the error of a sum that has no value."""
    return ArithmeticError("A sum over rows met NaN or infinity; the rule that asked must bound its values.")
