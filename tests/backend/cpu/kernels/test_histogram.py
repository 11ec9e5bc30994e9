"""Sums per slot of all rows, of some, and of those that changed, against Python integers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend.cpu.kernels import histogram as slots
from boostlab.backend.cpu.kernels.histogram import (
    follow_eight,
    follow_four,
    follow_sparse,
    sums_eight,
    sums_four,
    sums_sparse,
)
from boostlab.contract.criterion import SIGNED, SIZE, SQUARE

ALL = np.empty(0, np.int32)
NONE = np.empty(0, np.int64)
KINDS = {"eight": (sums_eight, follow_eight), "four": (sums_four, follow_four), "sparse": (sums_sparse, follow_sparse)}


def some_codes(rng, kind, n, d, width=4):
    """Return codes, what the kernels read, and how many slots a histogram must have."""
    codes = rng.integers(0, width, (d, n))
    if kind == "sparse":  # every cell is stored: nothing is left to restore
        cells = (np.arange(d)[:, None] * width + codes).T.reshape(-1).astype(np.int32)
        return codes, (cells, np.arange(0, n * d + 1, d)), d * width
    per_word = 8 if kind == "eight" else 4
    groups = -(-d // per_word)
    words = np.zeros((groups, n), np.uint64)
    for j, code in enumerate(codes):
        words[j // per_word] |= code.astype(np.uint64) << np.uint64(64 // per_word * (j % per_word))
    base = np.full(groups * per_word, d * width, np.uint64)
    base[:d] = np.arange(d) * width
    return codes, (words, base), d * width + per_word


def counted(codes, q, rows, sided, width=4):
    """The histogram in Python integers: one half, or those of negative and positive numbers."""
    halves = [[0] * (len(codes) * width) for _ in range(1 + sided)]
    for i in rows:
        for j, code in enumerate(codes[:, i].tolist()):
            side = int(q[i] > 0) if sided else 0
            halves[side][j * width + code] += abs(q[i]) if sided else q[i]
    return halves


def histogram(out, codes, sided, width=4):
    return [half[: len(codes) * width].tolist() for half in out.reshape(1 + sided, -1)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sided", [False, True])
@pytest.mark.parametrize("n", [5, slots.BLOCK + 409])  # less than a block, and more than one
def test_sums(kind, sided, n):
    rng = np.random.default_rng(n)
    codes, read, size = some_codes(rng, kind, n, 9)
    q = rng.integers(-(2**40), 2**40, n)
    q[rng.random(n) < 0.1] = 0
    chosen = rng.permutation(n)[: n // 2].astype(np.int32)
    for members, first, last in [(ALL, 0, n), (ALL, 1, n - 1), (chosen, 0, len(chosen)), (chosen, 1, 2), (ALL, 3, 3)]:
        out = np.zeros((1 + sided) * size, np.int64)
        minus, plus = KINDS[kind][0](*read, q, members, sided, first, last, out)
        rows = members[first:last].tolist() if members.size else range(first, last)
        assert histogram(out, codes, sided) == counted(codes, q.tolist(), rows, sided)
        mine = [int(q[i]) for i in rows]
        assert (minus, plus) == (-sum(v for v in mine if v < 0), sum(v for v in mine if v > 0))


def rounded(form, w, t, counts, mass, k):
    """q in Python numbers."""
    times = counts.tolist() if len(counts) else [1] * len(w)
    heavy = mass.tolist() if len(mass) else [1.0] * len(w)
    x = [{SIZE: a, SIGNED: a * b, SQUARE: a * a * b}[form] for a, b in zip(w.tolist(), t.tolist(), strict=True)]
    return [c * round(math.ldexp(v * m, k)) for v, m, c in zip(x, heavy, times, strict=True)]  # halves to even


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([SIZE, SIGNED, SQUARE]), st.integers(-5, 30))
def test_follow(kind, seed, sided, form, k):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 10))
    codes, read, size = some_codes(rng, kind, n, d)
    counts = rng.integers(0, 5, n).astype(np.int32) if seed % 3 == 1 else ALL
    mass = rng.random(n) if seed % 3 == 2 else np.empty(0)
    w, t = rng.random(n), rng.normal(size=n)
    q = np.array(rounded(form, w, t, counts, mass, k), np.int64)
    before = q.tolist()
    w = np.where(rng.random(n) < 0.5, w, rng.random(n))
    t = np.where(rng.random(n) < rng.choice([0.0, 0.2]), -t, t)
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    after = rounded(form, w, t, counts, mass, k)
    rows = range(first, last)
    out = np.zeros((1 + sided) * size, np.int64)
    args = *read, form, w, t, counts, mass, k, sided, first, last
    changed, turned, below, above, minus, plus, rough = KINDS[kind][1](*args, q, out)
    assert q.tolist() == [after[i] if i in rows else before[i] for i in range(n)]
    assert changed == sum(after[i] != before[i] for i in rows)
    assert turned == sum(after[i] * before[i] < 0 for i in rows) * sided
    assert (minus, plus) == (sum(max(-after[i], 0) for i in rows), sum(max(after[i], 0) for i in rows))
    assert rough == pytest.approx(minus + plus, abs=3 * n)
    if not turned:
        new, old = (np.array(counted(codes, values, rows, sided)) for values in (after, before))
        assert histogram(out, codes, sided) == (new - old).tolist()
        sums = [[max(-v[i], 0) for i in rows] for v in (after, before)]
        assert below == (sum(sums[0]) - sum(sums[1])) * sided
        assert above == sum(max(after[i], 0) - max(before[i], 0) if sided else after[i] - before[i] for i in rows)
    silent = np.array(before, np.int64)
    assert KINDS[kind][1](*args, silent, NONE)[:2] == (changed, turned)
    assert silent.tolist() == q.tolist()


def test_numbers_beyond_the_integers_show_in_floating_point():
    rng = np.random.default_rng(0)
    _, read, size = some_codes(rng, "eight", 2, 1)
    for wild in (1e30, np.nan, np.inf):
        args = SIGNED, np.array([1.0, wild]), np.ones(2), ALL, np.empty(0), 10, False, 0, 2
        assert not follow_eight(*read, *args, np.zeros(2, np.int64), np.zeros(size, np.int64))[6] < 2.0**63


@pytest.mark.parametrize("signs", [(1, 1), (-1, -1), (1, -1)])
def test_sums_that_scaling_still_mends_are_right(signs):
    """Up to 1.4 * 2^62 a follower trusts the integers, and one thread's sum of all rows may be as large as that."""
    rng = np.random.default_rng(0)
    _, read, size = some_codes(rng, "eight", 2, 1)
    weight, target = np.array([2.0**61, 2.0**61 * 1.5]), np.array(signs, float)
    args = SIGNED, weight, target, ALL, np.empty(0), 0, False, 0, 2
    *_, minus, plus, _ = follow_eight(*read, *args, np.zeros(2, np.int64), np.zeros(size, np.int64))
    values = [int(w) * s for w, s in zip(weight, signs, strict=True)]
    assert (minus, plus) == (sum(max(-v, 0) for v in values), sum(max(v, 0) for v in values))
