"""Scores by table and by sum against plain loops."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import pytest

from boostlab.kernels.lookup import lookup_scores, weighted_votes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("first", "last"), [(0, 60), (0, 0), (7, 8), (13, 51)])
def test_lookup_scores(dtype, outputs, first, last):
    rng = np.random.default_rng(3)
    X = rng.integers(-4, 5, size=(60, 6)).astype(dtype)
    features = np.array([0, 2, 3, 5], np.int64)
    cuts = [np.array(c, np.float64) for c in ([-2.0, 0.0, 1.5, 4.0], [0.5], [], [-3.5, -1.0])]
    values = [rng.normal(size=(len(c) + 1, outputs)) for c in cuts]
    missing = rng.normal(size=(4, outputs))
    X[rng.random(X.shape) < 0.2] = np.nan
    starts = np.concatenate([[0], np.cumsum([len(c) for c in cuts])]).astype(np.int64)
    before = rng.normal(size=(60, outputs))
    out = before.copy()
    lookup_scores(X, features, starts, np.concatenate(cuts), np.concatenate(values), missing, first, last, out)
    expected = before.copy()
    for i in range(first, last):
        for j, c, v, m in zip(features, cuts, values, missing, strict=True):
            x = float(X[i, j])
            expected[i] += m if np.isnan(x) else v[bisect_left(c.tolist(), x)]  # a value on a cut stays below it
    assert np.array_equal(out, expected)


def test_lookup_without_features_adds_nothing():
    out = np.full((4, 1), 2.5)
    none = np.empty(0, np.int64)
    lookup_scores(
        np.ones((4, 2)), none, np.zeros(1, np.int64), np.empty(0), np.empty((0, 1)), np.empty((0, 1)), 0, 4, out
    )
    assert (out == 2.5).all()


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_weighted_votes(dtype):
    rng = np.random.default_rng(4)
    votes = rng.choice([-1, 1], size=(7, 50)).astype(dtype)
    if dtype is np.float64:
        votes *= rng.random(size=votes.shape)
    alphas = rng.normal(size=7)
    out = rng.normal(size=50)
    expected = out.tolist()
    for alpha, row in zip(alphas.tolist(), votes.tolist(), strict=True):
        expected = [e + alpha * v for e, v in zip(expected, row, strict=True)]
    weighted_votes(votes, alphas, out)
    assert out.tolist() == expected


def test_a_silent_voter_is_not_even_looked_at():
    votes = np.array([[1.0, 2.0], [np.nan, np.inf], [3.0, -1.0]])
    out = np.zeros(2)
    weighted_votes(votes, np.array([0.5, 0.0, 2.0]), out)
    assert out.tolist() == [6.5, -1.0]
