"""A grown tree as flat arrays, level after level, and its votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.node_facts import CHILD, CUT, FIRST, SIDE, SIZE
from boostlab.backend.cpu.kernels.workspace import last_at_most

Array = np.ndarray[Any, Any]


@kernel
def write_trees(facts: Array, gains: Array, totals: Array, sizes: Array, starts: Array, points: Any, out: Any) -> None:
    """Write the nodes of trees that were grown best first, tree after tree and level after level.

    points says where columns have their cuts: where each one's start, the numbers they stand for, which columns have
    missing values, and after which slots more of the sample is below.  Splits of categories are left to the caller.
    """
    feature, threshold, missing_low, children, saved, sums, source = out
    bin_starts, values, some_missing, heavier_below = points
    begin = 0
    for tree in range(sizes.size):
        source[begin], size = tree * (facts.shape[0] // sizes.size), 1
        for k in range(begin, begin + sizes[tree]):
            node = source[k]
            at, child, saved[k] = facts[node, CUT], facts[node, CHILD], gains[node]
            for c in range(totals.shape[1]):
                sums[k, c] = totals[node, c]
            if child == 0:
                feature[k], threshold[k], missing_low[k], children[k, 0], children[k, 1] = -1, 0.0, False, 0, 0
                continue
            children[k, 0], children[k, 1] = size, size + 1
            source[begin + size], source[begin + size + 1] = child, child + 1
            size += 2
            j = last_at_most(starts, at)
            point = bin_starts[j] + at - starts[j]
            feature[k] = j
            threshold[k] = values[point] if point < bin_starts[j + 1] else np.inf
            missing_low[k] = facts[node, SIDE] == 1 if some_missing[j] else heavier_below[at]
        begin += sizes[tree]


@in_parts
def write_votes(members: Array, facts: Array, source: Array, values: Array, first: int, last: int, out: Array) -> None:
    """Write values[k] for the rows of leaf k, of the members first to last - 1; out has a row a tree."""
    n = out.shape[1]
    for k in range(source.size):
        node = facts[source[k]]
        if node[CHILD] == 0:
            vote, mine = values[k], out[node[FIRST] // n]
            for m in range(max(first, node[FIRST]), min(last, node[FIRST] + node[SIZE])):
                mine[members[m]] = vote
