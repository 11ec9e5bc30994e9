"""Trees for labels on large tables: grown by a team of threads in one compiled call.

Every member owns some words of columns: it sums the smaller child's rows there, subtracts, and prices both children's
cuts, so that no sums are put together.  Members wait for each other three times a split (kernels/team.py): when all
cuts are priced, when everybody has parted a stretch of the rows, and when the stretches are put together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part, stamp_of
from boostlab.backend.cpu.kernels.prefetch import soon
from boostlab.backend.cpu.kernels.sided_histogram import HIGHEST, add_members, cheapest_of_word, new_block, price_of
from boostlab.backend.cpu.kernels.spin_barrier import wait

Array = np.ndarray[Any, Any]

U = np.uint64

AHEAD = 32  # rows
FIRST, SIZE, DEPTH, HIST, FEATURE, CUT, CHILD = range(7)  # what is known of a node: FEATURE is -1 if it has no split
FACTS = 7
KEY, AT, MINUS, PLUS = range(4)  # what a member found: the cheapest cut of its columns, and both sides' sums below it


@part
def part_stretch(code: Array, cut: int, members: Array, space: Array, first: int, last: int) -> int:
    """Write members[first:last] to the same places of `space`, those above the cut from the end; return how many
    are not above.
    """
    mine, to = members[first:last], space[first:last]
    low, end = U(0), U(last - first)
    for m in range(end):  # without a branch, that would be guessed wrong half of the time
        soon(code, U(mine[min(m + U(AHEAD), end - U(1))]))
        i = mine[m]
        to[low] = i
        to[end - U(1) - m + low] = i  # the last place that is still free
        low += U(code[U(i)] <= cut)
    return np.int64(low)  # type: ignore[return-value]


@cache
def crew_grower(cost: Callable[..., Any]) -> Any:
    """Return the compiled growth for a cost(left, right, gross, numbers) of w and w y."""
    stamp = stamp_of(cost)

    @kernel
    def grow(
        me: int,
        team: Array,
        crew: int,
        cells: Array,
        words: Array,
        starts: Array,
        d: int,
        allowed: Array,
        q: Array,
        sums: Any,
        numbers: Array,
        floor: float,
        limit: int,
        deepest: int,
        members: Array,
        space: Array,
        root: Array,
        hists: Array,
        found: Array,
        lows: Array,
        nodes: Array,
        gains: Array,
        totals: Array,
    ) -> int:
        """Split the leaf with the largest gain until there are `limit` leaves or no gain is above the floor.

        sums has the sums of both sides over all rows, what a unit is worth, and the weight of all; root is the
        histogram of all rows.  found, of shape (crew, nodes, 4), and lows, of length crew, are where members tell each
        other; the first one writes nodes, gains and totals (of both sides), and returns the number of nodes.
        """
        if crew == 0:
            return stamp
        n_words = starts.size - 1
        first, last = n_words * me // crew, n_words * (me + 1) // crew
        a, b = starts[first], starts[last]
        widest = 0
        for g in range(first, last):
            widest = max(widest, (starts[g + 1] - starts[g]) // 2)
        low, keys, block = np.empty((2, widest), np.int64), np.empty(widest, np.int64), new_block()
        minus, plus, scale, gross = sums
        size = 2 * limit - 1
        node_of, gain_of = np.zeros((size, FACTS), np.int64), np.zeros(size)
        sum_of, low_of, none = np.zeros((size, 2), np.int64), np.zeros((size, 2), np.int64), np.zeros_like(numbers)
        node_of[0, SIZE], sum_of[0, 0], sum_of[0, 1] = members.size, minus, plus
        hists[0, a:b] = root[a:b]
        n_nodes, leaves, searched = 1, 1, 0
        while leaves < limit:
            for node in range(searched, n_nodes):
                mine, best = found[me, node], HIGHEST
                mine[KEY], mine[AT] = HIGHEST, -1
                if node_of[node, DEPTH] >= deepest:
                    continue
                total = sum_of[node, 0], sum_of[node, 1]
                for g in range(first, last):
                    x, y = starts[g], starts[g + 1]
                    hist = hists[node_of[node, HIST], x:y]
                    cuts = allowed[x // 2 : y // 2]
                    key, at = cheapest_of_word(cost, hist, cuts, total, scale, gross, numbers, low, keys, best)
                    if at >= 0 and price_of(key) < np.inf:
                        best = key
                        mine[KEY], mine[AT] = key, 8 * 256 * g + at
                        mine[MINUS], mine[PLUS] = low[0, at], low[1, at]
            if wait(team, crew):
                return 0
            for node in range(searched, n_nodes):
                gain_of[node], node_of[node, FEATURE] = -np.inf, -1
                who = 0
                for other in range(1, crew):
                    if found[other, node, KEY] < found[who, node, KEY]:
                        who = other
                at = found[who, node, AT]
                if at < 0:
                    continue
                weight = (sum_of[node, 0] + sum_of[node, 1]) * scale
                whole = weight, (sum_of[node, 1] - sum_of[node, 0]) * scale
                gain = cost(whole, (0.0, 0.0), whole, none) - price_of(found[who, node, KEY])
                if gain > floor:
                    gain_of[node] = gain
                    node_of[node, FEATURE], node_of[node, CUT] = at // 2048 * 8 + at % 8, at % 2048 // 8
                    low_of[node] = found[who, node, MINUS:]
            searched = n_nodes
            best_node, most = -1, floor
            for node in range(n_nodes):
                if node_of[node, CHILD] == 0 and gain_of[node] > most:
                    best_node, most = node, gain_of[node]
            if best_node < 0:
                break
            leaf = node_of[best_node]
            j, begin, count = leaf[FEATURE], leaf[FIRST], leaf[SIZE]
            c, e = begin + count * me // crew, begin + count * (me + 1) // crew
            lows[me] = part_stretch(cells[j // 8, :, j % 8], leaf[CUT], members, space, c, e)
            if wait(team, crew):
                return 0
            n_low, to_low, to_high = 0, begin, begin
            for other in range(crew):
                n_low += lows[other]
            to_high += n_low
            for other in range(me):
                to_low += lows[other]
                to_high += count * (other + 1) // crew - count * other // crew - lows[other]
            middle = c + lows[me]
            members[to_low : to_low + lows[me]] = space[c:middle]
            members[to_high : to_high + e - middle] = space[middle:e][::-1]
            if wait(team, crew):
                return 0
            leaf[CHILD] = n_nodes
            for right in range(2):
                child = node_of[n_nodes + right]
                child[FIRST], child[SIZE] = begin + right * n_low, count - n_low if right else n_low
                child[DEPTH], child[CHILD] = leaf[DEPTH] + 1, 0
            for s in range(2):
                sum_of[n_nodes, s] = low_of[best_node, s]
                sum_of[n_nodes + 1, s] = sum_of[best_node, s] - sum_of[n_nodes, s]
            small = n_nodes if n_low * 2 <= count else n_nodes + 1
            large = 2 * n_nodes + 1 - small
            node_of[large, HIST], node_of[small, HIST] = leaf[HIST], leaves
            n_nodes, leaves = n_nodes + 2, leaves + 1
            if leaves < limit and leaf[DEPTH] + 1 < deepest:  # or nobody will look for another split
                rows = members[node_of[small, FIRST] : node_of[small, FIRST] + node_of[small, SIZE]]
                sums_small, sums_large = hists[node_of[small, HIST]], hists[node_of[large, HIST]]
                sums_small[a:b] = 0
                add_members(words, starts, d, q, rows, block, first, last, sums_small)
                sums_large[a:b] -= sums_small[a:b]
        if me == 0:
            nodes[:n_nodes], totals[:n_nodes] = node_of[:n_nodes], sum_of[:n_nodes]
            for node in range(n_nodes):
                gains[node] = gain_of[node] if node_of[node, CHILD] > 0 else 0.0
        return n_nodes

    return grow
