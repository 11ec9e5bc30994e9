"""Criteria by class, against plain linear algebra."""

from __future__ import annotations

import numpy as np

from boostlab.learners.class_criteria import Labels


def test_categories_of_several_columns_are_ranked_as_those_of_one():
    rng = np.random.default_rng(2)
    sums, starts = rng.random((4, 12)), np.array([0, 5, 7])
    sums[:, 3] = 0.0  # a category that no row has
    ranks = Labels().rank_columns(sums, starts, np.empty(0))
    for a, b in ((0, 5), (5, 7), (7, 12)):
        mine = sums[:, a:b]
        weight = mine.sum(axis=0)
        shares = np.divide(mine, weight, out=np.zeros_like(mine), where=weight > 0)
        apart = shares - (mine.sum(axis=1) / weight.sum())[:, None]
        axis = np.linalg.svd(apart * np.sqrt(weight))[0][:, 0]
        expected = axis @ shares * np.sign(axis[np.abs(axis).argmax()])
        np.testing.assert_allclose(ranks[a:b], expected, atol=1e-12)
