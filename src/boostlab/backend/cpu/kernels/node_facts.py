"""What is known of the nodes of a tree that grows, and which leaves are split next."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part

Array = np.ndarray[Any, Any]

# What is known of a node: CUT is a slot, < 0 if there is none; ORDER is the number it has where one leaf is split after
# the other; STATE says whether it is in the tree.
FIRST, SIZE, DEPTH, HIST, CUT, SIDE, CHILD, ORDER, STATE = range(9)
FACTS = 9
WAITING, LEAF, SPLIT = range(3)


@part
def leading(facts: Array, gains: Array, first: int, last: int, gain: float, order: int) -> int:
    """Return the leaf with the largest gain, the first of equals, that comes after this gain and order; or -1.

    It is one of the nodes first to last - 1, those of its tree.
    """
    best, most = -1, -1.0
    for node in range(first, last):
        if facts[node, STATE] != LEAF:
            continue
        mine, number = gains[node], facts[node, ORDER]
        if (mine < gain or (mine == gain and number > order)) and (
            mine > most or (mine == most and number < facts[best, ORDER])
        ):
            best, most = node, mine
    return best


@part
def next_leaves(
    facts: Array, gains: Array, first: int, last: int, ahead: int, spare: int, batch: Array, size: int
) -> int:
    """Write the leaves to prepare behind so many others, the leading one and the next as far as there is space; return
    how many there are then.
    """
    count, gain, order = 0, np.inf, -1
    for _ in range(ahead):
        node = leading(facts, gains, first, last, gain, order)
        if node < 0 or count > spare:
            break
        gain, order = gains[node], facts[node, ORDER]
        if facts[node, CHILD] == 0:
            batch[size + count] = node
            count += 1
    return size + count
