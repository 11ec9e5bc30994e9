"""One tree pruned at many prices is the tree that is grown and pruned at each of them."""

import numpy as np
import pytest

from boostlab import Binned, DecisionTree, SAMMEClassifier
from boostlab.datasets import three_gaussians, twonorm

PRICES = np.array([0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0])


def grown(X, y, **limits):
    tree = DecisionTree(max_leaf_nodes=None, min_samples_split=10, **limits)
    return SAMMEClassifier(tree, n_estimators=1, n_jobs=1).fit(X, y).estimators_[0]


@pytest.mark.parametrize("make", [twonorm, three_gaussians])
def test_votes_are_those_of_the_pruned_trees(make):
    X, y = make(300, random_state=0)
    y = np.where(np.random.default_rng(0).random(300) < 0.2, y[::-1], y)
    binned, other = Binned.fit(X), Binned.fit(X).like(make(200, random_state=1)[0])
    tree = grown(binned, y)
    sizes = []
    for price, said in zip(PRICES, tree.pruned_votes(other.table, PRICES), strict=True):
        alone = grown(binned, y, ccp_alpha=price)
        sizes.append(alone.n_leaves)
        np.testing.assert_array_equal(said, alone.votes(other.table))
        assert (tree.prices() > price).sum() == alone.n_leaves - 1
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[3] < sizes[-1]


def test_a_price_above_all_leaves_the_root():
    X, y = twonorm(80, random_state=0)
    binned = Binned.fit(X)
    tree = grown(binned, y)
    assert len(set(tree.pruned_votes(binned.table, np.array([tree.prices()[0]]))[0])) == 1
    assert tree.prices()[0] == tree.prices().max()
