"""Trees grown best first in one compiled call, by one thread or by a team of them: one tree, or several together.

The leaf with the largest gain is split, until there are as many leaves as there may be or all are pure.  The rows of a
leaf are a stretch of one array, which a split parts in place, order kept; the smaller side is summed, the other's
histogram is the difference.  A team shares the cells of a histogram, the columns of a search and the rows of a stretch,
and meets at a barrier after each (kernels/spin_barrier.py).  Every member keeps the list of nodes and comes to the same
decisions, so that no member waits for them.  Sums are integers: the trees are the same for any team.

Leaves that will be split next are prepared together: parted, their children summed and searched.  So a large team meets
eight times four times for 31 leaves, not thirty times, and has more to share each time.  Whether a leaf is split is
decided by the gains alone, in the order in which one leaf after the other would be; what was prepared for nothing is
forgotten.  Trees that grow together are those of the classes of one round: the nodes of all of them are prepared
together, so that a team of any size has cells to share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.growth_arrays import (
    Growing,
    GrowthLimits,
    Prepared,
    Shared,
    groups_of_a_strip,
)
from boostlab.backend.cpu.kernels.node_facts import CHILD, CUT, FIRST, HIST, SIDE, SIZE, SPLIT, STATE
from boostlab.backend.cpu.kernels.prepared_leaves import choose, divide, join, start_trees
from boostlab.backend.cpu.kernels.row_blocks import new_block
from boostlab.backend.cpu.kernels.spin_barrier import meet
from boostlab.backend.cpu.kernels.tree_cells import Cells
from boostlab.backend.cpu.kernels.tree_search import Buffers, Scales, SlotColumns, new_buffers
from boostlab.backend.cpu.kernels.workspace import clear, flags, integers, last_at_most

Array = np.ndarray[Any, Any]

CROWD = 4  # members a tree from which on leaves are prepared together
MOST = 16  # leaves of a tree that are


def leaves_ahead(team: int, trees: int) -> int:
    """Return how many leaves of each of so many trees a team prepares at once."""
    return MOST if team >= CROWD * trees else 1


def most_histograms(leaves: int, ahead: int) -> int:
    """Return how many histograms a tree may hold: those of the leaves, and of leaves prepared for nothing."""
    return leaves + leaves // 2 if ahead > 1 else leaves


@dataclass(frozen=True)
class Kind:
    """How a criterion sums rows and prices cuts; all but the cells are functions that kernels may call."""

    cells: Cells
    cheapest: Callable[..., Any]  # see `tree_search`
    most_even: Callable[..., Any]
    arrange: Callable[..., Any]
    totals: Callable[..., Any]  # from a node's sums per channel to those that cuts are priced by
    alone: Callable[..., Any]  # what a node costs that is not split
    weight: Callable[..., Any]  # of a node
    remaining: Callable[..., Any]  # what pure leaves would gain
    stamp: int


# -- growth --------------------------------------------------------------------------------------------------------


def grower(kind: Kind) -> Any:
    """Return the compiled growth of a kind of trees."""
    arrays, groups_of, add_rows = kind.cells.arrays, kind.cells.groups, kind.cells.add
    give_rest, divide_rows = kind.cells.complete, kind.cells.divide
    cheapest, even, stamp = kind.cheapest, kind.most_even, kind.stamp
    arrange, totals_of, alone, weight, remaining = kind.arrange, kind.totals, kind.alone, kind.weight, kind.remaining

    @part
    def count(
        me: int,
        size: int,
        codes: Any,
        columns: SlotColumns,
        source: Any,
        some: bool,
        nodes: Array,
        facts: Array,
        K: int,
        shared: Shared,
        block: Any,
    ) -> None:
        """Sum one's stretch of the cells of some nodes, which lie in one line: node, strip of groups, row.

        Sums of a strip go to its node's histogram where its first row is one's own, else to one's part.
        """
        table = groups_of(codes, columns)
        wide = groups_of_a_strip(nodes, facts, table, size, shared)
        strips, whole = table[0] // wide, 0
        for b in range(nodes.size):
            whole += facts[nodes[b], SIZE] * strips
        mine, end, before = whole * me // size, whole * (me + 1) // size, 0
        for b in range(nodes.size):
            begin, rows, to = facts[nodes[b], FIRST], facts[nodes[b], SIZE], shared.hists[facts[nodes[b], HIST]]
            tree = nodes[b] * shared.sizes.size // facts.shape[0]
            begin = begin if some else 0
            low, high = max(mine - before, 0), min(end - before, rows * strips)
            before += rows * strips
            if low >= high:
                continue
            strip, row, last_strip, last_row = low // rows, low % rows, high // rows, high % rows
            if row > 0:
                stop = rows if last_strip > strip else last_row
                at = strip * wide, (strip + 1) * wide, begin + row, begin + stop, K
                add_rows(codes, columns, source, tree, some, at, shared.members, block, shared.parts[me])
                strip += 1
            if last_strip > strip:
                at = strip * wide, last_strip * wide, begin, begin + rows, K
                add_rows(codes, columns, source, tree, some, at, shared.members, block, to)
            if last_row > 0 and last_strip >= strip:
                at = last_strip * wide, (last_strip + 1) * wide, begin, begin + last_row, K
                add_rows(codes, columns, source, tree, some, at, shared.members, block, to)

    @part
    def add_others(
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
        codes: Any,
        columns: SlotColumns,
        costs: Any,
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
        groups, each = groups_of(codes, columns)
        wide = groups_of_a_strip(pairs[:, 0], facts, (groups, each), size, shared)
        d, strips, whole, before = columns.cuts.size, groups // wide, 0, 0
        for b in range(pairs.shape[0]):
            whole += facts[pairs[b, 0], SIZE] * strips
        K, mine, end = sums.shape[1], pairs.shape[0] * d * me // size, pairs.shape[0] * d * (me + 1) // size
        for b in range(pairs.shape[0]):
            small, large = pairs[b, 0], pairs[b, 1]
            scales = scales_of(costs, small * shared.sizes.size // facts.shape[0])
            first, last, hist = max(mine - b * d, 0), min(end - b * d, d), shared.hists[facts[small, HIST]]
            if not known:
                for j in range(first, last):
                    start = before + j // (each * wide) * facts[small, SIZE]
                    add_others(size, columns, whole, start, facts[small, SIZE], j, hist, shared.parts)
                    give_rest(codes, columns, j, sums[small], hist)
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
        costs: Any,
        source: Any,
        limits: GrowthLimits,
        nodes: Any,
        shared: Shared,
        buffers: Buffers,
    ) -> None:
        """Choose a node's split among those that the members found, and write what it gains: 0 if nothing."""
        facts, gains, sums, orders = nodes
        tree = node * shared.sizes.size // facts.shape[0]
        scales, floor = scales_of(costs, tree), limits.floors[tree]
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
        if not gain > floor:
            rows = shared.members[facts[node, FIRST] : facts[node, FIRST] + facts[node, SIZE]]
            if not remaining(cost, total, scales, source, tree, rows) > floor:
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
        codes: Any,
        columns: SlotColumns,
        source: Any,
        known: bool,
        costs: Any,
        limits: GrowthLimits,
        nodes: Any,
        shared: Shared,
        space: Any,
    ) -> int:
        """Do what `grow` does, in workspace that is there: what owns no array counts no references to arrays."""
        facts, gains, sums, _ = nodes
        buffers, block, low, growing, now = space
        n_pairs, some = start_trees(me, size, nodes, shared, growing, now), False
        while True:
            if n_pairs > 0:
                if not known:
                    count(
                        me, size, codes, columns, source, some, now.small[:n_pairs], facts, sums.shape[1], shared, block
                    )
                    if size > 1 and meet(team, size):
                        return 0
                search(me, size, codes, columns, costs, known, now.pairs[:n_pairs], nodes, shared, buffers)
                if size > 1 and meet(team, size):
                    return 0
                for b in range(2 * n_pairs):
                    if now.pairs[b // 2, b % 2] >= 0:
                        decide(now.pairs[b // 2, b % 2], size, columns, costs, source, limits, nodes, shared, buffers)
            known, n_pairs, some = False, 0, True
            n_batch = choose(limits, nodes, shared, growing, now)
            if n_batch == 0:
                break
            for b in range(n_batch):
                divide(divide_rows, me, size, codes, columns, nodes, shared, now, b, low)
            if size > 1 and meet(team, size):
                return 0
            for b in range(n_batch):
                lesser, larger = join(me, size, nodes, shared, limits, growing, now, b)
                if lesser >= 0:
                    now.small[n_pairs], now.pairs[n_pairs, 0], now.pairs[n_pairs, 1] = lesser, lesser, larger
                    n_pairs += 1
            if size > 1 and meet(team, size):
                return 0
        for tree in range(shared.sizes.size):
            root = tree * (facts.shape[0] // shared.sizes.size)
            for node in range(root, root + growing.nodes[tree]):
                if facts[node, STATE] != SPLIT:
                    facts[node, CUT], facts[node, CHILD], gains[node] = -1, 0, 0.0
            if me == 0:
                shared.sizes[tree] = 2 * growing.leaves[tree] - 1
        return 1

    @part
    def scales_of(costs: Any, tree: int) -> Scales:
        return Scales(costs[0][tree], costs[1][tree], costs[2])

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
        """Grow trees as member `me` of a team of so many; write the nodes and reorder the members.

        table holds the arrays of the cells and the fields of SlotColumns, costs those of Scales for each tree, limit of
        GrowthLimits, tables of Nodes, work of Shared.  The totals of roots are the sums over all rows, and the first
        of a tree's hists is their histogram if it is known.  Return 0 if the team is broken.
        """
        if size == 0:
            return stamp
        codes, columns, shared, limits = (
            arrays(*table[0]),
            SlotColumns(*table[1]),
            Shared(*work),
            GrowthLimits(*limit),
        )
        nodes, trees = (tables[0][me], tables[1][me], tables[2][me], tables[3][me]), shared.sizes.size
        widest, batch = 1, trees * limits.ahead
        for j in range(columns.cuts.size):
            widest = max(widest, columns.starts[j + 1] - columns.starts[j])
        buffers, block, low = new_buffers(widest, nodes[2].shape[1]), new_block(), flags(widest)
        growing = Growing(integers(trees), integers(trees), integers(trees))
        now = Prepared(integers(batch), integers(batch), integers(batch), np.empty((batch, 2), np.int64))
        space = buffers, block, low, growing, now
        return grown(me, team, size, codes, columns, source, known, costs, limits, nodes, shared, space)

    return grow
