"""Trees by two sums, grown whole in one call: dense codes, missing values and categories included.

The two sums of a slot lie side by side.  Below the root most slots are empty: a cut after an empty slot parts the rows
as the one before it does, and is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part, stamp_of
from boostlab.backend.cpu.kernels.packed_codes import part_rows
from boostlab.backend.cpu.kernels.small_table import ADD_TWO, first_below

Array = np.ndarray[Any, Any]

FIRST, SIZE, DEPTH, HIST, CUT, SIDE, CHILD = range(7)  # what is known of a node: CUT is a slot, < 0 if there is none
FACTS = 7
TINY = 2.2250738585072014e-308


@part
def sort_slots(slots: Array, start: int, end: int, filled: Array, scale: Array, rank: Array, order: Array) -> None:
    """Sort a column's slots by the mean of the target, equals in their order, those that nobody is in last."""
    for s in range(start, end):
        w, wt = slots[s, 0] * scale[0], slots[s, 1] * scale[1]
        mean = wt * (1.0 if w > 0.0 else 0.0) / max(w, TINY) if filled[s] else np.inf
        k = s - start
        while k > 0 and rank[k - 1] > mean:
            rank[k], order[k] = rank[k - 1], order[k - 1]
            k -= 1
        rank[k], order[k] = mean, s - start


@part
def cheapest_cut(
    cost: Callable[..., Any],
    slots: Array,
    starts: Array,
    cuts: Array,
    cuts_below: Array,
    total: Array,
    scale: Array,
    gross: Array,
    numbers: Array,
    space: Any,
) -> tuple[int, int, float]:
    """Return (slot, side, cost) as `split.search_pairs` does.

    cuts[j] are the cuts of column j with missing values above, cuts_below[j] those with missing values below.
    """
    low, place, prices, others = space
    at, side, best = -1, 0, np.inf
    all0, all1, unit0, unit1, whole = total[0], total[1], scale[0], scale[1], (gross[0], gross[1])
    for j in range(starts.size - 1):
        n, start = cuts[j], starts[j]
        if n == 0:
            continue
        below0, below1, m = slots[start, 0], slots[start, 1], 1
        low[0, 0], low[1, 0], place[0] = below0, below1, 0
        for s in range(1, n):
            a, b = slots[start + s, 0], slots[start + s, 1]
            below0 += a
            below1 += b
            low[0, m], low[1, m], place[m] = below0, below1, s
            m += (a | b) != 0
        for k in range(m):
            left = low[0, k] * unit0, low[1, k] * unit1
            right = (all0 - low[0, k]) * unit0, (all1 - low[1, k]) * unit1
            prices[k] = cost(left, right, whole, numbers)
        if cuts_below[j] == 0:
            k, best = first_below(prices, m, best)
            if k >= 0:
                at, side = start + place[k], 0
            continue
        gone0, gone1 = slots[starts[j + 1] - 1, 0], slots[starts[j + 1] - 1, 1]
        for k in range(m):
            below0, below1 = low[0, k] + gone0, low[1, k] + gone1
            left = below0 * unit0, below1 * unit1
            right = (all0 - below0) * unit0, (all1 - below1) * unit1
            others[k] = cost(left, right, whole, numbers)
        for k in range(m):
            if prices[k] < best:
                at, side, best = start + place[k], 0, prices[k]
            if place[k] < cuts_below[j] and others[k] < best:
                at, side, best = start + place[k], 1, others[k]
    return at, side, best


@part
def by_levels(children: Array, n: int, order: Array, place: Array) -> None:
    """Write the nodes level after level, and where each is; children come after their parents, in pairs."""
    order[0], size = 0, 1
    for k in range(n):
        node = order[k]
        place[node] = k
        if children[node, 0] > 0:
            order[size], order[size + 1] = children[node, 0], children[node, 1]
            size += 2


@cache
def grower_of_pairs(cost: Callable[..., Any], lanes: int = 8) -> Any:
    """Return the compiled growth for a cost(left, right, gross, numbers) of two channels."""
    stamp, add_two = stamp_of(cost), ADD_TWO[lanes]

    @kernel
    def grow(
        read: Any,
        columns: Any,
        points: Any,
        q: Array,
        known: bool,
        scale: Array,
        gross: Array,
        numbers: Array,
        floor: float,
        limit: int,
        deepest: int,
        room: Any,
        nodes: Array,
        totals: Array,
        tree: Any,
        leaf_of: Array,
    ) -> int:
        """Split the leaf with the largest gain until there are `limit` leaves or no gain is above the floor.

        q[c] are the rows' integers of channel c, totals[0] their sums over all rows, and so is room's first histogram
        if it is known.  Write the tree, level after level (orders: of the slots of the columns that split categories),
        the nodes' sums and every row's leaf; return the number of nodes.
        """
        cells, words, base = read
        starts, cuts, cuts_below, filled, categorical = columns
        members, hists, gains, children, orders, place = room
        if words.shape[1] == 0:
            return stamp
        d, widest, n = starts.size - 1, orders.shape[1], words.shape[1]
        space, low = np.empty(n, np.int64), np.empty(widest, np.bool_)
        pieces = np.empty((2, widest), np.int64), np.empty(widest, np.int64), np.empty(widest), np.empty(widest)
        ranks, order = np.empty(widest), np.empty((d, widest), np.int64)
        none, sorted_ = np.zeros_like(numbers), categorical.any()
        slots = np.empty_like(hists[0]) if sorted_ else hists[0]
        for i in range(n):
            members[i] = i
        if not known:
            hists[0] = 0
            add_two(words, base, d, q, members, hists[0])
        nodes[0, :] = 0
        nodes[0, SIZE] = n
        n_nodes, leaves, searched = 1, 1, 0
        while leaves < limit:
            for node in range(searched, n_nodes):
                gains[node], nodes[node, CUT] = -np.inf, -1
                if nodes[node, DEPTH] >= deepest:
                    continue
                mine = hists[nodes[node, HIST]]
                if sorted_:
                    slots[:] = mine
                    for j in range(d):
                        if categorical[j]:
                            start, end = starts[j], starts[j + 1]
                            sort_slots(mine, start, end, filled, scale, ranks, order[j])
                            for k in range(end - start):
                                slots[start + k, 0] = mine[start + order[j, k], 0]
                                slots[start + k, 1] = mine[start + order[j, k], 1]
                    mine = slots
                total = totals[node]
                facts = mine, starts, cuts, cuts_below, total, scale, gross, numbers
                at, side, price = cheapest_cut(cost, *facts, pieces)
                if at < 0:
                    continue
                whole = total[0] * scale[0], total[1] * scale[1]
                gain = cost(whole, (0.0, 0.0), whole, none) - price
                if gain > floor:
                    nodes[node, CUT], nodes[node, SIDE], gains[node] = at, side, gain
                    j = np.searchsorted(starts, at, side="right") - 1
                    if categorical[j]:
                        orders[node] = order[j]
            searched = n_nodes
            best, most = -1, floor
            for node in range(n_nodes):
                if nodes[node, CHILD] == 0 and gains[node] > most:
                    best, most = node, gains[node]
            if best < 0:
                break
            leaf, at = nodes[best], nodes[best, CUT]
            j = np.searchsorted(starts, at, side="right") - 1
            width, cut = starts[j + 1] - starts[j], at - starts[j]
            low[:width] = False
            if categorical[j]:
                for k in range(cut + 1):
                    low[orders[best, k]] = True
            else:
                low[: cut + 1] = True
                if leaf[SIDE] == 1:
                    low[width - 1] = True
            code, inside = cells[j // lanes, :, j % lanes], members[leaf[FIRST] : leaf[FIRST] + leaf[SIZE]]
            lows = part_rows(code, low, inside, space)
            leaf[CHILD] = n_nodes
            for child in (n_nodes, n_nodes + 1):
                right = child - n_nodes
                nodes[child, FIRST] = leaf[FIRST] + right * lows
                nodes[child, SIZE] = leaf[SIZE] - lows if right else lows
                nodes[child, DEPTH], nodes[child, CHILD] = leaf[DEPTH] + 1, 0
            small = n_nodes if lows * 2 <= leaf[SIZE] else n_nodes + 1
            large = 2 * n_nodes + 1 - small
            nodes[large, HIST], nodes[small, HIST] = leaf[HIST], leaves
            rows = members[nodes[small, FIRST] : nodes[small, FIRST] + nodes[small, SIZE]]
            for c in range(2):
                sum_ = np.int64(0)
                for m in range(rows.size):
                    sum_ += q[c, rows[m]]
                totals[small, c], totals[large, c] = sum_, totals[best, c] - sum_
            n_nodes, leaves = n_nodes + 2, leaves + 1
            if leaves < limit and leaf[DEPTH] + 1 < deepest:  # or nobody will look for another split
                hists[nodes[small, HIST]] = 0
                if rows.size > 0:
                    add_two(words, base, d, q, rows, hists[nodes[small, HIST]])
                mine, other = hists[nodes[large, HIST]].reshape(-1), hists[nodes[small, HIST]].reshape(-1)
                for s in range(mine.size):  # ten times as fast as the same by whole arrays
                    mine[s] -= other[s]
        for node in range(n_nodes):
            child = nodes[node, CHILD]
            children[node, 0], children[node, 1] = (child, child + 1) if child > 0 else (0, 0)
            if child == 0:
                nodes[node, CUT], gains[node] = -1, 0.0
        # -- the tree, level after level ------------------------------------------------------------------------------
        feature, threshold, missing_low, below, saved, sums, source = tree
        bin_starts, values, some_missing, heavier_below = points
        by_levels(children, n_nodes, source, place)
        for k in range(n_nodes):
            node = source[k]
            at, saved[k] = nodes[node, CUT], gains[node]
            sums[k, 0], sums[k, 1] = totals[node, 0], totals[node, 1]
            below[k, 0] = below[k, 1] = 0
            if at < 0:
                feature[k], threshold[k], missing_low[k] = -1, 0.0, False
                for m in range(nodes[node, FIRST], nodes[node, FIRST] + nodes[node, SIZE]):
                    leaf_of[members[m]] = k
                continue
            j = np.searchsorted(starts, at, side="right") - 1
            point = bin_starts[j] + at - starts[j]
            feature[k], below[k, 0], below[k, 1] = j, place[children[node, 0]], place[children[node, 1]]
            threshold[k] = values[point] if point < bin_starts[j + 1] else np.inf
            missing_low[k] = nodes[node, SIDE] == 1 if some_missing[j] else heavier_below[at]
        return n_nodes

    return grow
