"""Trees grown best first in one compiled call, by one thread or by a team of them.

The leaf with the largest gain is split, until there are as many leaves as there may be or all are pure.  The rows of a
leaf are a stretch of one array, which a split parts in place, order kept; the smaller side is summed, the other's
histogram is the difference.  A team shares the cells of a histogram, the columns of a search and the rows of a stretch,
and meets at a barrier after each (kernels/spin_barrier.py).  Every member keeps the list of nodes and comes to the same
decisions, so that no member waits for them.  Sums are integers: the trees are the same for any team.

Leaves that will be split next are prepared together: parted, their children summed and searched.  So a large team meets
eight times four times for 31 leaves, not thirty times, and has more to share each time.  Whether a leaf is split is
decided by the gains alone, in the order in which one leaf after the other would be; what was prepared for nothing is
forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.growth_arrays import GrowthLimits, PackedCodes, Shared, words_of_a_strip
from boostlab.backend.cpu.kernels.node_facts import (
    CHILD,
    CUT,
    DEPTH,
    FIRST,
    HIST,
    LEAF,
    ORDER,
    SIDE,
    SIZE,
    SPLIT,
    STATE,
    WAITING,
    leading,
    next_leaves,
)
from boostlab.backend.cpu.kernels.node_rows import join_stretches, mark_low, part_stretch, sum_low
from boostlab.backend.cpu.kernels.spin_barrier import meet
from boostlab.backend.cpu.kernels.tree_histogram import BLOCK, new_block
from boostlab.backend.cpu.kernels.tree_search import Buffers, Scales, SlotColumns, new_buffers
from boostlab.backend.cpu.kernels.workspace import clear, flags, integers, last_at_most

Array = np.ndarray[Any, Any]

CROWD = 4  # members from which on leaves are prepared together
MOST = 16  # leaves that are


def most_histograms(leaves: int, team: int) -> int:
    """Return how many histograms growth may hold: those of the leaves, and of leaves prepared for nothing."""
    return leaves + leaves // 2 if team >= CROWD else leaves


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


# -- growth --------------------------------------------------------------------------------------------------------


def grower(kind: Kind, lanes: int) -> Any:
    """Return the compiled growth of a kind of trees, on codes of which a word holds `lanes`."""
    gather, add, cheapest, even, stamp = kind.gather, kind.add, kind.cheapest, kind.most_even, kind.stamp
    arrange, totals_of, alone, weight, remaining = kind.arrange, kind.totals, kind.alone, kind.weight, kind.remaining

    @part
    def count_words(
        codes: PackedCodes,
        columns: SlotColumns,
        source: Any,
        some: bool,
        at: Any,
        rows: Array,
        block: Any,
        out: Array,
    ) -> None:
        """Sum the rows start to end - 1 of some words' columns anew."""
        first, last, start, end, K = at
        d = columns.cuts.size
        clear(out[K * columns.starts[min(first * lanes, d)] : K * columns.starts[min(last * lanes, d)]])
        while start < end:
            many = min(BLOCK, end - start)
            gather(source, rows, some, codes.step, start, many, block)
            add(codes.words, codes.apart, codes.bases, d, K, block, many, first, last, out)
            start += many

    @part
    def count(
        me: int,
        size: int,
        codes: PackedCodes,
        columns: SlotColumns,
        source: Any,
        some: bool,
        nodes: Array,
        facts: Array,
        K: int,
        shared: Shared,
        block: Any,
    ) -> None:
        """Sum one's stretch of the cells of some nodes, which lie in one line: node, strip of words, row.

        Sums of a strip go to its node's histogram where its first row is one's own, else to one's part.
        """
        wide = words_of_a_strip(nodes, facts, codes, size, shared)
        strips, whole = codes.cells.shape[0] // wide, 0
        for b in range(nodes.size):
            whole += facts[nodes[b], SIZE] * strips
        mine, end, before = whole * me // size, whole * (me + 1) // size, 0
        for b in range(nodes.size):
            begin, rows, to = facts[nodes[b], FIRST], facts[nodes[b], SIZE], shared.hists[facts[nodes[b], HIST]]
            low, high = max(mine - before, 0), min(end - before, rows * strips)
            before += rows * strips
            if low >= high:
                continue
            strip, row, last_strip, last_row = low // rows, low % rows, high // rows, high % rows
            if row > 0:
                stop = rows if last_strip > strip else last_row
                at = strip * wide, (strip + 1) * wide, begin + row, begin + stop, K
                count_words(codes, columns, source, some, at, shared.members, block, shared.parts[me])
                strip += 1
            if last_strip > strip:
                at = strip * wide, last_strip * wide, begin, begin + rows, K
                count_words(codes, columns, source, some, at, shared.members, block, to)
            if last_row > 0 and last_strip >= strip:
                at = last_strip * wide, (last_strip + 1) * wide, begin, begin + last_row, K
                count_words(codes, columns, source, some, at, shared.members, block, to)

    @part
    def complete(
        size: int, columns: SlotColumns, whole: int, start: int, rows: int, j: int, hist: Array, parts: Array
    ) -> None:
        """Add what others have summed of a column, of a node with so many rows; its strip has cells before it."""
        K = hist.size // columns.starts[columns.cuts.size]
        a, b = K * columns.starts[j], K * columns.starts[j + 1]
        mine = hist[a:b]
        if rows == 0:
            clear(mine)
            return
        member = ((start + 1) * size + whole - 1) // whole  # the first whose stretch begins behind the strip's start
        while member < size and whole * member // size < start + rows:
            if whole * member // size < whole * (member + 1) // size:  # there are stretches without cells
                other = parts[member, a:b]
                for s in range(mine.size):
                    mine[s] += other[s]
            member += 1

    @part
    def search(
        me: int,
        size: int,
        codes: PackedCodes,
        columns: SlotColumns,
        scales: Scales,
        known: bool,
        pairs: Array,
        nodes: Any,
        shared: Shared,
        buffers: Buffers,
    ) -> None:
        """Find the cheapest cuts of one's stretch of the columns of some pairs of nodes, of which the first was summed
        (unless its histogram is known) and the second has its parent's sums.
        """
        facts, _, sums, _ = nodes
        wide = words_of_a_strip(pairs[:, 0], facts, codes, size, shared)
        d, strips, whole, before = columns.cuts.size, codes.cells.shape[0] // wide, 0, 0
        for b in range(pairs.shape[0]):
            whole += facts[pairs[b, 0], SIZE] * strips
        K, mine, end = sums.shape[1], pairs.shape[0] * d * me // size, pairs.shape[0] * d * (me + 1) // size
        for b in range(pairs.shape[0]):
            small, large = pairs[b, 0], pairs[b, 1]
            first, last, hist = max(mine - b * d, 0), min(end - b * d, d), shared.hists[facts[small, HIST]]
            if not known:
                for j in range(first, last):
                    start = before + j // (lanes * wide) * facts[small, SIZE]
                    complete(size, columns, whole, start, facts[small, SIZE], j, hist, shared.parts)
            before += facts[small, SIZE] * strips
            if large >= 0 and first < last:
                other = shared.hists[facts[large, HIST]]
                for s in range(K * columns.starts[first], K * columns.starts[last]):
                    other[s] -= hist[s]
            for of in range(2):
                node = pairs[b, of]
                if node < 0:
                    continue
                shared.prices[me, node], shared.places[me, node, 0] = np.inf, -1
                if first < last:
                    here = shared.hists[facts[node, HIST]]
                    cut, side, price = cheapest(here, columns, first, last, totals_of(sums[node]), scales, buffers)
                    shared.places[me, node, 0], shared.places[me, node, 1] = cut, side
                    shared.prices[me, node] = price

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
        buffers: Buffers,
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
            at, side = even(hist, columns, weight(sums[node]), scales, buffers)
            if at < 0:
                return
        gains[node], facts[node, CUT], facts[node, SIDE] = gain, at, side
        j = last_at_most(columns.starts, at)
        if columns.categorical[j]:
            arrange(hist, columns, j, scales.unit, buffers)
            for k in range(buffers.order.size):
                orders[node, k] = buffers.order[k]

    @part
    def grown(
        me: int,
        team: Array,
        size: int,
        codes: PackedCodes,
        columns: SlotColumns,
        source: Any,
        known: bool,
        scales: Scales,
        limits: GrowthLimits,
        nodes: Any,
        shared: Shared,
        space: Any,
    ) -> int:
        """Do what `grow` does, in workspace that is there: what owns no array counts no references to arrays."""
        facts, gains, sums, orders = nodes
        buffers, block, low, batch, small, pairs = space
        n, K = shared.members.size, sums.shape[1]
        for i in range(n * me // size, n * (me + 1) // size):
            shared.members[i] = i
        clear(facts[0])
        facts[0, SIZE], facts[0, STATE] = n, LEAF
        n_nodes, leaves, used, some = 1, 1, 1, False
        small[0], pairs[0, 0], pairs[0, 1], n_pairs = 0, 0, -1, 1
        while leaves < limits.leaves:
            if n_pairs > 0:
                if not known:
                    count(me, size, codes, columns, source, some, small[:n_pairs], facts, K, shared, block)
                    if size > 1 and meet(team, size):
                        return 0
                search(me, size, codes, columns, scales, known, pairs[:n_pairs], nodes, shared, buffers)
                if size > 1 and meet(team, size):
                    return 0
                for b in range(2 * n_pairs):
                    if pairs[b // 2, b % 2] >= 0:
                        decide(pairs[b // 2, b % 2], size, columns, scales, source, limits, nodes, shared, buffers)
            known, n_pairs, some = False, 0, True
            best = leading(facts, gains, n_nodes, np.inf, -1)
            while best >= 0 and facts[best, CHILD] > 0 and leaves < limits.leaves:
                for right in range(2):
                    child = facts[facts[best, CHILD] + right]
                    child[ORDER], child[STATE] = 2 * leaves - 1 + right, LEAF
                facts[best, STATE] = SPLIT
                leaves += 1
                best = leading(facts, gains, n_nodes, np.inf, -1)
            if best < 0 or leaves == limits.leaves:
                break
            left = limits.leaves - leaves
            ahead = min((left + 1) // 2, MOST) if size >= CROWD else 1
            n_batch = next_leaves(facts, gains, n_nodes, ahead, shared.hists.shape[0] - used - left, batch)
            for b in range(n_batch):
                leaf, child = facts[batch[b]], n_nodes + 2 * b
                j = last_at_most(columns.starts, leaf[CUT])
                mark_low(columns, j, leaf[CUT] - columns.starts[j], leaf[SIDE], orders[batch[b]], low)
                sum_low(shared.hists[leaf[HIST]], columns, j, low, sums[child])
                for c in range(K):
                    sums[child + 1, c] = sums[batch[b], c] - sums[child, c]
                code, rows = codes.cells[j // lanes, :, j % lanes], leaf[SIZE]
                start, end = leaf[FIRST] + rows * me // size, leaf[FIRST] + rows * (me + 1) // size
                shared.lows[b, me] = part_stretch(code, low, shared.members, shared.space, start, end)
            if size > 1 and meet(team, size):
                return 0
            for b in range(n_batch):
                leaf = facts[batch[b]]
                begin, rows = leaf[FIRST], leaf[SIZE]
                n_low = join_stretches(shared.lows[b], me, size, begin, rows, shared.members, shared.space)
                leaf[CHILD] = n_nodes
                for right in range(2):
                    child = facts[n_nodes + right]
                    child[FIRST], child[SIZE] = begin + right * n_low, rows - n_low if right else n_low
                    child[DEPTH], child[CHILD], child[CUT], child[STATE] = leaf[DEPTH] + 1, 0, -1, WAITING
                    gains[n_nodes + right] = -np.inf
                lesser = n_nodes if n_low * 2 <= rows else n_nodes + 1
                larger = 2 * n_nodes + 1 - lesser
                facts[larger, HIST], facts[lesser, HIST] = leaf[HIST], used
                if leaf[DEPTH] + 1 < limits.depth and leaves + 1 < limits.leaves:  # else no other split is looked for
                    small[n_pairs], pairs[n_pairs, 0], pairs[n_pairs, 1] = lesser, lesser, larger
                    n_pairs += 1
                n_nodes, used = n_nodes + 2, used + 1
            if size > 1 and meet(team, size):
                return 0
        for node in range(n_nodes):
            if facts[node, STATE] != SPLIT:
                facts[node, CUT], facts[node, CHILD], gains[node] = -1, 0, 0.0
        return 2 * leaves - 1

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
        codes, columns, shared = PackedCodes(*table[0]), SlotColumns(*table[1]), Shared(*work)
        scales, limits = Scales(*costs), GrowthLimits(*limit)
        nodes = tables[0][me], tables[1][me], tables[2][me], tables[3][me]
        widest = 1
        for j in range(columns.cuts.size):
            widest = max(widest, columns.starts[j + 1] - columns.starts[j])
        buffers, block, low = new_buffers(widest, nodes[2].shape[1]), new_block(), flags(widest)
        space = buffers, block, low, integers(MOST), integers(MOST), np.empty((MOST, 2), np.int64)
        return grown(me, team, size, codes, columns, source, known, scales, limits, nodes, shared, space)

    return grow
