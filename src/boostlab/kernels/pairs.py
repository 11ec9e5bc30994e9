"""Trees of few leaves in one compiled call, for criteria of two sums: missing values and categories included."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel, part, stamp_of
from boostlab.kernels.split import search_pairs
from boostlab.kernels.words import part_rows

Array = np.ndarray[Any, Any]

FIRST, SIZE, DEPTH, HIST, CUT, SIDE, CHILD = range(7)  # what is known of a node: CUT is a slot, < 0 if there is none
FACTS = 7
TINY = 2.2250738585072014e-308


@part
def add_pairs(cells: Array, starts: Array, q: Array, rows: Array, out: Array) -> None:
    """Add both channels of some rows to their slots."""
    lanes, d = cells.shape[2], starts.size - 1
    for m in range(rows.size):
        i = rows[m]
        a, b = q[0, i], q[1, i]
        for j in range(d):
            s = starts[j] + np.int64(cells[j // lanes, i, j % lanes])
            out[0, s] += a
            out[1, s] += b


@part
def sort_slots(slots: Array, start: int, end: int, filled: Array, scale: Array, rank: Array, order: Array) -> None:
    """Sort a column's slots by the mean of the target, equals in their order, those that nobody is in last."""
    for s in range(start, end):
        w, wt = slots[0, s] * scale[0], slots[1, s] * scale[1]
        mean = wt * (1.0 if w > 0.0 else 0.0) / max(w, TINY) if filled[s] else np.inf
        k = s - start
        while k > 0 and rank[k - 1] > mean:
            rank[k], order[k] = rank[k - 1], order[k - 1]
            k -= 1
        rank[k], order[k] = mean, s - start


@cache
def grower_of_pairs(cost: Callable[..., Any]) -> Any:
    """Return the compiled growth for a cost(left, right, gross, numbers) of two channels."""
    stamp = stamp_of(cost)

    @kernel
    def grow(
        cells: Array,
        starts: Array,
        possible: Array,
        possible_below: Array,
        filled: Array,
        categorical: Array,
        q: Array,
        scale: Array,
        gross: Array,
        numbers: Array,
        floor: float,
        limit: int,
        deepest: int,
        members: Array,
        hists: Array,
        totals: Array,
        nodes: Array,
        gains: Array,
        children: Array,
        orders: Array,
        leaf_of: Array,
    ) -> int:
        """Split the leaf with the largest gain until there are `limit` leaves or no gain is above the floor.

        q[c] are the rows' integers of channel c, hists[0] and totals[0] their sums over all rows.  Write what is known
        of every node (orders: of the slots of the column that it splits, if these are categories) and every row's
        leaf; reorder the members; return the number of nodes.
        """
        d, widest, lanes = starts.size - 1, orders.shape[1], cells.shape[2]
        if members.size == 0:
            return stamp
        space, low = np.empty_like(members), np.empty(widest, np.bool_)
        ranks, order = np.empty(widest), np.empty((d, widest), np.int64)
        slots, none = np.empty_like(hists[0]), np.zeros_like(numbers)
        sorted_ = categorical.any()
        nodes[0, :] = 0
        nodes[0, SIZE] = members.size
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
                                slots[0, start + k] = mine[0, start + order[j, k]]
                                slots[1, start + k] = mine[1, start + order[j, k]]
                    mine = slots
                total = totals[node]
                facts = mine, starts, possible, possible_below, total, scale, gross, numbers
                at, side, price = search_pairs(cost, *facts, 0.0, 0, d)
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
            totals[small] = 0
            for m in range(rows.size):
                totals[small, 0] += q[0, rows[m]]
                totals[small, 1] += q[1, rows[m]]
            totals[large] = totals[best] - totals[small]
            n_nodes, leaves = n_nodes + 2, leaves + 1
            if leaves < limit and leaf[DEPTH] + 1 < deepest:  # or nobody will look for another split
                hists[nodes[small, HIST]] = 0
                add_pairs(cells, starts, q, rows, hists[nodes[small, HIST]])
                hists[nodes[large, HIST]] -= hists[nodes[small, HIST]]
        for node in range(n_nodes):
            child = nodes[node, CHILD]
            children[node, 0], children[node, 1] = (child, child + 1) if child > 0 else (0, 0)
            if child == 0:
                nodes[node, CUT], gains[node] = -1, 0.0
                for m in range(nodes[node, FIRST], nodes[node, FIRST] + nodes[node, SIZE]):
                    leaf_of[members[m]] = node
        return n_nodes

    return grow
