"""Tables in memory: arrays of any type and order, sparse matrices, and the order of rows they agree on."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from boostlab.backend.cpu.threads import AtOnce
from boostlab.data import matrix
from boostlab.data.matrix import (
    BLOCK,
    arrays_of,
    blocks,
    by_rows,
    canonical_order,
    column,
    extremes,
    fingerprint,
    float_type,
)
from tables import DTYPES, sparse_numbers, stored

# -- blocks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_are_the_rows_as_floats(dtype, order):
    n = BLOCK + 300
    X = np.random.default_rng(0).integers(0, 2 if dtype == "?" else 100, (n, 3)).astype(dtype)
    laid = {"C": X, "F": np.asfortranarray(X), "strided": np.repeat(X, 2, axis=0)[::2]}[order]
    for first, last in [(0, n), (7, 5000 - BLOCK), (BLOCK - 1, n), (4, 4)]:
        seen = list(blocks(laid, first, last))
        for start, block in seen:
            assert block.flags.c_contiguous
            assert block.dtype == float_type(laid)
            assert block.dtype.isnative
            assert np.array_equal(block.astype(np.float64), X[start : start + len(block)].astype(np.float64))
        assert [i for start, block in seen for i in range(start, start + len(block))] == list(range(first, last))


def test_an_array_of_floats_in_order_is_not_copied():
    for dtype in (np.float32, np.float64):
        X = np.ones((3 * BLOCK, 2), dtype)
        ((start, block),) = blocks(X, 5, len(X))
        assert start == 5
        assert np.shares_memory(block, X)


def test_read_only_memory_is_seen_as_it_is():
    X = np.arange(12.0).reshape(4, 3)
    S = stored(X)
    for array in (X, S.data, S.indices, S.indptr):
        array.setflags(write=False)
    ((_, block),) = blocks(X, 1, 4)
    for seen, array in zip((block, *arrays_of(S)), (X[1:], S.data, S.indices, S.indptr), strict=True):
        assert np.array_equal(seen, array)
        assert np.shares_memory(seen, array)
        assert seen.dtype == array.dtype
        assert seen.flags.writeable  # to numba another type, for which all kernels would be compiled once more
        assert not array.flags.writeable
    del X, array
    assert block.tolist() == [[3, 4, 5], [6, 7, 8], [9, 10, 11]]  # the memory lives as long as a view of it


@pytest.mark.parametrize("dtype", DTYPES)
def test_float32_is_used_only_where_it_is_exact(dtype):
    kind = np.dtype(dtype).newbyteorder("=")
    if kind.kind in "iu":
        ends = np.array([np.iinfo(kind).min, np.iinfo(kind).max, np.iinfo(kind).max - 1], kind).astype(dtype)
    else:
        ends = np.array([0, 1]).astype(dtype) if kind.kind == "b" else np.array([1 / 3, 1e4], dtype)
    exact = [int(v) for v in ends] if kind.kind in "biu" else [float(v) for v in ends]
    if float_type(ends) is np.float32:
        assert [float(v) for v in ends.astype(np.float32)] == exact
    else:
        assert float_type(ends) is np.float64


# -- sparse matrices ----------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_by_rows_sorts_and_adds_up_a_copy(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 8, 2)
    counts = rng.integers(0, 6, n)
    indptr = np.append(0, np.cumsum(counts))
    indices, data = rng.integers(0, d, counts.sum()), rng.integers(-3, 4, counts.sum()).astype(float)
    kind = rng.choice([np.int32, np.int64])
    X = sparse.csr_array((data, indices.astype(kind), indptr.astype(kind)), shape=(n, d))
    dense, before = X.toarray(), [a.copy() for a in (X.data, X.indices, X.indptr)]
    Z = by_rows(X)
    assert np.array_equal(Z.toarray(), dense)
    assert all((np.diff(Z.indices[a:b]) > 0).all() for a, b in zip(Z.indptr[:-1], Z.indptr[1:], strict=True))
    assert Z.indices.dtype == Z.indptr.dtype == np.int32
    for array, old in zip((X.data, X.indices, X.indptr), before, strict=True):
        assert array.dtype == old.dtype
        assert np.array_equal(array, old)


def test_a_matrix_in_order_is_used_as_it_is():
    X = stored(sparse_numbers()[0])
    assert np.shares_memory(by_rows(X).data, X.data)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_every_format_becomes_the_same(kind, form):
    X, _ = sparse_numbers(40)
    Z = by_rows(kind(X).asformat(form))
    assert np.array_equal(Z.toarray(), X, equal_nan=True)
    assert Z.has_canonical_format


# -- columns ------------------------------------------------------------------------------------------------------


def test_columns_and_extremes():
    X, _ = sparse_numbers(60)
    X[:, 3] = np.nan
    by_columns = stored(X).tocsc()
    for j in range(X.shape[1]):
        assert np.array_equal(column(by_columns, j), X[:, j], equal_nan=True)
        assert np.array_equal(column(X.astype(np.float32), j), X[:, j].astype(np.float32), equal_nan=True)
    low, high = extremes(X)
    for j in range(X.shape[1]):
        values = [v for v in X[:, j].tolist() if not np.isnan(v)]
        assert repr((low[j] + 0.0, high[j] + 0.0)) == repr(
            (np.float64(min(values)), np.float64(max(values))) if values else (np.float64(np.nan),) * 2
        )
    for other in (stored(X), np.asfortranarray(X)):
        assert np.array_equal(extremes(other), (low, high), equal_nan=True)


def test_extremes_look_at_every_block():
    X = np.zeros((2 * BLOCK + 5, 2), np.int16)
    X[-1] = 7, -7
    X[BLOCK] = -1, 1
    assert np.array_equal(extremes(X), [[-1, -7], [7, 1]])


# -- the canonical order ------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32))
def test_the_canonical_order_of_dense_and_sparse_is_one(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 25)), int(rng.integers(1, 5))
    X = rng.choice([0.0, 0.0, 0.0, -0.0, 1.0, -1.0, 2.0, np.nan], (n, d))
    y, mass = rng.integers(0, 2, n), rng.choice([1.0, 2.0, 0.25], n)
    shuffle = rng.permutation(n)
    orders = [canonical_order(Z, y, mass) for Z in (X, stored(X), np.asfortranarray(X), X.astype(np.float32))]
    assert all(np.array_equal(o, orders[0]) for o in orders)
    rows = np.column_stack([X + 0.0, y, mass])
    for Z in (X, stored(X)):
        there = canonical_order(Z[shuffle], y[shuffle], mass[shuffle])
        assert np.array_equal(rows[shuffle][there], rows[orders[0]], equal_nan=True)  # the same sequence of rows
    keyed = [row.tobytes() for row in rows[orders[0], :-1]]
    assert 1 + sum(a != b for a, b in pairwise(keyed)) == len(set(keyed))  # equal rows lie together


@pytest.mark.parametrize("kind", ["dense", "sparse", "integers"])
def test_threads_do_not_change_the_order(kind):
    X, y = sparse_numbers(500)
    X = {"dense": X, "sparse": stored(X), "integers": np.nan_to_num(np.round(X)).astype(np.int16)}[kind]
    assert np.array_equal(canonical_order(X, y, threads=1), canonical_order(X, y, threads=AtOnce(4)))


def test_blocks_do_not_change_the_order():
    """Numbers that are not floats are made floats block by block, floats are read as they are."""
    n = 2 * matrix.BLOCK + 7
    X = np.random.default_rng(0).integers(-5, 5, (n, 4)).astype(np.int16)
    assert np.array_equal(canonical_order(X, np.zeros(n)), canonical_order(X.astype(float), np.zeros(n)))


# -- fingerprints -------------------------------------------------------------------------------------------------


def test_a_fingerprint_is_of_the_numbers():
    X, _ = sparse_numbers(80)
    whole = np.nan_to_num(np.round(X))
    same = [whole, np.asfortranarray(whole), whole.astype(np.float32), whole.astype(np.int8), stored(whole)]
    assert len({fingerprint(Z) for Z in (*same, sparse.csr_array(whole))}) == 1
    others = [whole[:-1], whole[:, :-1], whole[::-1], whole[:, ::-1], np.vstack([whole, whole]), whole + 1]
    for i, j in [(0, 0), (40, 3), (79, 5)]:
        changed = whole.copy()
        changed[i, j] = np.nextafter(changed[i, j], 9)
        others += [changed, stored(changed)[:, :]]
    marks = [fingerprint(by_rows(Z) if sparse.issparse(Z) else Z) for Z in others]
    assert len({*marks, fingerprint(whole)}) == 1 + len(others) - 3  # the three changes are there twice


def test_keys_take_no_copy_of_the_table():
    X = np.zeros((20_000, 50), np.int16)
    canonical_order(X[:10], np.zeros(10))
    tracemalloc.start()
    canonical_order(X, np.zeros(len(X)))
    fingerprint(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * BLOCK * 50 * 4 + 40 * len(X)  # two blocks of float32, and a few numbers a row
