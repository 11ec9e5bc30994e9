"""Sums, look-ups and parted rows over codes in 64-bit words, against Python integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.interleaved import InterleavedLayout
from boostlab.backend.cpu.kernels.packed_codes import (
    add_eight,
    add_eight_interleaved,
    add_four,
    add_four_interleaved,
    look_up,
    part_rows,
)

sums_of_eight, sums_of_four = kernel(add_eight), kernel(add_four)
sums_of_eight_interleaved, sums_of_four_interleaved = kernel(add_eight_interleaved), kernel(add_four_interleaved)

ALL = np.empty(0, np.int32)
UNTOUCHED = -77
KINDS = [pytest.param(sums_of_eight, 8, np.uint8, id="eight"), pytest.param(sums_of_four, 4, np.uint16, id="four")]


def words_of(codes, per_word, dtype):
    """Codes (one row a feature) as the kernels read them: words[g, i], the first feature of a group in the low bits."""
    groups = -(-len(codes) // per_word)
    words = np.zeros((groups, codes.shape[1]), np.uint64)
    for j, code in enumerate(codes):
        words[j // per_word] |= code.astype(np.uint64) << np.uint64(64 // per_word * (j % per_word))
    return words


def random_codes(rng, d, n, dtype):
    """Codes, and where every feature's slots start; the largest code of the type is used, and so is zero."""
    widths = rng.integers(2, 40, d)
    widths[rng.integers(d)] = np.iinfo(dtype).max + 1
    codes = np.stack([rng.integers(0, w, n) for w in widths]).astype(dtype)
    codes[:, 0], codes[:, 1] = widths - 1, 0
    return codes, np.append(0, np.cumsum(widths))


def counted(codes, starts, q, rows):
    """Sums per slot, in Python integers."""
    out = [0] * int(starts[-1])
    for j, code in enumerate(codes.tolist()):
        for i in rows:
            out[int(starts[j]) + code[i]] += int(q[i])
    return out


def base_of(starts, per_word):
    """Where the slots of every column start; codes of a word without a feature point behind them all."""
    d = len(starts) - 1
    base = np.full(-(-d // per_word) * per_word, starts[-1], np.uint64)
    base[:d] = starts[:-1]
    return base


@pytest.mark.parametrize(("sums", "per_word", "dtype"), KINDS)
@pytest.mark.parametrize("d", [1, 3, 4, 5, 8, 9, 17])
def test_sums(sums, per_word, dtype, d):
    rng = np.random.default_rng(d)
    n = 200
    codes, starts = random_codes(rng, d, n, dtype)
    words, base = words_of(codes, per_word, dtype), base_of(starts, per_word)
    q = rng.integers(-(2**52), 2**52, size=n)
    chosen = rng.permutation(n)[:70].astype(np.int32)
    for rows, first, last in [(ALL, 0, n), (ALL, 13, 150), (ALL, 5, 5), (chosen, 0, 70), (chosen, 20, 41)]:
        out = np.zeros(starts[-1] + per_word, np.int64)
        mine = q[rows] if rows.size else q
        sums(words, base, mine, rows, first, last, out)
        summed = rows[first:last].tolist() if rows.size else range(first, last)
        assert out[:-per_word].tolist() == counted(codes, starts, q, summed)
        assert not out[-per_word:].any()  # columns that do not exist
        sums(words, base, mine, rows, first, last, out)
        assert out[:-per_word].tolist() == [2 * v for v in counted(codes, starts, q, summed)]  # added, not written


@pytest.mark.parametrize(
    ("sums", "per_word", "dtype"), [(sums_of_eight_interleaved, 8, np.uint8), (sums_of_four_interleaved, 4, np.uint16)]
)
@pytest.mark.parametrize("d", [1, 3, 4, 5, 8, 9, 17])
def test_sums_side_by_side(sums, per_word, dtype, d):
    rng = np.random.default_rng(d)
    codes, starts = random_codes(rng, d, 200, dtype)
    layout = InterleavedLayout(starts, np.ones(starts[-1], bool), np.zeros(d, bool), per_word)
    words, q = words_of(codes, per_word, dtype), rng.integers(-(2**52), 2**52, size=200)
    chosen = rng.permutation(200)[:70].astype(np.int32)
    for rows, first, last in [(ALL, 0, 200), (ALL, 13, 150), (chosen, 20, 41)]:
        out, plain = np.zeros(layout.size, np.int64), np.zeros(starts[-1], np.int64)
        sums(words, layout.arrays[0], q[rows] if rows.size else q, rows, first, last, out)
        layout.back(out, plain)
        assert plain.tolist() == counted(
            codes, starts, q, rows[first:last].tolist() if rows.size else range(first, last)
        )
        assert np.array_equal(layout.of(plain), out)  # and nothing anywhere else


@pytest.mark.parametrize(("sums", "per_word", "dtype"), KINDS)
def test_the_parts_of_all_rows_add_up(sums, per_word, dtype):
    rng = np.random.default_rng(1)
    codes, starts = random_codes(rng, 6, 300, dtype)
    words, base, q = words_of(codes, per_word, dtype), base_of(starts, per_word), rng.integers(-(2**50), 2**50, 300)
    out = np.zeros(starts[-1] + per_word, np.int64)
    for first, last in [(0, 1), (1, 120), (120, 299), (299, 300)]:
        sums(words, base, q, ALL, first, last, out)
    assert out[:-per_word].tolist() == counted(codes, starts, q, range(300))


@pytest.mark.parametrize(("sums", "per_word", "dtype"), KINDS)
def test_sums_as_large_as_the_fixed_point_makes_them(sums, per_word, dtype):
    codes = np.array([[0, 0, 0, 1]], dtype)
    q, starts = np.array([2**61, -(2**61), 2**61 - 1, 3]), np.array([0, 2])
    for rows in (ALL, np.array([3, 2, 1, 0], np.int32)):
        out = np.zeros(2 + per_word, np.int64)
        sums(words_of(codes, per_word, dtype), base_of(starts, per_word), q[rows] if rows.size else q, rows, 0, 4, out)
        assert out[:2].tolist() == [2**61 - 1, 3]


# -- look-ups -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_look_up(dtype):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 200, (50, 4)).astype(dtype)
    for code in (cells[:, 2], np.ascontiguousarray(cells[:, 2])):  # a column of words lies scattered
        for values in (rng.normal(size=200), rng.integers(0, 99, 200)):
            for first, last in [(0, 50), (7, 20), (50, 50)]:
                out = np.full(50, UNTOUCHED, values.dtype)
                look_up(code, values, first, last, out)
                expected = [values[c] if first <= i < last else UNTOUCHED for i, c in enumerate(code.tolist())]
                assert out.tolist() == expected


# -- parting rows -------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32))
def test_parting_is_stable_and_in_place(seed):
    rng = np.random.default_rng(seed)
    n, n_bins = int(rng.integers(1, 40)), int(rng.integers(1, 9))
    code = rng.integers(0, n_bins, (n, 4)).astype(rng.choice([np.uint8, np.uint16]))[:, 1]
    low = rng.random(n_bins) < rng.choice([0.0, 0.3, 0.7, 1.0])  # sides may be empty or hold all
    shared = rng.permutation(n).astype(np.int32)
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    before = shared.tolist()
    n_low = part_rows(code, low, shared[first:last], np.empty(n, np.int32))
    lows = [i for i in before[first:last] if low[code[i]]]
    highs = [i for i in before[first:last] if not low[code[i]]]
    assert n_low == len(lows)
    assert shared.tolist() == before[:first] + lows + highs + before[last:]  # the neighbours stay


@pytest.mark.parametrize(("side", "n_low"), [(True, 5), (False, 0)])
def test_all_on_one_side(side, n_low):
    members = np.array([4, 0, 3, 1, 2], np.int32)
    assert part_rows(np.zeros((5, 4), np.uint8)[:, 0], np.array([side]), members, np.empty(5, np.int32)) == n_low
    assert members.tolist() == [4, 0, 3, 1, 2]


def test_no_rows_to_part():
    no_rows, space = np.empty(0, np.int32), np.empty(3, np.int32)
    assert part_rows(np.zeros((3, 4), np.uint8)[:, 0], np.array([True]), no_rows, space) == 0
