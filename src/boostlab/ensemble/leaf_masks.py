"""A vote of trees of at most 64 leaves as one list of splits: a compiled call looks at all of them, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.evaluation import MOST_LEAVES, masked_tree_scores
from boostlab.data.table import Table
from boostlab.ensemble.flat_trees import alike, each_tree, votes_and_names
from boostlab.learners.tree.fitted import Tree

Array = npt.NDArray[Any]

EVERY = (1 << 64) - 1


@dataclass
class LeafMasks:
    """The splits of all trees, as `kernels.leaf_masks` wants them."""

    arrays: tuple[Array, ...]

    @classmethod
    def of(cls, voters: Sequence[Any], alphas: Array, width: int) -> LeafMasks | None:
        """Lay out trees, or tuples of them, with these coefficients; None where other voters or larger trees occur.

        Parameters
        ----------
        voters : sequence
            One a round.
        alphas : array of shape (n_rounds,) or (n_rounds, n_classes)
            Their coefficients.
        width : int
            Scores of a row.
        """
        each = list(each_tree(voters, alphas, width))
        if not alike([tree for tree, _, _ in each]) or any(tree.n_leaves > MOST_LEAVES for tree, _, _ in each):
            return None
        trees, splits, lefts, leaves, categories = list[tuple[int, int, int]](), list[Array](), list[int](), 0, 0
        cuts, lows, votes, names = list[Array](), list[Array](), list[Array](), list[Array]()
        for tree, column, alpha in each:
            trees.append((len(lefts), leaves, column))
            inner, order, words = _words(tree)
            splits.append(_splits(tree, inner, categories))
            lefts += words
            cuts.append(tree.threshold[inner])
            lows.append(tree.lows)
            for kept, what in zip((votes, names), votes_and_names(tree.values[order], alpha), strict=True):
                kept.append(what)
            leaves, categories = leaves + len(order), categories + len(tree.lows)
        trees.append((len(lefts), leaves, -1))
        all_splits = np.concatenate(splits)
        features, all_splits[:, 0] = np.unique(all_splits[:, 0], return_inverse=True)
        laid = features, np.array(trees), all_splits, np.concatenate(cuts), np.array(lefts, np.uint64)
        return cls((*laid, np.concatenate(lows), np.concatenate(votes), np.concatenate(names)))

    def scores(self, table: Table, width: int) -> Array:
        """Return the scores of all rows of a dense table, one column an output."""
        return masked_tree_scores(table, self.arrays, width)


def _words(tree: Tree) -> tuple[Array, list[int], list[int]]:
    """Return a tree's inner nodes, its leaves from left to right, and for every inner node the word that lacks the
    leaves on its left.
    """
    inner, children = np.flatnonzero(tree.feature >= 0), tree.children.tolist()
    size, first = [1] * len(children), [0] * len(children)
    for node in inner[::-1].tolist():  # parents come before their children
        left, right = children[node]
        size[node] = size[left] + size[right]
    for node in inner.tolist():
        left, right = children[node]
        first[left], first[right] = first[node], first[node] + size[left]
    lefts = [children[node][0] for node in inner.tolist()]
    words = [EVERY ^ (((1 << size[left]) - 1) << first[left]) for left in lefts]
    leaves = np.flatnonzero(tree.feature < 0)
    return inner, sorted(leaves.tolist(), key=first.__getitem__), words


def _splits(tree: Tree, inner: Array, first_category: int) -> Array:
    """Return every split's column, its kind, and its first category."""
    kinds = 2 * (np.diff(tree.starts)[inner] > 0) + ~tree.missing_low[inner]
    return np.stack([tree.feature[inner], kinds, first_category + tree.starts[inner]], axis=1)
