"""Kernels of sparse tables against plain Python on the dense twin."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy import sparse

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.kernels.node_rows import part_stretch
from boostlab.backend.cpu.kernels.sparse_histogram import (
    add_sparse,
    first_from,
    give_zero,
    keep_nonzero,
    part_stored,
    restore_zeros,
    slots_by_rows,
    sparse_codes,
    sparse_cuts,
)

sparse_sums = kernel(add_sparse)
FIRST, GIVE, PART, PART_DENSE = njit(first_from), njit(give_zero), njit(part_stored), njit(part_stretch)

ONCE_EACH = np.empty(0, np.int64)
ALL = np.empty(0, np.int32)
VALUES = [-3.0, -1.5, -1.0, -0.5, 0.25, 0.5, 1.0, 2.0, 7.0, np.nan]
seeds = st.integers(0, 2**32)
kinds = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def a_matrix(rng, dtype=np.float64, values=VALUES):
    """A small CSC matrix with empty rows and columns, full columns, missing values and explicit zeros of both signs."""
    n, d = int(rng.integers(1, 30)), int(rng.integers(1, 7))
    share = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], d)
    X = rng.choice(values, (n, d)) * np.where(rng.random((n, d)) < share, 1.0, 0.0)
    X[np.isnan(X) & (rng.random((n, d)) > share)] = 0.0
    stored = sparse.csc_array(X.astype(dtype))
    at = rng.random(stored.nnz) < 0.15
    stored.data[at] = rng.choice([0.0, -0.0], at.sum())
    return stored


# -- cuts ---------------------------------------------------------------------------------------------------------


def cuts_by_hand(column, mass, limit):
    """The neighbours to cut between, and the number of distinct values of a dense column."""
    held = {}
    for x, m in zip(column.tolist(), mass, strict=True):
        if not np.isnan(x):
            held[x + 0.0] = held.get(x + 0.0, 0) + m
    values = sorted(held)
    pairs = list(pairwise(values))
    if len(values) > limit:
        whole, below, wanted, kept = sum(held.values()), 0, 1, []
        for low, high in pairs:
            below += held[low]
            if wanted < limit and below / whole >= wanted / limit:
                kept.append((low, high))
            while wanted < limit and below / whole >= wanted / limit:
                wanted += 1
        pairs = kept
    return pairs, len(values)


def cut(X, mass, limit, first=0, last=None):
    """Run the kernel; one (pairs, distinct) a column."""
    d = X.shape[1]
    begins = np.append(0, np.cumsum(np.minimum(np.diff(X.indptr), limit - 1))).astype(np.int64)
    lows, highs = np.full(begins[-1], np.nan), np.full(begins[-1], np.nan)
    found, distinct = np.full(d, -1), np.full(d, -1)
    whole = X.shape[0] if mass is None else int(mass.sum())
    arrays = X.data, X.indices, X.indptr.astype(np.int64), ONCE_EACH if mass is None else mass
    sparse_cuts(*arrays, whole, limit, begins, first, d if last is None else last, lows, highs, found, distinct)
    pairs = list(zip(lows.tolist(), highs.tolist(), strict=True))
    return [(pairs[begins[j] : begins[j] + max(found[j], 0)], int(distinct[j])) for j in range(d)]


@kinds
@settings(max_examples=75)
@given(seed=seeds, limit=st.sampled_from([2, 3, 4, 5, 255]), weighted=st.booleans())
def test_sparse_cuts(dtype, seed, limit, weighted):
    rng = np.random.default_rng(seed)
    X = a_matrix(rng, dtype)
    n, d = X.shape
    mass = rng.integers(1, 9, n) if weighted else None
    dense = X.toarray().astype(np.float64)
    expected = [cuts_by_hand(dense[:, j], [1] * n if mass is None else mass.tolist(), limit) for j in range(d)]
    assert cut(X, mass, limit) == expected
    assert cut(X, mass, limit, 0, d // 2)[d // 2 :] == [([], -1)] * (d - d // 2)  # only the columns asked for


def test_zeros_count_though_nothing_is_stored():
    X = sparse.csc_array(np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0], [5.0, 0.0], [6.0, np.nan]]))
    assert cut(X, None, 2) == [([(0.0, 5.0)], 3), ([(2.0, 3.0)], 5)]  # the median of 0 1 2 3 4 is 2
    heavy = np.array([1, 1, 1, 1, 9, 1])
    assert cut(X, heavy, 2) == [([(5.0, 6.0)], 3), ([(0.0, 1.0)], 5)]


def test_a_column_of_missing_values_has_no_value():
    X = sparse.csc_array(np.full((3, 1), np.nan))
    assert cut(X, None, 255) == [([], 0)]
    X = sparse.csc_array(np.array([[np.nan], [np.nan], [0.0]]))
    assert cut(X, None, 255) == [([], 1)]


# -- codes --------------------------------------------------------------------------------------------------------


def random_cuts(rng, d):
    """Cut points of d columns, one after the other, and where each column's start."""
    columns = [
        np.unique(rng.choice([-1.25, -1.0, -0.75, 0.0, 0.125, 0.25, 1.5, 3.0], m)) for m in rng.integers(0, 6, d)
    ]
    return columns, np.concatenate([*columns, np.empty(0)]), np.append(0, np.cumsum([len(c) for c in columns]))


def code(cuts, x):
    return len(cuts) + 1 if np.isnan(x) else bisect_left(cuts.tolist(), x)


@kinds
@settings(max_examples=50)
@given(seed=seeds)
def test_codes_by_columns_and_by_rows(dtype, seed):
    """From stored values to codes, without those of zero, and to the slots of every row."""
    rng = np.random.default_rng(seed)
    X = a_matrix(rng, dtype)
    n, d = X.shape
    columns, cuts, starts = random_cuts(rng, d)
    indptr = X.indptr.astype(np.int64)
    zero, codes = np.empty(d, np.int64), np.empty(X.nnz, np.uint16)
    sparse_codes(X.data, indptr, cuts, starts, zero, codes)
    assert zero.tolist() == [code(c, 0.0) for c in columns]
    cells = [(int(X.indices[k]), j) for j in range(d) for k in range(indptr[j], indptr[j + 1])]
    assert codes.tolist() == [code(columns[j], float(x)) for (_, j), x in zip(cells, X.data, strict=True)]

    kept = [(i, j, c) for (i, j), c in zip(cells, codes.tolist(), strict=True) if c != zero[j]]
    row_of, code_of, by_columns = np.empty(len(kept), np.int32), np.empty(len(kept), np.uint16), np.empty_like(indptr)
    keep_nonzero(X.indices, codes, indptr, zero, row_of, code_of, by_columns)
    assert row_of.tolist() == [i for i, _, _ in kept]
    assert code_of.tolist() == [c for _, _, c in kept]
    assert by_columns.tolist() == [sum(c < j for _, c, _ in kept) for j in range(d + 1)]

    slot = np.append(0, np.cumsum([len(c) + 2 for c in columns]))
    slots, by_rows = np.empty(len(kept), np.int32), np.empty(n + 1, np.int64)
    slots_by_rows(row_of, code_of, by_columns, slot, by_rows, slots)
    by_hand = [[int(slot[j]) + c for i, j, c in kept if i == row] for row in range(n)]
    assert [slots[by_rows[i] : by_rows[i + 1]].tolist() for i in range(n)] == by_hand
    assert (by_rows[0], by_rows[-1]) == (0, len(kept))


# -- sums ---------------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(seed=seeds)
def test_sums_with_the_zeros_restored(seed):
    """What zeros add is the total less what is stored: the sums are those of the dense twin."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    widths = rng.integers(1, 5, d)
    starts, zero = np.append(0, np.cumsum(widths)), rng.integers(0, widths)
    codes = np.where(rng.random((n, d)) < 0.4, rng.integers(0, widths, (n, d)), zero)
    stored = [[int(starts[j] + codes[i, j]) for j in range(d) if codes[i, j] != zero[j]] for i in range(n)]
    slots = np.array([s for row in stored for s in row], np.int32)
    by_rows = np.append(0, np.cumsum([len(row) for row in stored])).astype(np.int64)
    q = rng.integers(-(2**61) // n, 2**61 // n, n)
    chosen = rng.permutation(n)[: rng.integers(0, n + 1)].astype(np.int32)
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    for rows, a, b in [(ALL, 0, n), (ALL, first, last), (chosen, 0, len(chosen)), (chosen, 0, len(chosen) // 2)]:
        summed = rows[a:b].tolist() if rows.size else range(a, b)
        out = np.zeros(starts[-1], np.int64)
        sparse_sums(slots, by_rows, q[rows] if rows.size else q, rows, a, b, out)
        there = [sum(int(q[i]) for i in summed if s in stored[i]) for s in range(starts[-1])]
        assert out.tolist() == there
        restore_zeros(out, starts, zero, sum(int(q[i]) for i in summed))
        dense = [sum(int(q[i]) for i in summed if codes[i, j] == c) for j in range(d) for c in range(widths[j])]
        assert out.tolist() == dense


# -- growth of trees ----------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(seed=seeds)
def test_the_first_from_a_place_on(seed):
    rng = np.random.default_rng(seed)
    x = np.unique(rng.integers(0, rng.choice([10, 1000]), rng.integers(1, 300))).astype(np.int32)
    for value in [-1, 0, *rng.integers(0, 1100, 20).tolist(), *x[-2:].tolist()]:
        at = int(rng.integers(0, len(x) + 1))
        assert FIRST(x, np.uint64(at), np.uint64(len(x)), value) == max(at, int(np.searchsorted(x, value)))


@settings(max_examples=50, deadline=None)
@given(seed=seeds, channels=st.sampled_from([1, 2, 5]))
def test_a_column_is_given_its_zeros(seed, channels):
    """The slots of other columns stay as they are."""
    rng = np.random.default_rng(seed)
    hist, totals = rng.integers(-(2**62), 2**62, (12, channels)), rng.integers(-(2**62), 2**62, channels)
    zero, before = int(rng.integers(3, 9)), hist.copy()
    GIVE(hist.reshape(-1), 3, 9, zero - 3, totals)
    assert hist[3:9].sum(axis=0).tolist() == totals.tolist()
    hist[zero] = before[zero]
    assert np.array_equal(hist, before)


@settings(max_examples=100, deadline=None)
@given(seed=seeds, stay=st.booleans())
def test_rows_are_parted_as_those_of_the_dense_column(seed, stay):
    """Whatever the share of stored rows, of the node's rows, and of low slots."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(1, 200)), int(rng.integers(1, 5))
    zero, low = int(rng.integers(width)), rng.random(width) < 0.5
    codes = np.where(rng.random(n) < rng.choice([0.0, 0.02, 0.3, 1.0]), rng.integers(0, width, n), zero)
    row_of = np.flatnonzero(codes != zero).astype(np.int32)
    members = np.flatnonzero(rng.random(n) < rng.choice([0.03, 0.5, 1.0])).astype(np.int32)
    first, last = np.sort(rng.integers(0, len(members) + 1, 2)).tolist()
    stored = row_of, codes[row_of].astype(np.uint16)
    mine, space, theirs, other = members.copy(), np.full(len(members), -1, np.int32), members.copy(), members.copy()
    n_low = PART(*stored, low, bool(low[zero]), mine, space, first, last, stay)
    assert n_low == PART_DENSE(codes.astype(np.uint16), low, theirs, other, first, last, stay)
    found, wanted = (mine, theirs) if stay else (space, other)
    assert np.array_equal(found[first : first + n_low], wanted[first : first + n_low])
    assert np.array_equal(space[first + n_low : last], other[first + n_low : last])
    for others in (slice(first), slice(last, None)):
        assert np.array_equal(mine[others], members[others])
        assert (space[others] == -1).all()
