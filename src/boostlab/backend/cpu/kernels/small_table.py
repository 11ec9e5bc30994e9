"""Rounds on small dense tables: rows are rounded, summed and searched anew, each in one pass and all in few calls.

On some hundred rows a kernel takes microseconds, and so does every call of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import admit, kernel, part
from boostlab.backend.cpu.kernels.fixed_point import _scales
from boostlab.backend.cpu.kernels.histogram import value
from boostlab.backend.cpu.kernels.packed_codes import add_eight, add_four
from boostlab.backend.cpu.kernels.stump_search import edge_search
from boostlab.backend.cpu.kernels.workspace import doubles, integers
from boostlab.backend.cpu.scales import next_scale

Array = np.ndarray[Any, Any]
U = np.uint64

EXTREME = 100  # weights beyond 2^+-100 are scaled before they are squared


# -- rounding --------------------------------------------------------------------------------------------------------


@part
def rounded(
    form: int, w: Array, t: Array, counts: Array, mass: Array, k: int, room: int, least: int, q: Array
) -> tuple[int, int, int]:
    """Write q = counts * rint(mass * value * 2^k) and return k and the sums of q and of |q|; -1 if no k was found.

    For k, `room` and `least` see `scales`.
    """
    while True:
        scale, more = _scales(k)
        signed, gross, rough = np.int64(0), np.int64(0), 0.0
        for i in range(w.size):
            x = value(form, w[i], t[i])
            v = (x * mass[i] if mass.size > 0 else x) * scale * more
            times = np.int64(counts[i]) if counts.size > 0 else np.int64(1)
            new = times * np.int64(np.rint(v))
            q[i] = new
            signed += new
            gross += abs(new)
            rough += times * abs(v)
        after, known = next_scale(k, gross, rough, room, least)
        if not known:
            return k, np.int64(0), np.int64(-1)  # type: ignore[return-value]
        if after == k:
            return k, signed, gross  # type: ignore[return-value]
        k = after


@part
def is_tame(w: Array) -> bool:
    """Return whether the largest weight is a number of usual size."""
    top = 0.0
    for i in range(w.size):
        top = max(top, w[i])
    return abs(math.frexp(top)[1]) < EXTREME


@kernel
def round_one(
    form: int, w: Array, t: Array, counts: Array, mass: Array, k: int, room: int, least: int, q: Array
) -> tuple[int, int, int]:
    """Bring one channel up to date (see `rounded`)."""
    return rounded(form, w, t, counts, mass, k, room, least, q)


@kernel
def round_two(
    forms: tuple[int, int], w: Array, t: Array, counts: Array, mass: Array, ks: Any, room: int, least: int, q: Array
) -> tuple[int, int, int, int, int, int]:
    """Bring two channels up to date; return their k, the sums of q and of |q|, the latter -1 if there is no k.

    A negative first form stands for the magnitudes of the second channel, the integers of labels.
    """
    none = np.int64(0)
    if not is_tame(w):
        return 0, 0, 0, 0, -1, -1
    k1, s1, g1 = rounded(forms[1], w, t, counts, mass, ks[1], room, least, q[1])
    if g1 < 0:
        return k1, k1, none, none, g1, g1  # type: ignore[return-value]
    if forms[0] < 0:
        for i in range(w.size):
            q[0, i] = abs(q[1, i])
        return k1, k1, g1, s1, g1, g1
    k0, s0, g0 = rounded(forms[0], w, t, counts, mass, ks[0], room, least, q[0])
    return k0, k1, s0, s1, g0, g1


# -- summing ---------------------------------------------------------------------------------------------------------


def _adds(lanes: int) -> Callable[..., None]:
    bits, mask = U(64 // lanes), U((1 << (64 // lanes)) - 1)

    @part
    def add_two(words: Array, base: Array, d: int, q: Array, rows: Array, out: Array) -> None:
        """Add both channels of some rows (all, if rows is empty) to the slots of d columns.

        The two sums of a slot lie side by side.
        """
        some = rows.size > 0
        size = rows.size if some else words.shape[1]
        for g in range(words.shape[0]):
            first, here = g * lanes, min(lanes, d - g * lanes)
            if here == lanes:
                for m in range(size):
                    i = rows[m] if some else m
                    word, a, b = words[g, i], q[0, i], q[1, i]
                    for lane in range(lanes):
                        s = base[first + lane] + (word & mask)
                        word = word >> bits
                        out[s, U(0)] += a
                        out[s, U(1)] += b
            else:
                for m in range(size):
                    i = rows[m] if some else m
                    word, a, b = words[g, i], q[0, i], q[1, i]
                    for lane in range(here):
                        s = base[first + lane] + (word & mask)
                        word = word >> bits
                        out[s, U(0)] += a
                        out[s, U(1)] += b

    return add_two


ADD_TWO = {8: _adds(8), 4: _adds(4)}


# -- searching -------------------------------------------------------------------------------------------------------


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


@cache
def stump_of_pairs(cost: Callable[..., Any], lanes: int) -> Any:
    """Return the compiled sums and search for a cost(left, right, gross, numbers) of two channels."""
    stamp, add_two = admit(cost), ADD_TWO[lanes]

    @kernel
    def search(
        words: Array,
        base: Array,
        starts: Array,
        cuts: Array,
        cuts_below: Array,
        q: Array,
        total: Any,
        scale: Any,
        gross: Any,
        numbers: Array,
        hist: Array,
    ) -> tuple[int, int, int, int, int]:
        """Return (feature, cut, side, low sums of both channels) of the cheapest cut; feature < 0 if there is none.

        cuts[j] are the cuts of column j with missing values above, cuts_below[j] those with missing values below.  For
        sides and ties see `split.cheapest_split`.
        """
        d, widest = starts.size - 1, 1
        hist[:] = 0
        add_two(words, base, d, q, integers(0), hist)
        for j in range(d):
            widest = max(widest, starts[j + 1] - starts[j])
        low, prices, others = np.empty((2, widest), np.int64), doubles(widest), doubles(widest)
        all0, all1 = total
        unit0, unit1 = scale
        feature, cut, side, best, a, b = stamp, 0, 0, np.inf, np.int64(0), np.int64(0)
        for j in range(d):
            # Not `tree_search.pair_search`: of all rows few slots are empty; skipping those is a third slower.
            n, start, last = cuts[j], starts[j], starts[j + 1] - 1
            below0, below1 = np.int64(0), np.int64(0)
            for s in range(n):
                below0 += hist[start + s, 0]
                below1 += hist[start + s, 1]
                low[0, s], low[1, s] = below0, below1
            for s in range(n):
                left = low[0, s] * unit0, low[1, s] * unit1
                right = (all0 - low[0, s]) * unit0, (all1 - low[1, s]) * unit1
                prices[s] = cost(left, right, gross, numbers)
            if cuts_below[j] == 0:
                at, best = first_below(prices, n, best)
                if at >= 0:
                    feature, cut, side, a, b = j, at, 0, low[0, at], low[1, at]
                continue
            gone0, gone1 = hist[last, 0], hist[last, 1]
            for s in range(cuts_below[j]):
                below0, below1 = low[0, s] + gone0, low[1, s] + gone1
                left = below0 * unit0, below1 * unit1
                right = (all0 - below0) * unit0, (all1 - below1) * unit1
                others[s] = cost(left, right, gross, numbers)
            for s in range(n):
                if prices[s] < best:
                    feature, cut, side, best, a, b = j, s, 0, prices[s], low[0, s], low[1, s]
                if s < cuts_below[j] and others[s] < best:
                    feature, cut, side, best, a, b = j, s, 1, others[s], low[0, s] + gone0, low[1, s] + gone1
        return feature, cut, side, a, b  # type: ignore[return-value]

    return search


@cache
def stump_of_edge(lanes: int) -> Any:
    """Return the compiled sums and search of one channel, compared as the integers they are."""
    add = {8: add_eight, 4: add_four}[lanes]

    @kernel
    def search(
        words: Array,
        base: Array,
        starts: Array,
        filled: Array,
        categorical: Array,
        q: Array,
        no_rows: Array,
        total: int,
        sides: int,
        hist: Array,
    ) -> tuple[int, int, int, int, int]:
        """Write the histogram and return what `edge.best_edge` finds in it; no_rows is an empty list."""
        hist[:] = 0
        add(words, base, q, no_rows, 0, q.size, hist)
        return edge_search(hist, starts, filled, categorical, total, sides, 0, starts.size - 1)

    return search


# -- voting ----------------------------------------------------------------------------------------------------------


@kernel
def votes_of_cut(
    cells: Array, feature: int, cut: int, gone: int, left: float, right: float, missing: float, out: Array
) -> None:
    """Write what a stump says of every row: left up to the cut, missing where the code is `gone`, else right."""
    group, lane = feature // cells.shape[2], feature % cells.shape[2]
    for i in range(out.size):
        code = np.int64(cells[group, i, lane])
        out[i] = missing if code == gone else left if code <= cut else right
