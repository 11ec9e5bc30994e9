"""The first valley of a sum of exponentials."""

from math import log

import numpy as np
import pytest

from boostlab.solvers.line_search import FARTHEST, first_valley


class Sample:
    """The sums a state would supply."""

    def weigh(self, logs):
        return np.exp(logs - logs.max())

    def total(self, *xs):
        return tuple(float(x.sum()) for x in xs)


def line(w, q):
    """A sum of w exp(-a q)."""
    return lambda a: (np.log(w) - a * q, q)


@pytest.mark.parametrize("guess", [1e-3, 0.5, 7.0, 29.0])
@pytest.mark.parametrize("eps", [0.4, 0.1, 1e-6])
def test_adaboosts_step(eps, guess):
    along = line(np.array([1 - eps, eps]), np.array([1.0, -1.0]))
    a, evaluations = first_valley(Sample(), along, guess)
    assert a == pytest.approx(0.5 * log((1 - eps) / eps), rel=1e-12)
    assert evaluations < 60


def test_a_right_guess_is_taken_as_it_is():
    guess = 0.5 * log(0.7 / 0.3)
    a, evaluations = first_valley(Sample(), line(np.array([0.7, 0.3]), np.array([1.0, -1.0])), guess)
    assert a == guess
    assert evaluations == 2


def test_no_valley():
    assert first_valley(Sample(), line(np.ones(3), np.array([1.0, 2.0, 0.0])), 1.0)[0] is None
    assert (
        first_valley(Sample(), line(np.array([1.0, 1e-40]), np.array([1.0, -1.0])), 1.0)[0] is None
    )  # beyond FARTHEST
    assert first_valley(Sample(), line(np.ones(2), np.array([1.0, -1.5])), 1.0) == (0.0, 1)


def test_only_the_first_valley_counts():
    # exp(cos(a + 1/2)) falls until a = pi - 1/2, rises, and falls again.
    def along(a):
        return np.array([np.cos(a + 0.5)]), np.array([np.sin(a + 0.5)])

    for guess in (0.1, 1.0, 3.0):
        assert first_valley(Sample(), along, guess)[0] == pytest.approx(np.pi - 0.5, abs=1e-9)
    assert 3 * np.pi < FARTHEST
