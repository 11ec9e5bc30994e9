"""The first valley of a sum of exponentials."""

from math import log

import numpy as np
import pytest

from boostlab.contract import formula
from boostlab.solvers.line_search import FARTHEST, Line, slopes
from tables import rows_in_memory


@formula
def exponent(F: float, h: float, a: float) -> float:
    """exp(F - a h)."""
    return F - a * h


@formula
def straight(F: float, h: float, a: float, level: float) -> tuple[float, float, float, float, float]:
    return slopes(F - a * h - level, h, 0.0)


@formula
def bent(F: float, h: float, a: float) -> float:
    """E falls to -h/4 at a = h/2 and rises again."""
    return F + a * a - h * a


@formula
def bent_slopes(F: float, h: float, a: float, level: float) -> tuple[float, float, float, float, float]:
    return slopes(F + a * a - h * a - level, h - 2.0 * a, -2.0)


@formula
def cosine(x: float) -> float:
    """cos(x) for x in [0, 10], by its series: formulas have no cosine."""
    term, total = 1.0, 1.0
    for j in range(1, 30):
        term = -term * x * x / ((2 * j - 1) * (2 * j))
        total = total + term
    return total


@formula
def wave(F: float, a: float) -> float:
    return F + cosine(a + 0.5)


@formula
def wave_slopes(F: float, a: float, level: float) -> tuple[float, float, float, float, float]:
    c = cosine(a + 0.5)
    return slopes(F + c - level, cosine(a + 0.5 - 1.5707963267948966), c)


def line(w, q, level=0.0):
    """A sum of w exp(-a q)."""
    return Line(rows_in_memory(np.log(w), np.asarray(q, float)), exponent, straight, (), level)


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("guess", [1e-3, 0.5, 7.0, 29.0])
@pytest.mark.parametrize("eps", [0.4, 0.1, 1e-6])
def test_adaboosts_step(eps, guess, falls):
    along = line([1 - eps, eps], [1, -1])
    a, log_sum = along.first_valley(guess, falls)
    assert a == pytest.approx(0.5 * log((1 - eps) / eps), rel=1e-12)
    assert log_sum == pytest.approx(log(2) + 0.5 * log(eps * (1 - eps)), abs=1e-13)
    assert along.evaluations < 60


def test_a_right_guess_is_taken_as_it_is():
    guess, along = 0.5 * log(0.7 / 0.3), line([0.7, 0.3], [1, -1])
    assert along.first_valley(guess)[0] == guess
    assert along.evaluations == 2
    known = line([0.7, 0.3], [1, -1])
    assert known.first_valley(guess, falls=True)[0] == guess
    assert known.evaluations == 1


def test_a_near_guess_takes_few_evaluations():
    rng = np.random.default_rng(0)
    q = np.where(rng.random(200) < 0.7, 1.0, -1.0) + rng.uniform(0, 0.3, 200)
    far = line(np.ones(200), q)
    a, _ = far.first_valley(0.01)
    near = line(np.ones(200), q)
    assert near.first_valley(0.9 * a, falls=True)[0] == pytest.approx(a, rel=1e-13)
    assert near.evaluations <= 4
    terms = q * np.exp(-a * q)
    assert abs(terms.sum()) <= 1e-13 * np.abs(terms).sum()


def test_no_valley():
    assert line(np.ones(3), [1.0, 2.0, 0.0]).first_valley(1.0)[0] is None
    assert line([1.0, 1e-40], [1.0, -1.0]).first_valley(1.0)[0] is None  # beyond FARTHEST
    along = line(np.ones(2), [1.0, -1.5])
    assert along.first_valley(1.0)[0] == 0.0
    assert along.evaluations == 1


@pytest.mark.parametrize("level", [0.0, 1e4, -1e4])
def test_the_level_is_found_where_it_is_wrong(level):
    along = line([0.8, 0.2], [1, -1], level)
    a, log_sum = along.first_valley(0.5)
    assert a == pytest.approx(0.5 * log(4), rel=1e-12)
    assert log_sum == pytest.approx(log(0.8), abs=1e-12)


def test_terms_that_bend():
    along = Line(rows_in_memory([0.0, 0.0], [1.0, 3.0]), bent, bent_slopes, (), 0.0)
    a, _ = along.first_valley(0.5)
    terms = np.exp([a * a - a, a * a - 3 * a]) * [1 - 2 * a, 3 - 2 * a]
    assert abs(terms.sum()) <= 1e-13 * np.abs(terms).sum()


def test_only_the_first_valley_counts():
    # exp(cos(a + 1/2)) falls until a = pi - 1/2, rises, and falls again.
    for guess in (0.1, 1.0, 3.0):
        a, _ = Line(rows_in_memory([0.0], [1.0]), wave, wave_slopes, (), 0.0).first_valley(guess)
        assert a == pytest.approx(np.pi - 0.5, abs=1e-9)
    assert 3 * np.pi < FARTHEST
