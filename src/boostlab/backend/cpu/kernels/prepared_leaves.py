"""Leaves of trees that grow together: which of them are prepared next, and how their rows are parted.

Every member of a team keeps its own list of nodes; the rows are parted by all of them, a stretch each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.growth_arrays import Growing, GrowthLimits, Prepared, Shared
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
from boostlab.backend.cpu.kernels.node_rows import join_stretches, mark_low, sum_low
from boostlab.backend.cpu.kernels.tree_search import SlotColumns
from boostlab.backend.cpu.kernels.workspace import clear, last_at_most

Array = np.ndarray[Any, Any]


@part
def start_trees(me: int, size: int, nodes: Any, shared: Shared, growing: Growing, now: Prepared) -> int:
    """Let every tree be one leaf, which is to be searched; return how many these are."""
    facts, trees = nodes[0], shared.sizes.size
    n, most, held = shared.members.size // trees, facts.shape[0] // trees, shared.hists.shape[0] // trees
    for tree in range(trees):
        for i in range(n * me // size, n * (me + 1) // size):
            shared.members[tree * n + i] = i
        root = tree * most
        clear(facts[root])
        facts[root, FIRST], facts[root, SIZE], facts[root, HIST] = tree * n, n, tree * held
        facts[root, STATE] = LEAF
        growing.nodes[tree], growing.leaves[tree], growing.hists[tree] = 1, 1, 1
        now.small[tree], now.pairs[tree, 0], now.pairs[tree, 1] = root, root, -1
    return trees


@part
def choose(limits: GrowthLimits, nodes: Any, shared: Shared, growing: Growing, now: Prepared) -> int:
    """Split leaves that are prepared as far as they lead; write which ones to prepare next, and return how many."""
    facts, gains, trees, chosen = nodes[0], nodes[1], shared.sizes.size, 0
    most, held = facts.shape[0] // trees, shared.hists.shape[0] // trees
    for tree in range(trees):
        root, last, leaves = tree * most, tree * most + growing.nodes[tree], growing.leaves[tree]
        best = leading(facts, gains, root, last, np.inf, -1)
        while best >= 0 and facts[best, CHILD] > 0 and leaves < limits.leaves:
            for right in range(2):
                child = facts[facts[best, CHILD] + right]
                child[ORDER], child[STATE] = 2 * leaves - 1 + right, LEAF
            facts[best, STATE] = SPLIT
            leaves += 1
            best = leading(facts, gains, root, last, np.inf, -1)
        growing.leaves[tree] = leaves
        if best < 0 or leaves == limits.leaves:
            continue
        left, before = limits.leaves - leaves, chosen
        ahead, spare = min((left + 1) // 2, limits.ahead), held - growing.hists[tree] - left
        chosen = next_leaves(facts, gains, root, last, ahead, spare, now.leaves, chosen)
        for b in range(before, chosen):
            now.children[b] = root + growing.nodes[tree]
            growing.nodes[tree] += 2
    return chosen


@part
def divide(
    divide_rows: Callable[..., Any],
    me: int,
    size: int,
    codes: Any,
    columns: SlotColumns,
    nodes: Any,
    shared: Shared,
    now: Prepared,
    b: int,
    low: Array,
) -> None:
    """Sum the children of a leaf in all, and part one's stretch of its rows (see `tree_cells.Cells.divide`)."""
    facts, _, sums, orders = nodes
    leaf, child = facts[now.leaves[b]], now.children[b]
    j = last_at_most(columns.starts, leaf[CUT])
    mark_low(columns, j, leaf[CUT] - columns.starts[j], leaf[SIDE], orders[now.leaves[b]], low)
    sum_low(shared.hists[leaf[HIST]], columns, j, low, sums[child])
    for c in range(sums.shape[1]):
        sums[child + 1, c] = sums[now.leaves[b], c] - sums[child, c]
    rows = leaf[SIZE]
    start, end = leaf[FIRST] + rows * me // size, leaf[FIRST] + rows * (me + 1) // size
    shared.lows[b, me] = divide_rows(codes, j, low, shared.members, shared.space, start, end, me == 0)


@part
def join(
    me: int, size: int, nodes: Any, shared: Shared, limits: GrowthLimits, growing: Growing, now: Prepared, b: int
) -> Any:
    """Write the children of a leaf; return which one to sum, or -1 if no other split is looked for, and the
    other one.
    """
    facts, gains, child = nodes[0], nodes[1], now.children[b]
    leaf, tree = facts[now.leaves[b]], child * shared.sizes.size // facts.shape[0]
    first, rows = leaf[FIRST], leaf[SIZE]
    n_low = join_stretches(shared.lows[b], me, size, first, rows, shared.members, shared.space)
    leaf[CHILD] = child
    for right in range(2):
        node = facts[child + right]
        node[FIRST], node[SIZE] = first + right * n_low, rows - n_low if right else n_low
        node[DEPTH], node[CHILD], node[CUT], node[STATE] = leaf[DEPTH] + 1, 0, -1, WAITING
        gains[child + right] = -np.inf
    lesser = child if n_low * 2 <= rows else child + 1
    larger = 2 * child + 1 - lesser
    held = shared.hists.shape[0] // shared.sizes.size
    facts[larger, HIST], facts[lesser, HIST] = leaf[HIST], tree * held + growing.hists[tree]
    growing.hists[tree] += 1
    more = leaf[DEPTH] + 1 < limits.depth and growing.leaves[tree] + 1 < limits.leaves
    return lesser if more else -1, larger
