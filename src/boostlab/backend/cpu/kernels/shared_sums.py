"""What the sums of a formula over the rows of a team's members come to (see `block_pass`, `shared_rounds`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.sum_powers import GROSS, POWER, SIGNED, tried
from boostlab.contract.usual import AGAIN

Array = np.ndarray[Any, Any]


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
    powers, known = all_powers[me], np.empty((2, 3), np.int64)
    for v in range(tops.shape[1]):
        top, bad = 0.0, False
        for p in range(tops.shape[0]):
            bad |= not tops[p, v] < np.inf
            top = max(top, tops[p, v])
        if bad or top == 0.0:
            numbers[me, at + v] = np.nan if bad else 0.0
            continue
        at_once = False
        for k in range(2):
            known[k, POWER], known[k, SIGNED], known[k, GROSS] = powers[k, v], 0, 0
            for p in range(tops.shape[0]):
                known[k, SIGNED] += sums[p, k, v, 0]
                known[k, GROSS] += sums[p, k, v, 1]
        first, power = tried(top, known, 2, size)
        for k in range(2):
            if known[k, POWER] == power:
                numbers[me, at + v], at_once = math.ldexp(float(known[k, SIGNED]), -power), True
        powers[0, v], powers[1, v] = first, power
        if not at_once:
            ints[me, of.SAID] = AGAIN


@in_parts
def settle_smallest(tops: Array, at: int, me: int, numbers: Array) -> None:
    """Write the smallest of a formula's values, whose negatives' largest are in tops."""
    for v in range(tops.shape[1]):
        top = -np.inf
        for p in range(tops.shape[0]):
            top = max(top, tops[p, v]) if tops[p, v] == tops[p, v] and top == top else np.nan
        numbers[me, at + v] = -top
