"""Every strategy grows the trees of `general`, to the bit, by any number of threads and in any order of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import DecisionTree
from boostlab.backend.cpu.masses import Masses
from boostlab.contract import Stop, Task
from boostlab.data.table import Table
from boostlab.learners.tree.best_first import BestFirst
from boostlab.learners.tree.fitted import Tree
from boostlab.learners.tree.learner import TreeSession

CRITERIA = ["edge", "z", "least_squares", "labels"]
LIMITS = ({"max_leaf_nodes": None, "max_depth": 3}, {"max_leaf_nodes": 5}, {"max_leaf_nodes": 4, "max_depth": 2}, {})
FIELDS = Tree.__slots__


class Team(BestFirst):
    """Growth by a team of so many threads, on tables that are too small for it."""

    size = 3

    def __init__(self, learner, search):
        super().__init__(learner, search)
        self.team = self.size


def table_of(rng, n, d, missing=0.0, categories=0.0):
    """Return a table of few or many distinct values, with missing values and columns of categories, and masses."""
    X = rng.choice([rng.normal(size=(n, d)), rng.integers(0, 3, (n, d)).astype(float)][int(rng.integers(2))], n)
    X[rng.random((n, d)) < missing] = np.nan
    sizes = {j: 4 for j in range(d) if rng.random() < categories}
    for j in sizes:
        X[:, j] = rng.choice([0.0, 1.0, 3.0, np.nan], n)
    return X, sizes, [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][int(rng.integers(3))]


def target_of(rng, criterion, n):
    if criterion == "least_squares":
        return np.round(rng.normal(size=n), int(rng.integers(0, 3))) + rng.choice([0.0, 100.0])
    if criterion == "labels":
        y = rng.integers(0, 4, n)
        y[0] = 3
        return y
    return rng.choice([-1.0, 1.0], n)


def same(found, wanted, votes):
    """Both trees, or both reasons why there is none."""
    if isinstance(wanted, Stop) or isinstance(found, Stop):
        assert found == wanted
        return
    for name in FIELDS:
        mine, other = getattr(found, name), getattr(wanted, name)
        assert mine.dtype == other.dtype, name
        np.testing.assert_array_equal(mine, other, err_msg=name)
    assert votes[0].dtype == votes[1].dtype
    np.testing.assert_array_equal(*votes)


def grow(session, task, table):
    found = session.best(task)
    return (found, None, None) if isinstance(found, Stop) else (found.voter, found.votes, found.sums)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), limits=st.sampled_from(LIMITS))
def test_best_first_grows_the_trees_of_general(criterion, size, seed, limits):
    """Over some rounds whose weights change in part, all, and in scale; of rows that are drawn or not."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 90)), int(rng.integers(1, 20))
    X, sizes, mass = table_of(rng, n, d, rng.choice([0.0, 0.2]), 0.0 if criterion == "labels" else rng.choice([0, 0.4]))
    rows = Masses(n, mass)
    table = Table.fit(X, rows, rng.choice(["exact", "255"]) if n > 300 else 255, 1, sizes)
    weight, target = rng.random(n) ** 3 * (seed % 3 > 0) + 0.01, target_of(rng, criterion, n)
    fast, slow = (TreeSession(DecisionTree(**limits), table, rows, name) for name in ("best_first", "general"))
    fast.growers[BestFirst] = Team(fast.learner, fast.search)
    fast.growers[BestFirst].team = size
    for factor in (1.0, 3.0, 1e6, 1e-9):
        counts = rng.integers(0, 3, n).astype(np.int32) if rng.random() < 0.2 else None
        if counts is not None:
            counts[0] = 1
        asked = [Task(criterion, weight.copy(), target, {"smoothing": 0.01}, counts=counts) for _ in range(2)]
        (found, votes, sums), (wanted, same_votes, same_sums) = (
            grow(session, task, table) for session, task in zip((fast, slow), asked, strict=True)
        )
        same(found, wanted, (votes, same_votes))
        assert sums == same_sums
        if isinstance(found, Tree):
            np.testing.assert_array_equal(votes, found.votes(Table(X)))
        weight = np.where(rng.random(n) < 0.4, weight * factor, weight)
