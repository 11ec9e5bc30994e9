"""What voters say of a table's rows: descents of trees, step functions, cuts; dense or sparse, by all threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu import scores
from boostlab.backend.cpu.kernels import lookup_table as kernels
from boostlab.backend.cpu.kernels.flat_trees import add_trees
from boostlab.backend.cpu.kernels.leaf_masks import MOST_LEAVES as MOST_LEAVES
from boostlab.backend.cpu.kernels.leaf_masks import add_masked_trees
from boostlab.backend.cpu.kernels.sparse_histogram import walk_sparse
from boostlab.backend.cpu.kernels.tree_descent import walk
from boostlab.backend.cpu.threads import spread
from boostlab.contract import Rule
from boostlab.data.matrix import arrays_of, blocks, is_plain, is_sparse, seen
from boostlab.data.table import Table

Array = npt.NDArray[Any]


def leaf_of(table: Table, nodes: tuple[Array, Array, Array, Array], starts: Array, lows: Array) -> Array:
    """Return the leaf of every row.

    Parameters
    ----------
    table : Table
        The rows.
    nodes : tuple of arrays
        The nodes' features (-1 is a leaf), thresholds, whether missing values are low, and children.
    starts, lows : arrays
        A category node owns lows[starts[node]:starts[node + 1]]: which of its categories are low.
    """
    out, X = np.empty(table.n_rows, np.int64), table.X
    if is_sparse(X) and len(lows):
        raise ValueError("This tree splits categories, which a sparse table does not have; give a dense one.")

    def work(first: int, last: int) -> None:
        if is_sparse(X):
            walk_sparse(*arrays_of(X), *nodes, first, last, out)
            return
        for start, block in blocks(X, first, last):
            walk(block, *nodes, starts, lows, start, out)

    spread(work, table.n_rows, table.n_rows * 64, table.threads)
    return out


def step_scores(table: Table, features: Array, steps: tuple[Array, Array, Array, Array], power: int) -> Array:
    """Return the sums of step functions, one column an output.

    Parameters
    ----------
    table : Table
        The rows.
    features : array
        The columns that have one.
    steps : tuple of arrays
        Where each feature's cuts start, the cuts, the values of the intervals, and those of missing numbers.
    power : int
        The values are integers, multiples of 2^-power.
    """
    X, n = table.X, table.n_rows
    if is_sparse(X):
        place, sums = np.full(X.shape[1], -1, np.int64), np.zeros((n, steps[2].shape[1]), np.int64)
        place[features] = np.arange(len(features))
        spread(
            lambda a, b: kernels.lookup_sparse(*arrays_of(X), place, *steps, a, b, sums), n, 8 * X.nnz, table.threads
        )
        return np.ldexp(sums.astype(np.float64), -power)
    out, cells = np.empty((n, steps[2].shape[1])), n * max(len(features), 1) * 2
    if is_plain(X):
        kernels.lookup_scores.shared(cells, table.threads, seen(X), features, *steps, power, 0, n, out)
        return out

    def copied(first: int, last: int) -> None:
        for start, block in blocks(X, first, last):
            kernels.lookup_scores(block, features, *steps, power, 0, len(block), out[start : start + len(block)])

    spread(copied, n, 4 * cells, table.threads)
    return out


def tree_scores(table: Table, trees: tuple[Array, Array, Array, Array, Array], width: int) -> Array:
    """Return the sums of what trees vote on the rows of a dense table, one column an output.

    Parameters
    ----------
    table : Table
        The rows.
    trees : tuple of arrays
        Nodes, roots, columns, votes and names; see `kernels.flat_trees`.
    width : int
        Number of outputs.
    """
    out = np.zeros((table.n_rows, width))
    for start, block in blocks(table.X, 0, table.n_rows):
        cells = len(block) * len(trees[1]) * 32
        add_trees.shared(cells, table.threads, block, *trees, 0, len(block), out[start : start + len(block)])
    return out


def masked_tree_scores(table: Table, trees: tuple[Array, ...], width: int) -> Array:
    """Return the same of trees of at most `MOST_LEAVES` leaves, given as splits (see `kernels.leaf_masks`)."""
    out, cells = np.zeros((table.n_rows, width)), len(trees[2]) + 8 * len(trees[1])
    for start, block in blocks(table.X, 0, table.n_rows):
        rows = len(block)
        add_masked_trees.shared(rows * cells, table.threads, block, *trees, 0, rows, out[start : start + rows])
    return out


def cut_votes(table: Table, feature: Array, cuts: Array, starts: Array, leaves: Array) -> Array:
    """Return the votes of many cuts on a dense table, one row each.

    Parameters
    ----------
    table : Table
        The rows.
    feature, cuts : arrays
        Every cut's column; its threshold, and what is voted up to it, above it, and of missing values.
    starts, leaves : arrays
        A cut of categories owns leaves[starts[k]:starts[k + 1]]: what each category votes.
    """
    out = np.empty((len(feature), table.n_rows))
    for start, block in blocks(table.X, 0, table.n_rows):
        kernels.stump_votes(block, feature, cuts, starts, leaves, start, out)
    return out


def add_weighted(votes: Array, alpha: float, F: Array) -> None:
    """Add alpha times some votes to scores, in place."""
    kernels.weighted_votes(votes[None], np.array([alpha]), F)


def scores_after(rule: Rule, F: Array, alpha: float, votes: Array, table: Table) -> Array:
    """Return the scores of a table's rows after alpha times some votes has joined, as in training."""
    return scores.scores_after(rule, F, alpha, votes, table.threads)
