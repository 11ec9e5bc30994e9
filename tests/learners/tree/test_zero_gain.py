"""Splits without gain: trees learn what no single split helps with (XOR), as CART's and scikit-learn's do."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boostlab import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    DecisionTree,
    GentleBoostClassifier,
    L2BoostClassifier,
    LogitBoostClassifier,
    SAMMEClassifier,
)
from boostlab.backend import CpuSample, Masses
from boostlab.backend.cpu.trees.full import Full
from boostlab.contract import Stop, Task
from boostlab.data.table import Table
from boostlab.learners.criteria import GROWTH, Gini, z
from boostlab.learners.tree.fitted import FIELDS
from boostlab.learners.tree.learner import TreeSession
from tables import class_numbers

XOR, ODD = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]] * 5), np.array([0, 1, 1, 0] * 5)
LIMITS = [{"max_depth": 2}, {"max_leaf_nodes": 4}, {"max_leaf_nodes": None}, {"max_depth": 2, "min_samples_leaf": 3}]
BOOSTERS = [
    (AdaBoostClassifier, {}),
    (AdaBoostClassifier, {"algorithm": "real"}),
    (AdaBoostMHClassifier, {}),
    (AdaBoostMHClassifier, {"votes": "real"}),
    (GentleBoostClassifier, {}),
    (L2BoostClassifier, {}),
    (LogitBoostClassifier, {}),
    (SAMMEClassifier, {}),
]


def grow(X, task, threads=1, mass=None, categories=None, strategy=None, **limits):
    if task.criterion == "labels":
        task.target = class_numbers(task.target)
    rows = Masses(len(X), mass)
    table = Table.fit(X, rows, "exact", threads, categories)
    found = TreeSession(DecisionTree(**limits), CpuSample(table, rows), strategy).best(task)
    return found if isinstance(found, Stop) else found.voter


@pytest.mark.parametrize(("booster", "options"), BOOSTERS, ids=lambda x: getattr(x, "__name__", str(x)))
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_xor_is_learnt(booster, options, limits):
    model = booster(DecisionTree(**limits), n_estimators=2, **options).fit(XOR, ODD)
    assert model.score(XOR, ODD) == 1.0
    assert model.estimators_[0].n_leaves == 4


@pytest.mark.parametrize("booster", [AdaBoostClassifier, LogitBoostClassifier, SAMMEClassifier])
def test_xor_is_learnt_from_a_sparse_table(booster):
    """Columns of zeros have no slots, the first and the last one among them."""
    X = scipy.sparse.csr_matrix(np.column_stack([np.zeros(20), XOR, np.zeros(20)]))
    model = booster(DecisionTree(max_depth=2), n_estimators=2).fit(X, ODD)
    assert model.score(X, ODD) == 1.0


def test_a_single_split_of_xor_gains_nothing():
    tree = grow(XOR, Task("edge", np.ones(20), 2.0 * ODD - 1), max_leaf_nodes=2)
    assert tree.feature.tolist() == [0, -1, -1]
    assert tree.gains.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("criterion", ["edge", "z", "least_squares", "labels"])
def test_rows_are_parted_evenly(criterion):
    """On a grid every cut of either column is without gain; the middle one opens the way at once."""
    X = np.stack([a.ravel() for a in np.mgrid[:10, :10]], axis=1).astype(float)
    y = (X[:, 0] < 5) ^ (X[:, 1] < 5)
    target = y.astype(int) if criterion == "labels" else 2.0 * y - 1
    tree = grow(X, Task(criterion, np.ones(100), target, {"smoothing": 0.01}), max_depth=2)
    assert (tree.feature[0], tree.threshold[0], tree.n_leaves) == (0, 4.5, 4)
    assert np.array_equal(np.sign(tree.predict(X)), np.sign(target))


def test_gains_come_first():
    """One half of the table is XOR, in the other a cut gains: two leaves are for the gains, the rest for XOR."""
    X = np.vstack([np.column_stack([XOR, np.zeros(20)]), np.column_stack([XOR, np.ones(20)])])
    y = np.where(X[:, 2] == 0, np.tile(ODD, 2), X[:, 0]) * 2.0 - 1
    gains = [grow(X, Task("edge", np.ones(40), y), max_leaf_nodes=k).gains for k in range(2, 9)]
    positive = [int((g > 0).sum()) for g in gains]
    splits = [len(g) // 2 for g in gains]
    assert positive[:2] == splits[:2] == [1, 2]
    assert np.array_equal(grow(X, Task("edge", np.ones(40), y), max_leaf_nodes=8).predict(X), y)


@pytest.mark.parametrize("criterion", ["edge", "z", "least_squares", "labels"])
def test_pure_leaves_and_equal_rows_are_left_alone(criterion):
    y = np.array([0, 0, 1, 1, 0, 1])
    target = y if criterion == "labels" else 2.0 * y - 1
    X = np.array([[0.0, 3], [0, 4], [1, 3], [1, 4], [2, 5], [2, 5]])  # the last two are one point with two labels
    tree = grow(X, Task(criterion, np.ones(6), target, {"smoothing": 0.01}), max_leaf_nodes=None)
    assert tree.n_leaves == 3
    same = np.ones(6, int) if criterion == "labels" else np.full(6, 0.1)
    if criterion != "labels":
        stop = grow(X, Task("least_squares", np.ones(6), same), max_leaf_nodes=None)
        assert isinstance(stop, Stop)


def small_table(seed):
    """A table with many ties, points that occur with several labels, and weights that are equal or whole numbers."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 5))
    X = rng.integers(0, rng.integers(2, 4), (n, d)).astype(float)
    y = rng.integers(0, 2 + seed % 3, n)
    y[:2] = 0, 1
    return X, y, np.ones(n) if seed % 2 else rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("strategy", ["general", "best_first", "best_first_small", "full", "presorted"])
def test_full_trees_err_as_scikit_learns_do(strategy):
    for seed in range(25):
        X, y, w = small_table(seed)
        binary = 2.0 * (y > 0) - 1
        for criterion, target in (("edge", binary), ("labels", y), ("least_squares", y.astype(float))):
            if criterion in {"full": ("least_squares",), "presorted": ("least_squares", "labels")}.get(strategy, ()):
                continue
            tree = grow(X, Task(criterion, w, target), max_leaf_nodes=None, strategy=strategy)
            learner = DecisionTreeRegressor if criterion == "least_squares" else DecisionTreeClassifier
            theirs = learner(random_state=0).fit(X, target, w).predict(X)
            ours = np.full(len(X), np.nan) if isinstance(tree, Stop) else tree.predict(X)
            if isinstance(tree, Stop):
                assert len(np.unique(target)) == 1 or (X[0] == X).all()
            elif criterion == "least_squares":
                assert w @ (ours - target) ** 2 == pytest.approx(w @ (theirs - target) ** 2, abs=1e-9)
            else:
                assert w @ (ours != target) == w @ (theirs != target)


def fields(tree):
    return tree if isinstance(tree, Stop) else [getattr(tree, name).tobytes() for name in FIELDS]


@pytest.mark.parametrize("criterion", ["edge", "z", "least_squares", "labels", "hamming_z"])
@pytest.mark.parametrize("limits", [{"max_leaf_nodes": 5}, {"max_leaf_nodes": None}, {"max_depth": 2}], ids=str)
def test_rows_may_come_in_any_order_and_by_any_number_of_threads(criterion, limits):
    for seed in range(10):
        X, y, w = small_table(seed)
        rng = np.random.default_rng(seed)
        X = np.column_stack([X, rng.integers(0, 3, len(X))])
        X[rng.random(X.shape) < 0.1 * (seed % 3)] = np.nan
        order = rng.permutation(len(X))
        target = {"labels": y, "hamming_z": 2.0 * (y[:, None] == np.arange(3)) - 1}.get(criterion, 2.0 * (y > 0) - 1)
        w = np.repeat(w[:, None], 3, axis=1) if criterion == "hamming_z" else w
        tasks = [Task(criterion, a, b, {"smoothing": 0.01}) for a, b in ((w, target), (w[order], target[order]))]
        one, other = (
            grow(x, t, categories={X.shape[1] - 1: 3}, **limits) for x, t in zip((X, X[order]), tasks, strict=True)
        )
        assert fields(one) == fields(other)
        assert fields(one) == fields(grow(X, tasks[0], threads=3, categories={X.shape[1] - 1: 3}, **limits))


def test_pruning_takes_splits_without_gain_back_with_what_they_opened():
    w, y = np.ones(20), 2.0 * ODD - 1
    tree = grow(XOR, Task("edge", w, y), max_leaf_nodes=None)
    assert np.allclose(tree.prices()[:3], (tree.gains.sum() / 3))  # three splits that only pay together
    price = float(tree.prices()[0])
    assert grow(XOR, Task("edge", w, y), max_leaf_nodes=None, ccp_alpha=price * 0.99).n_leaves == 4
    assert isinstance(grow(XOR, Task("edge", w, y), max_leaf_nodes=None, ccp_alpha=price * 1.01), Stop)
    single = grow(XOR, Task("edge", w, y), max_leaf_nodes=2)
    assert single.n_leaves == 2
    assert isinstance(grow(XOR, Task("edge", w, y), max_leaf_nodes=2, ccp_alpha=1e-6), Stop)
    table = Table.fit(XOR, Masses(20), "exact", 1)
    assert np.array_equal(tree.pruned_votes(table, np.array([0.0, price * 0.99]))[0], y)


# -- another impurity ------------------------------------------------------------------------------------------------


class Roots(Gini):
    """Another impurity of two labels: Real AdaBoost's, whose trees are compiled anyway."""

    @property
    def cost(self):
        return z


def test_another_impurity_is_not_taken_for_gini(monkeypatch):
    """Full trees have a compiled way for the gini index alone: other costs are not sent there."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (300, 4)).astype(float)
    y = np.where(rng.random(300) < 0.2 + 0.6 * (X[:, 0] * X[:, 1] > 200), 1.0, -1.0)
    task, limits = Task("edge", np.ones(300), y), {"max_leaf_nodes": None, "max_depth": 4}
    rows = Masses(300)
    sample = CpuSample(Table.fit(X, rows, "exact", 1), rows)
    assert Full.serves(DecisionTree(**limits), sample, Gini(), task)
    assert not Full.serves(DecisionTree(**limits), sample, Roots(), task)
    gini = grow(X, task, **limits)
    monkeypatch.setitem(GROWTH, "roots", {"edge": Roots()})
    by_roots = {"criterion": "roots", **limits}
    assert fields(grow(X, task, strategy="general", **by_roots)) != fields(gini)
    assert fields(grow(X, task, **by_roots)) == fields(grow(X, task, strategy="general", **by_roots))
    with pytest.raises(ValueError, match="full does not serve this task"):
        grow(X, task, strategy="full", **by_roots)


def test_a_user_names_what_trees_grow_by():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (200, 3)).astype(float)
    classes = np.digitize(X[:, 0] + X[:, 1] * (X[:, 2] > 4) + rng.normal(size=200), [4, 8])
    fits = {
        named: SAMMEClassifier(DecisionTree(4, criterion=named), n_estimators=2).fit(X, classes)
        for named in (None, "gini", "error")
    }
    first = {named: fields(model.estimators_[0]) for named, model in fits.items()}
    assert first[None] == first["gini"] != first["error"]
    right = {named: (model.estimators_[0].votes(Table(X)) == classes).mean() for named, model in fits.items()}
    assert right["error"] >= 0.9 * right["gini"]  # both are greedy: neither is the best tree


@pytest.mark.parametrize(
    ("booster", "criterion", "sentence"),
    [
        (
            LogitBoostClassifier,
            "gini",
            r"LogitBoostClassifier needs .* 'least_squares', and DecisionTree\(criterion='gini'\) offers only 'edge', "
            r"'labels'; leave the tree's criterion out\.",
        ),
        (
            AdaBoostClassifier,
            "error",
            r"needs .* 'edge', and DecisionTree\(criterion='error'\) offers only 'labels'; ",
        ),
        (AdaBoostClassifier, "variance", r"DecisionTree: criterion='variance' is not possible; use None, \"gini\" or "),
    ],
)
def test_where_a_rule_needs_its_own_another_is_refused(booster, criterion, sentence):
    with pytest.raises(ValueError, match=sentence):
        booster(DecisionTree(criterion=criterion)).fit(XOR, ODD)
