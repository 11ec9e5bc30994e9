"""Sums of two sides with the columns of a word side by side, and the cheapest cut from them, against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.kernels import sided_histogram as sides
from boostlab.backend.cpu.kernels.crew import part_stretch
from boostlab.backend.cpu.kernels.histogram import SIGNED, follow_eight
from boostlab.learners.crew import layout
from boostlab.learners.criteria import gini, z


def some_codes(rng, n, widths):
    """Return dense codes of columns with so many slots, the last of each empty."""
    starts = np.append(0, np.cumsum(widths))
    cells = DenseCodes.room(n, len(widths), 256)
    for j, width in enumerate(widths):
        cells[j // 8, :, j % 8] = rng.integers(0, max(width - 1, 1), n)
    return DenseCodes(cells, starts)


def counted(codes, starts, q, rows):
    """The histogram in Python integers."""
    hist = [0] * int(starts[-1])
    for i in rows:
        for j in range(len(codes.starts) - 1):
            g = j // 8
            half = int(starts[g + 1] - starts[g]) // 2 * int(q[i] > 0)
            hist[int(starts[g]) + half + 8 * int(codes.cells[g, i, j % 8]) + j % 8] += abs(int(q[i]))
    return hist


def some_widths(rng):
    return rng.choice([2, 3, 5, 40], int(rng.integers(1, 20)))


@given(seed=st.integers(0, 2**32))
def test_all_rows_and_some_are_summed(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    codes = some_codes(rng, n, some_widths(rng))
    starts, _ = layout(codes)
    reads = codes.words, starts, len(codes.starts) - 1
    q = rng.integers(-(2**40), 2**40, n) * rng.integers(0, 2, n)
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    out = np.zeros(starts[-1], np.int64)
    minus, plus = sides.sums_of_sides(*reads, q, first, last, out)
    assert out.tolist() == counted(codes, starts, q, range(first, last))
    assert (minus, plus) == (-q[first:last].clip(max=0).sum(), q[first:last].clip(min=0).sum())
    members = rng.permutation(n)[: int(rng.integers(0, n + 1))].astype(np.int32)
    g, h = sorted(rng.integers(0, len(starts), 2).tolist())
    out = np.zeros(starts[-1], np.int64)
    add(*reads, q, members, g, h, out)
    wanted = np.zeros_like(out)
    wanted[starts[g] : starts[h]] = counted(codes, starts, q, members)[starts[g] : starts[h]]
    assert np.array_equal(out, wanted)


@njit
def add(words, starts, d, q, members, first, last, out):
    sides.add_members(words, starts, d, q, members, sides.new_block(), first, last, out)


def test_more_rows_than_a_block():
    rng = np.random.default_rng(0)
    n = 2 * sides.BLOCK + 77
    codes = some_codes(rng, n, [9] * 10)
    starts, _ = layout(codes)
    q = rng.integers(-(2**40), 2**40, n)
    out = np.zeros(starts[-1], np.int64)
    sides.sums_of_sides(codes.words, starts, 10, q, 0, n, out)
    assert out.tolist() == counted(codes, starts, q, range(n))
    some = np.zeros(starts[-1], np.int64)
    add(codes.words, starts, 10, q, np.arange(5, n, dtype=np.int32), 0, 2, some)
    assert some.tolist() == counted(codes, starts, q, range(5, n))


@pytest.mark.parametrize("masses", ["none", "whole", "real"])
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_changes_are_those_of_the_plain_histogram(masses, seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 60)), int(rng.integers(5, 40))
    codes = some_codes(rng, n, some_widths(rng))
    starts, _ = layout(codes)
    reads = codes.words, starts, len(codes.starts) - 1
    y = rng.choice([-1, 1], n).astype(np.int8)
    counts = rng.integers(0, 4, n).astype(np.int32) if masses == "whole" else np.empty(0, np.int32)
    mass = rng.random(n) if masses == "real" else np.empty(0)
    old = rng.random(n) * rng.integers(0, 2, n)
    new = np.where(rng.random(n) < 0.5, old, rng.random(n) * rng.integers(0, 2, n))
    before = np.zeros(n, np.int64)
    nothing = np.empty(0, np.int64)
    sides.follow_sides(*reads, SIGNED, old, y, counts, mass, k, 0, n, before, nothing)
    out = np.zeros(starts[-1], np.int64)
    sides.sums_of_sides(*reads, before, 0, n, out)
    after, twin, plain = before.copy(), before.copy(), np.zeros(2 * (codes.n_slots + codes.spare), np.int64)
    changed, turned, minus, plus, rough = sides.follow_sides(*reads, SIGNED, new, y, counts, mass, k, 0, n, after, out)
    facts = follow_eight(*codes.read, SIGNED, new, y, counts, mass, k, True, 0, n, twin, plain)
    assert np.array_equal(after, twin)
    assert (changed, turned, minus, plus) == (facts[0], facts[1], facts[4], facts[5])
    assert math.isclose(rough, facts[6], rel_tol=1e-12)
    assert out.tolist() == counted(codes, starts, after, range(n))


def test_a_changed_sign_is_told():
    codes = some_codes(np.random.default_rng(0), 3, [4])
    reads, none = (codes.words, layout(codes)[0], 1), (np.empty(0, np.int32), np.empty(0))
    q, w = np.array([4, -4, 0]), np.ones(3)
    found = sides.follow_sides(*reads, SIGNED, w, np.array([-1, -1, 1]), *none, 2, 0, 3, q, np.empty(0, np.int64))
    assert found[:2] == (2, 1)
    assert q.tolist() == [-4, -4, 4]


def cheapest(cost):
    @njit(error_model="numpy")
    def of(hist, allowed, total, scale, gross, numbers, low, keys, best):
        return sides.cheapest_of_word(cost, hist, allowed, total, scale, gross, numbers, low, keys, best)

    return of


KEY_OF, PRICE = njit(lambda x: sides.price_of(x)), {cost: cheapest(cost) for cost in (gini, z)}


@pytest.mark.parametrize("cost", [gini, z])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_the_cheapest_cut(cost, seed):
    """Costs one by one; equals go to the first lane, then the first code."""
    rng = np.random.default_rng(seed)
    top = int(rng.integers(1, 12))
    columns = rng.integers(0, 4, (top, 8, 2))
    columns[:, rng.integers(0, 8)] = columns[:, 0]
    total = 100, 120
    hist = np.concatenate([columns[..., 0].ravel(), columns[..., 1].ravel()]).astype(np.int64)
    allowed = rng.random(8 * top) < 0.7
    numbers, scale = np.empty(0), 0.1
    key, at = PRICE[cost](
        hist,
        allowed,
        total,
        scale,
        22.0,
        numbers,
        np.empty((2, 8 * top), np.int64),
        np.empty(8 * top, np.int64),
        2**63 - 1,
    )
    prices = {}
    for lane in range(8):
        minus = plus = 0
        for c in range(top):
            minus, plus = minus + int(columns[c, lane, 0]), plus + int(columns[c, lane, 1])
            left = np.array([(plus + minus) * scale, (plus - minus) * scale])
            right = np.array([(220 - (plus + minus)) * scale, (20 - (plus - minus)) * scale])
            if allowed[8 * c + lane]:
                prices[8 * c + lane] = float(cost(left, right, np.array([22.0, 22.0]), numbers))
    if not prices:
        assert KEY_OF(key) == np.inf
        return
    assert KEY_OF(key) == min(prices.values())
    assert at == min((p, k % 8, k // 8, k) for k, p in prices.items())[3]
    again = PRICE[cost](
        hist, allowed, total, scale, 22.0, numbers, np.empty((2, 8 * top), np.int64), np.empty(8 * top, np.int64), key
    )
    assert again == (key, -1)


@given(seed=st.integers(0, 2**32))
def test_a_stretch_is_parted(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 90))
    code, members = rng.integers(0, 5, 100).astype(np.uint8), rng.permutation(100)[:n].astype(np.int32)
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    space = np.full(n, -1, np.int32)
    size = PART(code, 2, members, space, first, last)
    mine = members[first:last].tolist()
    lows = [i for i in mine if code[i] <= 2]
    assert size == len(lows)
    assert space[first : first + size].tolist() == lows
    assert space[first + size : last][::-1].tolist() == [i for i in mine if code[i] > 2]
    assert (space[:first] == -1).all()
    assert (space[last:] == -1).all()


PART = njit(part_stretch)


def test_leaves_vote():
    members, out = np.array([3, 0, 2, 1], np.int32), np.zeros(4, np.int8)
    sides.write_votes(members, np.array([0, 1, 4]), np.array([-1, 1], np.int8), out)
    assert out.tolist() == [1, 1, 1, -1]
