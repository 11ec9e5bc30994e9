"""Weights and scores after a vote, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.kernels.follow import add_votes, lift_wrong


@pytest.mark.parametrize("labels", [np.int8, np.float64])
def test_rows_that_were_wrong(labels):
    rng = np.random.default_rng(1)
    y, h = rng.choice([-1, 1], 50).astype(labels), rng.choice([-1, 1], 50).astype(labels)
    w = rng.random(50) + 0.1
    for first, last in [(0, 50), (7, 31), (5, 5)]:
        new = w.copy()
        top = lift_wrong(new, y, h, 1.7, first, last)
        wrong = [first <= i < last and h[i] != y[i] for i in range(50)]
        assert new.tolist() == [v * 1.7 if lost else v for v, lost in zip(w.tolist(), wrong, strict=True)]
        assert top == max((new[i] for i in range(50) if wrong[i]), default=0.0)
    assert lift_wrong(w, y, y, 1.7, 0, 50) == 0.0


def test_votes_are_added_as_numpy_adds_them():
    rng = np.random.default_rng(2)
    for h in (rng.choice([-1, 1], 40).astype(np.int8), rng.normal(size=40)):
        F = rng.normal(size=40)
        new = F.copy()
        add_votes(new, 0.3, h, 5, 35)
        assert np.array_equal(new, np.where((np.arange(40) >= 5) & (np.arange(40) < 35), F + 0.3 * h, F))
