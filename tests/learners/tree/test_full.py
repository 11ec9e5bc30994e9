"""Full trees in one compiled call are the trees of the general way."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, Binned, DecisionTree, VadaBoostClassifier
from boostlab.backend import CpuSample, Masses
from boostlab.backend.cpu.trees.full import Full
from boostlab.contract import Stop, Task
from boostlab.data.table import Table
from boostlab.learners.tree.learner import TreeSession
from tables import class_numbers


class General(DecisionTree):
    """Trees without a limit on leaves, grown node by node."""

    def begin(self, rows, rng):
        return TreeSession(self, rows, "general")


KINDS = (DecisionTree, General)  # the first are full's


def tables():
    rng = np.random.default_rng(0)
    n = 400
    mixed = np.column_stack([rng.normal(size=n), rng.integers(0, 3, (n, 9)), np.zeros(n), rng.integers(0, 40, n)])
    yield "many cuts", rng.normal(size=(n, 5))
    yield "few cuts and a constant column", mixed.astype(float)
    yield "mostly zeros", np.where(rng.random((n, 17)) < 0.9, 0.0, rng.integers(1, 200, (n, 17)))


@pytest.fixture(params=tables(), ids=lambda t: t[0])
def table(request):
    X = request.param[1]
    rng = np.random.default_rng(1)
    return X, (X[:, 0] + X[:, -1] + rng.normal(size=len(X)) > np.median(X[:, 0] + X[:, -1])).astype(int)


def pair(booster, X, y, sample_weight=None, **limits):
    models = []
    for kind in KINDS:
        tree = kind(max_leaf_nodes=None, **limits)
        models.append(booster(tree, n_estimators=6, max_bins="exact", n_jobs=1).fit(X, y, sample_weight=sample_weight))
    return models


@pytest.mark.parametrize("booster", [AdaBoostClassifier, VadaBoostClassifier])
@pytest.mark.parametrize("limits", [{"min_samples_split": 10}, {"max_depth": 4}, {"min_samples_split": 30}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_trees(table, booster, limits, weighted):
    X, y = table
    mass = np.random.default_rng(2).uniform(0.5, 1.5, len(y)) if weighted else None
    quick, slow = pair(booster, X, y, mass, **limits)
    assert len(quick.estimators_) == len(slow.estimators_)
    for a, b in zip(quick.estimators_, slow.estimators_, strict=True):
        for name in ("feature", "threshold", "children", "values", "missing_low"):
            inner = slice(None) if name != "values" else a.feature < 0
            np.testing.assert_array_equal(getattr(a, name)[inner], getattr(b, name)[inner])
        np.testing.assert_array_equal(a.gains, b.gains)
    np.testing.assert_array_equal(quick.decision_function(X), slow.decision_function(X))


def grown(codes, w, y, strategy):
    """Return a full tree's cuts for given weights."""
    table, rows = Table.fit(codes.astype(float), Masses(len(y)), "exact", 1), Masses(len(y))
    session = TreeSession(DecisionTree(max_leaf_nodes=None), CpuSample(table, rows), strategy)
    found = session.best(Task("edge", w, y))
    tree = found.voter
    return tree.feature, tree.threshold, tree.children, tree.gains, found.votes


@pytest.mark.parametrize("seed", range(30))
def test_ties_rows_without_weight_and_weights_far_apart_make_no_difference(seed):
    """Equal columns, equal gains, and weights of which some are lost in others' rounding: where the first must win."""
    rng = np.random.default_rng(seed)
    n = 60
    X = rng.integers(0, rng.integers(2, 40), (n, 6))
    X = np.column_stack([X, X[:, ::-1], X.max() - X])
    w = np.exp(rng.normal(scale=rng.choice([0.0, 1.0, 15.0]), size=n)) * (rng.random(n) > 0.2)
    y = rng.choice([-1.0, 1.0], n)
    y[:2], w[:2] = (-1.0, 1.0), 1.0
    wanted = grown(X, w, y, "general")
    for strategy in ("presorted", "full"):
        for a, b in zip(grown(X, w, y, strategy), wanted, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", ["column", "rows of one value", "rows of many", "light row"])
def test_missing_numbers_that_no_cut_parts(case):
    """Slots of missing numbers in constant columns, and of rows that round to nothing, are no compiled tree's."""
    rng = np.random.default_rng(0)
    n, rows, weight = 400, np.arange(400), None
    X = rng.normal(size=(n, 17)).round(1)
    y = (X[:, 8] + X[:, 16] + 0.5 * rng.normal(size=n) > 0).astype(int)
    if case == "light row":
        X[3, 0], weight = np.nan, np.where(rows == 3, 1e-25, 1.0)
    else:
        rows = rows if case == "column" else rows[:200]
        X[rows, 0] = np.nan
        X[len(rows) :, 0] = 1.0 if case == "rows of one value" else rng.integers(0, 5, n - len(rows))
    binned = Binned.fit(X).take(rows)
    models = [
        AdaBoostClassifier(kind(max_leaf_nodes=None, max_depth=5), n_estimators=30, n_jobs=1).fit(
            binned, y[rows], sample_weight=weight
        )
        for kind in KINDS
    ]
    for a, b in zip(*(m.estimators_ for m in models), strict=True):
        for name in ("feature", "threshold", "children", "missing_low"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(*(m.decision_function(X) for m in models))


def categories():
    rng = np.random.default_rng(3)
    n = 500
    few, many, skewed = rng.integers(0, 4, n), rng.integers(0, 90, n), rng.geometric(0.4, n)
    return np.column_stack([few, rng.normal(size=n), many, skewed, np.full(n, 2), rng.integers(0, 2, n)]).astype(float)


@pytest.mark.parametrize("limits", [{"min_samples_split": 10}, {"max_depth": 3}, {}], ids=str)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("drawn", [False, True])
def test_the_same_trees_of_categories(limits, missing, drawn):
    X = categories()
    y = (np.sin(X[:, 0] + X[:, 2] + X[:, 3]) + 0.3 * X[:, 1] > 0).astype(int)
    if missing:
        X[::7, 2] = X[3::11, 0] = np.nan
    words = [0, 2, 3, 4, 5]
    rows = np.flatnonzero(X[:, 3] != 2)  # a category that no row of the sample has
    binned = Binned.fit(X, categorical_features=words).take(rows)
    models = [
        AdaBoostClassifier(
            kind(max_leaf_nodes=None, **limits), n_estimators=6, n_jobs=1, resample=drawn, random_state=0
        ).fit(binned, y[rows])
        for kind in KINDS
    ]
    splits = 0
    assert len(models[0].estimators_) == len(models[1].estimators_)
    for a, b in zip(*(m.estimators_ for m in models), strict=True):
        for name in ("feature", "threshold", "children", "starts", "lows", "missing_low"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        np.testing.assert_array_equal(a.values[a.feature < 0], b.values[a.feature < 0])
        splits += np.isin(a.feature, words).sum()
    assert splits > 10
    np.testing.assert_array_equal(*(m.decision_function(X) for m in models))


@pytest.mark.filterwarnings("ignore:.*kept no voter")
def test_nothing_to_split_is_said():
    model = AdaBoostClassifier(DecisionTree(max_leaf_nodes=None), n_estimators=3).fit(
        np.ones((20, 1)), np.arange(20) % 2
    )
    assert model.stop_reason_.startswith("no_edge")


@pytest.mark.filterwarnings("ignore:.*kept no voter")
def test_min_samples_split_counts_examples_not_rows():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 0])
    once, thrice = (
        AdaBoostClassifier(DecisionTree(max_leaf_nodes=leaves, min_samples_split=10), n_estimators=1).fit(
            X, y, sample_weight=np.full(4, weight)
        )
        for leaves, weight in ((None, 2), (None, 3))
    )
    assert once.n_estimators_ == 0
    assert thrice.estimators_[0].n_leaves == 2


# -- several classes -------------------------------------------------------------------------------------------------


def several(seed):
    """Return a table of few or many cuts, weights (some of them nothing, or next to it), classes and draws."""
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(5, 300)), int(rng.integers(2, 8))
    X = rng.normal(size=(n, 4)) if seed % 2 else rng.integers(0, rng.integers(2, 90), (n, 11)).astype(float)
    X[:, 1] = 3.0  # a constant column
    y = rng.integers(0, K, n)
    y[0] = K - 1
    w = rng.exponential(size=n) * 10.0 ** rng.integers(-3 if seed % 3 else -40, 1, n)
    w[rng.random(n) < 0.1] = 0.0
    w[0] = 1.0
    counts = rng.multinomial(n, np.full(n, 1 / n)).astype(np.int64) if seed % 5 == 0 else None
    mass = rng.uniform(0.5, 3.0, n) if seed % 7 == 0 and counts is None else None
    return X, Task("labels", w, class_numbers(y), counts=counts), mass


@pytest.mark.parametrize("limits", [{}, {"min_samples_split": 7}, {"max_depth": 3}], ids=str)
def test_trees_of_several_classes_are_those_of_the_general_way(limits):
    grown = 0
    for seed in range(25):
        X, task, mass = several(seed)
        rows = Masses(len(X), mass)
        table = Table.fit(X, rows, "exact", 1)
        found = []
        for strategy in ("full", "general"):
            session = TreeSession(DecisionTree(max_leaf_nodes=None, **limits), CpuSample(table, rows), strategy)
            one = session.best(task)
            found.append((one, None, None) if isinstance(one, Stop) else (one.voter, one.sums, one.votes))
        (a, sums, votes), (b, same_sums, same_votes) = found
        if isinstance(a, Stop):
            assert isinstance(b, Stop)
            continue
        grown += 1
        for name in ("feature", "threshold", "children", "values", "missing_low", "gains"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        np.testing.assert_array_equal(votes, same_votes)
        np.testing.assert_array_equal(votes, a.votes(table))
        assert sums == same_sums
    assert grown > 15


def test_whom_it_serves():
    """Not tables with missing numbers, nor classes on categories, nor other costs than the gini index."""
    X, task, _ = several(3)
    rows = Masses(len(X))

    def chosen(table, task, categories=None, **limits):
        session = TreeSession(DecisionTree(**limits), CpuSample(Table.fit(table, rows, 255, 1, categories), rows))
        session.best(task)
        return all(issubclass(strategy, Full) for strategy in session.growers)

    labels = Task("edge", task.weight, np.where(task.target > 0, 1.0, -1.0))
    assert chosen(X, task, max_leaf_nodes=None)
    assert chosen(X, labels, max_leaf_nodes=None, min_samples_split=9)
    assert not chosen(np.where(X > 2, np.nan, X), task, max_leaf_nodes=None)
    assert not chosen(X, task)
    assert not chosen(X, labels, max_leaf_nodes=None, min_samples_leaf=3)
    assert not chosen(X, Task("z", labels.weight, labels.target, {"smoothing": 0.1}), max_leaf_nodes=None)
    X[:, 0] = task.target % 3
    assert chosen(X, labels, {0: 3}, max_leaf_nodes=None)
    assert not chosen(X, task, {0: 3}, max_leaf_nodes=None)
