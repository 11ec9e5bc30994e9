"""Exponential losses that follow the scores."""

from __future__ import annotations

import math

import numpy as np

from boostlab.data.losses import Exponentials


def test_rows_that_were_right_keep_their_weights_to_the_bit():
    rng = np.random.default_rng(0)
    y, F = rng.choice([-1, 1], 400).astype(np.int8), np.zeros(400)
    losses, renewed = Exponentials(y, F), 0
    for _ in range(120):
        h = np.where(rng.random(400) < 0.4, -y, y).astype(np.int8)
        alpha, before, asked = float(rng.choice([0.3, 1.0, 5.0, -0.2])), losses.w.copy(), []
        F = F + alpha * h
        losses.advance(alpha, h, lambda F=F, asked=asked: asked.append(1) or F)
        if asked:
            renewed += 1
            assert losses.w.max() == 1.0
        else:
            assert np.array_equal(losses.w[h == y], before[h == y])
            assert np.array_equal(losses.w[h != y], before[h != y] * math.exp(2 * alpha))
        assert losses.w.max() < Exponentials.HIGHEST
        exact = np.exp(-y * F - (-y * F).max())
        np.testing.assert_allclose(losses.w / losses.w.max(), exact, rtol=1e-12, atol=1e-300)
    assert renewed > 0
    assert not losses.w.flags.writeable


def test_an_enormous_step_does_not_overflow():
    y = np.array([1, -1, 1], np.int8)
    losses = Exponentials(y, np.zeros(3))
    h = np.array([1, 1, -1], np.int8)
    losses.advance(2000.0, h, lambda: 2000.0 * h)
    assert losses.w.tolist() == [0.0, 1.0, 1.0]
