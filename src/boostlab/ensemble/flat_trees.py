"""A vote of trees as one list of nodes: rows walk down all of them in one compiled call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.evaluation import tree_scores
from boostlab.data.table import Table
from boostlab.learners.tree.fitted import Tree

Array = npt.NDArray[Any]


@dataclass
class FlatTrees:
    """The nodes of all trees, as `kernels.flat_trees` wants them."""

    nodes: Array
    roots: Array
    columns: Array
    votes: Array
    names: Array

    @classmethod
    def of(cls, voters: Sequence[Any], alphas: Array, width: int) -> FlatTrees | None:
        """Lay out trees, or tuples of them, with these coefficients; None where other voters or categories occur.

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
        trees = [tree for tree, _, _ in each]
        if not alike(trees) or any(len(tree.lows) for tree in trees):
            return None
        roots = np.cumsum([0, *(len(tree.feature) for tree in trees[:-1])])
        nodes, votes, names = list[Array](), list[Array](), list[Array]()
        for (tree, _, alpha), root in zip(each, roots.tolist(), strict=True):
            place = _places(tree)
            nodes.append(_nodes(tree, place, root))
            values = np.empty_like(tree.values)
            values[place] = tree.values
            for kept, what in zip((votes, names), votes_and_names(values, alpha), strict=True):
                kept.append(what)
        columns = np.array([column for _, column, _ in each])
        return cls(np.concatenate(nodes), roots, columns, np.concatenate(votes), np.concatenate(names))

    def scores(self, table: Table, width: int) -> Array:
        """Return the scores of all rows of a dense table, one column an output."""
        return tree_scores(table, (self.nodes, self.roots, self.columns, self.votes, self.names), width)


def alike(voters: Sequence[Any]) -> bool:
    """Return whether there are voters, all of them trees whose leaves hold the same kind of vote."""
    if not voters or not all(isinstance(tree, Tree) for tree in voters):
        return False
    return len({(tree.values.shape[1:], tree.values.dtype.kind) for tree in voters}) == 1


def votes_and_names(values: Array, alpha: float) -> tuple[Array, Array]:
    """Return what leaves with these values add to scores, a row each, and the classes that they name, if they do."""
    if values.dtype.kind == "f":
        return alpha * values.reshape(len(values), -1), np.empty(0, np.int64)
    return np.full((len(values), 1), alpha), values.astype(np.int64)


def each_tree(voters: Sequence[Any], alphas: Array, width: int) -> Iterator[tuple[Any, int, float]]:
    """Yield every tree, the score it votes on (-1 is all of them, or that of the class it names), and its alpha."""
    for voter, alpha in zip(voters, alphas, strict=True):
        if isinstance(voter, tuple):
            yield from zip(voter, range(width), np.broadcast_to(alpha, width).tolist(), strict=True)
        else:
            yield voter, 0 if width == 1 else -1, float(alpha)


def _places(tree: Tree) -> Array:
    """Return where every node goes so that children lie side by side, in the order of their parents."""
    place = np.arange(len(tree.feature))
    children = tree.children[tree.feature >= 0].reshape(-1)
    place[children] = 1 + np.arange(len(children))
    return place


def _nodes(tree: Tree, place: Array, root: int) -> Array:
    """Return a tree's nodes as pairs of integers (see `kernels.flat_trees`)."""
    inner = tree.feature >= 0
    left = root + np.where(inner, place[tree.children[:, 0]], place)
    nodes = np.empty((len(place), 2), np.int64)
    nodes[place, 0] = np.where(inner, tree.threshold, np.inf).view(np.int64)
    nodes[place, 1] = left << 32 | np.where(inner, tree.feature, 0) << 1 | (inner & ~tree.missing_low)
    return nodes
