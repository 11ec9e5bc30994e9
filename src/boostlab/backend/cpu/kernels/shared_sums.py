"""What the sums of a formula over the rows of a team's members come to (see `block_pass`, `shared_rounds`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.contract.usual import AGAIN

Array = np.ndarray[Any, Any]

ENOUGH, FAR = np.int64(1) << np.int64(60), 40  # see `exact_sums`


@part
def bit_length(x: int) -> int:
    """Return how many bits a positive integer has."""
    found = 0
    while x > 0:
        x >>= np.int64(1)  # type: ignore[assignment]
        found += 1
    return found


@part
def power_of_sum(first: int, size: float, k0: int, gross0: int, k1: int, gross1: int) -> int:
    """Return the power of two that a sum is taken at, as far as the sums of |q| at two others tell.

    As `exact_sums` does: the first one and those above it are tried until the sum is large enough, which bounds by the
    sums at other powers often tell as well.
    """
    power, half, low, high = first, np.int64(0.5 * size) + 1, np.int64(0), np.int64(0)
    while True:
        if power in (k0, k1):
            low = high = gross0 if power == k0 else gross1  # type: ignore[assignment]
        else:
            near, gross = k0, gross0
            if not first - FAR < k0 <= first + 1 or (first - FAR < k1 <= first + 1 and k1 > k0):
                near, gross = k1, gross1
            if not first - FAR < near <= first + 1 or power - near > FAR:
                return power
            about, hidden = math.ldexp(float(gross), power - near), math.ldexp(size, power - near) + size
            if not about + hidden < 2.0**61:
                return power
            slack = np.int64(hidden) + np.int64(about * 2.0**-50) + 2
            low, high = max(np.int64(about) - slack, np.int64(0)), np.int64(about) + slack
        size_in_bits = bit_length(low + half)
        if high >= ENOUGH or size_in_bits != bit_length(high + half):
            return power
        power += 62 - size_in_bits


@in_parts
def settle_sums(
    tops: Array,
    sums: Array,
    size: float,
    at: int,
    me: int,
    all_powers: Array,
    numbers: Array,
    ints: Array,
) -> None:
    """Write the sums of a formula's values to a member's numbers, NaN where one is not finite; where they are to be
    taken at other powers of two, say so.

    tops and sums have a row a member (see `block_pass`); size is the number of examples, and the sums go to the place
    `at` and behind it.
    """
    powers = all_powers[me]
    for v in range(tops.shape[1]):
        top, bad = 0.0, False
        for p in range(tops.shape[0]):
            bad |= not tops[p, v] < np.inf
            top = max(top, tops[p, v])
        if bad or top == 0.0:
            numbers[me, at + v] = np.nan if bad else 0.0
            continue
        signed0, gross0, signed1, gross1 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for p in range(tops.shape[0]):
            signed0, gross0 = signed0 + sums[p, 0, v, 0], gross0 + sums[p, 0, v, 1]
            signed1, gross1 = signed1 + sums[p, 1, v, 0], gross1 + sums[p, 1, v, 1]
        first = 61 - math.frexp(size)[1] - math.frexp(top)[1]
        k0, k1 = powers[0, v], powers[1, v]
        power = power_of_sum(first, size, k0, gross0, k1, gross1)
        powers[0, v], powers[1, v] = first, power
        if power in (k0, k1):
            numbers[me, at + v] = math.ldexp(float(signed0 if power == k0 else signed1), -power)
        else:
            ints[me, of.SAID] = AGAIN


@in_parts
def settle_smallest(tops: Array, at: int, me: int, numbers: Array) -> None:
    """Write the smallest of a formula's values, whose negatives' largest are in tops."""
    for v in range(tops.shape[1]):
        top = -np.inf
        for p in range(tops.shape[0]):
            top = max(top, tops[p, v]) if tops[p, v] == tops[p, v] and top == top else np.nan
        numbers[me, at + v] = -top
