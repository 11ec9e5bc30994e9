"""The best stump of one channel: opposite votes, compared as the integers they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.in_parts import in_parts

Array = np.ndarray[Any, Any]


LEAST = np.int64(-9223372036854775808)
MOST = np.int64(9223372036854775807)


@part
def unusual_edge(hist: Array, filled: Array, categorical: bool, total: int, sides: int) -> tuple[int, int, int, int]:
    """Return (cut, missing side, edge, worth) of the best stump on a column with categories or missing values.

    hist and filled are those of the column's slots (hist may go on behind them); the worth is LEAST if there is no cut.
    """
    last, cut, gone, best, top = filled.size - 1, -1, 0, np.int64(0), LEAST
    if categorical:
        whole, lightest = np.int64(0), MOST
        slots, up, down = 0, False, False
        for s in range(last + 1):
            if filled[s]:
                slots += 1
                whole += abs(hist[s])
                lightest = min(lightest, abs(hist[s]))
                up = up or hist[s] > 0
                down = down or hist[s] < 0
        if slots > 1:
            best = top = whole if up and down else whole - 2 * lightest
        return cut, gone, best, top  # type: ignore[return-value]
    if not filled[last]:
        return cut, gone, best, top  # type: ignore[return-value]
    left = np.int64(0)
    for s in range(last):
        left += hist[s]
        for side in range(2 if s < last - 1 else 1):
            edge = total - 2 * (left + side * hist[last])
            worth = abs(edge) if sides == 0 else sides * edge
            if worth > top:
                top, cut, gone, best = worth, s, side, edge
    return cut, gone, best, top  # type: ignore[return-value]


@part
def edge_search(
    hist: Array, starts: Array, filled: Array, categorical: Array, total: int, sides: int, begin: int, end: int
) -> tuple[int, int, int, int, int]:
    """Return (feature, cut, missing side, edge, worth) of the stump with the largest worth among the features
    begin <= j < end; feature -1 if there is no cut.

    Feature j owns the slots starts[j] to starts[j + 1] - 1, the last of them for missing values.  A stump that votes +1
    above the cut has the edge total - 2 * (sum below).  Missing values may go above (missing side 0) or below (1), and
    the last cut is between the values and the missing ones.  A categorical feature (cut -1) gives every category the
    sign of its own sum, unless all agree: then the lightest goes to the other side, since no stump is constant.
    filled[s] says whether any row is in the slot.  sides: 0 takes either orientation (the edge returned is signed,
    negative means +1 below, and its magnitude is the worth), +1 or -1 only the one.  Ties go to the first feature, then
    the first cut, then missing above, then +1 above.
    """
    feature, cut, gone, best, top = -1, -1, 0, np.int64(0), LEAST
    for j in range(begin, end):
        first, last = starts[j], starts[j + 1] - 1  # the slot of missing values is `last`
        if last <= first:
            continue  # a sparse column of zeros has no slots
        if categorical[j] or filled[last]:
            mine = slice(first, last + 1)
            c, side, edge, worth = unusual_edge(hist[mine], filled[mine], categorical[j], total, sides)
            if worth > top:
                top, feature, cut, gone, best = worth, j, c, side, edge
            continue
        # No missing values: without branches, and a second look only at a feature that leads.
        left, high, low = np.int64(0), LEAST, MOST
        four = first + (last - 1 - first) // 4 * 4
        for s in range(np.uint64(first), np.uint64(four), np.uint64(4)):  # four at a time: they need not wait
            a, b = hist[s], hist[s] + hist[s + np.uint64(1)]
            c = b + hist[s + np.uint64(2)]
            d = c + hist[s + np.uint64(3)]
            high = max(high, left + max(max(a, b), max(c, d)))
            low = min(low, left + min(min(a, b), min(c, d)))
            left += d
        for s in range(four, last - 1):
            left += hist[s]
            high, low = max(high, left), min(low, left)
        if high < low:
            continue  # no cut
        above, below = total - 2 * low, 2 * high - total
        worth = max(above, below) if sides == 0 else above if sides > 0 else below
        if worth > top:
            top, left, s = worth, np.int64(0), first - 1
            edge = LEAST
            while edge != worth and (sides != 0 or edge != -worth):
                s += 1
                left += hist[s]
                edge = total - 2 * left if sides >= 0 else 2 * left - total
            feature, cut, gone, best = j, s - first, 0, total - 2 * left
    return feature, cut, gone, best, top  # type: ignore[return-value]


@in_parts
def best_edge(
    hist: Array, starts: Array, filled: Array, categorical: Array, total: int, sides: int, first: int, last: int
) -> tuple[int, int, int, int, int]:
    """Do as `edge_search`."""
    return edge_search(hist, starts, filled, categorical, total, sides, first, last)
