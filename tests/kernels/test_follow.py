"""What changes from round to round, against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.kernels.follow import follow, measure, put, wrong_logs

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
    size = follow(x, counts, k, first, last, q, rows)
    changed = [i for i in range(first, last) if expected[i] != before[i]]
    assert rows[first : first + size].tolist() == changed
    assert [int(x.view(np.int64)[i]) for i in changed] == [expected[i] - before[i] for i in changed]
    assert q.tolist() == [*before[:first], *expected[first:last], *before[last:]]


def test_numbers_beyond_the_integers_show_in_floating_point():
    for wild in (1e30, np.nan, np.inf):
        assert not measure(np.array([1.0, wild]), NONE, 10, 0, 2)[2] < 2.0**63


@pytest.mark.parametrize("labels", [np.int8, np.float64])
def test_rows_that_were_wrong(labels):
    rng = np.random.default_rng(1)
    y, h = rng.choice([-1, 1], 50).astype(labels), rng.choice([-1, 1], 50).astype(labels)
    F, rows, logs = rng.normal(size=50), np.empty(51, np.int32), np.empty(51)
    size = wrong_logs(F, y, h, 0.7, rows, logs)
    wrong = np.flatnonzero(h != y)
    assert rows[:size].tolist() == wrong.tolist()
    assert logs[:size].tolist() == [0.7 - float(y[i]) * float(F[i]) for i in wrong]
    assert wrong_logs(F, y, y, 0.7, rows, logs) == 0
    assert wrong_logs(F, y, (-y).astype(labels), 0.7, rows, logs) == 50
    out = np.zeros(50)
    put(np.arange(1.0, 4.0), np.array([7, 3, 49], np.int32), out)
    assert {i: v for i, v in enumerate(out.tolist()) if v} == {7: 1.0, 3: 2.0, 49: 3.0}
