"""Categories sorted by rank, against NumPy's stable sort."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from boostlab.backend.search import sort_categories


@pytest.mark.parametrize("seed", range(5))
def test_categories_are_sorted_by_rank_and_equals_keep_their_order(seed):
    rng = np.random.default_rng(seed)
    starts = np.array([0, 6, 9, 17])
    categorical, filled = np.array([True, False, True]), rng.random(17) < 0.8
    rank, hist = rng.integers(0, 3, 17) / 2, rng.integers(-9, 9, (2, 17))  # many ties
    slots = SimpleNamespace(n_slots=17, starts=starts, filled=filled, categorical=categorical)
    found, order = sort_categories(slots, rank, hist)
    for start, end, is_categorical in zip(starts[:-1], starts[1:], categorical, strict=True):
        if is_categorical:
            expected = np.argsort(np.where(filled, rank, np.inf)[start:end], kind="stable")  # empty slots last
            np.testing.assert_array_equal(order[start:end], expected)
            np.testing.assert_array_equal(found[:, start:end], hist[:, start:end][:, expected])
        else:
            np.testing.assert_array_equal(found[:, start:end], hist[:, start:end])
