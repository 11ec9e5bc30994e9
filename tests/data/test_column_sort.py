"""Columns that are sorted by cells have the cuts of columns that are sorted whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import AdaBoostClassifier
from boostlab.backend.cpu.kernels.binning import cut_sorted
from boostlab.backend.cpu.masses import Masses
from boostlab.data.bins import CELLS, MANY, Bins, ColumnSort

RNG = np.random.default_rng(0)


def cuts(values, mass, limit, exact, cells):
    """Return the cut points, and how many values are distinct (or that they are more than the limit)."""
    out = np.empty(max(limit, 1))
    by_value = ColumnSort(len(values), values.dtype, mass, limit, exact, cells)
    n, distinct = cut_sorted(*by_value(values.copy()), limit, out)
    return out[:n].copy(), int(distinct) if exact else min(int(distinct), limit + 1)


def assert_same_cuts(values, mass, limit, exact, cells):
    found, expected = (cuts(values, mass, limit, exact, c) for c in (cells, 0))
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1] == expected[1]


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
        assert_same_cuts(values, mass, limit, False, cells)
    assert_same_cuts(values, mass, limit, True, 1000)
    assert_same_cuts(values.astype(np.float32), mass, limit, False, 1000) if kind not in (
        "huge",
        "one outlier",
    ) else None


@settings(max_examples=60)
@given(
    st.lists(st.floats(allow_infinity=False, width=64), min_size=1, max_size=60),
    st.integers(2, 70),
    st.integers(1, 40),
    st.booleans(),
    st.data(),
)
def test_cuts_of_hostile_columns(values, limit, cells, exact, data):
    values = np.array(values)
    masses = data.draw(st.none() | st.lists(st.integers(1, 2**40), min_size=len(values), max_size=len(values)))
    assert_same_cuts(values, None if masses is None else np.array(masses), limit, exact, cells)


def test_a_column_of_nothing_but_gaps_has_no_cuts():
    assert_same_cuts(np.full(300, np.nan), None, 255, False, 64)


def test_long_columns_are_sorted_by_cells_on_any_number_of_threads():
    X = np.stack([make(MANY) for name, make in COLUMNS.items() if name not in ("huge",)], axis=1)
    rows = Masses(len(X))
    found, expected = Bins.fit(X, rows, 255, 3), [cuts(x, None, 255, False, 0)[0] for x in X.T]
    for j, points in enumerate(expected):
        np.testing.assert_array_equal(found.of(j), points)


def test_exact_bins_count_the_distinct_values_of_a_long_column():
    X = np.arange(70_000.0)[:, None]
    with pytest.raises(ValueError, match="column 0 has 70,000"):
        AdaBoostClassifier(max_bins="exact").fit(X, X[:, 0] > 5)
