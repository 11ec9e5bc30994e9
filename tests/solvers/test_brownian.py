"""The two equations of a BrownBoost round: the walk and Newton's method find the same point."""

from math import exp, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import erf, erfc, erfinv, log_ndtr

from boostlab.solvers.brownian import Clock, potential_at
from tables import rows_in_memory


def start(clock):
    """x and b of a clock, in units of sqrt(c), from its rows."""
    return (clock.s.y * clock.s.scores.now + clock.left) / sqrt(clock.c), clock.s.y * clock.s.h / clock.scale


def rounds(seed, eps, n=80, n_rounds=25, real=False):
    """Play BrownBoost with random voters of a positive edge; yield (clock, edge) of every round."""
    rng = np.random.default_rng(seed)
    c = float(erfinv(1 - eps)) ** 2
    r, left, y = np.zeros(n), c, np.where(rng.random(n) < 0.5, 1, -1)
    for _ in range(n_rounds):
        for _ in range(100):
            b = np.where(rng.random(n) < 0.65, 1.0, -1.0)
            if real:
                b = b * rng.uniform(0.2, 1.0, n)
            w = np.exp(-((r + left) ** 2) / c)
            edge = (w @ b) / w.sum()
            if edge > 0.01:
                break
        clock = Clock(rows_in_memory(y * r, y * b, y), c, left)
        yield clock, edge
        alpha, t = clock.search()
        r, left = r + sqrt(c) * alpha * b, left - sqrt(c) * t
        if left <= 1e-9:
            return


@pytest.mark.parametrize("real", [False, True], ids=["labels", "real"])
@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3])
def test_walk_solves_both_equations(eps, real):
    count = 0
    for clock, _ in rounds(1, eps, real=real):
        alpha, t = clock.search()
        assert alpha > 0
        assert 0 < t <= clock.rest
        a, b = start(clock)
        x = a + alpha * b - t
        assert erf(x).mean() == pytest.approx(erf(a).mean(), abs=1e-12)
        if t < clock.rest:
            w = np.exp(-x * x)
            assert abs((w @ b) / w.sum()) <= 1e-9
        count += 1
    assert count >= 2


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3])
def test_newton_agrees_with_the_walk(eps):
    agreed = 0
    for seed in range(2):
        for clock, edge in rounds(seed, eps):
            alpha, t = clock.search()
            if t < clock.rest:
                near = clock.newton(1.05 * alpha, 0.95 * t)  # from a point five percent off
                assert near is not None
                assert near == pytest.approx((alpha, t), abs=1e-9)
                agreed += 1
            assert clock.advance(edge, None) == pytest.approx((alpha, t), abs=1e-9)
            assert clock.advance(edge, (alpha / edge, t / edge**2)) == pytest.approx((alpha, t), abs=1e-9)
    assert agreed >= 10


def test_the_walk_follows_the_differential_equation():
    # dt / dalpha = gamma(alpha, t): integrate it and look where gamma first vanishes.
    clock, _ = next(rounds(3, 0.05))
    a, b = start(clock)

    def gamma(alpha, t):
        w = np.exp(-((a + alpha * b - t[0]) ** 2))
        return [(w @ b) / w.sum()]

    def no_edge(alpha, t):
        return gamma(alpha, t)[0]

    no_edge.terminal, no_edge.direction = True, -1
    path = solve_ivp(gamma, (0, 5), [0.0], events=no_edge, rtol=1e-11, atol=1e-13)
    alpha, t = clock.search()
    assert t < clock.rest
    assert alpha == pytest.approx(path.t_events[0][0], abs=1e-7)
    assert t == pytest.approx(path.y_events[0][0, 0], abs=1e-8)
    middle = alpha / 3
    assert clock.time(middle) == pytest.approx(
        solve_ivp(gamma, (0, middle), [0.0], rtol=1e-11, atol=1e-13).y[0, -1], abs=1e-9
    )


def test_a_perfect_voter_runs_out_the_clock():
    c = 1.3
    clock = Clock(rows_in_memory(np.zeros(20), np.ones(20)), c, c)
    assert clock.time(0.4) == pytest.approx(0.4, abs=1e-12)
    assert clock.newton(0.5, 0.5) is None  # the two equations are one
    alpha, t = clock.advance(1.0, None)
    assert alpha == pytest.approx(sqrt(c), abs=1e-12)
    assert t == clock.rest == sqrt(c)


def test_the_last_step_ends_on_the_clock():
    # A short rest of time: the curve passes it before the edge is gone.
    clock, edge = next(rounds(4, 0.1))
    _, t = clock.search()
    gone = clock.left - t * sqrt(clock.c) / 3  # as if so much of the time had never been
    rows = rows_in_memory(clock.s.scores.now + clock.s.y * gone, clock.s.h, clock.s.y)
    short = Clock(rows, clock.c, clock.left - gone)
    alpha, end = short.search()
    assert end == short.rest == pytest.approx(t / 3, abs=1e-12)
    assert short.excess(alpha, end) == pytest.approx(0.0, abs=1e-10)
    assert short.advance(edge, None) == pytest.approx((alpha, end), abs=1e-10)


def test_masses_are_copies():
    c = float(erfinv(0.9)) ** 2
    rng = np.random.default_rng(0)
    k = rng.integers(1, 4, 30)
    b = np.where(rng.random(30) < 0.7, 1.0, -1.0)
    weighted = Clock(rows_in_memory(np.zeros(30), b, mass=k.astype(float)), c, c).search()
    copied = Clock(rows_in_memory(np.zeros(k.sum()), np.repeat(b, k)), c, c).search()
    assert weighted == copied


def test_far_margins_do_not_underflow():
    # Weights exp(-d^2 / c) of 1e-400: only their ratios matter.
    c = 0.5
    clock = Clock(rows_in_memory([-20.0, -20.1, 21.0], [1.0, 1.0, -1.0]), c, 0.0)
    assert exp(-(20.0**2) / c) == 0.0
    assert clock.edge(0.0, 0.0) == pytest.approx(1.0)
    assert np.isfinite(clock.edge(1.0, 0.5))


@pytest.mark.parametrize("c", [0.5, 3.0, 300.0, 600.0, 1e4])
def test_potentials_in_units_of_the_first(c):
    # erfc(x) / erfc(sqrt c) on both sides of 0, and where both are too small for a float.
    x = sqrt(c) + np.linspace(-1.5, 1.5, 61)
    clock = Clock(rows_in_memory(x * sqrt(c), np.ones(61)), c, 0.0)
    found = clock.s.each(potential_at, *clock.numbers, 0.0, 0.0)
    np.testing.assert_allclose(
        np.log(found), log_ndtr(-sqrt(2) * x) - log_ndtr(-sqrt(2 * c)), atol=1e-15 * (10 + 4 * c)
    )
    if c < 10:
        below = rows_in_memory(np.linspace(-6, 6, 121) * sqrt(c), np.ones(121))
        found = Clock(below, c, 0.0).s.each(potential_at, *clock.numbers, 0.0, 0.0)
        np.testing.assert_allclose(found, erfc(np.linspace(-6, 6, 121)) / erfc(sqrt(c)), rtol=5e-14)
