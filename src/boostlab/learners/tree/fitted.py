"""A fitted tree, and how it votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.sparse_histogram import walk_sparse
from boostlab.backend.cpu.kernels.tree_descent import walk
from boostlab.backend.cpu.threads import spread
from boostlab.data.matrix import arrays_of, blocks, is_sparse
from boostlab.data.table import Table, compact, magnitude
from boostlab.learners.tree.pruning import prices, who_votes

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Tree:
    """A fitted tree as flat arrays; node 0 is the root, and a node of feature -1 is a leaf."""

    feature: Array
    threshold: Array
    missing_low: Array
    children: Array
    starts: Array  # a category node owns lows[starts[node]:starts[node + 1]]
    lows: Array
    values: Array  # of every node; only leaves' are voted
    gains: Array  # what every inner node's split saved, as a share of the root's weight

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""
        return magnitude(self.values[self.feature < 0])

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.feature < 0).sum())

    @property
    def depth(self) -> int:
        """Number of splits on the longest way down."""
        depth = np.zeros(len(self.feature), int)
        for node in np.flatnonzero(self.feature >= 0):  # parents come before their children
            depth[self.children[node]] = depth[node] + 1
        return int(depth.max())

    def leaf_of(self, table: Table) -> Array:
        """Return the leaf of every row."""
        out, X = np.empty(table.n_rows, np.int64), table.X
        nodes = self.feature, self.threshold, self.missing_low, self.children
        if is_sparse(X) and len(self.lows):
            raise ValueError("This tree splits categories, which a sparse table does not have; give a dense one.")

        def work(first: int, last: int) -> None:
            if is_sparse(X):
                walk_sparse(*arrays_of(X), *nodes, first, last, out)
                return
            for start, block in blocks(X, first, last):
                walk(block, *nodes, self.starts, self.lows, start, out)

        spread(work, table.n_rows, table.n_rows * 64, table.threads)
        return out

    def votes(self, table: Table) -> Array:
        """Return the votes on all rows of a table."""
        return compact(self.values)[self.leaf_of(table)]

    def prices(self) -> Array:
        """Return for every node the smallest `ccp_alpha` that takes its split back; zero for leaves.

        The tree must have been grown with ccp_alpha=0.
        """
        return prices(self.feature, self.children, self.gains)

    def pruned_votes(self, table: Table, ccp_alphas: Array) -> Array:
        """Return the votes on all rows of the tree pruned at several prices, one row a price.

        Where a price takes back every split, the root votes.
        """
        leaf, price, values = self.leaf_of(table), self.prices(), compact(self.values)
        out = np.empty((len(ccp_alphas), len(leaf)), values.dtype)
        for k, alpha in enumerate(ccp_alphas):
            out[k] = values[who_votes(self.feature, self.children, price, alpha)[leaf]]
        return out

    def predict(self, X: Array) -> Array:
        """Return the votes on the rows of a plain array."""
        return self.votes(Table.raw(X))
