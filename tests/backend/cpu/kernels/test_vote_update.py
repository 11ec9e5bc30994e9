"""Weights and scores after a vote, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab.backend.cpu.kernels.vote_update import add_votes, scale_side, wrong_mass


@pytest.mark.parametrize("labels", [np.int8, np.float64])
@pytest.mark.parametrize("side", [True, False])
def test_one_side_is_scaled(labels, side):
    rng = np.random.default_rng(1)
    y, h = rng.choice([-1, 1], 50).astype(labels), rng.choice([-1, 1], 50).astype(labels)
    w, counts = rng.random(50) + 0.1, rng.integers(1, 9, 50).astype(np.int32)
    for first, last in [(0, 50), (7, 31), (5, 5)]:
        new = w.copy()
        scale_side(new, y, h, side, 1.7, first, last)
        touched = [first <= i < last and (h[i] != y[i]) == side for i in range(50)]
        assert new.tolist() == [v * 1.7 if there else v for v, there in zip(w.tolist(), touched, strict=True)]
        wrong = [i for i in range(first, last) if h[i] != y[i]]
        assert wrong_mass(y, h, np.empty(0, np.int32), first, last) == len(wrong)
        assert wrong_mass(y, h, counts, first, last) == sum(int(counts[i]) for i in wrong)


def test_votes_are_added_as_numpy_adds_them():
    rng = np.random.default_rng(2)
    for h in (rng.choice([-1, 1], 40).astype(np.int8), rng.normal(size=40)):
        F = rng.normal(size=40)
        new = F.copy()
        add_votes(new, 0.3, h, 5, 35)
        assert np.array_equal(new, np.where((np.arange(40) >= 5) & (np.arange(40) < 35), F + 0.3 * h, F))
