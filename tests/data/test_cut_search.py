"""Cuts of columns that come in blocks are those of the whole table, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.data import cut_search, table_search
from boostlab.data.cut_search import keys_of, numbers_of
from boostlab.data.dense_cuts import dense_cuts
from boostlab.data.table_search import TableSearch, cuts_of_blocks


def test_keys_have_the_order_of_numbers():
    x = np.array([-np.inf, -1e300, -1.5, -5e-324, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1e300, np.inf])
    keys = keys_of(x)
    assert (keys[1:] > keys[:-1]).all()
    np.testing.assert_array_equal(numbers_of(keys), x)
    assert keys_of(np.array([-0.0])) == keys_of(np.array([0.0]))


def table(rng, n):
    """Columns of many values, of few, with ties at many places, over all magnitudes, constant, and without values."""
    ties = np.where(rng.random(n) < 0.6, 0.0, rng.normal(size=n))
    wide = rng.lognormal(0, 20, n) * rng.choice([-1, 1], n)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 300, n), ties, wide, np.full(n, 5.0), np.full(n, np.nan)])
    X[rng.random(X.shape) < rng.choice([0.0, 0.2])] = np.nan
    return X


@pytest.mark.parametrize("mass", ["ones", "counts", "large"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_blocks_in_any_order_give_the_cuts_of_the_whole(mass, seed):
    rng = np.random.default_rng(seed)
    n, limit = int(rng.integers(1, 1500)), int(rng.choice([2, 3, 17, 255, 1000]))
    X = table(rng, n)
    masses = {"ones": None, "counts": rng.integers(1, 9, n), "large": rng.integers(1, 2**45, n)}[mass]
    order, ends = rng.permutation(n), np.sort(rng.integers(0, n + 1, int(rng.integers(0, 5))))

    def blocks():
        for rows in np.split(order, ends):
            yield X[rows], None if masses is None else masses[rows]

    points, counts, distinct, _ = dense_cuts(X, masses, limit, 1, {1: 300}, True)
    with pytest.MonkeyPatch.context() as patch:  # a few thousand rows need as many passes as a hundred million
        patch.setattr(cut_search, "FEW", int(rng.choice([1, 30, 4096])))
        patch.setattr(table_search, "MOST_COUNTERS", int(rng.choice([64, 1 << 12, 1 << 21])))
        found = cuts_of_blocks(blocks, TableSearch(X.shape[1], limit, {1: 300}, threads=2))
    np.testing.assert_array_equal(found[0], points)
    np.testing.assert_array_equal(found[1], counts)
    np.testing.assert_array_equal(found[2], np.minimum(distinct, limit + 1))


def test_a_long_column_takes_three_passes():
    rng, passes = np.random.default_rng(0), []
    X = rng.normal(size=(300_000, 1))

    def blocks():
        passes.append(1)
        return [(X[:100_000], None), (X[100_000:], None)]

    points, _, _ = cuts_of_blocks(blocks, TableSearch(1, 255, None))
    np.testing.assert_array_equal(points, dense_cuts(X, None, 255, 1, {}, False)[0])
    assert len(passes) == 3


def test_many_distinct_values_are_found_by_looking_at_a_few(monkeypatch):
    """A partition's distinct values are sorted only while they may be few: else half of the first pass."""
    looked = []
    monkeypatch.setattr(cut_search, "keys_of", lambda x: (looked.append(len(x)), keys_of(x))[1])
    for x, few in ((np.random.default_rng(0).normal(size=100_000), False), (np.arange(100_000) % 200.0, True)):
        looked.clear()
        search = cut_search.CutSearch(255)
        search.see(x, None, first=True)
        assert (search.known is not None) == few
        assert (sum(looked) == 100_000) if few else (sum(looked) < 2_000)
