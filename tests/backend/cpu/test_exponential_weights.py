"""Exponential losses that follow the scores."""

from __future__ import annotations

import math

import numpy as np
import pytest

from boostlab.backend.cpu.exponential_weights import Exponentials
from boostlab.functions import exp

ONCE = np.empty(0, np.int32)


@pytest.mark.parametrize("counted", [False, True])
def test_rows_of_the_larger_side_keep_their_weights_to_the_bit(counted):
    rng = np.random.default_rng(0)
    y, F = rng.choice([-1, 1], 400).astype(np.int8), np.zeros(400)
    counts = rng.integers(1, 6, 400).astype(np.int32) if counted else ONCE
    losses, renewed, sides = Exponentials(y, F, counts), 0, set()
    for _ in range(160):
        h = np.where(rng.random(400) < rng.choice([0.2, 0.4, 0.9]), -y, y).astype(np.int8)
        alpha, before, asked = float(rng.choice([0.3, 1.0, 5.0, -0.2])), losses.w.copy(), []
        F = F + alpha * h
        losses.advance(alpha, h, lambda F=F, asked=asked: asked.append(1) or F)
        wrong = h != y
        if asked:
            renewed += 1
            assert losses.w.max() == 1.0
        else:
            mass = counts if counted else np.ones(400)
            fewer = wrong if mass[wrong].sum() * 2 <= mass.sum() else ~wrong
            factor = exp(2 * alpha if fewer is wrong else -2 * alpha)
            sides.add(fewer is wrong)
            assert np.array_equal(losses.w, np.where(fewer, before * factor, before))
        assert abs(math.log(losses.w.max())) < Exponentials.FAR
        exact = np.exp(-y * F - (-y * F).max())
        np.testing.assert_allclose(losses.w / losses.w.max(), exact, rtol=1e-12, atol=1e-300)
    assert renewed > 0
    assert sides == {True, False}
    assert not losses.w.flags.writeable


@pytest.mark.parametrize("alpha", [2000.0, -2000.0])
def test_an_enormous_step_does_not_overflow(alpha):
    y = np.array([1, -1, 1], np.int8)
    losses = Exponentials(y, np.zeros(3), ONCE)
    h = np.array([1, 1, -1], np.int8)
    losses.advance(alpha, h, lambda: alpha * h)
    assert losses.w.tolist() == ([0.0, 1.0, 1.0] if alpha > 0 else [1.0, 0.0, 0.0])


def test_weights_that_only_shrink_are_brought_back():
    y = np.ones(5, np.int8)
    losses, F = Exponentials(y, np.zeros(5), ONCE), np.zeros(5)
    h = np.array([-1, -1, -1, -1, 1], np.int8)
    for t in range(400):  # always wrong on most: the few are made smaller, until they are the only ones that count
        sign = 1 if t % 2 else -1
        F = F + 0.7 * sign * h
        losses.advance(0.7, (sign * h).astype(np.int8), lambda F=F: F)
        np.testing.assert_allclose(losses.w / losses.w.max(), np.exp(-F - (-F).max()), rtol=1e-12)


@pytest.mark.parametrize("counted", [False, True])
def test_votes_for_classes_move_the_sides_half_as_far_apart(counted):
    rng = np.random.default_rng(1)
    classes, rows, F = rng.integers(0, 4, 300).astype(np.int8), np.arange(300), np.zeros((300, 4))
    counts = rng.integers(1, 6, 300).astype(np.int32) if counted else ONCE
    losses, renewed, sides = Exponentials(classes, F, counts), 0, set()
    for _ in range(120):
        h = np.where(rng.random(300) < rng.choice([0.2, 0.8]), (classes + 1) % 4, classes).astype(np.int8)
        alpha, before, asked = float(rng.choice([0.3, 1.0, 5.0, 45.0])), losses.w.copy(), []
        F[rows, h] += alpha
        assert losses.follows(h)
        losses.advance(alpha, h, lambda asked=asked: asked.append(1) or F)
        if asked:
            renewed += 1
            assert losses.w.max() == 1.0
        else:
            wrong, mass = h != classes, counts if counted else np.ones(300)
            fewer = wrong if mass[wrong].sum() * 2 <= mass.sum() else ~wrong
            sides.add(fewer is wrong)
            factor = math.exp(alpha if fewer is wrong else -alpha)
            assert np.array_equal(losses.w, np.where(fewer, before * factor, before))
        mine = F[rows, classes]
        np.testing.assert_allclose(losses.w / losses.w.max(), np.exp(mine.min() - mine), rtol=1e-12, atol=1e-300)
    assert renewed > 0
    assert sides == {True, False}
    assert not losses.follows(np.zeros((300, 4)))


def test_exponentials_are_the_row_functions():
    """Whatever the C library's: the bits are those of `boostlab.functions.exp`, all at once and vote by vote."""
    rng = np.random.default_rng(5)
    y, F = rng.choice([-1, 1], 3000).astype(np.int8), 9 * rng.normal(size=3000)
    top = (-y * F).max()
    expected = np.array([exp(x - top) for x in (-y * F).tolist()])
    assert (expected != np.exp(-y * F - top)).any()
    assert Exponentials(y, F, ONCE).w.tobytes() == expected.tobytes()
    alphas = [a for a in rng.random(2000).tolist() if exp(2 * a) != math.exp(2 * a)]
    assert alphas
    h = np.where(np.arange(3000) < 9, -y, y).astype(np.int8)
    losses = Exponentials(y, F, ONCE)
    losses.advance(alphas[0], h, lambda: F)
    assert losses.w[:9].tolist() == [w * exp(2 * alphas[0]) for w in expected[:9].tolist()]
    assert losses.w[9:].tobytes() == expected[9:].tobytes()
