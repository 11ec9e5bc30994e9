"""Rademacher complexity by Monte Carlo: against all sign vectors, closed forms, and what it must not depend on."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from boostlab.backend.cpu.masses import Masses
from boostlab.data.matrix import canonical_order
from boostlab.data.table import Bins, Table
from boostlab.learners import DecisionStump, DecisionTree, VoterPool
from boostlab.learners.adapter import EstimatorLearner
from boostlab.learners.complexity import rademacher


def measure(learner, X, mass=None, draws=200, seed=0):
    rows = Masses(len(X), mass)
    table = Table.of(X, Bins.fit(X, rows) if learner.uses_bins else None)
    order = canonical_order(X, np.zeros(len(X)), rows.masses)
    return rademacher(learner, table, rows, order, np.random.default_rng(seed), draws)


def exact(H, mass=None):
    """The mean over all sign vectors of the largest mean(sigma h) over voters (columns of H) and complements."""
    mass = np.ones(len(H)) if mass is None else mass
    signs = np.array(list(product([-1.0, 1.0], repeat=len(H))))
    return np.abs((signs * mass) @ H).max(axis=1).mean() / mass.sum()


def stumps_of(X):
    cuts = [(j, c) for j in range(X.shape[1]) for c in np.unique(X[:, j])[:-1]]
    return np.stack([np.where(X[:, j] > c, 1.0, -1.0) for j, c in cuts], axis=1)


@pytest.mark.parametrize("mass", [None, "real"])
def test_stumps_and_pools_against_all_signs(mass):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(10, 2)), 1)
    masses = None if mass is None else rng.uniform(0.5, 2.0, 10)
    H = rng.normal(size=(10, 6))
    pool = VoterPool([lambda X, j=j: H[np.searchsorted(keys, X[:, 0])][:, j] for j in range(6)])
    keys = np.arange(10.0)
    for learner, table, votes in [(DecisionStump(), X, stumps_of(X)), (pool, keys[:, None], H)]:
        found, error = measure(learner, table, masses, draws=2000)
        assert 0 < error < 0.02 * max(1, np.abs(votes).max())
        assert abs(found - exact(votes, masses)) < 4 * error


def test_one_voter_and_its_complement():
    # sup = |sum of n signs| / n, whose mean is known: for n = 2m it is (2m choose m) / 4^m.
    X = np.arange(8.0)[:, None]
    found, error = measure(VoterPool([lambda X: np.ones(len(X))]), X, draws=4000)
    assert abs(found - comb(8, 4) / 4**4) < 4 * error
    assert measure(VoterPool([lambda X: np.ones(len(X))], complements=False), X, draws=4000)[0] == pytest.approx(
        0.0, abs=4 * error
    )


def test_counts_are_copies_and_order_does_not_matter():
    rng = np.random.default_rng(2)
    X, copies = rng.normal(size=(25, 3)), rng.integers(1, 5, 25)
    order = rng.permutation(copies.sum())
    for learner in (DecisionStump(), VoterPool(stumps_per_feature=4)):
        weighted = measure(learner, X, copies.astype(float))
        copied = measure(learner, X.repeat(copies, axis=0)[order])
        assert weighted == pytest.approx(copied, rel=1e-13)
    plain = measure(DecisionStump(), X)
    again = measure(DecisionStump(), X[::-1].copy())
    assert plain == again
    assert plain != measure(DecisionStump(), X, seed=1)


def test_heavy_masses_have_one_sign():
    X = np.arange(12.0)[:, None]
    assert measure(DecisionStump(), X, np.full(12, 1e6)) == pytest.approx(measure(DecisionStump(), X), rel=1e-13)


def test_learners_that_miss_the_best_give_less():
    X = np.random.default_rng(3).normal(size=(60, 3))
    stump, tree = measure(DecisionStump(), X, draws=50)[0], measure(DecisionTree(max_depth=3), X, draws=50)[0]
    assert 0 < stump < tree < 1  # a larger class follows more signs
    gini = measure(EstimatorLearner(DecisionTreeClassifier(max_depth=1)), X, draws=50)[0]
    assert 0 < gini <= stump + 1e-12  # the same class, not searched for the largest edge, the same signs
    assert 0 < measure(EstimatorLearner(KNeighborsClassifier(5)), X, draws=10)[0] < 1  # on drawn rows


def test_nothing_to_say():
    assert measure(DecisionStump(), np.zeros((6, 2)), draws=5) == (0.0, 0.0)
