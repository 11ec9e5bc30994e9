"""The cheapest cut of a tree's node, from a histogram whose channels lie side by side (see `tree_histogram`).

Below the root most slots are empty: a cut after an empty slot parts the rows as the one before it does, and is not
looked at.  What is left is priced without branches into an array, so that LLVM may vectorise it.  Categories are sorted
by the mean of the target first, so that the best subset is a cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.functions import from_bits
from boostlab.backend.cpu.kernels.workspace import doubles, integers
from boostlab.backend.cpu.kernels.workspace import total as sum_of

Array = np.ndarray[Any, Any]

U = np.uint64

TINY = 2.2250738585072014e-308
SURE = 1 - 1e-13  # of what a cut must explain to be priced
OFFSET = float(2**84 + 2**63 + 2**52)


class SlotColumns(NamedTuple):
    """What is known of the columns.

    Column j owns the slots starts[j] to starts[j + 1] - 1, the last one for missing values.  It has cuts[j] cuts with
    missing values above, after its first slots, and cuts_below[j] with missing values below.
    """

    starts: Array
    cuts: Array
    cuts_below: Array
    filled: Array  # slots that have rows of the sample
    categorical: Array


class Scales(NamedTuple):
    """What turns integer sums into costs."""

    unit: Array  # what a unit of a channel is worth
    gross: Array  # the sums of magnitudes over all rows
    numbers: Array  # of the criterion


class Buffers(NamedTuple):
    """Buffers for a search in columns of at most so many slots."""

    low: Array  # of shape (2, slots): sums below
    place: Array
    prices: Array
    others: Array
    order: Array  # of the slots of a column
    rank: Array
    sorted: Array  # sums in that order


@part
def new_buffers(widest: int, n_channels: int) -> Buffers:
    """Return buffers for a search."""
    low, place, prices = np.empty((2, widest), np.int64), integers(widest), doubles(widest)
    order, rank = integers(widest), doubles(widest)
    return Buffers(low, place, prices, doubles(widest), order, rank, integers(n_channels * widest))


@part
def put_together(x: int) -> float:
    """Return an integer as a float, rounded once, by operations on vectors that every CPU has.

    The upper and the lower half become the digits of a float each, 2^84 and 2^52 too large, and the sign bit counts
    2^63: without AVX-512 2.6 ns a cut in place of 3.4.
    """
    bits = U(x) ^ (U(1) << U(63))
    upper = from_bits(np.int64((bits >> U(32)) | U(0x4530000000000000)))  # type: ignore[arg-type]
    lower = from_bits(np.int64((bits & U(0xFFFFFFFF)) | U(0x4330000000000000)))  # type: ignore[arg-type]
    return (upper - OFFSET) + lower


@part
def converted(x: int) -> float:
    """Do the same by one instruction, which AVX-512 has for vectors: a cut takes six tenths of the time."""
    return float(x)


as_float = converted if get_host_cpu_features().get("avx512dq", False) else put_together


@part
def first_below(prices: Array, n: int, best: float) -> tuple[int, float]:
    """Return the place of the first of the smallest prices, and that price, if it is below the best; else -1."""
    at, s = -1, 0
    while s + 8 <= n:  # eight at a time: it is rare that one of them is
        p = prices[s : s + 8]
        some = (p[0] < best) | (p[1] < best) | (p[2] < best) | (p[3] < best)
        if some | (p[4] < best) | (p[5] < best) | (p[6] < best) | (p[7] < best):
            for m in range(8):
                if p[m] < best:
                    at, best = s + m, p[m]
        s += 8
    for m in range(s, n):
        if prices[m] < best:
            at, best = m, prices[m]
    return at, best


# -- two sums ------------------------------------------------------------------------------------------------------


@part
def sums_of_sides(a: int, b: int) -> tuple[int, int]:
    """Return w and w y, given the weights of both sides."""
    return b + a, b - a


@part
def sums_of_numbers(a: int, b: int) -> tuple[int, int]:
    """Return them as they are."""
    return a, b


@part
def sort_slots(
    sums: Callable[..., Any], hist: Array, columns: SlotColumns, j: int, unit: Array, order: Array, rank: Array
) -> None:
    """Sort a column's slots by the mean of the target, equals in their order, those without rows last."""
    start = columns.starts[j]
    for s in range(columns.starts[j + 1] - start):
        a, b = sums(hist[2 * (start + s)], hist[2 * (start + s) + 1])
        w, wt = a * unit[0], b * unit[1]
        mean = wt * (1.0 if w > 0.0 else 0.0) / max(w, TINY) if columns.filled[start + s] else np.inf
        k = s
        while k > 0 and rank[k - 1] > mean:
            rank[k], order[k] = rank[k - 1], order[k - 1]
            k -= 1
        rank[k], order[k] = mean, s


@part
def arrange_pairs(
    sums: Callable[..., Any], hist: Array, columns: SlotColumns, j: int, unit: Array, buffers: Buffers
) -> None:
    """Write the sums of a column of categories in the order in which it is cut."""
    start, end = columns.starts[j], columns.starts[j + 1]
    sort_slots(sums, hist, columns, j, unit, buffers.order, buffers.rank)
    for k in range(end - start):
        s = start + buffers.order[k]
        buffers.sorted[2 * k], buffers.sorted[2 * k + 1] = hist[2 * s], hist[2 * s + 1]


@part
def may_explain(low: Array, n: int, all0: int, all1: int, bar: float) -> bool:
    """Return whether one of n cuts might explain more than the bar, without a division, as far as rounding can tell.

    With a and w the sums of w t and of w on one side, b and v those on the other, it is a^2 / w + b^2 / v: all terms
    are positive, so that products are wrong by some 1e-16 of themselves.  1.5 ns a cut; a price takes 2.6.
    """
    hits = 0
    for k in range(n):
        a, w = as_float(low[1, k]), as_float(low[0, k])
        b, v = as_float(all1 - low[1, k]), as_float(all0 - low[0, k])
        hits |= a * a * v + b * b * w >= bar * (w * v)
    return hits != 0


def pair_search(cost: Callable[..., Any], sums: Callable[..., Any], explains: float = 0.0) -> Callable[..., Any]:
    """Return the search for a cost(left, right, gross, numbers) of two sums.

    Where that is minus what the means of both sides explain, divided by `explains`, columns that cannot beat the best
    cut so far are not priced.
    """

    @part
    def search(
        hist: Array, columns: SlotColumns, first: int, last: int, total: Array, scales: Scales, buffers: Buffers
    ) -> tuple[int, int, float]:
        """Return (slot, side, cost) of the cheapest cut of the columns first <= j < last; slot < 0 if there is none.

        For sides and ties see `split_search.cheapest_split`.
        """
        low, place, prices, others = buffers.low, buffers.place, buffers.prices, buffers.others
        at, side, best, whole = -1, 0, np.inf, (scales.gross[0], scales.gross[1])
        all0, all1, unit0, unit1, numbers = total[0], total[1], scales.unit[0], scales.unit[1], scales.numbers
        for j in range(first, last):
            n, start = columns.cuts[j], columns.starts[j]
            if n == 0:
                continue
            mine = hist[2 * start : 2 * columns.starts[j + 1]]
            if columns.categorical[j]:
                arrange_pairs(sums, hist, columns, j, scales.unit, buffers)
                mine = buffers.sorted[: mine.size]
            below0, below1, m = np.int64(0), np.int64(0), 0
            for s in range(n):
                a, b = sums(mine[2 * s], mine[2 * s + 1])
                below0 += a
                below1 += b
                low[0, m], low[1, m], place[m] = below0, below1, s
                m += ((a | b) != 0) | (s == 0)
            if explains > 0.0 and columns.cuts_below[j] == 0 and best < np.inf:
                bar = -best * explains * unit0 / (unit1 * unit1) * SURE
                if bar > 0.0 and not may_explain(low, m, all0, all1, bar):
                    continue
            for k in range(m):
                a, b = low[0, k], low[1, k]
                left = as_float(a) * unit0, as_float(b) * unit1
                right = as_float(all0 - a) * unit0, as_float(all1 - b) * unit1
                prices[k] = cost(left, right, whole, numbers)
            if columns.cuts_below[j] == 0:
                k, best = first_below(prices, m, best)
                if k >= 0:
                    at, side = start + place[k], 0
                continue
            gone0, gone1 = sums(mine[mine.size - 2], mine[mine.size - 1])
            for k in range(m):
                a, b = low[0, k] + gone0, low[1, k] + gone1
                left = as_float(a) * unit0, as_float(b) * unit1
                right = as_float(all0 - a) * unit0, as_float(all1 - b) * unit1
                others[k] = cost(left, right, whole, numbers)
            for k in range(m):
                if prices[k] < best:
                    at, side, best = start + place[k], 0, prices[k]
                if place[k] < columns.cuts_below[j] and others[k] < best:
                    at, side, best = start + place[k], 1, others[k]
        return at, side, best

    return search


# -- classes -------------------------------------------------------------------------------------------------------


def class_search(fold: Callable[..., Any], close: Callable[..., Any]) -> Callable[..., Any]:
    """Return the search, on numbers, for a cost that folds the classes (see `split_search.search_classes`)."""

    @part
    def search(
        hist: Array, columns: SlotColumns, first: int, last: int, total: Array, scales: Scales, buffers: Buffers
    ) -> tuple[int, int, float]:
        """Return (slot, side, cost) as `pair_search` does."""
        K, unit, whole = total.size, scales.unit[0], sum_of(total)
        weight, below, left, right = buffers.low[0], buffers.low[1], buffers.prices, buffers.others
        at, where, best = -1, 0, np.inf
        for j in range(first, last):
            n, start = columns.cuts[j], columns.starts[j]
            mine = hist[K * start : K * columns.starts[j + 1]]
            for side in range(2 if columns.cuts_below[j] > 0 else 1):
                left[:n], right[:n], weight[:n] = 0.0, 0.0, 0
                for c in range(K):
                    all_, so_far = total[c], mine[mine.size - K + c] if side == 1 else np.int64(0)
                    for s in range(n):
                        so_far += mine[K * s + c]
                        below[s] = so_far
                    for s in range(n):
                        b = below[s]
                        left[s] = fold(left[s], as_float(b) * unit)
                        right[s] = fold(right[s], as_float(all_ - b) * unit)
                        weight[s] += b
                for s in range(n):
                    w = weight[s]
                    left[s] = close(left[s], w * unit, right[s], (whole - w) * unit)
                s, best = first_below(left, columns.cuts_below[j] if side == 1 else n, best)
                if s >= 0:
                    at, where = start + s, side
        return at, where, best

    return search


# -- no gain -------------------------------------------------------------------------------------------------------


def even_search(weigh: Callable[..., Any], arrange: Callable[..., Any]) -> Callable[..., Any]:
    """Return the search for the cut whose lighter side is the heaviest, where no cut gains anything.

    weigh(sums, s, K) is the weight of a slot of K channels; arrange writes the sums of a column of categories in the
    order in which it is cut.
    """

    @part
    def most_even(hist: Array, columns: SlotColumns, whole: int, scales: Scales, buffers: Buffers) -> tuple[int, int]:
        """Return (slot, side); slot < 0 if all the weight is on one side of every cut."""
        at, side, best, K = -1, 0, np.int64(0), hist.size // columns.starts[columns.cuts.size]
        for j in range(columns.cuts.size):
            n, lower, start = columns.cuts[j], columns.cuts_below[j], columns.starts[j]
            if n == 0:
                continue
            mine = hist[K * start : K * columns.starts[j + 1]]
            if columns.categorical[j]:
                arrange(hist, columns, j, scales.unit, buffers)
                mine = buffers.sorted[: mine.size]
            gone, below = weigh(mine, columns.starts[j + 1] - start - 1, K), np.int64(0)
            for s in range(n):
                below += weigh(mine, s, K)
                if min(below, whole - below) > best:
                    at, side, best = start + s, 0, min(below, whole - below)
                if s < lower and min(below + gone, whole - below - gone) > best:
                    at, side, best = start + s, 1, min(below + gone, whole - below - gone)
        return at, side

    return most_even
