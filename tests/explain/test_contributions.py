"""Shapley values: against all 2^d coalitions, against the package shap, and their sums."""

from __future__ import annotations

import io
import pickle
from functools import partial
from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from boostlab import (
    AdaBoostClassifier,
    ECOCClassifier,
    LogitBoostClassifier,
    PairwiseClassifier,
    WeightBoostClassifier,
    load,
)
from boostlab.explain.parts import parts_of
from explain.models import MODELS, fitted, rows, scores_of, table


def goes_low(forest, node, x):
    value = x[forest.feature[node]]
    if np.isnan(value):
        return forest.missing_low[node]
    members = forest.lows[forest.starts[node] : forest.starts[node + 1]]
    return members[int(value)] if len(members) else value <= forest.threshold[node]


def by_shares(forest, x, known):
    """The mean of the leaves that a row may reach, where only some features are known."""

    def below(node):
        j, (low, high) = forest.feature[node], forest.children[node]
        if j < 0:
            return forest.values[node]
        if j in known:
            return below(low if goes_low(forest, node, x) else high)
        p = forest.low_share[node]
        return p * below(low) + (1 - p) * below(high)

    return sum((below(root) for root in forest.roots[:-1]), np.zeros(forest.width))


def by_rows(forest, x, known, background):
    mixed = background.copy()
    mixed[:, list(known)] = x[list(known)]
    return np.mean([by_shares(forest, z, set(range(len(x)))) for z in mixed], axis=0)


def brute_force(game, d):
    """The definition of the Shapley value: the mean over all orders of what a feature adds."""
    worth = {s: game(set(s)) for k in range(d + 1) for s in combinations(range(d), k)}
    phi = []
    for j in range(d):
        others = [k for k in range(d) if k != j]
        total = 0.0
        for size in range(d):
            weight = factorial(size) * factorial(d - 1 - size) / factorial(d)
            for s in combinations(others, size):
                total = total + weight * (worth[tuple(sorted((*s, j)))] - worth[s])
        phi.append(total)
    return np.array(phi)


@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_all_coalitions(name):
    model = fitted(name)
    X = rows(model, 3)
    parts, d = parts_of(model), model.n_features_in_
    told = model.contributions(X)
    background = model.contributions(rows(model, 7))
    interventional = model.contributions(X, background=rows(model, 7))
    assert interventional.base_values[0] == pytest.approx(scores_of(model, rows(model, 7)).mean(axis=0), abs=1e-12)
    for i, x in enumerate(told.data):
        games = (
            lambda p, s, x=x: by_shares(p.forest, x, s) @ p.matrix,
            lambda p, s, x=x: by_rows(p.forest, x, s, background.data) @ p.matrix,
        )
        wanted = [np.concatenate([brute_force(partial(game, p), d) for p in parts.votes], axis=1) for game in games]
        for found, phi in zip((told, interventional), wanted, strict=True):
            assert found.values[i].reshape(d, -1) == pytest.approx(phi, abs=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_values_add_up_to_the_score(name):
    model = fitted(name)
    X = rows(model, 240)
    wanted = scores_of(model, X)
    for told in (model.contributions(X), model.contributions(X, background=rows(model, 20))):
        assert told.scores == pytest.approx(wanted, abs=1e-12 * max(1.0, np.abs(wanted).max()))
        assert told.values.shape[:2] == X.shape
        assert told.values.ndim == wanted.ndim + 1


@pytest.mark.filterwarnings("ignore:.* kept no voter")
@given(
    st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, np.nan]), min_size=3, max_size=3), min_size=4, max_size=12),
    st.integers(1, 3),
)
@settings(max_examples=25)
def test_values_add_up_on_any_table(X, depth):
    y = np.arange(len(X)) % 2
    model = LogitBoostClassifier(n_estimators=3, max_depth=depth, n_jobs=1).fit(X, y)
    assert model.contributions(X).scores == pytest.approx(model.decision_function(X), abs=1e-12)


def test_a_feature_without_a_voter_adds_nothing_and_names_stay():
    told = fitted("stumps").contributions(rows(fitted("stumps"), 5))
    assert told.feature_names == ["a", "b", "city", "c"]
    assert told.output_names == ["yes"]
    pairs = fitted("pairs").contributions(rows(fitted("pairs"), 2))
    assert pairs.output_names == ["1 over 0", "2 over 0", "2 over 1"]
    X = np.column_stack([np.arange(20.0), np.zeros(20)])
    assert not AdaBoostClassifier(n_estimators=3).fit(X, X[:, 0] > 7).contributions(X).values[:, 1].any()


def test_the_same_bits_for_any_order_and_copies_and_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))  # of which not all are kept
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0
    model = LogitBoostClassifier(n_estimators=4, max_depth=3, n_jobs=1).fit(X, y)
    order, weight = rng.permutation(6000), np.where(np.arange(6000) < 500, 2, 1)
    again = LogitBoostClassifier(n_estimators=4, max_depth=3, n_jobs=2).fit(X[order], y[order])
    told = model.contributions(X[:100])
    assert np.array_equal(told.values, again.contributions(X[:100]).values)
    twice = np.repeat(np.arange(6000), weight)
    one, two = (
        LogitBoostClassifier(n_estimators=3, max_depth=2).fit(*given).contributions(X[:50]).values
        for given in ((X, y, weight), (X[twice], y[twice]))
    )
    assert np.array_equal(one, two)
    assert told.base_values[0] == pytest.approx(model.decision_function(X).mean(), abs=0.1)


def test_a_loaded_model_explains_the_same_and_no_row_is_kept(tmp_path):
    for name in ("trees", "one against the rest"):
        saved, pickled = MODELS[name](), MODELS[name]()  # not explained before
        saved.save(tmp_path / "model.boost")
        copies = load(tmp_path / "model.boost"), pickle.load(io.BytesIO(pickle.dumps(pickled)))
        told = saved.contributions(rows(saved))
        for copy in copies:
            assert np.array_equal(copy.contributions(rows(saved)).values, told.values)
            assert "_reference" not in copy.__dict__


def test_what_is_no_sum_refuses_in_a_sentence():
    X, y = rows(fitted("numbers")), table()[1][:60]
    with pytest.raises(ValueError, match=r"WeightBoostClassifier is not a sum over its voters .* use an additive"):
        WeightBoostClassifier(n_estimators=3).fit(X, y).contributions(X)
    from sklearn.tree import DecisionTreeClassifier

    other = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="votes with DecisionTreeClassifier, whose inside boostlab does not know"):
        other.contributions(X)
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    model._reference = None
    with pytest.raises(ValueError, match="kept no training rows to compare with"):
        model.contributions(X)
    assert model.contributions(X, background=X).scores == pytest.approx(model.decision_function(X))


@pytest.mark.parametrize("name", ["stumps", "trees", "regressor", "logit of classes", "one against the rest"])
def test_values_equal_those_of_the_package_shap(name):
    shap = pytest.importorskip("shap")
    model = fitted(name)
    told = model.contributions(rows(model, 20))
    explainer = shap.TreeExplainer(model.to_shap())
    values = explainer.shap_values(told.data, check_additivity=False)
    assert values.reshape(told.values.shape) == pytest.approx(told.values, abs=1e-10)
    assert np.ravel(explainer.expected_value) == pytest.approx(np.ravel(told.base_values[0]), abs=1e-10)
    explained = told.to_shap()
    assert isinstance(explained, shap.Explanation)
    assert explained.values.shape == told.values.shape
    for i, row in enumerate(explained.display_data):  # categories by their names
        named = {j: c for j, c in enumerate(row) if isinstance(c, str)}
        assert named == {j: told.shown(i, j) for j, known in enumerate(told.categories) if known is not None}


@pytest.mark.parametrize("make", [PairwiseClassifier, ECOCClassifier])
def test_contributions_of_classifiers_made_of_binary_ones(make):
    frame, two, three, _ = table()
    model = make(AdaBoostClassifier(n_estimators=5, max_depth=2)).fit(frame, three)
    for background in (None, frame[:9]):
        told = model.contributions(frame[:20], background)
        assert told.values.shape == (20, 4, len(model.estimators_))
        scores = np.stack([e.decision_function(frame[:20]) for e in model.estimators_], axis=1)
        assert told.scores == pytest.approx(scores, abs=1e-12)
    assert len(told.output_names) == len(model.estimators_)
    assert {"1 over 0", "0 over 1 or 2", "0 or 1 over 2"} & {*told.output_names}
    assert make(AdaBoostClassifier(n_estimators=3)).fit(frame, two).contributions(frame).values.shape == (240, 4)
    with pytest.raises(TypeError, match=r"is not a booster of boostlab, .*; open its estimators_ one by one"):
        parts_of(model)
    with pytest.raises(ValueError, match="GaussianNB has no exact contributions; use a booster"):
        make(GaussianNB()).fit(frame[["a"]].fillna(0.0), three).contributions(frame[["a"]])
