"""What changes from round to round, against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.kernels.follow import add_votes, follow, lift_wrong, measure

NONE = np.empty(0, np.int64)
UNTOUCHED = -77


def rounded(x, counts, k):
    times = counts.tolist() if len(counts) else [1] * len(x)
    return [c * round(math.ldexp(v, k)) for v, c in zip(x.tolist(), times, strict=True)]  # halves to even, as rint


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.booleans(), st.integers(-20, 40))
def test_follow_and_measure(seed, counted, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    counts = rng.integers(0, 5, n) if counted else NONE
    old = rng.normal(size=n)
    new = np.where(rng.random(n) < 0.5, old, rng.normal(size=n))
    q = np.array(rounded(old, counts, k), np.int64)
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    expected = rounded(new, counts, k)
    signed, gross, rough = measure(new, counts, k, first, last)
    assert (signed, gross) == (sum(expected[first:last]), sum(map(abs, expected[first:last])))
    assert rough == pytest.approx(gross, abs=3 * n)
    before, x, rows = q.tolist(), new.copy(), np.full(n, UNTOUCHED, np.int32)
    changes = x.view(np.int64)
    size = follow(x, counts, k, first, last, q, rows, changes)
    changed = [i for i in range(first, last) if expected[i] != before[i]]
    assert rows[first : first + size].tolist() == changed
    assert changes[first : first + size].tolist() == [expected[i] - before[i] for i in changed]
    assert q.tolist() == [*before[:first], *expected[first:last], *before[last:]]


def test_numbers_beyond_the_integers_show_in_floating_point():
    for wild in (1e30, np.nan, np.inf):
        assert not measure(np.array([1.0, wild]), NONE, 10, 0, 2)[2] < 2.0**63


@pytest.mark.parametrize("labels", [np.int8, np.float64])
def test_rows_that_were_wrong(labels):
    rng = np.random.default_rng(1)
    y, h = rng.choice([-1, 1], 50).astype(labels), rng.choice([-1, 1], 50).astype(labels)
    w = rng.random(50) + 0.1
    for first, last in [(0, 50), (7, 31), (5, 5)]:
        new = w.copy()
        top = lift_wrong(new, y, h, 1.7, first, last)
        wrong = [first <= i < last and h[i] != y[i] for i in range(50)]
        assert new.tolist() == [v * 1.7 if lost else v for v, lost in zip(w.tolist(), wrong, strict=True)]
        assert top == max((new[i] for i in range(50) if wrong[i]), default=0.0)
    assert lift_wrong(w, y, y, 1.7, 0, 50) == 0.0


def test_votes_are_added_as_numpy_adds_them():
    rng = np.random.default_rng(2)
    for h in (rng.choice([-1, 1], 40).astype(np.int8), rng.normal(size=40)):
        F = rng.normal(size=40)
        new = F.copy()
        add_votes(new, 0.3, h, 5, 35)
        assert np.array_equal(new, np.where((np.arange(40) >= 5) & (np.arange(40) < 35), F + 0.3 * h, F))
