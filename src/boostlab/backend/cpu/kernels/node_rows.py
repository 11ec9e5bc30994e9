"""The rows of a node: which of them are low, and how a team parts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.prefetch import soon
from boostlab.backend.cpu.kernels.tree_search import SlotColumns
from boostlab.backend.cpu.kernels.workspace import clear

Array = np.ndarray[Any, Any]
U = np.uint64

AHEAD = 192  # rows: what a row of a large table's code takes to come from memory


@part
def part_stretch(code: Array, low: Array, members: Array, space: Array, first: int, last: int, stay: bool) -> int:
    """Write members[first:last] to the same places of `space`, those that are not low from the end; return how many
    are low.

    If they `stay`, low rows are written to `members`: of a node's first stretch they belong there.
    """
    mine, to = members[first:last], space[first:last]
    lows, end, low_to = U(0), U(last - first), mine if stay else to
    for m in range(end):  # without a branch, that would be guessed wrong half of the time
        soon(code, U(mine[min(m + U(AHEAD), end - U(1))]))
        i = mine[m]
        low_to[lows] = i  # never behind row m of the stretch
        to[end - U(1) - m + lows] = i  # the last place that is still free
        lows += U(low[U(code[U(i)])])
    return np.int64(lows)  # type: ignore[return-value]


@part
def join_stretches(lows: Array, me: int, size: int, begin: int, count: int, members: Array, space: Array) -> int:
    """Write one's stretch back behind those of the members before, low rows first; return how many rows are low.

    Low rows of the first stretch have stayed where they belong.
    """
    first, last = begin + count * me // size, begin + count * (me + 1) // size
    n_low, to_low, to_high = 0, begin, begin
    for other in range(size):
        n_low += lows[other]
    to_high += n_low
    for other in range(me):
        to_low += lows[other]
        to_high += count * (other + 1) // size - count * other // size - lows[other]
    middle = first + lows[me]
    if me > 0:
        for m in range(middle - first):
            members[to_low + m] = space[first + m]
    for m in range(last - middle):
        members[to_high + m] = space[last - 1 - m]
    return n_low


@part
def mark_low(columns: SlotColumns, j: int, cut: int, side: int, order: Array, low: Array) -> None:
    """Write which slots of a column are low, given the last one that is, in the order in which the column is cut."""
    width = columns.starts[j + 1] - columns.starts[j]
    for k in range(width):
        low[k] = False
    for k in range(cut + 1):
        low[order[k] if columns.categorical[j] else k] = True
    if side == 1:
        low[width - 1] = True


@part
def sum_low(hist: Array, columns: SlotColumns, j: int, low: Array, total: Array) -> None:
    """Sum the low slots of a column, per channel."""
    K, start = total.size, columns.starts[j]
    clear(total)
    for s in range(columns.starts[j + 1] - start):
        if low[s]:
            for c in range(K):
                total[c] += hist[K * (start + s) + c]
