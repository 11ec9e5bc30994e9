"""Full trees in one compiled call are the trees of the general way."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, DecisionTree, VadaBoostClassifier
from boostlab.voters import full

NO_LIMIT = 10**9  # leaves: the general way


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
    for leaves in (None, NO_LIMIT):
        tree = DecisionTree(max_leaf_nodes=leaves, **limits)
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
        np.testing.assert_allclose(a.gains, b.gains, atol=1e-12)
    np.testing.assert_allclose(quick.decision_function(X), slow.decision_function(X), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*kept no voter")
def test_nothing_to_split_is_said(monkeypatch):
    calls = []
    monkeypatch.setattr(full, "grow_full", lambda *a: calls.append(1) or 1)
    X = np.arange(20.0)[:, None]
    model = AdaBoostClassifier(DecisionTree(max_leaf_nodes=None), n_estimators=3).fit(X, np.arange(20) % 2)
    assert calls
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
