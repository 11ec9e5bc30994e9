"""Trees grown by a team in one compiled call, against the same trees grown split by split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import AdaBoostClassifier, DecisionTree
from boostlab.backend.cpu import threads as threads_module
from boostlab.backend.cpu.masses import Masses
from boostlab.contract import Stop, Task
from boostlab.data.table import Table
from boostlab.learners import crew
from boostlab.learners import tree as trees
from boostlab.learners.fitted_tree import Tree

LIMITS = ({"max_leaf_nodes": 2}, {"max_leaf_nodes": 5}, {"max_leaf_nodes": 8, "max_depth": 2}, {})


def sessions(table, rows, limits):
    """Return growth by a team, and the general way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "is_full", lambda *_: False)
        patch.setattr(crew, "CELLS", 0)
        patch.setattr(crew, "WIDER", 1000)
        fast = DecisionTree(**limits).begin(table, rows, np.random.default_rng(0))
        patch.setattr(trees, "is_for_crew", lambda *_: False)
        slow = DecisionTree(**limits).begin(table, rows, np.random.default_rng(0))
    return fast, slow


def equal(a, b):
    return all(np.array_equal(getattr(a, f), getattr(b, f)) for f in Tree.__slots__)


@pytest.mark.parametrize("criterion", ["edge", "z", "least_squares"])
@pytest.mark.parametrize("size", [1, 2, 3])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), limits=st.sampled_from(LIMITS))
def test_the_trees_are_those_of_the_grower(size, criterion, seed, limits):
    """Over some rounds whose weights change in part, all, and in scale."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 90)), int(rng.integers(1, 30))
    X = rng.choice([rng.normal(size=(n, d)), rng.integers(0, 3, (n, d)).astype(float)][int(rng.integers(2))], n)
    rows = Masses(n, [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][int(rng.integers(3))])
    table = Table.fit(X, rows, 255, size)
    y, weight = rng.choice([-1, 1], n).astype(np.int8), rng.random(n) ** 3 * (seed % 3 > 0) + 0.01
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads_module, "WORTH", 1)
        patch.setattr(trees, "is_pair", lambda *_: False)
        patch.setattr("boostlab.backend.cpu.followed_histograms.FEW", 0)
        fast, slow = sessions(table, rows, limits)
        assert slow.crew is None
        assert fast.crew is not None
        assert fast.crew.size == min(size, len(table.codes.words))
        for factor in (1.0, 3.0, 1e6, 1e-9):
            asked = [Task(criterion, weight.copy(), y.copy(), params={"smoothing": 0.01}) for _ in range(2)]
            found, wanted = fast.best(asked[0]), slow.best(asked[1])
            if isinstance(wanted, Stop):
                assert isinstance(found, Stop)
                assert (found.code, found.detail) == (wanted.code, wanted.detail)
                continue
            assert found.sums == wanted.sums
            assert equal(found.voter, wanted.voter)
            votes = found.votes, wanted.votes
            assert votes[0].dtype == votes[1].dtype
            assert np.array_equal(*votes)
            assert np.array_equal(votes[0], found.voter.votes(table))
            weight = np.where(rng.random(n) < 0.4, weight * factor, weight)


def test_labels_that_turn_are_counted_anew():
    rng = np.random.default_rng(3)
    X, y, weight = rng.normal(size=(50, 9)), rng.choice([-1, 1], 50).astype(np.int8), rng.random(50)
    rows = Masses(50)
    table = Table.fit(X, rows, 255, 1)
    fast, slow = sessions(table, rows, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "is_pair", lambda *_: False)
        patch.setattr("boostlab.backend.cpu.followed_histograms.FEW", 0)
        for labels in (y, np.where(np.arange(50) < 9, -y, y), -y):
            asked = [Task("edge", weight, labels) for _ in range(2)]
            assert equal(fast.best(asked[0]).voter, slow.best(asked[1]).voter)


@pytest.mark.parametrize("algorithm", ["discrete", "real"])
def test_boosting_is_the_same_on_any_number_of_threads(monkeypatch, algorithm):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 20)).astype(np.float32)
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=3000) > 1
    monkeypatch.setattr(threads_module, "WORTH", 1)
    monkeypatch.setattr(crew, "CELLS", 0)

    def fitted(n_jobs):
        return AdaBoostClassifier(DecisionTree(), n_estimators=9, algorithm=algorithm, n_jobs=n_jobs).fit(X, y)

    models = [fitted(n_jobs) for n_jobs in (1, 2, 5)]
    monkeypatch.setattr(trees, "is_for_crew", lambda *_: False)
    plain = fitted(1)
    for model in models:
        assert np.array_equal(model.estimator_weights_, plain.estimator_weights_)
        assert all(map(equal, model.estimators_, plain.estimators_))


@pytest.mark.parametrize(
    ("what", "learner"),
    [
        ("small", {}),
        ("missing", {}),
        ("categories", {}),
        ("two bytes", {}),
        ("plain", {"min_samples_leaf": 5}),
        ("plain", {"min_samples_split": 5}),
        ("plain", {"ccp_alpha": 0.1}),
        ("plain", {"max_leaf_nodes": None}),
        ("threads", {}),
        ("narrow", {}),
    ],
)
def test_whom_it_is_not_for(monkeypatch, what, learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 9))
    monkeypatch.setattr(crew, "CELLS", 1 << 30 if what == "small" else 0)
    if what == "missing":
        X[7, 3] = np.nan
    if what == "narrow":
        X[:, :7] = X[:, :7] > 0
        monkeypatch.setattr(crew, "WIDER", 2)
    categories = {1: 3} if what == "categories" else {}
    X[:, list(categories)] = 1.0
    rows = Masses(len(X))
    table = Table.fit(X, rows, "exact" if what == "two bytes" else 255, 7 if what == "threads" else 1, categories)
    session = DecisionTree(**learner).begin(table, rows, rng)
    assert session.crew is None


def test_whom_it_is_for():
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(crew.CELLS // 16 + 1, 9)), Masses(crew.CELLS // 16 + 1)
    assert DecisionTree().begin(Table.fit(X, rows, 255, 1), rows, rng).crew is not None
