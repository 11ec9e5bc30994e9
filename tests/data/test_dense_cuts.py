"""Columns whose values are laid in cells have the cuts of columns that are sorted whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import AdaBoostClassifier
from boostlab.backend.cpu.kernels.marked_cells import CROWD
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.threads import AtOnce
from boostlab.data.bins import Bins
from boostlab.data.dense_cuts import CELLS, MANY, LongColumns, sorted_cuts
from boostlab.data.table import Table

RNG = np.random.default_rng(0)


def cuts(values, mass, limit, cells):
    """Return the cut points: by cells, or of 0 cells by a whole sort."""
    if cells:
        return LongColumns(values[:, None], mass, limit, 1, cells).cuts()[0][0]
    return sorted_cuts(values.copy(), mass, limit, np.empty(max(limit, 1)))[0]


def assert_same_cuts(values, mass, limit, cells):
    found, expected = (cuts(values, mass, limit, c) for c in (cells, 0))
    np.testing.assert_array_equal(found, expected)


COLUMNS = {
    "normal": lambda n: RNG.normal(size=n),
    "heavy tails": lambda n: RNG.standard_cauchy(n),
    "lognormal": lambda n: np.exp(3 * RNG.normal(size=n)),
    "mostly zero": lambda n: np.where(RNG.random(n) < 0.7, 0.0, RNG.normal(size=n)),
    "both zeros": lambda n: RNG.choice([-0.0, 0.0, 1.0], n),
    "few values": lambda n: RNG.integers(0, 30, n).astype(float),
    "whole numbers": lambda n: RNG.integers(-1000, 1000, n).astype(float),
    "one value": lambda n: np.full(n, 3.5),
    "one outlier": lambda n: np.r_[1e200, RNG.normal(size=n - 1)],
    "huge": lambda n: RNG.uniform(-1, 1, n) * 1.7e308,
    "tiny": lambda n: RNG.normal(size=n) * 1e-310,
    "sorted": lambda n: np.sort(RNG.normal(size=n))[::-1],
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limit", [2, 255, 4000])
@pytest.mark.parametrize("kind", COLUMNS)
def test_cuts_are_those_of_a_whole_sort(kind, limit, weighted):
    values = COLUMNS[kind](6000)
    values[RNG.random(len(values)) < 0.1] = np.nan
    mass = RNG.integers(1, 50, len(values)) if weighted else None
    for cells in (16, 1000, CELLS):
        assert_same_cuts(values, mass, limit, cells)
    if kind not in ("huge", "one outlier"):
        assert_same_cuts(values.astype(np.float32), mass, limit, 1000)


@settings(max_examples=60)
@given(
    st.lists(st.floats(allow_infinity=False, width=64), min_size=1, max_size=60),
    st.integers(2, 70),
    st.integers(1, 40),
    st.data(),
)
def test_cuts_of_hostile_columns(values, limit, cells, data):
    values = np.array(values)
    masses = data.draw(st.none() | st.lists(st.integers(1, 2**40), min_size=len(values), max_size=len(values)))
    assert_same_cuts(values, None if masses is None else np.array(masses), limit, cells)


def test_a_column_of_nothing_but_gaps_has_no_cuts():
    assert_same_cuts(np.full(300, np.nan), None, 255, 64)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("order", "CF")
def test_long_columns_are_cut_by_cells_on_any_number_of_threads(threads, order):
    X = np.stack([make(MANY) for name, make in COLUMNS.items() if name not in ("huge",)], axis=1)
    rows = Masses(len(X))
    found, expected = Bins.fit(np.asarray(X, order=order), rows, 255, threads), [cuts(x, None, 255, 0) for x in X.T]
    for j, points in enumerate(expected):
        np.testing.assert_array_equal(found.of(j), points)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("threads", "limit", "groups"), [(2, 20, 2), (3, 20, 2), (3, 255, 1)])
def test_groups_of_threads_find_the_cuts_of_a_whole_sort(threads, limit, groups, weighted):
    X = np.stack([make(6000) for make in COLUMNS.values()], axis=1)
    X[RNG.random(X.shape) < 0.1] = np.nan
    mass = RNG.integers(1, 50, len(X)) if weighted else None
    long = LongColumns(X, mass, limit, AtOnce(threads), 1000)
    assert (long.groups, long.parts) == (groups, threads)
    for found, x in zip(long.cuts()[0], X.T, strict=True):
        np.testing.assert_array_equal(found, cuts(x, mass, limit, 0))


def crowds():
    """A column most of whose values share two cells, with more of them than are sorted there."""
    return np.r_[RNG.normal(size=2 * CROWD), 1e6 + RNG.normal(size=2 * CROWD)]


@pytest.mark.parametrize("weighted", [False, True])
def test_crowded_cells_are_sorted_with_their_column(weighted):
    x = crowds()
    mass = RNG.integers(1, 5, len(x)) if weighted else None
    assert_same_cuts(x, mass, 255, CELLS)
    assert LongColumns(x[:, None], mass, 255, 1).cuts()[1] is None  # rows of slots are not known


@pytest.mark.parametrize("d", [3, 40])  # from 32 columns on they are copied to where codes will be
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_of_slots_are_those_of_the_codes(d, threads):
    X = RNG.normal(size=(MANY, d)).astype(np.float32)
    X[:, 0], X[:, 1] = np.round(X[:, 0]), 1.0
    X[RNG.random(X.shape) < 0.1] = np.nan
    for max_bins in (2, 255, 300):
        table = Table.fit(X, Masses(len(X)), max_bins, threads)
        known = table.codes.rows_of_slots
        expected = Table.of(X, table.bins).codes
        assert expected.rows_of_slots is None
        np.testing.assert_array_equal(table.codes.cells, expected.cells)
        np.testing.assert_array_equal(known, expected.sums_of_equals(1))


def test_weighted_rows_are_not_counted_by_cuts():
    X = RNG.normal(size=(MANY, 2))
    assert Table.fit(X, Masses(MANY, RNG.random(MANY) + 0.5), 255).codes.rows_of_slots is None
    assert Table.fit(X, Masses(MANY), 255, 1, {1: 4}).codes.rows_of_slots is None  # nor those of categories


def test_exact_bins_count_the_distinct_values_of_a_long_column():
    X = np.arange(70_000.0)[:, None]
    with pytest.raises(ValueError, match="column 0 has 70,000"):
        AdaBoostClassifier(max_bins="exact").fit(X, X[:, 0] > 5)
