"""The cuts of long columns, without sorting all of their values.

Values are counted by cells over their range, as for a counting sort.  Only the values of cells where a quantile falls,
and of the next ones, whose smallest value ends a cut, are then scattered and sorted: 1.2 ns a value against 5 to 40 of
a full sort.  Cells are even; where a few values are far out they are even in a scale that draws the ends in, or else
most values would share a cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.binning import cut_between, last_equal, row_at
from boostlab.backend.cpu.kernels.spin_barrier import fetch_add_one
from boostlab.backend.cpu.kernels.workspace import clear, doubles, flags, integers, short_integers

Array = np.ndarray[Any, Any]

BLOCK = 2048  # values that are looked through at once
STRETCH = 16  # cells that are passed over at once
ABREAST = 64  # extremes that are followed side by side
CROWD = 1 << 13  # values of a cell, beyond which a whole sort is faster than one of cells
RANKED = 48  # values of a cell, up to which they are sorted by ranks
SAMPLE = 128  # values that tell where the middle half of them is
FAR = 32.0  # of the middle half's width: ranges that are wider are drawn in


@part
def _extremes(values: Array) -> tuple[float, float]:
    """Return the smallest and the largest value but NaN, which is neither below nor above anything.

    Many are followed side by side, as vectors; infinity and minus infinity if there is none.
    """
    low, high = doubles(ABREAST), doubles(ABREAST)
    for k in range(ABREAST):
        low[k], high[k] = np.inf, -np.inf
    whole = values.size - values.size % ABREAST
    for start in range(0, whole, ABREAST):
        some = values[start : start + ABREAST]
        for k in range(ABREAST):
            v = np.float64(some[k])
            low[k] = v if v < low[k] else low[k]
            high[k] = v if v > high[k] else high[k]
    for i in range(whole, values.size):
        v = np.float64(values[i])
        low[0], high[0] = v if v < low[0] else low[0], v if v > high[0] else high[0]
    a, b = low[0], high[0]
    for k in range(1, ABREAST):
        a, b = min(a, low[k]), max(b, high[k])
    return a, b


@part
def _middle(values: Array) -> tuple[float, float]:
    """Return a median of a few values, and how wide their middle half is; 0 if that is too small to divide by."""
    few, n = doubles(SAMPLE), 0
    for k in range(SAMPLE):
        v = np.float64(values[k * values.size // SAMPLE])
        if v == v:
            p = n
            while p > 0 and few[p - 1] > v:
                few[p] = few[p - 1]
                p -= 1
            few[p] = v
            n += 1
    width = few[3 * n // 4] - few[n // 4] if n > 3 else 0.0
    return few[n // 2] if n > 0 else 0.0, width if 1e-300 < width < 1e300 else 0.0


@part
def _drawn_in(x: float) -> float:
    """Return x / (1 + |x|), in operations none of which falls, rounding included, when x grows."""
    r = 1.0 / (1.0 + abs(x))
    return 1.0 - r if x > 0.0 else r - 1.0


@part
def _cells(values: Array, low: float, scale: float, n_cells: int, out: Array) -> None:
    """Write the cell of every value, which never falls when values grow; n_cells for NaN."""
    top = np.float64(n_cells - 1)
    for i in range(values.size):
        v = np.float64(values[i])
        x = (v - low) * scale
        x = x if x < top else top  # NaN as well
        out[i] = np.uint16(np.int32(x) if v == v else n_cells)


@part
def _drawn_in_cells(values: Array, ends: Any, middle: float, per: float, n_cells: int, out: Array) -> None:
    """Do the same where (value - middle) * per is drawn in; `ends` are the smallest and the largest value."""
    left = _drawn_in((ends[0] - middle) * per)
    steep, top = (n_cells - 1) / (_drawn_in((ends[1] - middle) * per) - left), np.float64(n_cells - 1)
    for i in range(values.size):
        v = np.float64(values[i])
        x = (_drawn_in((v - middle) * per) - left) * steep
        x = x if x < top else top
        out[i] = np.uint16(np.int32(x) if v == v else n_cells)


@part
def _laid_in_cells(values: Array, n_cells: int, out: Array) -> bool:
    """Write the cell of every value; return False if the range is too wide, or too narrow, for cells."""
    low, high = _extremes(values)
    scale = (n_cells - 1) / (high - low) if high > low else 1.0
    if not 1e-300 < scale < 1e300 or not high - low < np.inf:
        return False
    middle, width = _middle(values)
    if width > 0.0 and high - low > FAR * width:
        _drawn_in_cells(values, (low, high), middle, 1.0 / width, n_cells, out)
    else:
        _cells(values, low, scale, n_cells, out)
    return True


@part
def _mark(
    count: Array, heavy: Array, n_cells: int, limit: int, every: bool, marked: Array, facts: Array
) -> tuple[int, int]:
    """Mark the cells to scatter, and let count[cell] be where their values start; return how many, and the whole mass.

    They are those where the share of a cut is reached, and the next one after each that has values; or all.  `heavy`
    is the mass of the cells, `count` itself if each row's is 1.  facts[m] of the marked cell m: where its values start
    and end, the mass in the cells before it and up to it, and whether its values are to be sorted.
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
                    marked[c], count[c] = True, at
                    facts[n, 0], facts[n, 1], facts[n, 2], facts[n, 3] = at, at + size, before, upto
                    facts[n, 4] = sorts
                    at, n = at + size, n + 1
                follows = sorts
                before = upto
    marked[n_cells] = False  # NaN
    return n, all_


@part
def _scatter(values: Array, mass: Array, cell: Array, marked: Array, place: Array, out: Array, to: Array) -> None:
    """Scatter the values of the marked cells, and their masses.

    Of some values after the other first those are listed that are wanted, without a branch.
    """
    chosen = short_integers(BLOCK)
    for start in range(0, cell.size, BLOCK):
        mine, few = cell[start : start + BLOCK], np.uint64(0)
        for i in range(mine.size):
            chosen[few] = i
            few += np.uint64(marked[np.uint64(mine[i])])
        for k in range(few):
            i = start + chosen[k]
            c = np.uint64(cell[i])
            at = np.uint64(place[c])
            out[at] = values[i]
            if mass.size > 0:
                to[at] = mass[i]
            place[c] = at + np.uint64(1)


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
def _put_in_order(facts: Array, n: int, values: Array, mass: Array) -> bool:
    """Sort the values of marked cells, and let mass be the mass up to each; return False if a cell is too crowded."""
    space = doubles(2 * RANKED)
    for m in range(n):
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
def _cut_cells(
    values: Array, below: Array, facts: Array, n: int, all_: int, limit: int, out: Array, upto: Array
) -> int:
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
def _cut_all(values: Array, size: int, limit: int, out: Array, upto: Array) -> int:
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


@in_parts
def cut_columns(
    columns: Array,
    mass: Array,
    limit: int,
    n_cells: int,
    which: Array,
    taken: Array,
    cells: Array,
    spaces: Array,
    masses: Array,
    notes: Array,
    points: Array,
    ranks: Array,
    found: Array,
    part: int,
) -> None:
    """Write the cuts of some columns, and how many they are; -1 where the column is to be sorted whole.

    Every part takes the next column that none has taken.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
        A column's values side by side.
    mass : int64 array
        Of the rows; empty where each is 1.
    limit : int
        One more than the largest number of cuts.
    n_cells : int
        How many cells values are laid in, fewer than 2^16.
    which : int64 array
        The columns to cut.
    taken : int64 array of one number
        How many have been taken.
    cells, spaces, masses : arrays of shape (n_parts, n_rows)
        Workspace for cells (uint16), values, and masses (int64; empty where there are none).
    notes : int64 array of shape (n_parts, 2 * limit, 5)
        Workspace for the facts of marked cells.
    points : array of shape (n_columns, limit)
        Where cuts go.
    ranks : int64 array of shape (n_columns, limit + 1)
        Where the number of values below each cut goes, then that of numbers and that of rows.
    found : int64 array of shape (n_columns,)
        Where their number goes.
    """
    count, heavy, marked = integers(n_cells + 1), integers(n_cells + 1 if mass.size > 0 else 0), flags(n_cells + 1)
    cell, space, upto, facts = cells[part], spaces[part], masses[part], notes[part]
    while True:
        turn = fetch_add_one(taken, 0)
        if turn >= which.size:
            return
        j = which[turn]
        values = columns[j]
        found[j] = -1
        if not _laid_in_cells(values, n_cells, cell):
            continue
        clear(count)
        for i in range(cell.size):
            count[np.uint64(cell[i])] += 1
        clear(heavy)
        if mass.size > 0:
            for i in range(cell.size):
                heavy[np.uint64(cell[i])] += mass[i]
        some = 0
        for c in range(n_cells):
            some += count[c] > 0
        n, all_ = _mark(count, heavy if mass.size > 0 else count, n_cells, limit, some <= limit, marked, facts)
        _scatter(values, mass, cell, marked, count, space, upto)
        if not _put_in_order(facts, n, space, upto):
            continue
        cuts = 0 if n == 0 else -1
        if n > 0 and some <= limit:
            cuts = _cut_all(space, facts[n - 1, 1], limit, points[j], ranks[j])
        if cuts < 0:
            cuts = _cut_cells(space, upto, facts, n, all_, limit, points[j], ranks[j])
        ranks[j, cuts], ranks[j, cuts + 1], found[j] = all_, cell.size, cuts
