"""From values to bin codes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.functions import bits
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.prefetch import soon
from boostlab.backend.cpu.kernels.workspace import clear, doubles, naturals, short_integers, to_read

Array = np.ndarray[Any, Any]


LINES = 64  # rows of which some columns stay in the first cache
TOGETHER = 4  # columns that are copied a row after the other
BLOCK = 512  # rows that stay in the cache while all their features are read
CROWDED = 3  # cuts in one cell of a grid, from which on searching is faster than counting


@in_parts
def copy_columns(X: Array, column: int, out: Array, first: int, last: int) -> None:
    """Copy the rows first <= i < last of some columns, from `column` on, to the rows of out.

    Four by four, of which a row is read at once: that takes a third of the time of one after the other.  Rows are asked
    for before they are needed, for no processor foresees steps of a whole row: a third again where they are in memory.
    """
    whole, width, flat, line = (
        out.shape[0] - out.shape[0] % TOGETHER,
        X.shape[1],
        to_read(X),
        np.int64(64 // X.itemsize),
    )
    for start in range(first, last, LINES):
        end = min(start + LINES, last)
        for i in range(start, end):  # the next rows
            at = (i + LINES) * width + column
            for p in range(at, at + out.shape[0] - 1, line):
                soon(flat, p)
            soon(flat, at + out.shape[0] - 1)
        for k in range(0, whole, TOGETHER):
            a, b, c, d = out[k, start:end], out[k + 1, start:end], out[k + 2, start:end], out[k + 3, start:end]
            for i in range(a.size):
                row = X[start + i, column + k : column + k + TOGETHER]
                a[i], b[i], c[i], d[i] = row[0], row[1], row[2], row[3]
        for k in range(whole, out.shape[0]):
            to = out[k, start:end]
            for i in range(to.size):
                to[i] = X[start + i, column + k]


@part
def cut_between(low: float, high: float) -> float:
    """Return a number m with low <= m < high, halfway where floats allow."""
    a, b = np.float64(low), np.float64(high)
    middle = a / 2 + b / 2  # halves first: the sum of two huge numbers would overflow
    return (middle if a <= middle < b else a) + 0.0  # no negative zeros


@part
def row_at(share: float, below: Array, whole: float, first: int, last: int, before: int) -> int:
    """Return the first of the rows first to last - 1 up to which the mass is at least a share of the whole.

    Rows come in the order of their values, `before` of them ahead of the first; below is the mass up to each, which
    rises and is the whole in the last (empty if every row has the mass 1).
    """
    if below.size == 0:
        row = max(math.ceil(share * whole) - 2, before)
        while (row + 1) / whole < share:
            row += 1
        return row - before + first
    row, end = first, last - 1
    while row < end:
        here = (row + end) // 2
        if below[here] / whole < share:
            row = here + 1
        else:
            end = here
    return row


@part
def last_equal(values: Array, row: int, size: int) -> int:
    """Return the last row of so many that has the value of this one; values are in order."""
    end = row
    while end + 1 < size and values[end + 1] == values[row]:
        end += 1
    return end


@kernel
def cut_sorted(values: Array, below: Array, limit: int, out: Array) -> tuple[int, int]:
    """Write the cuts between sorted values, and return how many they are and how many values are distinct.

    NaN comes last and does not count.  If there are more than `limit` distinct values, cuts are after the values at the
    quantiles k / limit: those of the first row r with below[r] / below[-1] >= k / limit, where below[r] is the mass of
    the rows up to r (empty if every row has the mass 1).  A cut is halfway between neighbours, where floats allow.
    """
    size = values.size
    while size > 0 and np.isnan(values[size - 1]):
        size -= 1
    distinct = min(size, 1)
    for r in range(1, size):
        distinct += values[r] != values[r - 1]
    weighted, all_cuts = below.size > 0, distinct <= limit
    whole = np.float64(below[size - 1]) if weighted and size > 0 else np.float64(size)
    count, end = 0, -1
    for k in range(1, limit):
        if all_cuts:
            r = end + 1
        else:
            r = row_at(k / limit, below, whole, 0, size, 0)
            if r <= end:
                continue
        end = last_equal(values, r, size)
        if end >= size - 1:
            break
        out[count] = cut_between(values[end], values[end + 1])
        count += 1
    return count, distinct


@part
def _count_cuts(cuts: Array, low: float, scale: float, out: Array) -> int:
    """Write how many cuts are in the cell before, and return the largest of these numbers."""
    clear(out)
    for k in range(cuts.size):
        out[np.int64((cuts[k] - low) * scale) + 1] += 1
    fullest = 0
    for cell in range(out.size):
        fullest = max(fullest, int(out[cell]))
    return fullest


@kernel
def lay_grids(
    cuts: Array,
    starts: Array,
    ends: Array,
    size: int,
    larger: int,
    low: Array,
    scale: Array,
    most: Array,
    at: Array,
    below: Array,
) -> None:
    """Divide every feature's range into even cells, and note how many cuts there are below each.

    Feature j owns the cuts starts[j] to ends[j] - 1, and below[at[j]:at[j + 1]], of which the last is for missing
    values.  A value x is in the cell int((x - low[j]) * scale[j]), cut off at the ends; because that never falls when x
    grows, the cuts of lower cells are below x and those of higher ones are not.  There are `size` cells, or a larger
    number if else several cuts would share one.  most[j] is the largest number of cuts in a cell; -1 if there is no
    such grid, or no use in it.
    """
    at[0] = 0
    for j in range(ends.size):
        mine, most[j], at[j + 1] = cuts[starts[j] : ends[j]], -1, at[j]
        n = mine.size
        if n == 0:
            continue
        low[j], fullest, span = mine[0], CROWDED, mine[n - 1] - mine[0]
        for cells in (size, larger):
            steep = (cells - 1) / span if span > 0.0 else 1.0
            if fullest > 1 and 1e-300 < steep < 1e300:
                scale[j], at[j + 1] = steep, at[j] + cells + 1
                fullest = _count_cuts(mine, low[j], steep, below[at[j] : at[j + 1]])
        if fullest >= CROWDED:
            at[j + 1] = at[j]
            continue
        to, most[j] = below[at[j] : at[j + 1]], fullest
        for cell in range(1, to.size):
            to[cell] += to[cell - 1]
        to[to.size - 1] = n + 1


@part
def _rows_of(X: Array, start: int, size: int, first: int, out: Array) -> None:
    """Copy some columns of so many rows to out, each a stretch of BLOCK numbers: four, or those that are left.

    The same of the next block is asked for.
    """
    a, b = out[:BLOCK], out[BLOCK : 2 * BLOCK]
    c, d = out[2 * BLOCK : 3 * BLOCK], out[3 * BLOCK :]
    flat, width = to_read(X), X.shape[1]
    if first + TOGETHER <= X.shape[1]:
        for i in range(size):
            soon(flat, (start + i + BLOCK) * width + first)
            row = X[start + i, first : first + TOGETHER]
            a[i], b[i], c[i], d[i] = row[0], row[1], row[2], row[3]
        return
    for j in range(first, X.shape[1]):
        to = out[(j - first) * BLOCK : (j - first + 1) * BLOCK]
        for i in range(size):
            to[i] = X[start + i, j]


@in_parts
def encode(
    X: Array, cuts: Array, starts: Array, grids: Any, missing: Array, offset: int, codes: Array, first: int, last: int
) -> None:
    """Write the bin of X[i, j], the number of cuts of feature j below it (NaN: missing[j]), as row offset + i.

    Feature j owns cuts[starts[j]:starts[j + 1]], padded with infinity to a length of 2^k, and at least two more than
    the cuts.  Where there is a grid (low, scale, most, at, below; see `lay_grids`) the cell of a value says how many
    cuts are below it, but for those in the cell, one or two (0.5 ns, or 0.8).  Elsewhere binary search is k steps for
    every row, and going right or left is the sign bit of cut - x instead of a branch that half of the time is guessed
    wrong (13 ns with 255 bins, against 60 ns).  X is row-major; codes[j // per_word, i, j % per_word] holds groups of
    features that share a 64-bit word; codes of no feature are 0.
    """
    low, scale, most, at, below = grids
    one, per_word, d = np.uint64(1), codes.shape[2], X.shape[1]
    some, cell, place = doubles(TOGETHER * BLOCK), short_integers(BLOCK), naturals(BLOCK)
    for start in range(first, last, BLOCK):
        size = np.uint64(min(BLOCK, last - start))
        for j in range(d, codes.shape[0] * per_word):
            out = codes[j // per_word, offset + start : offset + start + BLOCK, j % per_word]
            for i in range(size):
                out[i] = 0
        for j in range(d):
            if j % TOGETHER == 0:
                _rows_of(X, start, int(size), j, some)
            mine = cuts[starts[j] : starts[j + 1]]
            values = some[j % TOGETHER * BLOCK : (j % TOGETHER + 1) * BLOCK]
            out = codes[j // per_word, offset + start : offset + start + BLOCK, j % per_word]
            if most[j] >= 0:
                count, left, steep, none = below[at[j] : at[j + 1]], low[j], scale[j], at[j + 1] - at[j] - 1
                top = np.float64(none - 1)
                for i in range(size):
                    x = (values[i] - left) * steep
                    x = x if x > 0.0 else 0.0
                    cell[i] = np.int32(x if x < top else top) if values[i] == values[i] else none
                if most[j] == 1:  # a loop over the cuts of a cell would take half as long again
                    for i in range(size):
                        found = np.uint64(count[np.uint64(cell[i])])
                        out[i] = found + np.uint64(mine[found] < values[i])
                    continue
                for i in range(size):
                    found = np.uint64(count[np.uint64(cell[i])])
                    found += np.uint64(mine[found] < values[i])
                    out[i] = found + np.uint64(mine[found] < values[i])
                continue
            for i in range(size):
                place[i] = 0
            step = np.uint64(mine.size) >> one
            while step > np.uint64(0):
                for i in range(size):
                    less = bits(mine[place[i] + step - one] - values[i]) >> 63  # -1 or 0
                    place[i] += step & np.uint64(less)
                step = step >> one
            none = missing[j]
            for i in range(size):
                out[i] = place[i] if values[i] == values[i] else none
