"""Votes of trees laid out as one list: the same bits as a sum of votes, tree by tree."""

import numpy as np
import pytest

from boostlab.data.table import Table
from boostlab.ensemble.flat_trees import FlatTrees
from boostlab.ensemble.leaf_masks import LeafMasks
from boostlab.learners.tree.fitted import Tree

N_NUMBERS, N_CATEGORIES = 3, 5  # columns of numbers; the column after them has so many categories


def random_tree(rng, n_leaves, categories=False, votes=float):
    """Split random leaves until there are enough of them."""
    feature, children, leaves = [-1], [[-1, -1]], [0]
    while len(leaves) < n_leaves:
        node = leaves.pop(rng.integers(len(leaves)))
        feature[node] = int(rng.integers(N_NUMBERS + categories))
        children[node] = [len(feature), len(feature) + 1]
        leaves += children[node]
        feature, children = [*feature, -1, -1], [*children, [-1, -1], [-1, -1]]
    feature, n = np.array(feature), len(feature)
    owned = np.where(feature == N_NUMBERS, N_CATEGORIES, 0)
    starts = np.concatenate([[0], np.cumsum(owned)])
    values = {
        float: lambda: rng.normal(size=n),
        int: lambda: rng.integers(0, 3, n),
        list: lambda: rng.normal(size=(n, 3)),
    }[votes]()
    thresholds = rng.integers(-2, 3, n) / 2.0
    missing_low, lows = rng.random(n) < 0.5, rng.random(starts[-1]) < 0.5
    return Tree(feature, thresholds, missing_low, np.array(children), starts, lows, values, np.zeros(n))


def table(rng, n_rows):
    X = rng.integers(-3, 4, (n_rows, N_NUMBERS + 1)) / 2.0  # many numbers are thresholds
    X[:, N_NUMBERS] = rng.integers(0, N_CATEGORIES, n_rows)
    X[rng.random(X.shape) < 0.2] = np.nan
    return Table.raw(X)


def sums(voters, alphas, rows, width):
    F = np.zeros((rows.n_rows, width))
    for voter, alpha in zip(voters, alphas, strict=True):
        for k, tree in enumerate(voter if isinstance(voter, tuple) else (voter,)):
            h, here = tree.values[tree.leaf_of(rows)], F[:, k : k + 1] if isinstance(voter, tuple) else F
            if h.dtype.kind == "i":
                F[np.arange(len(h)), h] += alpha
            else:
                here += alpha * h.reshape(len(h), -1)
    return F


@pytest.mark.parametrize("n_rows", [1, 63, 64, 131])
@pytest.mark.parametrize(("votes", "width"), [(float, 1), (int, 3), (list, 3), (tuple, 3)])
def test_the_bits_of_a_sum_tree_by_tree(n_rows, votes, width):
    rng = np.random.default_rng(n_rows)
    rows, alphas = table(rng, n_rows), rng.random(6)
    for categories in (False, True):
        for largest in (64, 65):
            kind = float if votes is tuple else votes
            trees = [random_tree(rng, size, categories, kind) for size in [1, 2, 3, 31, 64, largest] * 3]
            voters = [tuple(trees[3 * t : 3 * t + 3]) for t in range(6)] if votes is tuple else trees[:6]
            masks, flat = (layout.of(voters, alphas, width) for layout in (LeafMasks, FlatTrees))
            assert (masks is None) == (largest > 64)
            assert (flat is None) == categories
            wanted = sums(voters, alphas, rows, width)
            for found in (masks, flat):
                if found is not None:
                    np.testing.assert_array_equal(found.scores(rows, width), wanted)


def test_other_voters_are_not_laid_out():
    rng = np.random.default_rng(0)
    mixed = [random_tree(rng, 4), random_tree(rng, 4, votes=int)]
    for layout in (LeafMasks, FlatTrees):
        assert layout.of([], np.empty(0), 1) is None
        assert layout.of(mixed, np.ones(2), 1) is None
        assert layout.of([mixed[0], object()], np.ones(2), 1) is None
