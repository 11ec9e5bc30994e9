"""Scores by table and by sum against plain loops."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
import pytest
from scipy import sparse

from boostlab.backend.cpu.kernels.lookup_table import BLOCK, FEW, lookup_scores, lookup_sparse, weighted_votes

FEATURES = np.array([0, 2, 3, 5], np.int64)  # of six columns
CUTS = [np.array(c, np.float64) for c in ([-2.0, 0.0, 1.5, 4.0], [0.5], [], [-3.5, -1.0])]
STARTS = np.concatenate([[0], np.cumsum([len(c) for c in CUTS])]).astype(np.int64)


def steps(rng, outputs):
    """The values of every feature's intervals and of missing values, in the fixed point's range."""
    values = [rng.integers(-(2**58), 2**58, size=(len(c) + 1, outputs)) for c in CUTS]
    return values, rng.integers(-(2**58), 2**58, size=(len(FEATURES), outputs))


def a_table(rng, dtype):
    X = rng.integers(-4, 5, size=(60, 6)).astype(dtype) * (rng.random((60, 6)) < 0.7)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 1] = np.where(rng.random(60) < 0.5, np.nan, 3)  # a column that no voter reads
    return X


def by_hand(X, values, missing):
    """The sum of every row's values, in Python integers."""
    out = []
    for row in X.tolist():
        found = [
            m if np.isnan(row[j]) else v[bisect_left(c.tolist(), row[j])]  # a value on a cut stays below it
            for j, c, v, m in zip(FEATURES.tolist(), CUTS, values, missing, strict=True)
        ]
        out.append([sum(int(f[c]) for f in found) for c in range(missing.shape[1])])
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("outputs", [1, 3])
def test_lookup_scores(dtype, outputs):
    rng = np.random.default_rng(3)
    X, (values, missing) = a_table(rng, dtype), steps(rng, outputs)
    table = STARTS, np.concatenate(CUTS), np.concatenate(values), missing
    expected = by_hand(X, values, missing)
    for first, last, power in [(0, 60, 0), (0, 0, 3), (7, 8, 61), (13, 51, -900), (2, 9, 1120)]:
        out = np.full((60, outputs), 7.0)
        lookup_scores(X, FEATURES, *table, power, first, last, out)
        assert out[first:last].tolist() == [[math.ldexp(x, -power) for x in row] for row in expected[first:last]]
        assert (np.delete(out, slice(first, last), axis=0) == 7.0).all()


@pytest.mark.parametrize("outputs", [1, 3])
def test_lookup_between_many_cuts(outputs):
    """Up to `FEW` comparisons are made one by one, more cuts are searched."""
    rng = np.random.default_rng(6)
    cuts = [np.sort(rng.integers(0, 300, size) + 0.5) for size in (FEW // outputs, FEW // outputs + 1, 1, 5, 90)]
    starts = np.append(0, np.cumsum([len(c) for c in cuts]))
    values = [rng.integers(-(2**58), 2**58, size=(len(c) + 1, outputs)) for c in cuts]
    missing = rng.integers(-(2**58), 2**58, size=(5, outputs))
    X = rng.choice([*rng.integers(-1, 302, 90), *cuts[4], np.nan, np.inf, -np.inf], size=(70, 5))
    out = np.empty((70, outputs))
    table = starts, np.concatenate(cuts), np.concatenate(values), missing
    lookup_scores(X, np.arange(5), *table, 60, 0, 70, out)
    expected = [
        [
            sum(int((missing[j] if np.isnan(x) else values[j][bisect_left(cuts[j], x)])[c]) for j, x in enumerate(row))
            for c in range(outputs)
        ]
        for row in X
    ]
    assert out.tolist() == [[math.ldexp(x, -60) for x in row] for row in expected]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("outputs", [1, 3])
def test_lookup_sparse(dtype, outputs):
    rng = np.random.default_rng(4)
    X, (values, missing) = a_table(rng, dtype), steps(rng, outputs)
    stored = sparse.csr_array(X)
    stored.data[::5] = 0.0  # explicit zeros
    place = np.array([0, -1, 1, 2, -1, 3])
    table = STARTS, np.concatenate(CUTS), np.concatenate(values), missing
    expected = by_hand(stored.toarray(), values, missing)
    for first, last in [(0, 60), (0, 0), (7, 8), (13, 51)]:
        out = np.zeros((60, outputs), np.int64)
        lookup_sparse(stored.data, stored.indices, stored.indptr, place, *table, first, last, out)
        zero = [0] * outputs
        assert out.tolist() == [row if first <= i < last else zero for i, row in enumerate(expected)]


def test_lookup_without_features_finds_nothing():
    none, nothing = np.empty(0, np.int64), np.empty((0, 1), np.int64)
    table = np.zeros(1, np.int64), np.empty(0), nothing, nothing
    X = np.ones((4, 2))
    scores = np.full((4, 1), 2.0)
    lookup_scores(X, none, *table, 0, 0, 4, scores)
    assert not scores.any()
    out = np.full((4, 1), 2)
    stored = sparse.csr_array(X)
    lookup_sparse(stored.data, stored.indices, stored.indptr, np.full(2, -1), *table, 0, 4, out)
    assert (out == 2).all()


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


def test_lookup_of_more_rows_than_a_block():
    rng = np.random.default_rng(5)
    X, (values, missing) = a_table(rng, np.float64), steps(rng, 2)
    many = np.tile(X, (2 * BLOCK // 60 + 3, 1))
    out = np.empty((len(many), 2))
    lookup_scores(many, FEATURES, STARTS, np.concatenate(CUTS), np.concatenate(values), missing, 0, 0, len(many), out)
    expected = [[float(x) for x in row] for row in by_hand(X, values, missing)]
    assert out.tolist() == expected * (len(many) // 60)
