"""What the members of a team do in a usual round on a large table, and what they settle when all have met.

A member has its own rows, and its own columns when the histogram is searched.  What it finds goes to a row of its own,
which all look at in the next `settle` call; then each writes what follows to its own integers and numbers.  All see the
same and conclude the same.  Places in these arrays are those of `usual_rounds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import admit, part
from boostlab.backend.cpu.functions import STAMP, bits
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.channel_rounding import round_block
from boostlab.backend.cpu.kernels.histogram import follow_eight, follow_four
from boostlab.backend.cpu.kernels.packed_codes import add_eight, add_four
from boostlab.backend.cpu.kernels.small_table import EXTREME, MAGNITUDE, cut_search
from boostlab.backend.cpu.kernels.stump_search import edge_search
from boostlab.backend.cpu.kernels.whole_histogram import BLOCK, add_two, adding_rows, eight, four
from boostlab.backend.cpu.kernels.workspace import clear, copy, doubles, integers
from boostlab.backend.cpu.scales import next_scale
from boostlab.contract.usual import AGAIN
from boostlab.functions import exp

Array = np.ndarray[Any, Any]
U = np.uint64

TWO = BLOCK[2]  # rows of two integers that stay in the cache
LINE = 8  # numbers of a cache line: a member's row is one or more of them
WORTH = 0.7  # the share of changed rows from which on counting anew is faster


# -- logarithms and exponentials of weights --------------------------------------------------------------------------


@in_parts
def largest_of_rows(x: Array, first: int, last: int, me: int, tops: Array) -> None:
    """Note the largest x of some rows."""
    top, x = -np.inf, x[first:last]
    for i in range(x.size):
        top = max(top, x[i])
    tops[me, 0] = top


@in_parts
def minus_margins_of_rows(y: Array, F: Array, w: Array, first: int, last: int, me: int, tops: Array) -> None:
    """Write -y F to w; note the largest."""
    top, y, F, w = -np.inf, y[first:last], F[first:last], w[first:last]
    for i in range(w.size):
        w[i] = -y[i] * F[i]
        top = max(top, w[i])
    tops[me, 0] = top


@in_parts
def settle_top(tops: Array, me: int, numbers: Array) -> None:
    """Let the last number be the largest of all."""
    top = -np.inf
    for p in range(tops.shape[0]):
        top = max(top, tops[p, 0])
    numbers[me, numbers.shape[1] - 1] = top


@in_parts
def lost_rows(y: Array, h: Array, counts: Array, first: int, last: int, me: int, lost: Array) -> None:
    """Note how many examples are voted wrong."""
    wrong, y, h = np.int64(0), y[first:last], h[first:last]
    if counts.size == 0:
        for i in range(h.size):
            wrong += h[i] != y[i]
    else:
        counts = counts[first:last]
        for i in range(h.size):
            wrong += counts[i] * (h[i] != y[i])
    lost[me, 0] = wrong


def _follow_votes() -> Any:
    stamp = STAMP

    def follow(
        y: Array,
        h: Array,
        examples: int,
        far: float,
        w: Array,
        alpha: float,
        first: int,
        last: int,
        me: int,
        lost: Array,
        ints: Array,
        floats: Array,
    ) -> None:
        """Let the weights of some rows follow votes of -1 and +1, as `usual_rounds.follow_votes` does."""
        wrong, apart, mine = np.int64(max(0, stamp)), 2.0 * alpha, floats[me]  # the stamp is negative
        if not abs(apart) < far:
            ints[me, of.FRESH] = 0
            return
        for p in range(lost.shape[0]):
            wrong += lost[p, 0]
        power = apart if 2 * wrong <= examples else -apart
        factor = exp(power)
        if_wrong, if_right = (factor, 1.0) if 2 * wrong <= examples else (1.0, factor)
        w, h, y = w[first:last], h[first:last], y[first:last]
        for i in range(w.size):
            w[i] *= if_wrong if h[i] != y[i] else if_right
        mine[of.MOVED], mine[of.MOVED + 1] = mine[of.MOVED] + max(power, 0.0), mine[of.MOVED + 1] + max(-power, 0.0)
        ints[me, of.FRESH] = 1 if mine[of.MOVED] < far and mine[of.MOVED + 1] < far else 0

    return in_parts(follow)


follow_votes = _follow_votes()


# -- integers and their sums -----------------------------------------------------------------------------------------


@cache
def one_channel(per_word: int) -> Any:
    """Return what rounds one channel of some rows and sums what changed, or all."""
    follow = part((follow_eight if per_word == 8 else follow_four).function)
    add = add_eight if per_word == 8 else add_four

    @in_parts
    def round_rows(
        form: int,
        words: Array,
        base: Array,
        w: Array,
        t: Array,
        counts: Array,
        mass: Array,
        no_rows: Array,
        first: int,
        last: int,
        me: int,
        ints: Array,
        q: Array,
        facts: Array,
        rough: Array,
        sums: Array,
    ) -> None:
        """Bring q up to date, and write a histogram of its changes, or of q; note (changed, sum of q, of |q|)."""
        mine, anew = sums[me], ints[me, of.ANEW] == 1
        clear(mine)
        out = mine[mine.size if anew else 0 :]
        what = form, w, t, counts, mass, ints[me, of.FACTS]
        changed, _, _, _, minus, plus, roughly = follow(words, base, *what, False, first, last, q, out)
        if anew:
            add(words, base, q, no_rows, first, last, mine)
        facts[me, 0], facts[me, 1], facts[me, 2], rough[me, 0] = changed, plus - minus, plus + minus, roughly

    return round_rows


@cache
def two_channels(per_word: int) -> Any:
    """Return what rounds two channels of some rows and sums what changed, or all."""
    add_rows, all_bases = adding_rows(per_word, "two"), eight if per_word == 8 else four
    shift, mask = U(64 // per_word), U((1 << (64 // per_word)) - 1)

    @part
    def add_listed(words: Array, bases: Array, d: int, rows: Array, n: int, values: Array, out: Array) -> None:
        """Add two integers a row to the slots of listed rows."""
        for g in range(words.shape[0]):
            w, bases_of = words[g], bases[per_word * g : per_word * (g + 1)]
            if d >= per_word * (g + 1):
                where = all_bases(bases_of)
                for k in range(U(n)):
                    add_two(out, w[U(rows[k])], where, values, k)
                continue
            for position in range(d - per_word * g):
                base, by = (bases_of[position],), shift * U(position)
                for k in range(U(n)):
                    add_two(out, (w[U(rows[k])] >> by) & mask, base, values, k)

    @in_parts
    def round_rows(
        form0: int,
        form1: int,
        words: Array,
        bases: Array,
        d: int,
        w: Array,
        t: Array,
        counts: Array,
        mass: Array,
        first: int,
        last: int,
        me: int,
        ints: Array,
        q: Array,
        facts: Array,
        rough: Array,
        sums: Array,
    ) -> None:
        """Do as `one_channel` does for both rows of q; note the facts of both, and the largest weight.

        A first form `MAGNITUDE` stands for the magnitudes of the second channel, the integers of labels.
        """
        anew, top, mine, whole = ints[me, of.ANEW] == 1, 0.0, sums[me], facts[me]
        k0, k1, roughly0, roughly1 = ints[me, of.FACTS], ints[me, of.FACTS + 1], 0.0, 0.0
        values, rows, old0, old1 = integers(2 * TWO + 2), integers(TWO + 1), integers(TWO), integers(TWO)
        clear(mine)
        clear(whole)
        changed = np.int64(0)
        for start in range(first, last, TWO):
            end = min(start + TWO, last)
            ws, ts, by, more = w[start:end], t[start:end], counts[start:end], mass[start:end]
            q0, q1 = q[0, start:end], q[1, start:end]
            for i in range(ws.size):
                top = max(top, ws[i])
            if not anew:
                copy(q0, old0)
                copy(q1, old1)
            roughly1 += round_block(form1, ws, ts, by, more, k1, q1, whole[3:])
            if form0 == MAGNITUDE:
                for k in range(q0.size):
                    q0[k] = abs(q1[k])
            else:
                roughly0 += round_block(form0, ws, ts, by, more, k0, q0, whole[:3])
            if anew:
                add_rows(words, bases, d, q[0], q[1], (0, words.shape[0], start, end), values, mine)
                continue
            n = 0
            for k in range(end - start):
                d0, d1 = q0[k] - old0[k], q1[k] - old1[k]
                rows[n], values[2 * n], values[2 * n + 1] = start + k, d0, d1
                n += (d0 != 0) | (d1 != 0)
            add_listed(words, bases, d, rows, n, values, mine)
            changed += n
        whole[0] = max(whole[0], whole[3]) if anew else changed
        rough[me, 0], rough[me, 1], rough[me, 2] = roughly0, roughly1, top

    return round_rows


@part
def settle_channel(facts: Array, rough: Array, c: int, ints: Array) -> int:
    """Write a channel's sums to a member's integers, and whether a scale is known; return the scale that follows."""
    signed, gross, roughly = np.int64(0), np.int64(0), 0.0
    for p in range(facts.shape[0]):
        signed, gross, roughly = signed + facts[p, 3 * c + 1], gross + facts[p, 3 * c + 2], roughly + rough[p, c]
    k, known = next_scale(ints[of.FACTS + c], gross, roughly, ints[of.FACTS + 6], ints[of.FACTS + 7])
    ints[of.FACTS + 2 + c], ints[of.FACTS + 4 + c], ints[of.KNOWN_OF + c] = signed, gross, known
    return k


@in_parts
def settle_round(facts: Array, rough: Array, form0: int, channels: int, me: int, all_ints: Array) -> None:
    """Settle whether the scales are kept, and what the sums of all rows are; where not, all is rounded again.

    Where a channel's scale is not known, or weights are extreme, integers stay those of the scales at hand.
    """
    ints, top, changed, first = all_ints[me], 0.0, np.int64(0), 1 if form0 == MAGNITUDE else 0
    for p in range(facts.shape[0]):
        top, changed = max(top, rough[p, 2]), changed + facts[p, 0]
    ints[of.CHANGED] = changed
    k0 = settle_channel(facts, rough, first, ints)
    k1 = settle_channel(facts, rough, channels - 1, ints)
    ints[of.KNOWN] = 1 if ints[of.KNOWN_OF + first] == 1 and ints[of.KNOWN_OF + channels - 1] == 1 else 0
    if channels == 2 and abs(math.frexp(top)[1]) >= EXTREME:
        ints[of.KNOWN] = 0
    if ints[of.KNOWN] == 1 and (k0 != ints[of.FACTS + first] or k1 != ints[of.FACTS + channels - 1]):
        ints[of.FACTS + first], ints[of.FACTS + channels - 1] = k0, k1
        ints[of.ANEW], ints[of.SAID] = 1, AGAIN
    if form0 == MAGNITUDE:
        at, to = of.FACTS + 1, of.FACTS
        ints[to], ints[to + 2], ints[to + 4] = ints[at], ints[at + 4], ints[at + 4]


# -- searching -------------------------------------------------------------------------------------------------------


@part
def add_up(sums: Array, hist: Array, begin: int, end: int, anew: bool) -> None:
    """Add the members' sums to some slots of the histogram."""
    mine = hist[begin:end]
    if anew:
        clear(mine)
    for p in range(sums.shape[0]):
        other = sums[p, begin:end]
        for s in range(mine.size):
            mine[s] += other[s]


@in_parts
def search_edges(
    starts: Array,
    filled: Array,
    categorical: Array,
    sides: int,
    first: int,
    last: int,
    me: int,
    ints: Array,
    sums: Array,
    hist: Array,
    finds: Array,
) -> None:
    """Note the best stump that `edge_search` finds on some columns, and what its sides vote."""
    add_up(sums, hist, starts[first], starts[last], ints[me, of.ANEW] == 1)
    found, mine = edge_search(hist, starts, filled, categorical, ints[me, of.FACTS + 2], sides, first, last), finds[me]
    mine[0], mine[1], mine[2], mine[3], mine[4] = found
    up = 1.0 if sides > 0 or (sides == 0 and found[3] >= 0) else -1.0
    mine[5], mine[6] = bits(-up), bits(up)


@cache
def search_of_pairs(cost: Callable[..., Any], explains: float, says: Callable[..., Any]) -> Any:
    """Return the search of some columns for a cost(left, right, gross, numbers) of two channels."""
    stamp, best_of_cuts = admit(cost, says), cut_search(cost, explains)

    @in_parts
    def search(
        starts: Array,
        cuts: Array,
        cuts_below: Array,
        first: int,
        last: int,
        me: int,
        all_ints: Array,
        all_floats: Array,
        all_numbers: Array,
        sums: Array,
        hist: Array,
        finds: Array,
        costs: Array,
    ) -> None:
        """Note the cheapest cut of some columns, and what its sides vote, as `small_table.stump_of_pairs` does."""
        ints, mine, numbers = all_ints[me], finds[me], all_numbers[me, all_ints[me, of.PRICED] :]
        total, worth = ints[of.TOTAL : of.TOTAL + 2], all_floats[me, of.WORTH : of.MOVED]
        add_up(sums, hist, 2 * starts[first], 2 * starts[last], ints[of.ANEW] == 1)
        widest = 1
        for j in range(first, last):
            widest = max(widest, starts[j + 1] - starts[j])
        low, prices, others = np.empty((2, widest), np.int64), doubles(widest), doubles(widest)
        feature, cut, side, best, a, b = stamp, 0, 0, np.inf, np.int64(0), np.int64(0)
        for j in range(first, last):
            column, below0, below1 = hist[2 * starts[j] : 2 * starts[j + 1]], np.int64(0), np.int64(0)
            for s in range(cuts[j]):
                below0 += column[2 * s]
                below1 += column[2 * s + 1]
                low[0, s], low[1, s] = below0, below1
            given = low, cuts[j], cuts_below[j], column[column.size - 2], column[column.size - 1]
            at, where, price, c, e = best_of_cuts(*given, total, worth, numbers, prices, others, best)
            if price < best:
                feature, cut, side, best, a, b = j, at, where, price, c, e
        unit0, unit1, gross = worth[0], worth[1], (worth[2], worth[3])
        below, above = (a * unit0, b * unit1), ((total[0] - a) * unit0, (total[1] - b) * unit1)
        if_low, if_high = says(below, above, gross, numbers)
        mine[0], mine[1], mine[2], mine[3], mine[4] = feature, cut, side, a, b
        mine[5], mine[6] = bits(if_low), bits(if_high)
        costs[me, 0] = best

    return search


@in_parts
def settle_search(rows: int, me: int, finds: Array, costs: Array, all_ints: Array) -> None:
    """Settle which member's stump is the best, of equals the first; costs are empty if it is the most worth."""
    ints, best = all_ints[me], 0
    for p in range(1, finds.shape[0]):
        if costs.shape[0] > 0:
            better = costs[p, 0] < costs[best, 0]
        else:
            better = finds[p, 4] > finds[best, 4]
        if better:
            best = p
    for c in range(of.PLACE - of.FOUND):
        ints[of.FOUND + c] = finds[best, c]
    ints[of.ANEW] = ints[of.CHANGED] > WORTH * rows


@in_parts
def vote_of_rows(cells: Array, first: int, last: int, me: int, ints: Array, floats: Array, out: Array) -> None:
    """Write what the stump says of some rows, as `small_table.votes_of_cut` does."""
    feature, cut, gone = ints[me, of.PLACE], ints[me, of.PLACE + 1], ints[me, of.PLACE + 2]
    low, high, missing = floats[me, of.LEAVES], floats[me, of.LEAVES + 1], floats[me, of.LEAVES + 2]
    codes, out = cells[feature // cells.shape[2], first:last, feature % cells.shape[2]], out[first:last]
    for i in range(out.size):
        code = np.int64(codes[i])
        out[i] = missing if code == gone else low if code <= cut else high
