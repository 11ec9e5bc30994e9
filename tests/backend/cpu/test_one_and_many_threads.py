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


def test_trees_that_grow_together_are_those_grown_one_after_the_other():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    masses, tasks = Masses(900), list[Task]()
    for j in range(5):  # a scale that is kept from task to task is not the one that a task alone would choose
        target = np.where(X[:, j] > rng.normal(size=900), 1.0, -1.0) * rng.gamma(2.0, size=900)
        tasks.append(Task("least_squares", rng.random(900) * (1.0, 0.2, 1e-3)[j % 3], target))
    found = []
    for threads, most in ((1, 5), (AtOnce(3), 5), (AtOnce(8), 5), (AtOnce(3), 2)):
        sample = CpuSample(Table.fit(X, masses, 32, threads), masses, way="followed")
        session = DecisionTree(max_leaf_nodes=6).begin(sample, rng)
        session.strategy(session.learner.grows_by("least_squares"), tasks[0]).together = most * 900
        for _ in range(2):  # with workspace that was used before
            each = session.best_each(tasks)
            assert (each is None) == (threads == 1)
            found.append(each or [session.best(task) for task in tasks])
    for turn, other in enumerate(found):
        for a, b in zip(found[turn % 2], other, strict=True):
            assert np.array_equal(a.votes, b.votes)
            assert all(
                np.array_equal(x, y)
                for x, y in zip(Tree.pack([a.voter]).values(), Tree.pack([b.voter]).values(), strict=True)
            )


def test_trees_by_labels_are_grown_one_after_the_other():
    X, masses = np.random.default_rng(0).normal(size=(300, 3)), Masses(300)
    sample = CpuSample(Table.fit(X, masses, 32, AtOnce(5)), masses, way="followed")
    session = DecisionTree(max_leaf_nodes=4).begin(sample, None)
    tasks = [Task("edge", np.ones(300), np.sign(X[:, j])) for j in range(2)]
    assert session.best_each(tasks) is None
