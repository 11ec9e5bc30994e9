"""Stumps by edge, against all of them: missing values, sparse tables, columns without anything in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend import CpuSample, Masses
from boostlab.contract import Stop, Task
from boostlab.data.table import Bins, Table
from boostlab.learners import DecisionStump
from tables import stored


def all_votes(X, sides):
    """The votes of every stump: each cut of each column, missing values on either side, and against all values."""
    found = []
    for x in X.T:
        values = np.unique(x[~np.isnan(x)])
        cuts = [*((values[1:] + values[:-1]) / 2), *([np.inf] if len(values) and np.isnan(x).any() else [])]
        for cut in cuts:
            for missing in (1.0, -1.0) if np.isnan(x).any() and cut < np.inf else (1.0,):
                up = np.where(np.isnan(x), missing, np.where(x > cut, 1.0, -1.0))
                found += [s * up for s in (1.0, -1.0) if sides in (0, s)]
    return found


@pytest.mark.parametrize(("polarity", "sides"), [("both", 0), ("+", 1), ("-", -1)])
@pytest.mark.parametrize("sparse", [False, True])
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_the_best_stump_but_one(polarity, sides, sparse, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    X = rng.choice([0.0, 0.0, 1.0, 2.0, -1.0, np.nan], (n, d)) * (
        rng.random(d) < 0.7
    )  # some columns of zeros, also first
    X = np.where(rng.random((n, d)) < 0.8, X, 0.0)
    X[:, np.isnan(X).all(axis=0)] = 0.0
    candidates = all_votes(X, sides)
    if not candidates:
        return
    table = stored(X) if sparse else X
    rows = Masses(n)
    session = DecisionStump(polarity).begin(CpuSample(Table.of(table, Bins.fit(table, rows)), rows), rng)
    weight, y = rng.random(n) + 0.1, rng.choice([-1.0, 1.0], n)
    unwanted = candidates[int(rng.integers(len(candidates)))]
    others = [(weight * y) @ h for h in candidates if not np.array_equal(h, unwanted)]
    found = session.best(Task("edge", weight, y, without=unwanted))
    if not others:
        assert isinstance(found, Stop)
        return
    votes = found.voter.predict(X)
    assert not np.array_equal(votes, unwanted)
    assert (weight * y) @ votes == pytest.approx(max(others), abs=1e-12)
