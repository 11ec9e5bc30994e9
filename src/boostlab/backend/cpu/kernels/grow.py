"""Trees of few leaves in one compiled call, for voters that name a class and numbers in dense columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part, stamp_of
from boostlab.backend.cpu.kernels.class_histogram import add_classes, add_eight_to, add_four_to
from boostlab.backend.cpu.kernels.split_search import search_classes

Array = np.ndarray[Any, Any]

FIRST, SIZE, DEPTH, HIST, CUT, SIDE, CHILD = range(7)  # what is known of a node: CUT is a slot, < 0 if there is none
FACTS = 7


@part
def part_cells(cells: Array, feature: int, cut: int, absent: int, side: int, members: Array, space: Array) -> int:
    """Reorder the members so that those below a cut come first, order kept; return how many they are."""
    lanes = cells.shape[2]
    code, lane = cells[feature // lanes], feature % lanes
    lows, highs = 0, 0
    for m in range(members.size):
        i = members[m]
        c = np.int64(code[i, lane])
        low = (c <= cut) | ((c == absent) & (side == 1))
        members[lows] = i
        space[highs] = i
        lows += low
        highs += not low
    for m in range(highs):
        members[lows + m] = space[m]
    return lows


@cache
def grower(fold: Callable[..., Any], close: Callable[..., Any], lanes: int) -> Any:
    """Return the compiled growth for a cost that folds classes, and codes of which a word holds `lanes`."""
    add, stamp = add_eight_to if lanes == 8 else add_four_to, stamp_of(fold)

    @kernel
    def grow(
        cells: Array,
        words: Array,
        where: Array,
        starts: Array,
        possible: Array,
        possible_below: Array,
        q: Array,
        classes: Array,
        scale: Array,
        floor: float,
        limit: int,
        deepest: int,
        members: Array,
        space: Array,
        hists: Array,
        totals: Array,
        nodes: Array,
        gains: Array,
        children: Array,
        values: Array,
        votes: Array,
    ) -> tuple[int, int]:
        """Split the leaf with the largest gain until there are `limit` leaves or no gain is above the floor.

        members is all rows' numbers, in order.  Write what is known of every node, and every row's vote; reorder the
        members; return the number of nodes and the sum of the rows that are wrong.
        """
        n_classes, d = totals.shape[1], starts.size - 1
        stride = hists.shape[1] // n_classes - 1
        if members.size == 0:
            return stamp, 0
        nodes[0, :] = 0
        nodes[0, SIZE] = members.size
        n_nodes, leaves, searched = 1, 1, 0
        hists[0] = 0
        add_classes(add, words, where, q, classes, members[:0], stride, 0, members.size, hists[0])
        totals[0] = hists[0, n_classes * stride :]
        while leaves < limit:
            for node in range(searched, n_nodes):
                gains[node], nodes[node, CUT] = -np.inf, -1
                if nodes[node, DEPTH] >= deepest:
                    continue
                hist, total = hists[nodes[node, HIST]], totals[node]
                slots = hist[: n_classes * stride].reshape(n_classes, stride)
                facts = slots, starts, possible, possible_below, total, scale
                at, side, cost = search_classes(fold, close, *facts, 0.0, 0, d)
                if at < 0:
                    continue
                folded = 0.0
                for c in range(n_classes):
                    folded = fold(folded, total[c] * scale[0])
                gain = close(folded, total.sum() * scale[0], 0.0, 0.0) - cost
                if gain > floor:
                    nodes[node, CUT], nodes[node, SIDE], gains[node] = at, side, gain
            searched = n_nodes
            best, most = -1, floor
            for node in range(n_nodes):
                if nodes[node, CHILD] == 0 and gains[node] > most:
                    best, most = node, gains[node]
            if best < 0:
                break
            leaf, at = nodes[best], nodes[best, CUT]
            j = np.searchsorted(starts, at, side="right") - 1
            mine = members[leaf[FIRST] : leaf[FIRST] + leaf[SIZE]]
            low = part_cells(cells, j, at - starts[j], starts[j + 1] - 1 - starts[j], leaf[SIDE], mine, space)
            leaf[CHILD] = n_nodes
            for child in (n_nodes, n_nodes + 1):
                right = child - n_nodes
                nodes[child, FIRST] = leaf[FIRST] + right * low
                nodes[child, SIZE] = leaf[SIZE] - low if right else low
                nodes[child, DEPTH], nodes[child, CHILD] = leaf[DEPTH] + 1, 0
            small = n_nodes if low * 2 <= leaf[SIZE] else n_nodes + 1
            large = 2 * n_nodes + 1 - small
            nodes[large, HIST], nodes[small, HIST] = leaf[HIST], leaves
            start = nodes[small, FIRST]
            end = start + nodes[small, SIZE]
            if leaves + 1 < limit:
                whole, less = hists[leaf[HIST]], hists[leaves]
                less[:] = 0
                add_classes(add, words, where, q, classes, members, stride, start, end, less)
                for s in range(whole.size):
                    whole[s] -= less[s]
                totals[small] = less[n_classes * stride :]
            else:  # nobody will look for another split
                totals[small] = 0
                for m in range(start, end):
                    totals[small, classes[members[m]]] += q[members[m]]
            totals[large] = totals[best] - totals[small]
            n_nodes, leaves = n_nodes + 2, leaves + 1
        wrong = np.int64(0)
        for node in range(n_nodes):
            child, values[node] = nodes[node, CHILD], totals[node].argmax()
            children[node, :] = 0
            if child > 0:
                children[node, 0], children[node, 1] = child, child + 1
                continue
            nodes[node, CUT], gains[node] = -1, 0.0
            wrong += totals[node].sum() - totals[node, values[node]]
            start = nodes[node, FIRST]
            for m in range(start, start + nodes[node, SIZE]):
                votes[members[m]] = values[node]
        return n_nodes, wrong  # type: ignore[return-value]

    return grow
