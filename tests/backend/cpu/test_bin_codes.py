"""Binned tables: sums, look-ups and parted rows of dense and sparse codes, and the rows taken from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.sparse_codes import SparseCodes
from boostlab.backend.cpu.threads import AtOnce
from boostlab.data import matrix
from boostlab.data.table import Bins, Table
from tables import DTYPES, sparse_numbers, stored

seeds = st.integers(0, 2**32)


def a_table(seed):
    """A small table full of zeros, as an array and as a sparse matrix."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 30)), int(rng.integers(1, 12))
    X = rng.choice([0.0, 0.0, 0.0, -0.0, 1.0, -1.0, 2.5, 7.0, np.nan], (n, d))
    X[:, rng.random(d) < 0.2] = 0.0
    if rng.random() < 0.5:
        X[:, 0] = rng.normal(size=n)
    return X, stored(X, seed), rng


def columns_of(codes):
    return np.stack([codes.column(j) for j in range(len(codes.starts) - 1)])


def mass_of(rng, kind, n):
    return {"none": None, "counts": rng.integers(1, 9, n).astype(float), "real": rng.random(n) + 0.01}[kind]


# -- sparse is dense ----------------------------------------------------------------------------------------------


@settings(max_examples=75)
@given(seed=seeds, max_bins=st.sampled_from([2, 3, 5, 255, "exact"]), kind=st.sampled_from(["none", "counts", "real"]))
def test_sparse_and_dense_tables_have_the_same_bins_and_codes(seed, max_bins, kind):
    X, S, rng = a_table(seed)
    rows = Masses(len(X), mass_of(rng, kind, len(X)))
    dense, sparse = Bins.fit(X, rows, max_bins), Bins.fit(S, rows, max_bins)
    assert dense.points.tobytes() == sparse.points.tobytes()
    assert dense.starts.tolist() == sparse.starts.tolist()
    assert np.array_equal(columns_of(dense.encode(X)), columns_of(dense.encode(S)))


@pytest.mark.parametrize("mass", [None, "real"])
@pytest.mark.parametrize("max_bins", [7, 255, 300, "exact"])
def test_long_sparse_columns(max_bins, mass):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3)) * (rng.random((3000, 3)) < [0.05, 0.5, 1.0])
    X[rng.random(X.shape) < 0.02] = np.nan
    rows = Masses(3000, rng.random(3000) ** 4 if mass else None)
    dense, sparse = Bins.fit(X, rows, max_bins), Bins.fit(stored(X), rows, max_bins)
    assert dense.points.tobytes() == sparse.points.tobytes()
    assert dense.starts.tolist() == sparse.starts.tolist()
    codes = dense.encode(stored(X))
    assert isinstance(codes, SparseCodes)
    assert np.array_equal(columns_of(codes), columns_of(dense.encode(X)))


def test_only_cells_that_differ_from_zero_are_kept():
    X = np.zeros((100, 3))
    X[:10, 0], X[:70, 1], X[3, 2] = 1.0, 1e-3 * np.arange(1, 71), np.nan
    codes = Bins.fit(stored(X), Masses(100), 2).encode(stored(X))
    # The median of the second column parts 30 zeros and the 20 smallest numbers from the other 50.
    assert np.diff(codes.by_columns).tolist() == [10, 50, 1]
    assert len(codes.slots) == len(codes.row_of) == 61
    assert sorted(np.diff(codes.by_rows).tolist()) == [0] * 40 + [1] * 59 + [2]


def test_exact_refuses_a_long_sparse_column():
    X = np.zeros((65_536, 2))
    X[:, 1] = np.arange(65_536)
    with pytest.raises(ValueError, match=r"65,535 distinct values a column, but column 1 has 65,536; give max_bins a"):
        Bins.fit(stored(X), Masses(len(X)), "exact")


@pytest.mark.parametrize("max_bins", [2, 255])
def test_a_row_too_light_to_count_still_has_its_values(max_bins):
    X = np.array([[0.0, 3.0], [1.0, np.nan], [1.0, 4.0], [1.0, 5.0]])
    for mass in ([1e-30, 1.0, 1.0, 0.5], [1e-30, 1.0, 1e-30, 2e-30]):  # in the second, no heavy row has a number
        bins = [Bins.fit(Z, Masses(4, np.array(mass)), max_bins) for Z in (X, stored(X))]
        assert bins[0].points.tobytes() == bins[1].points.tobytes()
        assert bins[0].of(0).tolist() == [0.5]
        assert len(bins[0].of(1)) == min(max_bins - 1, 2)


# -- sums, look-ups, parts ----------------------------------------------------------------------------------------


def codes_of(X, S, max_bins):
    bins = Bins.fit(X, Masses(len(X)), max_bins)
    return bins.encode(X), bins.encode(S)


@pytest.mark.parametrize("n_threads", [1, AtOnce(3)])
@settings(max_examples=80)
@given(seed=seeds)
def test_sums(n_threads, seed):
    X, S, rng = a_table(seed)
    codes = codes_of(X, S, 255)
    q = rng.integers(-(2**61) // len(X), 2**61 // len(X), len(X))
    members = rng.permutation(len(X))[: rng.integers(0, len(X) + 1)].astype(np.int32)
    code = columns_of(codes[0]).tolist()
    for rows in (None, members):
        for one in codes:
            one.threads, starts = n_threads, one.starts.tolist()
            expected = [0] * starts[-1]
            for i in range(len(X)) if rows is None else rows.tolist():
                for j in np.flatnonzero(np.diff(starts)):  # a sparse column of zeros has no slots
                    expected[starts[j] + code[j][i]] += int(q[i])
            slots, minus, plus = one.sums(q, rows)
            assert slots.tolist() == [expected]
            mine = (q if rows is None else q[rows]).tolist()
            assert (minus, plus) == (-sum(v for v in mine if v < 0), sum(v for v in mine if v > 0))
            halves, *sums = one.sums(q, rows, sided=True)
            assert sums == [minus, plus]
            assert (halves[1] - halves[0]).tolist() == expected
            assert halves.tolist() == [one.sums(np.maximum(sign * q, 0), rows)[0][0].tolist() for sign in (-1, 1)]


def test_a_sparse_column_of_zeros_costs_nothing():
    X = np.zeros((6, 5))
    X[:, 1], X[2, 3] = np.arange(6), np.nan
    dense, sparse = codes_of(X, stored(X), 255)
    assert np.diff(sparse.starts).tolist() == [0, 7, 0, 2, 0]
    assert np.diff(dense.starts).tolist() == [2, 7, 2, 2, 2]
    assert np.array_equal(columns_of(dense), columns_of(sparse))


@settings(max_examples=80)
@given(seed=seeds, max_bins=st.sampled_from([3, 255]))
def test_look_ups_and_parted_rows(seed, max_bins):
    X, S, rng = a_table(seed)
    codes = codes_of(X, S, max_bins)
    j = int(rng.integers(X.shape[1]))
    width = int(np.diff(codes[0].starts)[j])
    table, low = rng.normal(size=width), rng.random(width) < 0.5
    expected = [table[c] for c in codes[0].column(j)]
    some = rng.permutation(len(X))[: rng.integers(0, len(X) + 1)].astype(np.int32)
    lows = [i for i in some.tolist() if low[codes[0].column(j)[i]]]
    for one in codes:
        assert one.look_up(j, table).tolist() == expected
        members = some.copy()
        n_low = one.part(j, low, members, np.empty_like(members))
        assert n_low == len(lows)
        assert members.tolist() == lows + [i for i in some.tolist() if i not in lows]


def test_two_bytes_where_a_column_needs_them():
    X = np.zeros((700, 5))
    X[:, 3] = np.arange(700) - 300
    X[::7, 1] = np.nan
    dense, sparse = codes_of(X, stored(X), "exact")
    assert dense.cells.dtype == np.uint16
    assert dense.cells.shape == (2, 700, 4)
    assert np.array_equal(columns_of(dense), columns_of(sparse))
    q = np.random.default_rng(0).integers(-99, 99, 700)
    for j in (1, 3):
        one, two = (c.sums(q)[0][0, c.starts[j] : c.starts[j + 1]] for c in (dense, sparse))
        assert np.array_equal(one, two)
    assert np.array_equal(one[:-1], q)


# -- taken rows ---------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(seed=seeds, max_bins=st.sampled_from([2, 255]))
def test_codes_of_taken_rows_are_the_taken_rows_codes(seed, max_bins):
    X, S, rng = a_table(seed)
    bins = Bins.fit(X, Masses(len(X)), max_bins)
    taken = rng.integers(0, len(X), rng.integers(1, 2 * len(X) + 1))  # some twice, in any order
    q, members = rng.integers(-99, 99, len(taken)), np.arange(0, len(taken), 2, dtype=np.int32)
    for Z, kind in ((X, DenseCodes), (S, SparseCodes)):
        whole = Table.of(Z, bins)
        part, anew = whole.take(taken), Table.of(Z[taken], bins)
        assert isinstance(part.codes, kind)
        assert part.n_rows == part.codes.n_rows == len(taken)
        assert np.array_equal(columns_of(part.codes), columns_of(whole.codes)[:, taken])
        assert np.array_equal(part.codes.starts, whole.codes.starts)
        for j in np.flatnonzero(np.diff(anew.codes.starts)):  # in a part more columns may be constant
            for some in (None, members):
                one, two = (c.sums(q, some)[0][0, c.starts[j] : c.starts[j + 1]] for c in (part.codes, anew.codes))
                assert np.array_equal(one, two)
        again = part.take(np.arange(len(taken))[::-1])
        assert np.array_equal(columns_of(again.codes), columns_of(anew.codes)[:, ::-1])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_nothing_is_binned_twice(kind, monkeypatch):
    X, _ = sparse_numbers()
    Z = X if kind == "dense" else stored(X)
    table = Table.of(Z, Bins.fit(Z, Masses(len(X))), threads=2)
    monkeypatch.setattr(Bins, "encode", None)
    part = table.take(np.arange(0, len(X), 3))
    assert part.bins is table.bins
    assert part.threads == 2
    votes = part.split(0, 1, float(table.bins.of(0)[1]), -1.0, 1.0, 0.5)
    raw = Table(Z[::3]).split(0, 1, float(table.bins.of(0)[1]), -1.0, 1.0, 0.5)
    assert np.array_equal(votes, raw)
    assert np.array_equal(votes, table.split(0, 1, float(table.bins.of(0)[1]), -1.0, 1.0, 0.5)[::3])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_no_rows_at_all(kind):
    X, _ = sparse_numbers(20)
    Z = X if kind == "dense" else stored(X)
    codes = Table.of(Z, Bins.fit(Z, Masses(20))).take(np.empty(0, np.intp)).codes
    assert codes.n_rows == 0
    assert columns_of(codes).shape == (X.shape[1], 0)
    assert not codes.sums(np.empty(0, np.int64))[0].any()


# -- arrays of every type -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_has_the_codes_of_its_floats(dtype, order):
    n = matrix.BLOCK + 5  # rows of two blocks
    X = np.random.default_rng(0).integers(0, 2 if dtype == "?" else 120, (n, 3)).astype(dtype, order=order)
    floats, rows = np.ascontiguousarray(X.astype(np.float64)), Masses(n)
    for max_bins in (7, 255):
        bins, expected = Bins.fit(X, rows, max_bins), Bins.fit(floats, rows, max_bins)
        assert bins.points.tobytes() == expected.points.tobytes()
        assert np.array_equal(bins.encode(X).cells, expected.encode(floats).cells)


def test_voters_from_outside_see_floats():
    X = np.array([[1, 200], [250, 3]], np.uint8)
    assert Table(X).floats.dtype == np.float64
    assert (Table(X).floats[:, 0] - 2).tolist() == [-1.0, 248.0]  # no wrap-around
    for dtype in (np.float32, np.float64):
        Z = X.astype(dtype)
        assert Table(Z).floats is Z
    assert Table(X.astype(">f8")).floats.dtype.isnative
    S = stored(X.astype(float))
    assert Table(S).floats is S
