"""Rounds on small dense tables: rows are rounded, summed and searched anew, each in one pass and all in few calls.

On some hundred rows a kernel takes microseconds, and so does every call of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import admit, part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.channel_rounding import value
from boostlab.backend.cpu.kernels.fixed_point import power_factors
from boostlab.backend.cpu.kernels.packed_codes import add_eight, add_four
from boostlab.backend.cpu.kernels.paired_columns import PAIRS
from boostlab.backend.cpu.kernels.stump_search import LEAST, edge_search
from boostlab.backend.cpu.kernels.tree_search import SURE, as_float, first_below, may_explain
from boostlab.backend.cpu.kernels.workspace import clear, doubles, integers
from boostlab.backend.cpu.scales import next_scale

Array = np.ndarray[Any, Any]
U = np.uint64

MAGNITUDE, ABSENT = -1, -2  # what channels sum besides what `value` knows (see `round_two`)
EXTREME = 100  # weights beyond 2^+-100 are scaled before they are squared


# -- rounding --------------------------------------------------------------------------------------------------------


@part
def rounded(
    form: int, w: Array, t: Array, counts: Array, mass: Array, k: int, headroom: int, least: int, q: Array
) -> tuple[int, int, int]:
    """Write q = counts * rint(mass * value * 2^k) and return k and the sums of q and of |q|; -1 if no k was found.

    For k, `headroom` and `least` see `scales`.
    """
    while True:
        scale, more = power_factors(k)
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
        after, known = next_scale(k, gross, rough, headroom, least)
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


@in_parts
def round_two(form0: int, form1: int, w: Array, t: Array, counts: Array, mass: Array, q: Array, facts: Array) -> int:
    """Bring one or two channels up to date; write their k, the sums of q and of |q| to facts.  Return 0 if there is no
    k.

    A first form `MAGNITUDE` stands for the magnitudes of the second channel, the integers of labels; a second one
    `ABSENT` for none.  facts begin with the last k of both, and end with headroom and least (see `scales`).
    """
    if form1 != ABSENT and not is_tame(w):
        return 0
    for c in range(1, -1, -1):
        form = form1 if c == 1 else form0
        if form >= 0:
            facts[c], facts[2 + c], facts[4 + c] = rounded(form, w, t, counts, mass, facts[c], facts[6], facts[7], q[c])
            if facts[4 + c] < 0:
                return 0
        elif form == MAGNITUDE:
            for i in range(w.size):
                q[0, i] = abs(q[1, i])
            facts[0], facts[2], facts[4] = facts[1], facts[5], facts[5]
    return 1


# -- searching -------------------------------------------------------------------------------------------------------


@part
def no_leaves(left: Any, right: Any, gross: Any, numbers: Any) -> tuple[float, float]:
    """Leave it to the criterion what a cut's sides vote."""
    return np.nan, np.nan


@cache
def cut_search(cost: Callable[..., Any], explains: float = 0.0) -> Any:
    """Return the search of a column's cuts for a cost of two channels (see `stump_of_pairs`)."""

    @part
    def price(
        low: Array, n: int, gone0: int, gone1: int, total: Array, worth: Array, numbers: Array, prices: Array
    ) -> None:
        """Write the costs of n cuts, with so much more below each."""
        gross, all0, all1, unit0, unit1 = (worth[2], worth[3]), total[0], total[1], worth[0], worth[1]
        for s in range(n):
            a, b = low[0, s] + gone0, low[1, s] + gone1
            left = as_float(a) * unit0, as_float(b) * unit1
            right = as_float(all0 - a) * unit0, as_float(all1 - b) * unit1
            prices[s] = cost(left, right, gross, numbers)

    @part
    def best_of_cuts(
        low: Array,
        n: int,
        n_below: int,
        gone0: int,
        gone1: int,
        total: Array,
        worth: Array,
        numbers: Array,
        prices: Array,
        others: Array,
        best: float,
    ) -> tuple[int, int, float, int, int]:
        """Return (cut, side, cost, low sums of both channels) of the cheapest cut if it costs less than the best one.

        low are the sums below n cuts with missing values above, of which n_below may have them below; the missing
        values' sums are gone0 and gone1, and prices and others are workspace.  Not `tree_search.pair_search`: of all
        rows few slots are empty; skipping those is a third slower.
        """
        if explains > 0.0 and n_below == 0 and best < np.inf:
            bar = -best * explains * worth[0] / (worth[1] * worth[1]) * SURE
            if bar > 0.0 and not may_explain(low, n, total[0], total[1], bar):
                return 0, 0, best, 0, 0
        price(low, n, 0, 0, total, worth, numbers, prices)
        if n_below == 0:
            at, best = first_below(prices, n, best)
            if at < 0:
                return 0, 0, best, 0, 0
            return at, 0, best, low[0, at], low[1, at]
        cut, side, a, b = 0, 0, np.int64(0), np.int64(0)
        price(low, n_below, gone0, gone1, total, worth, numbers, others)
        for s in range(n):
            if prices[s] < best:
                cut, side, best, a, b = s, 0, prices[s], low[0, s], low[1, s]
            if s < n_below and others[s] < best:
                cut, side, best, a, b = s, 1, others[s], low[0, s] + gone0, low[1, s] + gone1
        return cut, side, best, a, b  # type: ignore[return-value]

    return best_of_cuts


@cache
def stump_of_pairs(
    cost: Callable[..., Any], per_word: int, explains: float = 0.0, says: Callable[..., Any] = no_leaves
) -> Any:
    """Return the compiled sums and search for a cost(left, right, gross, numbers) of two channels.

    Where the cost is minus what the means of both sides explain, divided by `explains`, columns that cannot beat the
    best cut so far are not priced.  What the sides of a cut vote is says(left, right, gross, numbers).
    """
    stamp, (add, screen) = admit(cost) if says is no_leaves else admit(cost, says), PAIRS[per_word]
    best_of_cuts = cut_search(cost, explains)

    @in_parts
    def search(
        words: Array,
        starts: Array,
        cuts: Array,
        cuts_below: Array,
        q: Array,
        total: Array,
        worth: Array,
        numbers: Array,
        hist: Array,
    ) -> tuple[int, int, int, int, int, float, float]:
        """Return (feature, cut, side, low sums of both channels, what the sides vote) of the cheapest cut; feature < 0
        if there is none.

        cuts[j] are the cuts of column j with missing values above, cuts_below[j] those with missing values below.
        total are the channels' integer sums; worth is what a unit of each is worth, and the sums of their magnitudes.
        hist is workspace for the slots of a word (see `paired_columns`).  For sides and ties see
        `split_search.cheapest_split`.
        """
        d, n_rows, widest = starts.size - 1, words.shape[1], 1
        values, ends, hits = integers(2 * n_rows), integers(per_word), integers(per_word)
        for i in range(n_rows):
            values[2 * i], values[2 * i + 1] = q[0, i], q[1, i]
        for j in range(d):
            widest = max(widest, starts[j + 1] - starts[j])
        low, prices, others = np.empty((2, widest), np.int64), doubles(widest), doubles(widest)
        all0, all1, unit0, unit1, gross = total[0], total[1], worth[0], worth[1], (worth[2], worth[3])
        feature, cut, side, best, a, b = stamp, 0, 0, np.inf, np.int64(0), np.int64(0)
        for j in range(d):
            position = j % per_word
            if position == 0:  # one word's columns after the other share the workspace: it stays in the first cache
                longest, slots, screened = 0, 0, False
                for c in range(per_word):
                    k, known = min(j + c, d - 1), j + c < d and cuts_below[min(j + c, d - 1)] == 0
                    ends[c] = cuts[k] if known else 0
                    longest, slots = max(longest, ends[c]), max(slots, starts[k + 1] - starts[k])
                clear(hist[: 2 * per_word * slots])
                word = words[j // per_word]
                for i in range(U(n_rows)):
                    add(hist, word[i], values, i)
            if explains > 0.0 and best < np.inf and cuts_below[j] == 0:
                bar = -best * explains * unit0 / (unit1 * unit1) * SURE
                if bar > 0.0 and not screened:
                    screen(hist, longest, ends, all0, all1, bar, hits)
                    screened = True
                if bar > 0.0 and hits[position] == 0:
                    continue
            n, below0, below1 = cuts[j], np.int64(0), np.int64(0)
            for s in range(U(n)):
                slot = U(2) * (s * U(per_word) + U(position))
                below0 += hist[slot]
                below1 += hist[slot + U(1)]
                low[0, s], low[1, s] = below0, below1
            last = 2 * ((starts[j + 1] - 1 - starts[j]) * per_word + position)
            sums = n, cuts_below[j], hist[last], hist[last + 1], total, worth, numbers
            at, where, price, c, e = best_of_cuts(low, *sums, prices, others, best)
            if price < best:
                feature, cut, side, best, a, b = j, at, where, price, c, e
        below, above = (a * unit0, b * unit1), ((all0 - a) * unit0, (all1 - b) * unit1)
        if_low, if_high = says(below, above, gross, numbers)
        return feature, cut, side, a, b, if_low, if_high  # type: ignore[return-value]

    return search


@cache
def stump_of_edge(per_word: int) -> Any:
    """Return the compiled sums and search of one channel, compared as the integers they are."""
    add = {8: add_eight, 4: add_four}[per_word]

    @in_parts
    def search(
        words: Array,
        base: Array,
        starts: Array,
        filled: Array,
        categorical: Array,
        q: Array,
        no_rows: Array,
        total: Array,
        sides: int,
        hist: Array,
    ) -> tuple[int, int, int, int, int, float, float]:
        """Write the histogram and return (feature, cut, side, edge, worth) of the stump that `edge_search` finds in it,
        and what its sides vote; no_rows is an empty list.
        """
        feature, cut, side, edge, worth, d = -1, -1, 0, np.int64(0), LEAST, starts.size - 1
        for g in range(words.shape[0]):  # the sums of a word's columns are looked at while they are at hand
            first, last = g * per_word, min((g + 1) * per_word, d)
            clear(hist[starts[first] : starts[last]])
            add(words[g : g + 1], base[first : first + per_word], q, no_rows, 0, q.size, hist)
            found = edge_search(hist, starts, filled, categorical, total[0], sides, first, last)
            if found[4] > worth:
                feature, cut, side, edge, worth = found
        up = 1.0 if sides > 0 or (sides == 0 and edge >= 0) else -1.0
        return feature, cut, side, edge, worth, -up, up  # type: ignore[return-value]

    return search


# -- voting ----------------------------------------------------------------------------------------------------------


@in_parts
def votes_of_cut(cells: Array, place: Array, leaves: Array, out: Array) -> None:
    """Write what a stump says of every row: leaves[0] up to the cut, leaves[2] where a value is missing, else
    leaves[1].

    place is (column, cut, code of missing values).
    """
    feature, cut, gone = place[0], place[1], place[2]
    group, position = feature // cells.shape[2], feature % cells.shape[2]
    for i in range(out.size):
        code = np.int64(cells[group, i, position])
        out[i] = leaves[2] if code == gone else leaves[0] if code <= cut else leaves[1]
