"""Sums over rows as `fixed_sums` makes them, by passes that several threads share.

Powers of two to round at follow from the largest magnitude and the integer sums alone; a pass gives both.  Here passes
are whatever gives them; those that a compiled call leads choose the same powers (see kernels/sum_powers.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.fixed_point import fixed_part

Array = npt.NDArray[Any]

VALUE = 2  # cells of a histogram, that a value's magnitude, or its sums at one power, cost as much as
BLOCK = 1 << 13  # doubles of a block that a thread looks at
ENOUGH = 1 << 60  # of the sum of |q|
FAR = 40  # powers apart, at which a sum says little of another
NO_GUESS = np.empty((0, 1), np.int64)


def address(x: Array) -> int:
    """Return where an array is."""
    return int(x.__array_interface__["data"][0])


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
    known: list[dict[int, Sequence[int]]] = [{} for _ in range(n_values)]  # sums of q and |q|, by powers
    powers = guess
    while True:
        tops, found = one_pass(powers)
        for row, sums in zip(powers.tolist(), found.tolist(), strict=True):
            for mine, power, both in zip(known, row, sums, strict=True):
                mine[power] = both
        first, last, ends = list[int](), list[int](), list[tuple[int, int, int]]()
        for top, mine in zip(tops.tolist(), known, strict=True):
            if not top < math.inf:
                raise not_finite()
            least, power = _tried(top, mine, size)
            first.append(least)
            last.append(power)
            if power in mine:
                ends.append((power, *mine[power]))  # type: ignore[arg-type]
        powers = np.array([last])
        if len(ends) == n_values:
            return ends, powers if first == last else np.array([first, last])


def not_finite() -> ArithmeticError:
    """Return the error of a sum that has no value."""
    return ArithmeticError("A sum over rows met NaN or infinity; the rule that asked must bound its values.")


def _tried(top: float, known: dict[int, Sequence[int]], size: float) -> tuple[int, int]:
    """Return the first power that `fixed_sums` tries, and the last one as far as the sums tell: the one to sum at."""
    if top == 0.0:
        known[0] = 0, 0
        return 0, 0
    first = power = 61 - math.frexp(size)[1] - math.frexp(top)[1]
    half = int(0.5 * size) + 1  # rounding has hidden at most half a unit a value
    while True:
        if power in known:
            low = high = known[power][1]
        elif (bounds := _bounds(known, power, first, size)) is not None:
            low, high = bounds
        else:
            break
        bits = (low + half).bit_length()
        if high >= ENOUGH or bits != (high + half).bit_length():
            break
        power += 62 - bits
    return first, power


def _bounds(known: dict[int, Sequence[int]], power: int, first: int, size: float) -> tuple[int, int] | None:
    """Return the least and the most that the sum of |q| can be at a power, given the sums at others.

    Two sums of so many integers differ by their factor and half a unit a value.  At the first power and the one above
    it no sum can have overflowed.
    """
    near = max((at for at in known if first - FAR < at <= first + 1), default=None)
    if near is None or power - near > FAR:
        return None
    about, hidden = math.ldexp(known[near][1], power - near), math.ldexp(size, power - near) + size
    slack = int(hidden) + int(about * 2.0**-50) + 2
    return max(int(about) - slack, 0), int(about) + slack
