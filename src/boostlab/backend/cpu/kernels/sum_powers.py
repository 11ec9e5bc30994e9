"""The powers of two that values are rounded at for their sums: they follow from what passes over the rows have found.

A pass gives the largest magnitude of every value, and the sums of its integers at some powers.  From these follow the
power that `fixed_sums` would end at, or the one to try next: a guess decides about time, never about bits.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part

Array = np.ndarray[Any, Any]

KNOWN = 16  # sums at so many powers are remembered: four are many
POWER, SIGNED, GROSS = range(3)  # what is known of a sum: the power of two, the sum of q and that of |q|
FAR = 40  # powers apart, at which a sum says little of another
ENOUGH = 1 << 60  # of the sum of |q|
SETTLED, OPEN, NOT_FINITE = 1, 0, -1


@part
def _bit_length(x: int) -> int:
    found = 0
    while x > 0:
        x >>= 1
        found += 1
    return found


@part
def _place(known: Array, n: int, power: int) -> int:
    """Return where a sum at this power is known, -1 if it is not."""
    for at in range(n):
        if known[at, POWER] == power:
            return at
    return -1


@part
def _nearest(known: Array, n: int, first: int) -> int:
    """Return where the sum at the largest power is that says something: at the first one, and the one above it, no sum
    can have overflowed.
    """
    best = -1
    for at in range(n):
        power = known[at, POWER]
        if first - FAR < power <= first + 1 and (best < 0 or power > known[best, POWER]):
            best = at
    return best


@part
def tried(top: float, known: Array, n: int, size: float) -> tuple[int, int]:
    """Return the first power that `fixed_sums` tries, and the last one as far as the sums tell: the one to sum at."""
    first = np.int64(61 - math.frexp(size)[1] - math.frexp(top)[1])
    power, half = first, np.int64(0.5 * size) + 1  # rounding has hidden at most half a unit a value
    near = _nearest(known, n, first)
    while True:
        at = _place(known, n, power)
        if at >= 0:
            low = high = known[at, GROSS]
        elif near >= 0 and power - known[near, POWER] <= FAR:
            # Two sums of so many integers differ by their factor and half a unit a value.
            by = power - known[near, POWER]
            about = math.ldexp(float(known[near, GROSS]), by)
            hidden = math.ldexp(size, by) + size + about * 2.0**-50 + 3.0
            if about + hidden >= float(ENOUGH):
                break
            low, high = np.int64(max(about - hidden, 0.0)), np.int64(about + hidden)
        else:
            break
        if high >= ENOUGH:
            break
        bits = _bit_length(low + half)
        if bits != _bit_length(high + half):
            break
        power += 62 - bits
    return first, power  # type: ignore[return-value]


@part
def take_note(
    tops: Array, sums: Array, powers: Array, size: float, known: Array, numbers: Array, found: Array, wanted: Array
) -> int:
    """Take note of a pass; return whether all sums are `SETTLED`, or another pass is needed, or a value is not finite.

    Parameters
    ----------
    tops : array of shape (n_values,)
        The largest magnitudes.
    sums, powers : int64 arrays of n_powers * n_values * 2, and of n_powers * n_values
        The sums of q and of |q| at these powers.
    size : float
        Number of rows, counts included.
    known, numbers : int64 arrays of shape (n_values, KNOWN, 3) and (n_values,)
        What all passes have found, and how much that is: none before the first.
    found : int64 array of shape (n_values, 3)
        Gets the power of two, the sum of q and that of |q|.
    wanted : int64 array of shape (2, n_values)
        Gets the first powers that would be tried, and the ones to sum at.
    """
    n_values, settled = tops.size, SETTLED
    for v in range(n_values):
        mine, top = known[v], tops[v]
        if not top < np.inf:
            return NOT_FINITE
        for at in range(v, powers.size, n_values):
            place = _place(mine, numbers[v], powers[at])
            if place < 0:
                place = numbers[v]
                if place == KNOWN:
                    raise MemoryError
                numbers[v] += 1
            mine[place, POWER], mine[place, SIGNED], mine[place, GROSS] = powers[at], sums[2 * at], sums[2 * at + 1]
        if top == 0.0:
            wanted[0, v] = wanted[1, v] = found[v, POWER] = found[v, SIGNED] = found[v, GROSS] = 0
            continue
        wanted[0, v], wanted[1, v] = tried(top, mine, numbers[v], size)
        place = _place(mine, numbers[v], wanted[1, v])
        if place < 0:
            settled = OPEN
            continue
        for c in range(3):
            found[v, c] = mine[place, c]
    return settled
