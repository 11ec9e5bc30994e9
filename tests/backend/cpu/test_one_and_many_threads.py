"""Sums of one thread, and what changed, are those that threads share."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.sample import CpuSample
from boostlab.backend.cpu.threads import AtOnce
from boostlab.contract import Task
from boostlab.contract.criterion import SIGNED
from boostlab.data.table import Table
from boostlab.learners import DecisionTree
from boostlab.learners.tree.fitted import Tree
from tables import stored


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sided", [False, True])
def test_sums_and_what_changed(sparse, sided):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (50, 11)).astype(float)
    one, many = (Table.fit(stored(X) if sparse else X, Masses(50), 255, t).codes for t in (1, AtOnce(3)))
    assert one.one_thread != sparse
    assert not many.one_thread
    q = rng.integers(-9, 9, 50)
    for members in (None, np.array([3, 7, 8], np.int32)):
        ours, theirs = one.sums(q, members, sided), many.sums(q, members, sided)
        np.testing.assert_array_equal(ours[0], theirs[0])
        assert ours[1:] == theirs[1:]
    what = SIGNED, rng.random(50), rng.choice([-1.0, 1.0], 50), *Masses(50).as_arrays, 20
    before = many.sums(q, sided=sided)[0]
    followed, expected = many.follow(what, sided, other := q.copy(), True, before.copy())
    if not sided:  # rows that change sides are counted anew by who asks
        np.testing.assert_array_equal(expected, many.sums(other)[0])
    for sums in (one.sums(q, sided=sided)[0], before.copy()):  # with and without padding behind the slots
        ours, slots = one.follow(what, sided, mine := q.copy(), True, sums)
        assert ours[:4] == followed[:4]
        assert ours.rough == pytest.approx(followed.rough)
        np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(slots, expected)
    ours, slots = one.follow(what, sided, mine := q.copy(), False, before)
    np.testing.assert_array_equal(mine, other)
    assert slots is None
    assert (ours.minus, ours.plus) == (followed.minus, followed.plus)


@pytest.mark.parametrize("criterion", ["least_squares", "edge"])
def test_trees_that_grow_side_by_side_are_those_grown_one_after_the_other(criterion):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    masses, targets = Masses(900), [np.where(X[:, j] > rng.normal(size=900), 1.0, -1.0) for j in range(5)]
    if criterion == "least_squares":
        targets = [t * rng.gamma(2.0, size=900) for t in targets]
    tasks = [Task(criterion, rng.random(900), t) for t in targets]
    found = []
    for threads in (1, AtOnce(3), AtOnce(8)):
        sample = CpuSample(Table.fit(X, masses, 32, threads), masses, way="followed")
        session = DecisionTree(max_leaf_nodes=6).begin(sample, rng)
        each = session.best_each(tasks)
        assert (each is None) == (threads == 1)
        found.append(each or [session.best(task) for task in tasks])
        again = session.best_each(tasks) or found[-1]  # with workspace that was used before
        assert all(np.array_equal(a.votes, b.votes) for a, b in zip(found[-1], again, strict=True))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert np.array_equal(a.votes, b.votes)
            assert all(
                np.array_equal(x, y)
                for x, y in zip(Tree.pack([a.voter]).values(), Tree.pack([b.voter]).values(), strict=True)
            )


def test_few_tasks_for_many_threads_are_grown_one_after_the_other():
    X, masses = np.random.default_rng(0).normal(size=(300, 3)), Masses(300)
    session = DecisionTree(max_leaf_nodes=4).begin(
        CpuSample(Table.fit(X, masses, 32, AtOnce(5)), masses, way="followed"), None
    )
    tasks = [Task("least_squares", np.ones(300), X[:, j]) for j in range(2)]
    assert session.best_each(tasks) is None
