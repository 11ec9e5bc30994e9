"""Trees against brute force and scikit-learn's trees; missing values and categories."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boostlab.backend.cpu.masses import Masses
from boostlab.contract import Stop, Task
from boostlab.data.table import Bins, Table
from learners.tree.tree_problems import (
    Brute,
    Problem,
    check,
    check_greedy,
    check_votes,
    continuous,
    every_criterion,
    make,
    rows_of_nodes,
    same_tree,
    seeds,
    some_limits,
)

KINDS = [  # of weights and masses, and whether rows are drawn
    ("equal", "none", False),
    ("small", "counts", False),
    ("some", "real", False),
    ("near", "none", True),
    ("small", "real", False),
]

# -- the greedy tree ----------------------------------------------------------------------------------------------


@every_criterion
@settings(max_examples=35)
@given(categories=st.booleans(), kind=st.sampled_from(KINDS), seed=seeds)
def test_every_split_is_the_best_of_all_leaves(criterion, categories, kind, seed):
    weights, masses, drawn = kind
    problem = make(seed, criterion, weights, masses, categories, drawn)
    check(problem, some_limits(np.random.default_rng(seed)))


@every_criterion
@settings(max_examples=15)
@given(seed=seeds)
def test_weights_over_thirty_magnitudes(criterion, seed):
    problem = make(seed, criterion, "wide", categories=bool(seed % 2))
    tree = problem.grow(max_leaf_nodes=None)
    if isinstance(tree, Stop):
        return
    # The root of a weight known to 1e-16 of all is known to 1e-8 only.
    tol = 1e-6 if criterion.endswith("z") else 1e-11
    check_greedy(problem, tree, Brute(problem), tol, max_leaf_nodes=None)
    check_votes(problem, tree)


@every_criterion
@settings(max_examples=15)
@given(seed=seeds)
def test_few_bins_offer_few_cuts(criterion, seed):
    problem = make(seed, criterion, "near", categories=True)
    problem.max_bins = 3
    bins = Bins.fit(problem.X, Masses(len(problem.X)), 3, 1, problem.n_categories)
    cuts = [bins.of(j) for j in range(bins.n_features)]
    check(problem, some_limits(np.random.default_rng(seed)), cuts=cuts)


@every_criterion
@pytest.mark.parametrize("masses", ["none", "real"])
@settings(max_examples=15)
@given(seed=seeds)
def test_without_ties_the_tree_is_the_only_one(criterion, masses, seed):
    """Weights that are real numbers tell all partitions apart, so that an independent growth finds the same leaves."""
    limits = some_limits(np.random.default_rng(seed))
    exact = not criterion.startswith("hamming") and limits["min_samples_leaf"] == 1
    problem = make(seed, criterion, "near", masses, categories=exact, n_most=40)
    tree, brute = problem.grow(**limits), Brute(problem)
    leaves = brute.grow(**limits)
    if isinstance(tree, Stop):
        assert len(leaves) == 1
        return
    reach = rows_of_nodes(tree, problem.X)[tree.feature < 0]
    assert brute.impurity(reach).sum() == pytest.approx(
        brute.impurity(np.array(leaves)).sum(), abs=1e-9 * problem.unit()
    )
    assert {leaf.tobytes() for leaf in reach} == {leaf.tobytes() for leaf in leaves}


def test_ties_go_to_the_first_feature_then_the_first_cut():
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([-1.0, 1.0, 1.0, -1.0])
    constant = np.full(4, 3.0)
    for columns, feature in (([x, -x], 0), ([constant, x, x], 1), ([constant, constant, -x], 2)):
        tree = Problem(np.stack(columns, axis=1), Task("edge", np.ones(4), y)).grow(max_leaf_nodes=2)
        assert tree.feature.tolist() == [feature, -1, -1]
        assert tree.threshold[0] == columns[feature].min() + 0.5


def test_the_nodes_come_parents_first():
    problem = make(5, "edge", "near", n_most=40)
    tree = problem.grow(max_leaf_nodes=None)
    inner = np.flatnonzero(tree.feature >= 0)
    assert (tree.children[inner] > inner[:, None]).all()
    assert sorted(tree.children[inner].ravel().tolist()) == list(range(1, len(tree.feature)))
    assert (tree.gains[inner] > 0).all()
    assert (tree.gains[tree.feature < 0] == 0).all()


# -- scikit-learn -------------------------------------------------------------------------------------------------

LIMITS = [
    {"max_leaf_nodes": 2},
    {"max_leaf_nodes": 8},
    {"max_leaf_nodes": 8, "max_depth": 3},
    {"max_leaf_nodes": None, "max_depth": 4},
    {"max_leaf_nodes": None},
    {"max_leaf_nodes": None, "min_samples_leaf": 9},
    {"max_leaf_nodes": 6, "min_samples_leaf": 20},
    {"max_leaf_nodes": None, "ccp_alpha": 0.004},
    {"max_leaf_nodes": 30, "max_depth": 6, "min_samples_leaf": 3, "ccp_alpha": 0.002},
]


def gains_of(t):
    """What scikit-learn's splits saved, as shares of the weight."""
    cost = t.impurity * t.weighted_n_node_samples / t.weighted_n_node_samples[0]
    inner = t.children_left >= 0
    return cost[inner] - cost[t.children_left[inner]] - cost[t.children_right[inner]]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_labels_as_scikit_learn(limits):
    for seed in range(4):
        X, w, score, _ = continuous(seed)
        y = np.where(score > 0.3, 1.0, -1.0)
        tree = Problem(X, Task("edge", w, y)).grow(**limits)
        twin = DecisionTreeClassifier(criterion="gini", random_state=0, **limits).fit(X, y, w)
        assert tree.n_leaves == twin.get_n_leaves()
        assert tree.depth == twin.get_depth()
        assert np.array_equal(tree.predict(X), twin.predict(X))
        places = [tree.leaf_of(Table(X)), twin.apply(X)]
        assert len(set(zip(*(p.tolist() for p in places), strict=True))) == tree.n_leaves  # the same partition
        assert np.allclose(np.sort(tree.gains[tree.feature >= 0]), np.sort(gains_of(twin.tree_)), atol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_least_squares_as_scikit_learn(limits, scale):
    limits = dict(limits)
    if "ccp_alpha" in limits:
        limits["ccp_alpha"] *= 4 * scale**2  # a squared error
    for seed in range(3):
        X, w, z, _ = continuous(seed)
        tree = Problem(X, Task("least_squares", w, z * scale)).grow(**limits)
        twin = DecisionTreeRegressor(random_state=0, **limits).fit(X, z * scale, w)
        assert tree.n_leaves == twin.get_n_leaves()
        assert np.allclose(tree.predict(X), twin.predict(X), rtol=1e-9, atol=1e-9 * scale)


# -- missing values and categories --------------------------------------------------------------------------------


def test_missing_values_go_where_they_help():
    x = np.array([0.0, 1, 2, 3, np.nan, np.nan])
    for side in (-1.0, 1.0):
        y = np.array([-1.0, -1, 1, 1, side, side])
        tree = Problem(x[:, None], Task("edge", np.ones(6), y)).grow()
        assert tree.n_leaves == 2
        assert bool(tree.missing_low[0]) == (side < 0)
        assert np.array_equal(tree.predict(x[:, None]), y)


def test_missing_against_present_deep_in_the_tree():
    rng = np.random.default_rng(0)
    a, b = np.arange(40) % 2 * 1.0, np.where(np.arange(40) < 20, np.nan, rng.normal(size=40))
    y = np.where((a == 1) & np.isnan(b), 1.0, -1.0)
    tree = Problem(np.stack([a, b], axis=1), Task("edge", np.ones(40), y)).grow()
    assert np.array_equal(tree.predict(np.stack([a, b], axis=1)), y)
    assert tree.predict([[1.0, 1e300], [1.0, np.nan], [0.0, np.nan]]).tolist() == [-1.0, 1.0, -1.0]


def test_gaps_where_training_had_none_go_with_the_heavier_side():
    x, y = np.arange(5.0)[:, None], np.array([-1.0, 1, 1, 1, 1])
    assert Problem(x, Task("edge", np.ones(5), y)).grow().predict([[np.nan]]).tolist() == [1.0]
    mass = np.array([9.0, 1, 1, 1, 1])
    assert Problem(x, Task("edge", np.ones(5), y), mass).grow().predict([[np.nan]]).tolist() == [-1.0]


def test_a_category_split_is_one_split():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 300, 2000).astype(float)
    good = rng.choice([-1.0, 1.0], 300)
    y = good[x.astype(int)]
    problem = Problem(x[:, None], Task("edge", rng.uniform(0.5, 1, 2000), y), None, {0: 300})
    tree = problem.grow()
    assert problem.table.codes.cells.dtype == np.uint16
    assert (tree.n_leaves, tree.depth) == (2, 1)
    assert np.array_equal(tree.votes(problem.table), y)
    assert len(tree.lows) == tree.starts[-1] == 300


def test_a_tree_can_be_copied():
    tree = make(9, "hamming", "near", categories=True, n_most=40).grow()
    for other in (copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert same_tree(tree, other)
