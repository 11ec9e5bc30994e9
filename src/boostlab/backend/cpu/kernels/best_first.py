"""Trees grown best first in one compiled call, by one thread or by a team of them.

The leaf with the largest gain is split, until there are as many leaves as there may be or all are pure.  The rows of a
leaf are a stretch of one array, which a split parts in place, order kept; the smaller side is summed, the other's
histogram is the difference.  A team shares the rows and columns of a histogram, the columns of a search and the rows of
a stretch, and meets at a barrier after each (kernels/spin_barrier.py).  Every member keeps the list of nodes and comes
to the same decisions, so that nobody waits for them.  Sums are integers: the trees are the same for any team.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.prefetch import soon
from boostlab.backend.cpu.kernels.spin_barrier import meet
from boostlab.backend.cpu.kernels.tree_histogram import BLOCK, new_block, shares
from boostlab.backend.cpu.kernels.tree_search import Room, Scales, SlotColumns, new_room
from boostlab.backend.cpu.kernels.workspace import clear, last_at_most

Array = np.ndarray[Any, Any]
U = np.uint64

FIRST, SIZE, DEPTH, HIST, CUT, SIDE, CHILD = range(7)  # what is known of a node: CUT is a slot, < 0 if there is none
FACTS = 7
AHEAD = 32  # rows


class PackedCodes(NamedTuple):
    """The codes of a dense table."""

    cells: Array  # of shape (groups, rows, lanes)
    words: Array  # the same, a group of a row in one number
    bases: Array  # where the histogram of every column starts


class Nodes(NamedTuple):
    """What every member of a team writes of the nodes, for each member."""

    facts: Array
    gains: Array
    totals: Array  # per channel
    orders: Array  # of the slots of a column of categories that is split


class Shared(NamedTuple):
    """What the members of a team share."""

    members: Array  # the rows, leaf after leaf
    space: Array  # as many
    hists: Array  # of the leaves
    parts: Array  # of hists: what other threads than the first have summed
    prices: Array  # what members found, per node
    places: Array  # the same: slot and side
    lows: Array  # how many rows of a stretch are low


class GrowthLimits(NamedTuple):
    """When to stop."""

    leaves: int
    depth: int
    floor: float  # what is no more than this is no gain


# -- rows ----------------------------------------------------------------------------------------------------------


@part
def part_stretch(code: Array, low: Array, members: Array, space: Array, first: int, last: int) -> int:
    """Write members[first:last] to the same places of `space`, those that are not low from the end; return how many
    are low.
    """
    mine, to = members[first:last], space[first:last]
    lows, end = U(0), U(last - first)
    for m in range(end):  # without a branch, that would be guessed wrong half of the time
        soon(code, U(mine[min(m + U(AHEAD), end - U(1))]))
        i = mine[m]
        to[lows] = i
        to[end - U(1) - m + lows] = i  # the last place that is still free
        lows += U(low[U(code[U(i)])])
    return np.int64(lows)  # type: ignore[return-value]


@part
def join_stretches(lows: Array, me: int, size: int, begin: int, count: int, members: Array, space: Array) -> int:
    """Write one's stretch back behind those of the members before, low rows first; return how many rows are low."""
    first, last = begin + count * me // size, begin + count * (me + 1) // size
    n_low, to_low, to_high = 0, begin, begin
    for other in range(size):
        n_low += lows[other]
    to_high += n_low
    for other in range(me):
        to_low += lows[other]
        to_high += count * (other + 1) // size - count * other // size - lows[other]
    middle = first + lows[me]
    for m in range(middle - first):
        members[to_low + m] = space[first + m]
    for m in range(last - middle):
        members[to_high + m] = space[last - 1 - m]
    return n_low


# -- splits --------------------------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class Kind:
    """How a criterion sums rows and prices cuts; all are functions that kernels may call."""

    gather: Callable[..., Any]  # see `tree_histogram`
    add: Callable[..., Any]
    cheapest: Callable[..., Any]  # see `tree_search`
    most_even: Callable[..., Any]
    arrange: Callable[..., Any]
    totals: Callable[..., Any]  # from a node's sums per channel to those that cuts are priced by
    alone: Callable[..., Any]  # what a node costs that is not split
    weight: Callable[..., Any]  # of a node
    remaining: Callable[..., Any]  # what pure leaves would gain
    stamp: int


def grower(kind: Kind, lanes: int) -> Any:
    """Return the compiled growth of a kind of trees, on codes of which a word holds `lanes`."""
    gather, add, cheapest, even, stamp = kind.gather, kind.add, kind.cheapest, kind.most_even, kind.stamp
    arrange, totals_of, alone, weight, remaining = kind.arrange, kind.totals, kind.alone, kind.weight, kind.remaining

    @part
    def count(
        me: int,
        size: int,
        codes: PackedCodes,
        columns: SlotColumns,
        source: Any,
        some: bool,
        at: Any,
        shared: Shared,
        block: Any,
    ) -> None:
        """Sum one's part of the rows and columns of a node, which are the rows begin to begin + rows - 1."""
        begin, rows, to, K = at
        d, groups = columns.cuts.size, codes.words.shape[0]
        row_parts, word_parts = shares(size, rows, groups, lanes, shared.hists.shape[1])
        r, g = me // word_parts, me % word_parts
        if r >= row_parts:
            return
        first, last = groups * g // word_parts, groups * (g + 1) // word_parts
        out = shared.hists[to] if r == 0 else shared.parts[r - 1]
        clear(out[K * columns.starts[min(first * lanes, d)] : K * columns.starts[min(last * lanes, d)]])
        start, end = begin + rows * r // row_parts, begin + rows * (r + 1) // row_parts
        while start < end:
            many = min(BLOCK, end - start)
            gather(source, shared.members, some, start, many, block)
            add(codes.words, codes.bases, d, K, block, many, first, last, out)
            start += many

    @part
    def complete(
        size: int, codes: PackedCodes, columns: SlotColumns, rows: int, a: int, b: int, hist: Array, parts: Array
    ) -> None:
        """Add what others have summed of the numbers a to b - 1 of a histogram."""
        row_parts, _ = shares(size, rows, codes.words.shape[0], lanes, hist.size)
        mine = hist[a:b]
        for p in range(row_parts - 1):
            other = parts[p, a:b]
            for s in range(mine.size):
                mine[s] += other[s]

    @part
    def decide(
        node: int,
        size: int,
        columns: SlotColumns,
        scales: Scales,
        source: Any,
        limits: GrowthLimits,
        nodes: Any,
        shared: Shared,
        room: Room,
    ) -> None:
        """Choose a node's split among those that the members found, and write what it gains: 0 if nothing."""
        facts, gains, sums, orders = nodes
        gains[node], facts[node, CUT], who = -np.inf, -1, 0
        for other in range(1, size):
            if shared.prices[other, node] < shared.prices[who, node]:
                who = other
        at, side = shared.places[who, node, 0], shared.places[who, node, 1]
        if at < 0:
            return
        total, hist = totals_of(sums[node]), shared.hists[facts[node, HIST]]
        cost = alone(total, scales)
        gain = cost - shared.prices[who, node]
        if not gain > limits.floor:
            rows = shared.members[facts[node, FIRST] : facts[node, FIRST] + facts[node, SIZE]]
            if not remaining(cost, total, scales, source, rows) > limits.floor:
                return
            gain = 0.0
            at, side = even(hist, columns, weight(sums[node]), scales, room)
            if at < 0:
                return
        gains[node], facts[node, CUT], facts[node, SIDE] = gain, at, side
        j = last_at_most(columns.starts, at)
        if columns.categorical[j]:
            arrange(hist, columns, j, scales.unit, room)
            for k in range(room.order.size):
                orders[node, k] = room.order[k]

    @in_parts
    def grow(
        me: int,
        team: Array,
        size: int,
        table: Any,
        source: Any,
        known: bool,
        costs: Any,
        limit: Any,
        tables: Any,
        work: Any,
    ) -> int:
        """Grow a tree as member `me` of a team of so many; write the nodes and reorder the members.

        table holds the fields of PackedCodes and of SlotColumns, costs those of Scales, limit of GrowthLimits, tables
        of Nodes, work of Shared.  totals[:, 0] are the sums over all rows, and the first of hists is their histogram if
        it is known.  Return the number of nodes; 0 if the team is broken.
        """
        if size == 0:
            return stamp
        codes, columns, scales, limits, shared = (
            PackedCodes(*table[0]),
            SlotColumns(*table[1]),
            Scales(*costs),
            GrowthLimits(*limit),
            Shared(*work),
        )
        facts, gains, sums, orders = tables[0][me], tables[1][me], tables[2][me], tables[3][me]
        nodes, n, d, K = (facts, gains, sums, orders), shared.members.size, columns.cuts.size, sums.shape[1]
        for i in range(n * me // size, n * (me + 1) // size):
            shared.members[i] = i
        first, last = d * me // size, d * (me + 1) // size
        a, b = K * columns.starts[first], K * columns.starts[last]
        widest = 1
        for j in range(d):
            widest = max(widest, columns.starts[j + 1] - columns.starts[j])
        room, block, low = new_room(widest, K), new_block(), np.empty(widest, np.bool_)
        clear(facts[0])
        facts[0, SIZE] = n
        n_nodes, leaves, searched = 1, 1, 0
        small, large, some = -1 if known else 0, -1, False
        while leaves < limits.leaves:
            if small >= 0:
                at = facts[small, FIRST], facts[small, SIZE], facts[small, HIST], K
                count(me, size, codes, columns, source, some, at, shared, block)
                if size > 1 and meet(team, size):
                    return 0
                mine = shared.hists[facts[small, HIST]]
                complete(size, codes, columns, facts[small, SIZE], a, b, mine, shared.parts)
                if large >= 0:
                    other = shared.hists[facts[large, HIST]]
                    for s in range(a, b):
                        other[s] -= mine[s]
            for node in range(searched, n_nodes):
                shared.prices[me, node], shared.places[me, node, 0] = np.inf, -1
                if facts[node, DEPTH] >= limits.depth:
                    continue
                hist = shared.hists[facts[node, HIST]]
                cut, side, price = cheapest(hist, columns, first, last, totals_of(sums[node]), scales, room)
                shared.places[me, node, 0], shared.places[me, node, 1], shared.prices[me, node] = cut, side, price
            if size > 1 and meet(team, size):
                return 0
            best, most = -1, -1.0
            for node in range(n_nodes):
                if node >= searched:
                    decide(node, size, columns, scales, source, limits, nodes, shared, room)
                if facts[node, CHILD] == 0 and gains[node] > most:
                    best, most = node, gains[node]
            searched = n_nodes
            if best < 0:
                break
            leaf = facts[best]
            j = last_at_most(columns.starts, leaf[CUT])
            mark_low(columns, j, leaf[CUT] - columns.starts[j], leaf[SIDE], orders[best], low)
            sum_low(shared.hists[leaf[HIST]], columns, j, low, sums[n_nodes])
            for c in range(K):
                sums[n_nodes + 1, c] = sums[best, c] - sums[n_nodes, c]
            begin, rows = leaf[FIRST], leaf[SIZE]
            code, start, end = codes.cells[j // lanes, :, j % lanes], rows * me // size, rows * (me + 1) // size
            shared.lows[me] = part_stretch(code, low, shared.members, shared.space, begin + start, begin + end)
            if size > 1 and meet(team, size):
                return 0
            n_low = join_stretches(shared.lows, me, size, begin, rows, shared.members, shared.space)
            if size > 1 and meet(team, size):
                return 0
            leaf[CHILD] = n_nodes
            for right in range(2):
                child = facts[n_nodes + right]
                child[FIRST], child[SIZE] = begin + right * n_low, rows - n_low if right else n_low
                child[DEPTH], child[CHILD], child[CUT] = leaf[DEPTH] + 1, 0, -1
                gains[n_nodes + right] = -np.inf
            small = n_nodes if n_low * 2 <= rows else n_nodes + 1
            large, some = 2 * n_nodes + 1 - small, True
            facts[large, HIST], facts[small, HIST] = leaf[HIST], leaves
            if leaf[DEPTH] + 1 >= limits.depth:  # nobody will look for another split
                small = -1
            n_nodes, leaves = n_nodes + 2, leaves + 1
        for node in range(n_nodes):
            if facts[node, CHILD] == 0:
                facts[node, CUT], gains[node] = -1, 0.0
        return n_nodes

    return grow
