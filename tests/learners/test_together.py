"""Votes of many voters at once, against each voter's own."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.data.table import Table
from boostlab.learners.fitted_stump import CategoryStump, Stump
from boostlab.learners.together import MOST_VOTES, votes_of, votes_of_each


def stumps(rng, count):
    for t in range(count):
        if t % 3 == 2:
            yield CategoryStump(2, rng.choice([-1.0, 1.0], 5) if t % 2 else rng.normal(size=5))
        else:
            left, right, missing = rng.choice([-1.0, 1.0], 3).tolist() if t % 2 else rng.normal(size=3).tolist()
            yield Stump(t % 2, None, float(rng.choice([-0.5, 0.0, 0.25, np.inf])), left, right, missing)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_each_says_what_it_says_alone(kind, order):
    rng = np.random.default_rng(0)
    X = np.stack([rng.choice([-0.5, 0.0, 0.1, np.nan, np.inf], 40), *rng.normal(size=(2, 40))], axis=1)
    X[:, 2] = rng.choice([0.0, 1.0, 2.0, 3.0, np.nan], 40)
    table, voters = Table(np.asarray(X, kind, order=order)), list(stumps(rng, 30))
    found = list(votes_of_each(voters, table))
    assert len(found) == 30
    for voter, votes in zip(voters, found, strict=True):
        np.testing.assert_array_equal(votes, votes_of(voter, table))


def test_parts_of_many_voters_are_put_together_in_order():
    table, most = Table(np.linspace(0, 1, 9000)[:, None]), MOST_VOTES // 9000
    voters = [Stump(0, None, t / 100, -1.0, 1.0) for t in range(2 * most + 3)]
    assert [int((v < 0).sum()) for v in votes_of_each(voters, table)] == [
        int((votes_of(v, table) < 0).sum()) for v in voters
    ]


def test_other_voters_vote_one_by_one():
    table = Table(np.array([[0.0], [1.0]]))
    names = Stump(0, None, 0.5, np.int8(2), np.int8(0))  # numbers of classes stay whole
    pair = (Stump(0, None, 0.5, -1.0, 1.0), Stump(0, None, 0.5, 1.0, -1.0))
    first, second = votes_of_each([names, pair], table)
    assert first.dtype.kind == "i"
    assert first.tolist() == [2, 0]
    assert second.tolist() == [[-1, 1], [1, -1]]
