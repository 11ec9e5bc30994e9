"""Trees grown in one compiled call by two sums, against the same trees grown split by split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import DecisionTree
from boostlab.backend.cpu.masses import Masses
from boostlab.contract import Stop, Task
from boostlab.data.table import Table
from boostlab.learners import tree as trees


def grown(learner, table, rows, task, compiled):
    with pytest.MonkeyPatch.context() as patch:
        asked = []
        patch.setattr(trees, "is_full", lambda *_: False)
        patch.setattr(trees, "is_pair", lambda *a: asked.append(a) or (compiled and true_is_pair(*a)))
        session = learner.begin(table, rows, np.random.default_rng(0))
        found = session.best(task)
        assert asked
        assert not compiled or true_is_pair(*asked[0])
        return (found, None) if isinstance(found, Stop) else (found.voter, found.votes)


true_is_pair = trees.is_pair
LIMITS = ({"max_leaf_nodes": None, "max_depth": 3}, {"max_leaf_nodes": 5}, {"max_leaf_nodes": 4, "max_depth": 2}, {})


@pytest.mark.parametrize("criterion", ["edge", "z", "least_squares"])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), limits=st.sampled_from(LIMITS))
def test_the_trees_are_those_of_the_grower(criterion, seed, limits):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 60)), int(rng.integers(1, 12))
    X = rng.choice([rng.normal(size=(n, d)), rng.integers(0, 3, (n, d)).astype(float)][int(rng.integers(2))], n)
    X[rng.random((n, d)) < rng.choice([0.0, 0.2])] = np.nan
    categories = {j: 4 for j in range(d) if rng.random() < rng.choice([0.0, 0.4])}
    for j in categories:
        X[:, j] = rng.choice([0.0, 1.0, 3.0, np.nan], n)
    masses = [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][int(rng.integers(3))]
    rows = Masses(n, masses)
    table = Table.fit(X, rows, "exact", 1, categories)
    y = rng.choice([-1.0, 1.0], n)
    target = rng.normal(size=n) + rng.choice([0.0, 100.0]) if criterion == "least_squares" else y
    counts = rng.integers(0, 3, n).astype(np.int32) + 0 if rng.random() < 0.3 else None
    if counts is not None:
        counts[0] = 1

    def task():
        return Task(criterion, weight, target, counts=counts, params={"smoothing": 0.01})

    weight, learner = rng.random(n) ** 3 if rng.random() < 0.7 else np.ones(n), DecisionTree(**limits)
    slow, slow_task, fast, fast_task = None, task(), None, task()
    slow, says = grown(learner, table, rows, slow_task, compiled=False)
    fast, said = grown(learner, table, rows, fast_task, compiled=True)
    if isinstance(slow, Stop):
        assert fast == slow
        return
    for name in ("feature", "threshold", "missing_low", "children", "starts", "lows", "values", "gains"):
        mine, other = getattr(fast, name), getattr(slow, name)
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other, err_msg=name)
    np.testing.assert_array_equal(said, says)
    np.testing.assert_array_equal(said, fast.votes(Table(X)))
    assert said.dtype == says.dtype
    assert getattr(fast_task, "sums", None) == getattr(slow_task, "sums", None)


@pytest.mark.parametrize(
    "limits", [{"min_samples_leaf": 3}, {"min_samples_split": 5}, {"ccp_alpha": 0.01}, {"max_leaf_nodes": None}]
)
def test_other_limits_are_left_to_the_grower(limits):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 30)), rng.choice([-1.0, 1.0], 4000)
    rows = Masses(4000)
    table = Table.fit(X, rows, 255)
    session = DecisionTree(**limits).begin(table, rows, rng)
    criterion = trees.GROWS_BY["least_squares"]
    channels = session.search.channels(criterion, np.ones(4000), y, None, census=session.counts_leaves)
    assert not trees.is_pair(session.learner, session.search, channels)
