"""What the sums of a formula over the rows of a team's members come to (see `block_pass`, `shared_rounds`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.sum_powers import OPEN, POWER, SETTLED, SIGNED, take_note
from boostlab.backend.cpu.kernels.workspace import clear, doubles, integers
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
    all_known: Array,
    all_counts: Array,
    numbers: Array,
    ints: Array,
) -> None:
    """Write the sums of a formula's values to a member's numbers, NaN where one is not finite; where they are to be
    taken at other powers of two, say so.

    tops and sums have a row a member (see `block_pass`); size is the number of examples, and the sums go to the place
    `at` and behind it.  What passes have found is in known and counts (see `sum_powers.take_note`).
    """
    n, flat = tops.shape[1], integers(sums.shape[1] * tops.shape[1] * 2)
    powers, top, found, wanted = integers(flat.size // 2), doubles(n), np.empty((n, 3), np.int64), all_powers[me]
    clear(flat)
    for v in range(n):
        top[v] = 0.0
        for p in range(tops.shape[0]):
            top[v] = max(top[v], tops[p, v]) if tops[p, v] == tops[p, v] and top[v] == top[v] else np.nan
        for k in range(sums.shape[1]):
            powers[k * n + v] = wanted[k, v]
            for p in range(tops.shape[0]):
                flat[2 * (k * n + v)] += sums[p, k, v, 0]
                flat[2 * (k * n + v) + 1] += sums[p, k, v, 1]
    said = take_note(top, flat, powers, size, all_known[me], all_counts[me], found, wanted)
    if said == OPEN:
        ints[me, of.SAID] = AGAIN
        return
    clear(all_counts[me])
    for v in range(n):
        numbers[me, at + v] = math.ldexp(float(found[v, SIGNED]), -found[v, POWER]) if said == SETTLED else np.nan


@in_parts
def settle_smallest(tops: Array, at: int, me: int, numbers: Array) -> None:
    """Write the smallest of a formula's values, whose negatives' largest are in tops."""
    for v in range(tops.shape[1]):
        top = -np.inf
        for p in range(tops.shape[0]):
            top = max(top, tops[p, v]) if tops[p, v] == tops[p, v] and top == top else np.nan
        numbers[me, at + v] = -top
