"""Bins and binned tables."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.threads import WORTH
from boostlab.data.table import Bins, Table

FINITE = st.floats(allow_nan=False, allow_infinity=False)
HUGE = 1.7976931348623157e308


def fit(X, max_bins=255, mass=None, threads=1):
    return Bins.fit(X, Masses(len(X), mass), max_bins, threads)


def cuts_of(bins):
    return [bins.of(j) for j in range(bins.n_features)]


def encoded(bins, X, threads=1):
    """The codes as a matrix, one row a column of X."""
    codes = bins.encode(X, threads)
    return np.stack([codes.column(j) for j in range(bins.n_features)])


def column(values, dtype=np.float64):
    return np.asarray(values, dtype)[:, None]


# -- cuts between distinct values -----------------------------------------------------------------------------------


def test_midpoints_by_hand():
    X = np.array([[3.0, 1.0, 7.0], [1.0, 1.0, -7.0], [2.0, 1.0, 0.0], [1.0, 1.0, 7.0]])
    bins = fit(X)
    assert [c.tolist() for c in cuts_of(bins)] == [[1.5, 2.5], [], [-3.5, 3.5]]
    assert bins.n_bins.tolist() == [3, 1, 3]
    assert encoded(bins, X).tolist() == [[2, 0, 1, 0], [0, 0, 0, 0], [2, 0, 1, 2]]


@settings(max_examples=150)
@example(values=[1.0, np.nextafter(1.0, 2.0)])
@example(values=[-5e-324, 0.0, 5e-324, 1e-323, 1.5e-323])
@example(values=[-HUGE, HUGE])
@example(values=[-1e308, 1e308, 1.1e308, np.nextafter(HUGE, 0), HUGE])
@example(values=[-0.0, 0.0])
@example(values=[np.nextafter(0.0, -1.0), -0.0])
@given(st.lists(FINITE | st.floats(-1e-320, 1e-320) | st.sampled_from([1.0, 1 + 2**-52, 2.0]), min_size=1, max_size=20))
def test_cuts_lie_halfway_between_neighbours(values):
    X = column(values)
    (cuts,) = cuts_of(fit(X))
    distinct = sorted({v + 0.0 for v in values})
    assert len(cuts) == len(distinct) - 1
    for low, cut, high in zip(distinct, cuts.tolist(), distinct[1:], strict=False):
        assert low <= cut < high
        middle = (Fraction(low) + Fraction(high)) / 2
        spacing = Fraction(max(math.ulp(low), math.ulp(high)))
        assert abs(Fraction(cut) - middle) <= spacing  # to the nearest float or so
    codes = encoded(fit(X), X)[0].tolist()
    assert codes == [distinct.index(v) for v in values]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 2**20), min_size=2, max_size=20))
def test_neighbouring_float32_values_are_told_apart(steps):
    bits = np.array(steps, np.int32) + np.float32(1.0).view(np.int32)
    X = column(bits.view(np.float32), np.float32)
    bins = fit(X)
    distinct = np.unique(X).astype(np.float64)
    assert bins.of(0).dtype == np.float64
    assert np.array_equal(bins.of(0), (distinct[:-1] + distinct[1:]) / 2)  # exact: doubles hold the midpoints
    assert np.array_equal(distinct[encoded(bins, X)[0]], X[:, 0].astype(np.float64))


@pytest.mark.parametrize("max_bins", [2, 5, 255, 300, "exact"])
def test_columns_with_few_values_are_cut_exactly(max_bins):
    values = np.random.default_rng(0).permutation(np.repeat(np.arange(max_bins if max_bins != "exact" else 400), 3))
    bins = fit(column(values), max_bins)
    assert np.array_equal(bins.of(0), np.arange(len(set(values.tolist())) - 1) + 0.5)


@pytest.mark.parametrize(("distinct", "dtype"), [(254, np.uint8), (255, np.uint8), (256, np.uint16), (1000, np.uint16)])
def test_codes_take_the_bytes_they_need(distinct, dtype):
    X = column(np.arange(distinct))
    codes = fit(np.hstack([X, X * 0]), "exact").encode(np.hstack([X, X * 0]))
    assert codes.cells.dtype == dtype
    assert codes.cells.shape == (1, distinct, 8 // np.dtype(dtype).itemsize)  # a 64-bit word a row
    assert np.array_equal(codes.column(0), np.arange(distinct))
    assert not codes.column(1).any()


def test_exact_goes_up_to_65535_values():
    values = np.random.default_rng(1).permutation(65_535)
    bins = fit(column(values), "exact")
    codes = bins.encode(column(values))
    assert codes.cells.dtype == np.uint16
    assert np.array_equal(codes.column(0), values)


def test_exact_refuses_more_in_one_sentence():
    X = np.zeros((65_536, 3))
    X[:, 2] = np.arange(65_536)
    with pytest.raises(ValueError, match=r"65,535 distinct values a column, but column 2 has 65,536; give max_bins a"):
        fit(X, "exact")
    assert fit(X, 65_535).n_bins.tolist()[:2] == [1, 1]
    assert fit(X, 65_535).n_bins[2] <= 65_535


def test_constant_columns_have_one_bin():
    for mass in (None, np.arange(1.0, 11.0), np.linspace(0.1, 0.2, 10)):
        bins = fit(np.full((10, 2), 3.25), 255, mass)
        assert bins.n_bins.tolist() == [1, 1]
        assert not encoded(bins, np.array([[-1e308, 1e308], [3.25, 3.25]])).any()


# -- quantiles ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [2, 3, 16, 100, 254, 255, 256, 1000])
@pytest.mark.parametrize("n", [1001, 4000])
def test_bins_of_distinct_values_are_balanced(max_bins, n):
    X = column(np.random.default_rng(n).normal(size=n))
    bins = fit(X, max_bins)
    assert bins.n_bins[0] == max_bins
    sizes = np.bincount(encoded(bins, X)[0], minlength=max_bins)
    assert sizes.min() >= n // max_bins
    assert sizes.max() <= -(-n // max_bins)


@settings(max_examples=75)
@given(st.integers(0, 2**32), st.integers(2, 12), st.sampled_from(["none", "counts", "real"]))
def test_no_bin_is_fuller_than_its_share_and_one_value(seed, max_bins, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 80))
    X = column(np.round(rng.normal(size=n) * rng.choice([2, 5, 100])))
    mass = {"none": None, "counts": rng.integers(1, 9, n).astype(float), "real": rng.random(n) + 0.01}[kind]
    bins = fit(X, max_bins, mass)
    assert bins.n_bins[0] <= max_bins
    w = np.ones(n) if mass is None else mass
    codes = encoded(bins, X)[0]
    assert len(np.unique(codes)) == bins.n_bins[0]  # no bin is empty
    heaviest = max(w[X[:, 0] == v].sum() for v in np.unique(X))
    if len(np.unique(X)) > max_bins:
        assert np.bincount(codes, w).max() <= w.sum() / max_bins + heaviest + 1e-9
    low_high = [(X[codes <= b].max(), X[codes > b].min()) for b in range(bins.n_bins[0] - 1)]
    assert bins.of(0).tolist() == [(a + b) / 2 for a, b in low_high]  # cuts lie between neighbouring values


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.sampled_from([2, 3, 7, 10, 255]))
def test_mass_k_cuts_like_k_copies(seed, max_bins):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    X = np.stack([rng.normal(size=n), rng.integers(0, 20, n)], axis=1)
    copies = rng.integers(1, 6, n)
    a, b = fit(X, max_bins, copies.astype(float)), fit(rng.permutation(X.repeat(copies, axis=0)), max_bins)
    assert all(np.array_equal(c, d) for c, d in zip(cuts_of(a), cuts_of(b), strict=True))


def test_equal_real_masses_cut_like_none():
    X = np.random.default_rng(3).normal(size=(500, 2))
    a, b = fit(X, 10, np.full(500, 0.37)), fit(X, 10)
    assert all(np.array_equal(c, d) for c, d in zip(cuts_of(a), cuts_of(b), strict=True))


def test_a_heavy_row_moves_the_quantiles():
    X = column(np.arange(100.0))
    mass = np.ones(100)
    mass[90] = 1000.0
    assert fit(X, 2, mass).of(0).tolist() == [90.5]
    assert fit(X, 2).of(0).tolist() == [49.5]


# -- threads --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mass", [None, "real"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_nothing(mass, dtype):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3001, 23)).astype(dtype)
    X[:, 5] = np.round(X[:, 5])
    X[:, 6] = 1.0
    assert X.size * 8 >= WORTH
    mass = rng.random(3001) if mass else None
    one, four = fit(X, 255, mass, 1), fit(X, 255, mass, 4)
    assert all(np.array_equal(a, b) for a, b in zip(cuts_of(one), cuts_of(four), strict=True))
    assert np.array_equal(encoded(one, X, 1), encoded(one, X, 4))
    expected = [np.searchsorted(c, X[:, j].astype(np.float64)) for j, c in enumerate(cuts_of(one))]
    assert np.array_equal(encoded(one, X, 4), expected)


def test_rows_in_any_order_give_the_same_cuts():
    rng = np.random.default_rng(5)
    X, mass, order = rng.normal(size=(700, 3)), rng.random(700), rng.permutation(700)
    for m in (None, mass):
        a, b = fit(X, 20, m), fit(X[order], 20, None if m is None else m[order])
        assert all(np.array_equal(c, d) for c, d in zip(cuts_of(a), cuts_of(b), strict=True))


# -- splits ---------------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.data())
def test_codes_and_raw_values_split_alike(data):
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    width = 32 if dtype is np.float32 else 64
    near = st.floats(1, 1 + 2.0**-18, width=width)
    elements = st.floats(allow_nan=False, allow_infinity=False, width=width) | near | st.sampled_from([-1.0, 0.0, 2.0])
    X = data.draw(hnp.arrays(dtype, (data.draw(st.integers(1, 25)), 2), elements=elements))
    bins = fit(X, data.draw(st.sampled_from([2, 3, 255])))
    binned, plain = Table.of(X, bins), Table(X)
    for j, cuts in enumerate(cuts_of(bins)):
        for cut, threshold in enumerate(cuts.tolist()):
            votes = binned.split(j, cut, threshold, -0.5, 2.0)
            assert np.array_equal(votes, plain.split(j, cut, threshold, -0.5, 2.0))
            assert votes.tolist() == [-0.5 if float(v) <= threshold else 2.0 for v in X[:, j]]


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_float32_values_are_not_compared_in_float32(steps):
    bits = np.float32(1.0).view(np.int32) + np.int32(steps) + np.arange(2, dtype=np.int32)
    low, high = bits.view(np.float32).tolist()  # neighbours; a threshold between them is no float32
    X = column([low, high], np.float32)
    for threshold in ((low + high) / 2, math.nextafter(high, 0.0), math.nextafter(low, 2.0)):
        assert Table(X).split(0, None, threshold, -1.0, 1.0).tolist() == [-1.0, 1.0]


def test_a_table_without_bins_has_no_codes():
    table = Table.of(column([1.0, 2.0]), None)
    assert table.codes is None
    assert table.split(0, 0, 1.5, -1.0, 1.0).tolist() == [-1.0, 1.0]


def test_a_threshold_of_ones_own_is_compared_with_raw_values():
    X = column([0.0, 1.0, 2.0, 3.0])
    table = Table.of(X, fit(X))
    assert table.split(0, None, 1.9, -1.0, 1.0).tolist() == [-1.0, -1.0, 1.0, 1.0]
    assert table.n_rows == 4


def test_new_values_fall_on_the_side_of_their_cut():
    bins = fit(column([0.0, 1.0, 2.0]))
    new = column([-1e300, 0.5, np.nextafter(0.5, 1), 1.5, 1.6, 1e300])
    assert Table.of(new, bins).codes.column(0).tolist() == [0, 0, 1, 1, 2, 2]
