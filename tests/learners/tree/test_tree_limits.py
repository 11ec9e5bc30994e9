"""Limits on the size of a tree, and pruning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone

from boostlab.contract import Stop, Task
from boostlab.learners.tree.fitted import Tree
from boostlab.learners.tree.learner import DecisionTree
from learners.tree.tree_problems import (
    CRITERIA,
    Problem,
    check_values,
    check_votes,
    continuous,
    every_criterion,
    make,
    rows_of_nodes,
    same_tree,
    seeds,
)

# -- limits -------------------------------------------------------------------------------------------------------


def test_without_limits_the_tree_grows_to_purity():
    X, w, score, rng = continuous(7)
    y = np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)
    tree = Problem(X, Task("edge", w, y)).grow(max_leaf_nodes=None)
    assert np.array_equal(tree.predict(X), y)
    z = np.round(score * 3)
    tree = Problem(X, Task("least_squares", w, z)).grow(max_leaf_nodes=None)
    assert np.allclose(tree.predict(X), z, atol=1e-12)


def test_limits_hold_alone_and_together():
    X, w, score, _ = continuous(8)
    problem = Problem(X, Task("edge", w, np.where(score > 0, 1.0, -1.0)))
    sizes = {}
    for leaves in (None, 2, 5, 11):
        for depth in (None, 1, 2, 3, 5):
            tree = problem.grow(max_leaf_nodes=leaves, max_depth=depth)
            assert leaves is None or tree.n_leaves <= leaves
            assert depth is None or tree.depth <= depth
            sizes[leaves, depth] = tree.n_leaves
    assert [sizes[n, None] for n in (2, 5, 11)] == [2, 5, 11]  # the data have more to give
    assert [sizes[None, k] for k in (1, 2, 3)] == [2, 4, 8]
    assert sizes[11, 2] == 4
    assert sizes[5, 3] == 5
    assert sizes[None, None] > 20


@every_criterion
@settings(max_examples=15)
@given(seed=seeds)
def test_smallest_leaf_counts_examples(criterion, seed):
    """Mass k is k examples: neither the task's weights nor the number of rows matter."""
    problem = make(seed, criterion, "some", "counts", n_most=40)
    for least in (2, 4.5, 7):
        tree = problem.grow(max_leaf_nodes=None, min_samples_leaf=least)
        if isinstance(tree, Tree):
            leaves = rows_of_nodes(tree, problem.X)[tree.feature < 0]
            assert (leaves @ problem.mass >= least).all()
    more = problem.grow(max_leaf_nodes=None, min_samples_leaf=problem.mass.sum() / 2 + 1)
    assert isinstance(more, Stop)


def test_smallest_leaf_of_a_draw_counts_what_was_drawn():
    x, y = np.arange(6.0), np.array([1.0, -1, -1, 1, 1, 1])
    task = Task("edge", np.ones(6), y, counts=np.array([1, 0, 5, 0, 3, 0]))
    assert Problem(x[:, None], task).grow(min_samples_leaf=1).n_leaves == 3
    tree = Problem(x[:, None], task).grow(min_samples_leaf=3)
    assert (tree.n_leaves, tree.threshold[0]) == (2, 2.5)
    assert Problem(x[:, None], task).grow(min_samples_leaf=4).code == "no_edge"


def test_smallest_leaf_of_just_this_size_is_allowed():
    y = np.repeat([-1.0, 1.0], 5)
    for mass in (None, np.full(10, 3.0), np.full(10, 0.5)):
        least = 5 if mass is None else 5 * mass[0]
        problem = Problem(np.arange(10.0)[:, None], Task("edge", np.ones(10), y), mass)
        assert problem.grow(min_samples_leaf=least).n_leaves == 2
        assert isinstance(problem.grow(min_samples_leaf=least * 1.001), Stop)


@every_criterion
@settings(max_examples=6)
@given(seed=seeds)
def test_pruning_leaves_a_consistent_tree(criterion, seed):
    rng = np.random.default_rng(seed)
    problem = make(seed, criterion, "near", categories=True, n_most=40)
    full = problem.grow(max_leaf_nodes=None)
    if isinstance(full, Stop):
        return
    sizes = [full.n_leaves]
    for alpha in np.sort(rng.uniform(0, full.gains.max() * 1.01, 4)):
        tree = problem.grow(max_leaf_nodes=None, ccp_alpha=float(alpha))
        if isinstance(tree, Stop):
            sizes.append(1)
            continue
        sizes.append(tree.n_leaves)
        check_votes(problem, tree)  # training rows and leaves match
        check_values(problem, tree)
        # What is left is part of the full tree, and saves more than alpha a leaf, at and below every split.
        reach, all_ = rows_of_nodes(tree, problem.X), rows_of_nodes(full, problem.X)
        assert {r.tobytes() for r in reach} <= {r.tobytes() for r in all_}
        below, splits = tree.gains.copy(), (tree.feature >= 0).astype(int)
        for node in np.flatnonzero(tree.feature >= 0)[::-1]:
            below[node] += below[tree.children[node]].sum()
            splits[node] += splits[tree.children[node]].sum()
            assert below[node] > alpha * splits[node] * (1 - 1e-9)
    assert sizes == sorted(sizes, reverse=True)
    assert isinstance(problem.grow(max_leaf_nodes=None, ccp_alpha=1e9), Stop)


def test_nothing_gains():
    xor = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([-1.0, 1, 1, -1])
    for X, target in (
        (np.full((4, 2), 3.0), y),
        (np.full((4, 1), np.nan), y),
        (xor, np.ones(4)),
    ):
        for criterion in ("edge", "z", "least_squares"):
            stop = Problem(X, Task(criterion, np.ones(4), target, {"smoothing": 0.1})).grow()
            assert isinstance(stop, Stop)
            assert stop.code == "no_edge"


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1 is not possible; it must be a whole number of at least 2"),
        ({"max_depth": 0}, "max_depth=0 is not possible; it must be a whole number of at least 1"),
        ({"max_depth": "deep"}, "max_depth='deep' is not possible"),
        ({"max_depth": True}, "max_depth=True is not possible"),
        ({"max_depth": 1.5}, "max_depth=1.5 is not possible"),
        ({"max_leaf_nodes": 2.5}, "max_leaf_nodes=2.5 is not possible"),
        ({"min_samples_leaf": -1}, "min_samples_leaf=-1 is not possible; it must be a number of at least 0"),
        ({"min_samples_leaf": None}, "min_samples_leaf=None is not possible"),
        ({"ccp_alpha": -0.5}, "ccp_alpha=-0.5 is not possible; it must be a number of at least 0"),
        ({"ccp_alpha": float("nan")}, "ccp_alpha=nan is not possible"),
        ({"ccp_alpha": None}, "ccp_alpha=None is not possible"),
    ],
    ids=str,
)
def test_wrong_limits_are_named(limits, sentence):
    with pytest.raises(ValueError, match="DecisionTree: ") as raised:
        make(0, "edge").begin(**limits)
    assert sentence in str(raised.value)
    assert str(raised.value).endswith(".")


def test_numpy_numbers_are_limits_too():
    problem = make(3, "edge", "near", n_most=40)
    plain = problem.grow(max_leaf_nodes=4, max_depth=3, min_samples_leaf=2, ccp_alpha=0.001)
    other = problem.grow(
        max_leaf_nodes=np.int64(4), max_depth=np.int32(3), min_samples_leaf=np.float32(2), ccp_alpha=np.float64(0.001)
    )
    assert same_tree(plain, other)


def test_the_learner_is_a_scikit_learn_object():
    learner = DecisionTree(max_depth=3, ccp_alpha=0.1)
    assert clone(learner).get_params() == learner.get_params()
    limits = {"max_leaf_nodes": 8, "max_depth": 3, "min_samples_leaf": 1, "min_samples_split": 2, "ccp_alpha": 0.1}
    assert learner.get_params() == {**limits, "criterion": None}
    assert learner.searches() == {*CRITERIA, "labels", "factored"}
    assert learner.uses_bins
