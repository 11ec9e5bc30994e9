"""Stumps and trees that name a class: against scikit-learn, against brute force, and in all their forms."""

from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.tree import DecisionTreeClassifier

import boostlab
from boostlab import AdaBoostM1Classifier, DecisionStump, DecisionTree, SAMMEClassifier
from boostlab.backend.cpu.threads import AtOnce
from boostlab.data.table import Table
from boostlab.learners.tree.fitted import FIELDS
from boostlab.learners.tree.learner import TreeSession


def table(seed, n=300, d=5, K=4, whole=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (np.abs(X[:, 0] + X[:, 1]) * 2 + (X[:, 2] > 0) + rng.random(n)).astype(int) % K
    return np.round(2 * X) if whole else X, y


class General(DecisionTree):
    """Trees that are grown node by node."""

    def begin(self, rows, rng):
        return TreeSession(self, rows, "general")


def fields(tree):
    return [getattr(tree, name) for name in FIELDS]


@pytest.mark.parametrize("K", [3, 7])
@pytest.mark.parametrize("limits", [{"max_leaf_nodes": 9}, {"max_leaf_nodes": 30, "max_depth": 2}])
def test_gini_splits_are_scikit_learns(K, limits):
    X, y = table(K, n=2000, K=K)  # so many that no two splits of a node are alike
    mass = np.random.default_rng(K).uniform(0.5, 2.0, len(y))
    ours = SAMMEClassifier(DecisionTree(**limits), max_bins="exact", n_estimators=1).fit(X, y, mass).estimators_[0]
    theirs = DecisionTreeClassifier(**limits, random_state=0).fit(X, y, mass)
    assert ours.n_leaves == theirs.get_n_leaves()
    inner = theirs.tree_.feature >= 0
    mine = ours.feature >= 0
    assert sorted(ours.feature[mine].tolist()) == sorted(theirs.tree_.feature[inner].tolist())
    assert ours.threshold[0] == pytest.approx(theirs.tree_.threshold[0], rel=1e-6)  # deeper, cuts are the sample's
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert ours.predict(X).dtype == np.int8
    shares = np.zeros(X.shape[1])
    np.add.at(shares, ours.feature[mine], ours.gains[mine])
    np.testing.assert_allclose(shares / shares.sum(), theirs.feature_importances_, atol=1e-9)


@pytest.mark.parametrize("K", [3, 7])
def test_a_stump_of_classes_is_scikit_learns_tree_of_depth_one(K):
    X, y = table(K, n=2000, K=K)
    mass = np.random.default_rng(K).uniform(0.5, 2.0, len(y))
    ours = SAMMEClassifier(max_bins="exact", n_estimators=1).fit(X, y, mass).estimators_[0]
    theirs = DecisionTreeClassifier(max_depth=1).fit(X, y, mass)
    assert ours.feature == theirs.tree_.feature[0]
    assert ours.threshold == pytest.approx(theirs.tree_.threshold[0], rel=1e-6)
    assert (ours.predict(X) == theirs.predict(X)).all()
    by_error = SAMMEClassifier(DecisionStump(criterion="error"), max_bins="exact", n_estimators=1).fit(X, y, mass)
    wrong = [mass @ (voter.predict(X) != y) for voter in (by_error.estimators_[0], ours)]
    assert wrong[0] < wrong[1]


def test_the_criterion_of_stumps():
    X, y = table(0)
    with pytest.raises(ValueError, match='criterion=\'entropy\' is not known; use "gini" or "error"'):
        SAMMEClassifier(DecisionStump(criterion="entropy")).fit(X, y)
    two = [SAMMEClassifier(DecisionStump(criterion=c), n_estimators=9).fit(X, y > 1) for c in ("gini", "error")]
    assert repr(two[0].estimators_) == repr(two[1].estimators_)  # two classes: AdaBoost's stumps


@pytest.mark.parametrize("limits", [{"max_leaf_nodes": 8}, {"max_leaf_nodes": 8, "max_depth": 2}])
@pytest.mark.parametrize(("missing", "max_bins"), [(0.0, 255), (0.2, 255), (0.2, 300)])
def test_one_compiled_call_and_the_general_way_agree(limits, missing, max_bins):
    rng = np.random.default_rng(1)
    X, y = table(1, n=600, whole=max_bins == 255)
    if max_bins == 300:
        X[:, :4] = np.round(100 * X[:, :4])  # codes of two bytes
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 3] = 1.0
    mass = rng.integers(1, 4, 600)
    options = {"max_bins": max_bins, "n_estimators": 12}
    made = [SAMMEClassifier(kind(**limits), **options).fit(X, y, mass) for kind in (DecisionTree, General)]
    for one, two in zip(*(m.estimators_ for m in made), strict=True):
        *structure, gains = zip(fields(one), fields(two), strict=True)
        assert all(np.array_equal(a, b) for a, b in structure)
        np.testing.assert_allclose(*gains, rtol=1e-9)
    assert made[0].history_["error"].tolist() == made[1].history_["error"].tolist()
    assert np.array_equal(made[0].decision_function(X), made[1].decision_function(X))


def test_limits_on_leaves():
    X, y = table(2, n=1000)
    model = SAMMEClassifier(DecisionTree(min_samples_leaf=40, max_leaf_nodes=12), max_bins="exact", n_estimators=3).fit(
        X, y
    )
    for tree in model.estimators_:
        assert np.bincount(tree.leaf_of(Table.raw(X)))[tree.feature < 0].min() >= 40
    theirs = DecisionTreeClassifier(min_samples_leaf=40, max_leaf_nodes=12).fit(X, y)
    assert (model.estimators_[0].predict(X) == theirs.predict(X)).all()
    pruned = SAMMEClassifier(DecisionTree(ccp_alpha=0.004, max_leaf_nodes=12), max_bins="exact", n_estimators=1)
    pruned = pruned.fit(X, y).estimators_[0]
    theirs = DecisionTreeClassifier(ccp_alpha=0.004, max_leaf_nodes=12).fit(X, y)
    assert pruned.n_leaves == theirs.get_n_leaves() < 12
    grown = SAMMEClassifier(DecisionTree(max_leaf_nodes=None), max_bins="exact", n_estimators=1).fit(X, y)
    assert grown.score(X, y) == 1.0


def test_sparse_tables_and_threads_give_the_same_bits():
    X, y = table(3, n=700, d=9, whole=True)
    X[np.random.default_rng(3).random(X.shape) < 0.6] = 0.0
    for options in ({}, {"max_leaf_nodes": 6}):
        dense = SAMMEClassifier(n_estimators=8, **options).fit(X, y)
        sparse = SAMMEClassifier(n_estimators=8, **options).fit(scipy.sparse.csr_matrix(X), y)
        assert np.array_equal(dense.estimator_weights_, sparse.estimator_weights_)
        assert np.array_equal(dense.decision_function(X), sparse.decision_function(scipy.sparse.csr_matrix(X)))


def test_categories_of_two_classes_are_split_by_the_best_subset():
    rng = np.random.default_rng(4)
    c = rng.integers(0, 6, 200)
    y = (rng.random(200) < np.array([0.9, 0.2, 0.6, 0.1, 0.7, 0.4])[c]).astype(int)
    model = SAMMEClassifier(categorical_features=[0], n_estimators=1).fit(c[:, None], y)
    subsets = chain.from_iterable(combinations(range(6), k) for k in range(1, 6))
    errors = [min((np.isin(c, s) != y).mean(), (np.isin(c, s) == y).mean()) for s in subsets]
    assert model.history_["error"][0] == pytest.approx(min(errors), abs=1e-12)


def test_categories_missing_values_and_files(tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"c": pd.Categorical(rng.choice(list("abcdefg"), 300)), "x": rng.normal(size=300)})
    y = (frame.c.cat.codes.to_numpy() // 2 + (frame.x > 0.5)).to_numpy() % 4
    frame.loc[::7, "c"], frame.loc[::5, "x"] = None, np.nan
    for model in (SAMMEClassifier(n_estimators=30), AdaBoostM1Classifier(max_leaf_nodes=16, n_estimators=10)):
        model.fit(frame, y)
        assert model.score(frame, y) > 0.5
        assert "CategoryStump" in {type(v).__name__ for v in model.estimators_} or model.max_leaf_nodes
        model.save(tmp_path / "model")
        again = boostlab.load(tmp_path / "model")
        assert np.array_equal(again.decision_function(frame), model.decision_function(frame))
        assert [type(v) for v in again.estimators_] == [type(v) for v in model.estimators_]
        *_, last = again.staged_decision_function(frame)
        np.testing.assert_allclose(last, model.decision_function(frame), atol=1e-10)
        assert again.feature_importances_.tolist() == model.feature_importances_.tolist()


def test_stumps_name_two_classes_and_collapse_to_a_table():
    X, y = table(6)
    model = SAMMEClassifier(n_estimators=40).fit(X, y)
    assert model._ensemble.table is not None
    F = np.zeros((len(y), 4))
    for stump, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        assert stump.bound == 1.0
        F[np.arange(len(y)), np.where(X[:, stump.feature] <= stump.threshold, stump.left, stump.right)] += alpha
    np.testing.assert_allclose(model.decision_function(X), (F - F.mean(axis=1)[:, None]) * 4 / 3, atol=1e-10)
    used = [s.feature for s, a in zip(model.estimators_, model.estimator_weights_, strict=True) if s.left != s.right]
    assert (model.feature_importances_ > 0).tolist() == [j in used for j in range(5)]


def test_three_hundred_classes():
    X, y = np.arange(600.0)[:, None], np.repeat(np.arange(300), 2)
    model = SAMMEClassifier(DecisionTree(max_leaf_nodes=None), max_bins="exact").fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.estimators_[0].values.dtype == np.int16


@pytest.mark.parametrize("leaves", [2, 8, None])
def test_threads_change_no_bit_of_a_tree(leaves):
    """One thread grows them in a compiled call, several split by split: gains, and so importances, are the same."""
    X, y = table(7)
    weight = np.random.default_rng(7).random(len(y)) + 0.1
    one, *more = (
        SAMMEClassifier(DecisionTree(max_leaf_nodes=leaves, max_depth=5), n_estimators=8, n_jobs=jobs).fit(X, y, weight)
        for jobs in (1, AtOnce(2), AtOnce(3))
    )
    for model in more:
        assert model.feature_importances_.tolist() == one.feature_importances_.tolist()
        for a, b in zip(one.estimators_, model.estimators_, strict=True):
            assert all(map(np.array_equal, fields(a), fields(b)))
