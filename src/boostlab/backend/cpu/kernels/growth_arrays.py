"""What the growth of a tree reads and writes (see `best_first`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.node_facts import SIZE

Array = np.ndarray[Any, Any]

WORTH = 4  # cells that a member sums for each number of a histogram: from there on members share rows, not words


class PackedCodes(NamedTuple):
    """The codes of a dense table."""

    cells: Array  # of shape (groups, rows, codes of a word)
    words: Array  # the same, a group of a row in one number: word g of row i at i step + g apart
    step: int
    apart: int
    bases: Array  # where the histogram of every column starts


class StoredCodes(NamedTuple):
    """The codes of a sparse table that are not those of zero."""

    slots: Array  # row i has slots[by_rows[i]:by_rows[i + 1]], in the order of the columns
    by_rows: Array
    row_of: Array  # column j has code_of[by_columns[j]:by_columns[j + 1]] in the rows row_of, which ascend
    code_of: Array
    by_columns: Array
    zero: Array  # the code of zero in every column


class Nodes(NamedTuple):
    """What every member of a team writes of the nodes, tree after tree, for each member."""

    facts: Array
    gains: Array
    totals: Array  # per channel
    orders: Array  # of the slots of a column of categories that is split


class Shared(NamedTuple):
    """What the members of a team share."""

    members: Array  # the rows, tree after tree and leaf after leaf
    space: Array  # as many
    hists: Array  # of the leaves, as many for each tree
    parts: Array  # of hists: a member's sums of a word whose first rows are another's
    prices: Array  # what members found, per node
    places: Array  # the same: slot and side
    lows: Array  # how many rows of a stretch are low, per leaf that is parted and per member
    sizes: Array  # how many nodes every tree has


class GrowthLimits(NamedTuple):
    """When to stop."""

    leaves: int
    depth: int
    ahead: int  # how many leaves of a tree are prepared at once
    floors: Array  # what is no more than this is no gain, for each tree


class Growing(NamedTuple):
    """What is known of the trees that grow together, for each of them."""

    nodes: Array  # how many there are
    leaves: Array  # that are in the tree
    hists: Array  # that are taken


class Prepared(NamedTuple):
    """The leaves that are parted together, and what is summed and searched then."""

    leaves: Array
    children: Array  # the left ones
    small: Array  # the nodes that are summed
    pairs: Array  # these and their siblings, or -1


@part
def groups_of_a_strip(nodes: Array, facts: Array, table: tuple[int, int], size: int, shared: Shared) -> int:
    """Return how many groups the strips have that a team of this size cuts the cells of some nodes into.

    All groups, so that every row is gathered by one member only; one, where nodes have so few rows that adding up the
    members' sums of all columns would take longer.  The table has so many groups of so many columns.
    """
    rows, (groups, wide) = 0, table
    for b in range(nodes.size):
        rows += facts[nodes[b], SIZE]
    return groups if rows * groups * wide >= WORTH * size * shared.hists.shape[1] else 1
