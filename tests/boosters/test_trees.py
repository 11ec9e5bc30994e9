"""Trees as weak learners, through every booster that can use them."""

from __future__ import annotations

import copy
import pickle
import re
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from boosters.boosted_trees import VARIANTS, all_but, every, same_model
from boostlab import (
    AdaBoostClassifier,
    DecisionStump,
    DecisionTree,
    EBBoostClassifier,
    LogitBoostClassifier,
    VoterPool,
)
from boostlab.backend.cpu.threads import AtOnce
from boostlab.learners.tree.fitted import Tree
from tables import noisy_table
from variants import PROGRAMS

# -- asking for trees ---------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    ("ask", "learner"),
    [
        ({"max_depth": 2}, DecisionTree(max_leaf_nodes=None, max_depth=2)),
        ({"max_leaf_nodes": 5}, DecisionTree(max_leaf_nodes=5)),
        ({"max_depth": 2, "max_leaf_nodes": 3}, DecisionTree(max_leaf_nodes=3, max_depth=2)),
        ({"estimator": "tree"}, DecisionTree()),
        ({"estimator": "tree", "max_depth": 5}, DecisionTree(max_leaf_nodes=None, max_depth=5)),
    ],
    ids=str,
)
def test_the_shorthand_is_the_object(make, ask, learner, table):
    X, y = table
    short = make(n_estimators=3, random_state=0, **ask).fit(X, y)
    long = make(estimator=learner, n_estimators=3, random_state=0).fit(X, y)
    assert all(type(v) is Tree for v in short.estimators_)
    assert short.n_estimators_ > 0
    assert same_model(short, long)
    for tree in short.estimators_:
        assert tree.n_leaves <= (learner.max_leaf_nodes or 99)
        assert tree.depth <= (learner.max_depth or 99)
    assert max(tree.n_leaves for tree in short.estimators_) > 2  # no mere stumps


@pytest.mark.parametrize("ask", [{"max_depth": 2}, {"max_leaf_nodes": 4}, {"estimator": "tree"}], ids=str)
def test_ebboost_names_the_booster_that_can(ask, table):
    with pytest.raises(ValueError, match="VadaBoostClassifier") as raised:
        EBBoostClassifier(**ask).fit(*table)
    assert "DecisionTree offers only" in str(raised.value)
    assert "'svp'" in str(raised.value)


@pytest.mark.parametrize(
    "ask", [{"max_depth": 2}, {"max_leaf_nodes": 4}, {"max_depth": 2, "max_leaf_nodes": 4}], ids=str
)
@pytest.mark.parametrize(
    "estimator", [DecisionStump(), DecisionTree(), VoterPool(), LogisticRegression(), "stump", "forest"], ids=repr
)
def test_an_estimator_and_a_limit_do_not_go_together(ask, estimator, table):
    with pytest.raises(ValueError, match="max_depth and max_leaf_nodes ask for a tree") as raised:
        AdaBoostClassifier(estimator, **ask).fit(*table)
    assert repr(estimator) in str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"max_depth": 0}, "max_depth"),
        ({"max_depth": 1.5}, "max_depth"),
        ({"max_depth": "deep"}, "max_depth"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"max_leaf_nodes": -3}, "max_leaf_nodes"),
        ({"estimator": DecisionTree(max_depth=0)}, "DecisionTree: max_depth=0 is not possible"),
        ({"estimator": DecisionTree(ccp_alpha=-1)}, "DecisionTree: ccp_alpha=-1 is not possible"),
        ({"estimator": DecisionTree}, "is not a weak learner"),
        ({"estimator": "trees"}, "is not a weak learner"),
    ],
    ids=str,
)
def test_wrong_limits_are_named(wrong, match, table):
    with pytest.raises(ValueError, match=match):
        AdaBoostClassifier(**wrong).fit(*table)


def test_limits_of_the_object_can_be_searched_over(table):
    model = AdaBoostClassifier(DecisionTree(max_depth=2), n_estimators=2)
    other = clone(model).set_params(estimator__max_depth=1).fit(*table)
    assert [t.depth for t in other.estimators_] == [1, 1]
    assert [t.depth for t in clone(model).fit(*table).estimators_] == [2, 2]


# -- scikit-learn's trees -----------------------------------------------------------------------------------------


def adaboost_by_hand(X, y, mass, rounds, **limits):
    """Freund and Schapire's algorithm on scikit-learn's trees."""
    w, F, errors, leaves = mass / mass.sum(), np.zeros(len(y)), [], []
    for _ in range(rounds):
        tree = DecisionTreeClassifier(criterion="gini", random_state=0, **limits).fit(X, y, w)
        h = tree.predict(X)
        errors.append(w[h != y].sum())
        t = tree.tree_  # scikit-learn may split a pure node whose impurity is of rounding size: not counted
        cost, inner = t.impurity * t.weighted_n_node_samples, t.children_left >= 0
        gains = cost[inner] - cost[t.children_left[inner]] - cost[t.children_right[inner]]
        leaves.append(1 + (gains > 1e-12).sum())
        alpha = 0.5 * np.log((1 - errors[-1]) / errors[-1])
        F += alpha * h
        w = w * np.exp(-alpha * y * h)
        w /= w.sum()
    return F, np.array(errors), leaves


@pytest.mark.parametrize(
    "limits",
    [
        {"max_leaf_nodes": 4},
        {"max_leaf_nodes": 8},
        {"max_depth": 2},
        {"max_depth": 3},
        {"max_leaf_nodes": 10, "max_depth": 4},
        {"max_leaf_nodes": 12, "ccp_alpha": 0.006},
        {"max_depth": 3, "ccp_alpha": 0.004},
    ],
    ids=str,
)
def test_thirty_rounds_of_adaboost_as_with_scikit_learns_trees(limits):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(400, 4)).astype(np.float32)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=400) > 0.2, 1, -1)
    mass = rng.uniform(0.3, 2.0, 400)  # no ties
    tree = DecisionTree(**{"max_leaf_nodes": None, **limits})
    model = AdaBoostClassifier(tree, n_estimators=30, max_bins="exact").fit(X, y, mass)
    F, errors, leaves = adaboost_by_hand(X, y, mass, 30, **limits)
    assert model.n_estimators_ == 30
    assert np.allclose(model.history_["error"], errors, rtol=0, atol=1e-9)
    assert np.allclose(model.decision_function(X), F, rtol=0, atol=1e-6)
    assert np.array_equal(model.predict(X), np.where(F > 0, 1, -1))
    assert [t.n_leaves for t in model.estimators_] == leaves


@pytest.mark.parametrize("least", [5, 25])
def test_smallest_leaves_as_scikit_learns(least):
    rng = np.random.default_rng(13)  # where no leaf of equal weights is split evenly between the classes
    X = rng.normal(size=(300, 5)).astype(np.float32)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=300) > 0.2, 1, -1)
    limits = {"max_leaf_nodes": 6, "min_samples_leaf": least}
    model = AdaBoostClassifier(DecisionTree(**limits), n_estimators=15, max_bins="exact").fit(X, y)
    F, errors, leaves = adaboost_by_hand(X, y, np.ones(300), 15, **limits)
    assert np.allclose(model.history_["error"], errors, rtol=0, atol=1e-9)
    assert np.array_equal(model.predict(X), np.where(F > 0, 1, -1))
    assert [t.n_leaves for t in model.estimators_] == leaves


def test_a_tree_of_two_leaves_is_the_stump_of_real_adaboost_and_logitboost(table):
    X, y = table
    for make in (partial(AdaBoostClassifier, algorithm="real"), LogitBoostClassifier):
        tree, stump = make(n_estimators=20, max_depth=1).fit(X, y), make(n_estimators=20).fit(X, y)
        assert np.allclose(tree.decision_function(X), stump.decision_function(X), rtol=1e-12)
        for t, s in zip(tree.estimators_, stump.estimators_, strict=True):
            assert (t.feature[0], t.threshold[0]) == (s.feature, s.threshold)
            assert t.values[1:] == pytest.approx([s.left, s.right], rel=1e-12)


# -- the vote -----------------------------------------------------------------------------------------------------


@every
def test_all_ways_to_the_vote_agree(make, table):
    X, y = table
    X_new, y_new = noisy_table(150, seed=9)
    model = make(n_estimators=12, max_leaf_nodes=5, random_state=0).fit(X, y)
    rounds = model.n_estimators_
    assert rounds > 0
    for A, b in ((X, y), (X_new, y_new)):
        F = model.decision_function(A)
        scale = max(model._ensemble.bound, 1.0)
        stages = list(model.staged_decision_function(A))
        assert len(stages) == rounds
        assert np.abs(stages[-1] - F).max() < 1e-12 * scale
        assert np.array_equal(model.predict(A), model.classes_[(F > 0).astype(int)])
        P = model.predict_proba(A)
        assert np.array_equal(P.argmax(axis=1), (F > 0).astype(int))
        assert np.abs(P.sum(axis=1) - 1).max() < 1e-12
        assert np.abs(list(model.staged_predict_proba(A))[-1] - P).max() < 1e-9
        assert np.array_equal(list(model.staged_predict(A))[-1], model.predict(A))
        margins = model.margins(A, b)
        assert np.abs(margins).max() <= 1 + 1e-12
        assert np.array_equal(margins > 0, (model.predict(A) == b) & (F != 0))
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert (model.feature_importances_ >= 0).all()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert same_model(model, other)
        assert np.array_equal(other.decision_function(X_new), model.decision_function(X_new))


@all_but("WeightBoostClassifier")  # its voters are not heard equally everywhere
def test_the_vote_is_the_sum_of_the_voters(make, table):
    X, y = table
    model = make(n_estimators=8, max_depth=2, random_state=0).fit(X, y)
    X_new = noisy_table(100, seed=5)[0]
    votes = [v.predict(X_new) for v in model.estimators_]
    if model._ensemble.rule.needs == "labels":  # these name a class
        votes = [np.eye(2)[h] for h in votes]
    F = sum(a * h for a, h in zip(model.estimator_weights_, votes, strict=True))
    F = F[:, 1] - F[:, 0] if F.ndim == 2 else F
    assert np.allclose(model.decision_function(X_new), F, atol=1e-12 * max(model._ensemble.bound, 1.0))


def test_importances_name_the_columns_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    y = (X[:, 1] * X[:, 3] > 0).astype(int)
    model = AdaBoostClassifier(max_leaf_nodes=8, n_estimators=40).fit(X, y)
    assert model.feature_importances_[[1, 3]].sum() > 0.75
    one = AdaBoostClassifier(max_leaf_nodes=8, n_estimators=1).fit(X, y)
    tree = one.estimators_[0]
    expected = [tree.gains[tree.feature == j].sum() for j in range(5)]
    assert np.allclose(one.feature_importances_, expected / np.sum(expected), atol=1e-12)


# -- the same bits ------------------------------------------------------------------------------------------------


@every
def test_warm_start_equals_one_long_fit(make, table):
    X, y = table
    long = make(n_estimators=14, max_leaf_nodes=4, random_state=1).fit(X, y)
    grown = make(n_estimators=3, max_leaf_nodes=4, random_state=1, warm_start=True).fit(X, y)
    for n in (4, 14):
        grown.set_params(n_estimators=n).fit(X, y)
    assert same_model(long, grown)
    assert grown.stop_reason_ == long.stop_reason_
    with pytest.raises(ValueError, match="the parameter max_leaf_nodes changed"):
        grown.set_params(max_leaf_nodes=5).fit(X, y)


@all_but(*PROGRAMS)  # of several optima a solver may choose another one for copies
def test_row_order_and_copies(make, table):
    X, y = table
    rng = np.random.default_rng(5)
    k = rng.integers(1, 4, len(y))
    origin = rng.permutation(np.repeat(np.arange(len(y)), k))
    make = partial(make, n_estimators=8, max_leaf_nodes=6, random_state=7)
    a, b = make().fit(X, y, k), make().fit(X[origin], y[origin])
    assert same_model(a, b)
    assert np.array_equal(a.decision_function(X), b.decision_function(X))


def test_threads():
    X, y = noisy_table(20_000, 30, seed=2)  # enough cells for threads to start
    a, b = (AdaBoostClassifier(max_leaf_nodes=6, n_estimators=3, n_jobs=jobs).fit(X, y) for jobs in (1, AtOnce(4)))
    assert same_model(a, b)
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))


def test_float32(table):
    X, y = table[0].astype(np.float32), table[1]
    a = AdaBoostClassifier(max_leaf_nodes=6, n_estimators=8).fit(X, y)
    b = AdaBoostClassifier(max_leaf_nodes=6, n_estimators=8).fit(X.astype(np.float64), y)
    assert same_model(a, b)
    assert np.array_equal(a.decision_function(X), b.decision_function(X.astype(np.float64)))


# -- stopping -----------------------------------------------------------------------------------------------------


def test_early_stopping_on_a_validation_set(table):
    X, y = table
    X_val, y_val = noisy_table(200, seed=9)
    kwargs = dict(n_estimators=500, early_stopping=True, n_iter_no_change=7, scoring="error")
    model = AdaBoostClassifier(max_leaf_nodes=6, **kwargs)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    curve = model.history_["validation_score"]
    assert model.stop_reason_.startswith("patience")
    assert model.n_estimators_ == int(np.argmin(curve)) + 1 == len(curve) - 7
    long = AdaBoostClassifier(max_leaf_nodes=6, n_estimators=len(curve)).fit(X, y)
    errors = [np.mean(p != y_val) for p in long.staged_predict(X_val)]
    assert np.allclose(errors, curve, atol=1e-12)


def test_a_tree_without_errors_ends_training():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(int)
    model = AdaBoostClassifier(DecisionTree(max_leaf_nodes=None)).fit(X, y)
    assert model.stop_reason_.startswith("perfect")
    assert model.n_estimators_ == 1
    assert model.score(X, y) == 1.0


@every
def test_nothing_to_split_keeps_no_voter(make):
    """Equal rows of both classes are impure, and no split parts them."""
    model = make(max_depth=2)
    with pytest.warns(UserWarning, match="kept no voter"):
        model.fit(np.full((20, 3), 2.5), [0, 1] * 10)
    assert re.match("no_edge: .*(no split gains anything|there is nothing to split)", model.stop_reason_)


def test_an_impure_node_is_split_without_gain():
    """No first split of XOR gains anything; the second ones part the classes."""
    xor, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), [0, 1, 1, 0] * 5
    model = AdaBoostClassifier(max_depth=2).fit(xor, y)
    assert model.stop_reason_.startswith("perfect")
    assert model.score(xor, y) == 1.0
    with pytest.warns(UserWarning, match="kept no voter"):
        AdaBoostClassifier(max_depth=1).fit(xor, y)


@pytest.mark.parametrize("name", ["AdaBoostClassifier", "real", "LogitBoostClassifier"])
def test_many_rounds_stay_finite(name):
    X, y = noisy_table(60, 3, flips=0.3, seed=4)
    model = VARIANTS[name](max_depth=2, n_estimators=600).fit(X, y)
    assert model.n_estimators_ > 5
    for values in (model.decision_function(X), model.predict_proba(X), model.estimator_weights_):
        assert np.isfinite(values).all()
    assert all(np.isfinite(column).all() for column in model.history_.values())
    assert np.abs(model.margins(X, y)).max() <= 1 + 1e-9
    assert model.score(X, y) > 0.85
