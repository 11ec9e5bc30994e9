"""The cells of a column that hold a quantile: which they are, their values put in order, and the cuts between these."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.binning import cut_between, last_equal, row_at

Array = np.ndarray[Any, Any]

STRETCH = 4  # cells that are passed over at once
CROWD = 1 << 13  # values of a cell, beyond which a whole sort is faster than one of cells
RANKED = 48  # values of a cell, up to which they are sorted by ranks


@part
def mark(
    count: Array, heavy: Array, n_cells: int, limit: int, every: bool, marked: Array, facts: Array
) -> tuple[int, int]:
    """Mark the cells to scatter; return how many, and the whole mass.

    They are those where the share of a cut is reached, and the next one after each that has values; or all.  `heavy`
    is the mass of the cells, `count` itself if each row's is 1.  facts[m] of the marked cell m: where its values start
    and end, the mass in the cells before it and up to it, whether its values are to be sorted, and which cell it is.
    """
    all_, before, n, at, k, follows = 0, 0, 0, 0, 1, False
    for c in range(n_cells):
        all_ += heavy[c]
    whole = np.float64(all_)
    reached = np.float64(0.0)  # by so much the next share is certainly not reached: most cells need no division
    for first in range(0, n_cells, STRETCH):
        last, here = min(first + STRETCH, n_cells), 0
        for c in range(first, last):
            here += heavy[c]
            marked[c] = False
        if before + here < reached and not follows and not every:  # nothing to mark
            before += here
            continue
        for c in range(first, last):
            upto, size = before + heavy[c], count[c]
            if size > 0:
                sorts = every
                if upto >= reached:
                    while k < limit and upto / whole >= k / limit:
                        sorts, k = True, k + 1
                    reached = (1.0 - 1e-12) * whole * (k / limit)
                if sorts or follows:
                    facts[n, 0], facts[n, 1], facts[n, 2], facts[n, 3] = at, at + size, before, upto
                    facts[n, 4], facts[n, 5] = sorts, c
                    marked[c], at, n = True, at + size, n + 1
                follows = sorts
                before = upto
    marked[n_cells] = False  # NaN
    return n, all_


@part
def _by_rank(values: Array, start: int, end: int, space: Array) -> None:
    """Sort a few values by their ranks: each is compared with those before it, without a branch that half of the time
    is guessed wrong.
    """
    n = end - start
    some, ranks = space[:RANKED], space[RANKED:]
    for i in range(n):
        v, rank = np.float64(values[start + i]), 0.0
        for k in range(i):
            less = np.float64(some[k] < v)
            rank += less
            ranks[k] += 1.0 - less
        some[i], ranks[i] = v, rank
    for i in range(n):
        values[start + np.int64(ranks[i])] = some[i]


@part
def _sort(values: Array, mass: Array, start: int, end: int) -> None:
    """Sort some values, and their masses with them: by insertion, many of them by far steps first (a Shell sort)."""
    gap = end - start
    while gap > 1:
        gap = 1 if gap < 48 else gap * 5 // 11
        for i in range(start + gap, end):
            v, p = values[i], i
            m = mass[i] if mass.size > 0 else 0
            while p >= start + gap and values[p - gap] > v:
                values[p] = values[p - gap]
                if mass.size > 0:
                    mass[p] = mass[p - gap]
                p -= gap
            values[p] = v
            if mass.size > 0:
                mass[p] = m


@part
def _least_first(values: Array, start: int, end: int) -> None:
    """Bring the smallest value to the front."""
    least, low = start, values[start]
    for i in range(start + 1, end):
        v = values[i]
        least, low = (i, v) if v < low else (least, low)
    values[start], values[least] = values[least], values[start]


@part
def put_in_order(facts: Array, first: int, n: int, step: int, values: Array, mass: Array, space: Array) -> bool:
    """Sort the values of some marked cells, and let mass be the mass up to each; return False if one is too crowded."""
    for m in range(first, n, step):
        start, end = facts[m, 0], facts[m, 1]
        if facts[m, 4] == 0:
            _least_first(values, start, end)
            continue
        if mass.size == 0 and end - start <= RANKED:
            _by_rank(values, start, end, space)
            continue
        i = start
        while i < end and values[i] == values[start]:
            i += 1
        if i < end:  # they differ
            if end - start > CROWD:
                return False
            _sort(values, mass, start, end)
        if mass.size > 0:
            upto = facts[m, 2]
            for i in range(start, end):
                upto += mass[i]
                mass[i] = upto
    return True


@part
def cut_cells(values: Array, below: Array, facts: Array, n: int, all_: int, limit: int, out: Array, upto: Array) -> int:
    """Write the cuts after the values at the quantiles k / limit, as `binning.cut_sorted` does; return how many.

    values are those of the marked cells, in order; below[r] is the mass up to each (empty if every row's is 1: then
    upto is how many values are below each cut).
    """
    whole, size = np.float64(all_), facts[n - 1, 1]
    count, end, m = 0, -1, 0
    for k in range(1, limit):
        share = k / limit
        while facts[m, 3] / whole < share:
            m += 1
        r = row_at(share, below, whole, facts[m, 0], facts[m, 1], facts[m, 2])
        if r <= end:
            continue
        end = last_equal(values, r, size)
        if end >= size - 1:
            break
        out[count], upto[count] = cut_between(values[end], values[end + 1]), facts[m, 2] + end - facts[m, 0] + 1
        count += 1
    return count


@part
def cut_all(values: Array, size: int, limit: int, out: Array, upto: Array) -> int:
    """Write the cuts between all of some sorted values, and how many values are below each; return how many, or -1 if
    there are more than limit - 1.
    """
    count = 0
    for i in range(1, size):
        if values[i] != values[i - 1]:
            if count == limit - 1:
                return -1
            out[count], upto[count] = cut_between(values[i - 1], values[i]), i
            count += 1
    return count
