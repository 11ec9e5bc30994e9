"""From values to bin codes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.functions import bits
from boostlab.backend.cpu.kernels.workspace import doubles, naturals, short_integers

Array = np.ndarray[Any, Any]


LINES = 64  # rows of which some columns stay in the first cache
TOGETHER = 4  # columns that are copied a row after the other
BLOCK = 512  # rows that stay in the cache while all their features are read
CROWDED = 3  # cuts in one cell of a grid, from which on searching is faster than counting


@kernel
def columns_of(X: Array, first: int, out: Array) -> None:
    """Copy the columns from `first` on to the rows of out: several at once, for they share the lines of the cache.

    Four by four, of which a row is read at once: that takes a third of the time of one after the other.
    """
    whole = out.shape[0] - out.shape[0] % TOGETHER
    for start in range(0, X.shape[0], LINES):
        end = min(start + LINES, X.shape[0])
        for k in range(0, whole, TOGETHER):
            a, b, c, d = out[k, start:end], out[k + 1, start:end], out[k + 2, start:end], out[k + 3, start:end]
            for i in range(a.size):
                row = X[start + i, first + k : first + k + TOGETHER]
                a[i], b[i], c[i], d[i] = row[0], row[1], row[2], row[3]
        for k in range(whole, out.shape[0]):
            to = out[k, start:end]
            for i in range(to.size):
                to[i] = X[start + i, first + k]


@kernel
def cut_sorted(values: Array, below: Array, many: bool, limit: int, out: Array) -> tuple[int, int]:
    """Write the cuts between sorted values, and return how many they are and how many values are distinct.

    If it is known that `many` are, more than `limit`, they are not counted.  NaN comes last and does not count.  If
    there are more than `limit` distinct values, cuts are after the values at the quantiles k / limit: those of the
    first row r with below[r] / below[-1] >= k / limit, where below[r] is the mass of the rows up to r (empty if every
    row has the mass 1).  A cut is halfway between neighbours, where floats allow.
    """
    size = values.size
    while size > 0 and np.isnan(values[size - 1]):
        size -= 1
    distinct = limit + 1 if many else min(size, 1)
    for r in range(1, 1 if many else size):
        distinct += values[r] != values[r - 1]
    weighted, all_cuts = below.size > 0, distinct <= limit
    whole = np.float64(below[size - 1]) if weighted and size > 0 else np.float64(size)
    count, end = 0, -1
    for k in range(1, limit):
        if all_cuts:
            r = end + 1
        else:
            share = k / limit
            if weighted:
                r, after = 0, size - 1  # below / whole rises with the row, and is 1 in the last
                while r < after:
                    here = (r + after) // 2
                    if below[here] / whole < share:
                        r = here + 1
                    else:
                        after = here
            else:
                r = max(math.ceil(share * whole) - 2, 0)
                while (r + 1) / whole < share:
                    r += 1
            if r <= end:
                continue
        end = r
        while end + 1 < size and values[end + 1] == values[r]:  # the last row of that value
            end += 1
        if end >= size - 1:
            break
        low, high = np.float64(values[end]), np.float64(values[end + 1])
        middle = low / 2 + high / 2  # halves first: the sum of two huge numbers would overflow
        out[count] = (middle if low <= middle < high else low) + 0.0  # no negative zeros
        count += 1
    return count, distinct


@kernel
def lay_grids(cuts: Array, starts: Array, ends: Array, low: Array, scale: Array, most: Array, below: Array) -> None:
    """Divide every feature's range into even cells, and note how many cuts there are below each (below[j, cell]).

    Feature j owns the cuts starts[j] to ends[j] - 1.  A value x is in the cell int((x - low[j]) * scale[j]), cut off at
    the ends; because that never falls when x grows, the cuts of lower cells are below x and those of higher ones are
    not.  most[j] is the largest number of cuts in a cell; -1 if there is no such grid, or no use in it.
    """
    for j in range(ends.size):
        first, n, most[j] = starts[j], ends[j] - starts[j], -1
        if n == 0:
            continue
        span = cuts[first + n - 1] - cuts[first]
        low[j], scale[j] = cuts[first], (below.shape[1] - 1) / span if span > 0.0 else 1.0
        if not 1e-300 < scale[j] < 1e300:
            continue
        done, fullest = 0, 0
        for cell in range(below.shape[1]):
            below[j, cell], before = done, done
            while done < n and int((cuts[first + done] - low[j]) * scale[j]) <= cell:
                done += 1
            fullest = max(fullest, done - before)
        if fullest < CROWDED:
            most[j] = fullest


@part
def _rows_of(X: Array, start: int, size: int, first: int, out: Array) -> None:
    """Copy some columns of so many rows to out, each a stretch of BLOCK numbers: four, or those that are left."""
    a, b = out[:BLOCK], out[BLOCK : 2 * BLOCK]
    c, d = out[2 * BLOCK : 3 * BLOCK], out[3 * BLOCK :]
    if first + TOGETHER <= X.shape[1]:
        for i in range(size):
            row = X[start + i, first : first + TOGETHER]
            a[i], b[i], c[i], d[i] = row[0], row[1], row[2], row[3]
        return
    for j in range(first, X.shape[1]):
        to = out[(j - first) * BLOCK : (j - first + 1) * BLOCK]
        for i in range(size):
            to[i] = X[start + i, j]


@kernel
def encode(X: Array, cuts: Array, starts: Array, grids: Any, missing: Array, offset: int, codes: Array) -> None:
    """Write the bin of X[i, j], the number of cuts of feature j below it (NaN: missing[j]), as row offset + i.

    Feature j owns cuts[starts[j]:starts[j + 1]], padded with infinity to a length of 2^k.  Where there is a grid (low,
    scale, most, below; see `lay_grids`) the cell of a value says how many cuts are below it, but for those in the
    cell (5 ns).  Elsewhere binary search is k steps for every row, and going right or left is the sign bit of
    cut - x instead of a branch that half of the time is guessed wrong (13 ns with 255 bins, against 60 ns).  X is
    row-major; codes[j // per_word, i, j % per_word] holds groups of features that share a 64-bit word.
    """
    low, scale, most, below = grids
    one, per_word, top, d = np.uint64(1), codes.shape[2], np.float64(below.shape[1] - 1), X.shape[1]
    some, cell, at = doubles(TOGETHER * BLOCK), short_integers(BLOCK), naturals(BLOCK)
    for start in range(0, X.shape[0], BLOCK):
        size = np.uint64(min(BLOCK, X.shape[0] - start))
        for j in range(d):
            if j % TOGETHER == 0:
                _rows_of(X, start, int(size), j, some)
            mine, none = cuts[starts[j] : starts[j + 1]], np.uint64(missing[j])
            values = some[j % TOGETHER * BLOCK : (j % TOGETHER + 1) * BLOCK]
            out = codes[j // per_word, offset + start : offset + start + BLOCK, j % per_word]
            if most[j] >= 0:
                count, left, steep = below[j], low[j], scale[j]
                for i in range(size):
                    x = (values[i] - left) * steep
                    x = x if x > 0.0 else 0.0  # NaN as well
                    cell[i] = np.int32(x if x < top else top)
                for i in range(size):  # as often as there may be cuts in a cell: a loop would take half as long again
                    x, found = values[i], np.uint64(count[np.uint64(cell[i])])
                    found += np.uint64(mine[found] < x)
                    found += np.uint64(mine[found] < x)
                    out[i] = found if x == x else none
                continue
            for i in range(size):
                at[i] = 0
            step = np.uint64(mine.size) >> one
            while step > np.uint64(0):
                for i in range(size):
                    less = bits(mine[at[i] + step - one] - values[i]) >> 63  # -1 or 0
                    at[i] += step & np.uint64(less)
                step = step >> one
            for i in range(size):
                out[i] = at[i] if values[i] == values[i] else none
