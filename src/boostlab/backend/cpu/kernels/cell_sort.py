"""A long column sorted as far as its cuts can tell, without comparing all of its values.

Values are counted by cells over their range, as for a counting sort.  Only the values of cells where a quantile falls,
and of the next ones, whose smallest value ends a cut, are then scattered to their places and sorted: 3 ns a value
against 40 of a full sort.  Cells are even; where a few values are far out they are even in a scale that draws the ends
in, or else most values would share a cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.kernels.workspace import clear, doubles, flags, integers, naturals, short_integers

Array = np.ndarray[Any, Any]

BLOCK = 2048  # values that are looked through at once
FEW = 48  # values of a cell, up to which they are sorted by insertion
SAMPLE = 128  # values that tell where the middle half of them is
FAR = 32.0  # of the middle half's width: ranges that are wider are drawn in


@part
def _extremes(values: Array) -> tuple[float, float]:
    """Return the smallest and the largest value but NaN, which is neither below nor above anything.

    Four by four, which need not wait for each other; infinity and minus infinity if there is none.
    """
    a, b, c, d = np.inf, np.inf, np.inf, np.inf
    e, f, g, h = -np.inf, -np.inf, -np.inf, -np.inf
    for i in range(0, values.size - 3, 4):
        p, q = np.float64(values[i]), np.float64(values[i + 1])
        r, s = np.float64(values[i + 2]), np.float64(values[i + 3])
        a, b, c, d = p if p < a else a, q if q < b else b, r if r < c else c, s if s < d else d
        e, f, g, h = p if p > e else e, q if q > f else f, r if r > g else g, s if s > h else h
    for i in range(values.size - values.size % 4, values.size):
        p = np.float64(values[i])
        a, e = p if p < a else a, p if p > e else e
    return min(min(a, b), min(c, d)), max(max(e, f), max(g, h))


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
def _wanted(below: Array, n_cells: int, limit: int, every: bool, out: Array) -> None:
    """Mark the cells to sort: where the share of a cut is reached, and the next cell that has values; or all.

    below[c] is the mass in the cells before c.
    """
    whole, k, follows = np.float64(below[n_cells]), 1, False
    reached = np.float64(below[0])  # by so much the next share is certainly not reached: most cells need no division
    for c in range(n_cells):
        out[c] = every or follows
        if below[c + 1] == below[c]:
            continue
        follows = False
        if below[c + 1] < reached:
            continue
        while k < limit and below[c + 1] / whole >= k / limit:
            out[c], follows, k = True, True, k + 1
        reached = (1.0 - 1e-12) * whole * (k / limit)


@part
def _insert(values: Array, mass: Array, start: int, end: int) -> None:
    """Sort a few values, and their masses with them."""
    for i in range(start + 1, end):
        v, p = values[i], i
        m = mass[i] if mass.size > 0 else 0
        while p > start and values[p - 1] > v:
            values[p] = values[p - 1]
            if mass.size > 0:
                mass[p] = mass[p - 1]
            p -= 1
        values[p] = v
        if mass.size > 0:
            mass[p] = m


@part
def _differ(values: Array, start: int, end: int) -> bool:
    """Return whether some values are not equal."""
    i = start
    while i < end and values[i] == values[start]:
        i += 1
    return i < end


@part
def _scatter(
    values: Array,
    mass: Array,
    cell: Array,
    n_cells: int,
    every: bool,
    marked: Array,
    place: Array,
    out: Array,
    to: Array,
) -> None:
    """Scatter the values of the marked cells, of the last cell that has numbers, and NaN, whose cell is n_cells.

    Of some values after the other first those are listed that are wanted, without a branch.  Where there are masses,
    or all are wanted, all are scattered.
    """
    last, chosen, all_ = n_cells - 1, short_integers(BLOCK), every or mass.size > 0
    while last > 0 and place[last + 1] == place[last]:
        last -= 1
    before, marked[last], marked[n_cells] = marked[last], True, True
    for start in range(0, cell.size, BLOCK):
        mine, few = cell[start : start + BLOCK], np.uint64(0)
        for i in range(mine.size):
            chosen[few] = i
            few += np.uint64(marked[np.uint64(mine[i])] | all_)
        for k in range(few):
            i = start + chosen[k]
            c = np.uint64(cell[i])
            at = place[c]
            out[at] = values[i]
            if mass.size > 0:
                to[at] = mass[i]
            place[c] = at + np.uint64(1)
    marked[last] = before


@kernel
def sort_by_cells(
    values: Array, mass: Array, limit: int, exact: bool, cell: Array, out: Array, masses: Array, crowded: Array
) -> tuple[int, bool]:
    """Write values to out so that all that `binning.cut_sorted` looks at are where a sort would have them, NaN last.

    Return how many cells are left for the caller to sort (their bounds are the first rows of crowded), -1 if the range
    is too wide for cells; and whether there are surely more than `limit` distinct values.  Only then, and unless
    `exact`, some cells are not sorted.

    Parameters
    ----------
    values : array
        Of one column.
    mass : int64 array
        Of the rows; empty where each is 1.
    limit : int
        One more than the largest number of cuts.
    exact : bool
        Sort all cells.
    cell : uint16 array
        Workspace, one a value.
    out, masses : arrays
        Where values and their masses go.
    crowded : int64 array of shape (n_cells, 2)
        Bounds of cells, to be sorted by the caller.
    """
    n_cells, weighted = crowded.shape[0], mass.size > 0
    low, high = _extremes(values)
    scale = (n_cells - 1) / (high - low) if high > low else 1.0
    if not 1e-300 < scale < 1e300 or not high - low < np.inf:
        return -1, False
    middle, width = _middle(values)
    if width > 0.0 and high - low > FAR * width:
        _drawn_in_cells(values, (low, high), middle, 1.0 / width, n_cells, cell)
    else:
        _cells(values, low, scale, n_cells, cell)
    place, heavy = naturals(n_cells + 2), integers(n_cells + 1 if weighted else 0)
    clear(place)
    clear(heavy)
    for i in range(cell.size):
        place[np.uint64(cell[i]) + np.uint64(1)] += np.uint64(1)
    if weighted:
        for i in range(cell.size):
            if cell[i] < n_cells:
                heavy[cell[i] + 1] += mass[i]
    some = 0
    for c in range(1, n_cells + 1):
        some += place[c] > 0
        place[c] += place[c - 1]
        if weighted:
            heavy[c] += heavy[c - 1]
    marked, begin = flags(n_cells + 1), naturals(n_cells)
    every = exact or some <= limit
    if weighted:
        _wanted(heavy, n_cells, limit, every, marked)
    else:
        _wanted(place, n_cells, limit, every, marked)
    for c in range(n_cells):
        begin[c] = place[c]
    _scatter(values, mass, cell, n_cells, every, marked, place, out, masses)
    left = 0
    for c in range(n_cells):
        start, end = np.int64(begin[c]), np.int64(place[c])  # where the next cell starts, now that this one is full
        if end > start and marked[c]:
            if end - start <= FEW:
                _insert(out, masses, start, end)
            elif _differ(out, start, end):
                crowded[left, 0], crowded[left, 1] = start, end
                left += 1
    return left, some > limit
