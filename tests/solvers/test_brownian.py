"""The two equations of a BrownBoost round: the walk and Newton's method find the same point."""

from math import exp, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import erf, erfinv

from boostlab.solvers.brownian import Clock, advance_clock


def sample(n, mass=None):
    """Plain sums in place of the engine's."""
    m = np.ones(n) if mass is None else mass

    def total(*xs):
        sums = tuple(float(m @ x) for x in xs)
        return sums if len(sums) > 1 else sums[0]

    return SimpleNamespace(n=float(m.sum()), total=total, largest=lambda x: float(x.max()))


def rounds(seed, eps, n=80, n_rounds=25, real=False):
    """Play BrownBoost with random voters of a positive edge; yield (clock, left, edge) of every round."""
    rng = np.random.default_rng(seed)
    c = float(erfinv(1 - eps)) ** 2
    r, left, s = np.zeros(n), c, sample(n)
    for _ in range(n_rounds):
        for _ in range(100):
            b = np.where(rng.random(n) < 0.65, 1.0, -1.0)
            if real:
                b = b * rng.uniform(0.2, 1.0, n)
            w = np.exp(-((r + left) ** 2) / c)
            edge = (w @ b) / w.sum()
            if edge > 0.01:
                break
        clock = Clock(s, r + left, b, c)
        yield clock, left, edge
        alpha, t = clock.search(left)
        r, left = r + alpha * b, left - t
        if left <= 1e-9:
            return


@pytest.mark.parametrize("real", [False, True], ids=["labels", "real"])
@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3])
def test_walk_solves_both_equations(eps, real):
    count = 0
    for clock, left, _ in rounds(1, eps, real=real):
        alpha, t = clock.search(left)
        assert alpha > 0
        assert 0 < t <= left
        d = clock.a + alpha * clock.b - t
        assert erf(d / sqrt(clock.c)).mean() == pytest.approx(erf(clock.a / sqrt(clock.c)).mean(), abs=1e-12)
        if t < left:
            w = np.exp(-d * d / clock.c)
            assert abs((w @ clock.b) / w.sum()) <= 1e-9
        count += 1
    assert count >= 2


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3])
def test_newton_agrees_with_the_walk(eps):
    agreed = 0
    for seed in range(4):
        for clock, left, edge in rounds(seed, eps):
            alpha, t = clock.search(left)
            if t < left:
                near = clock.newton(1.05 * alpha, 0.95 * t)  # from a point five percent off
                assert near is not None
                assert near == pytest.approx((alpha, t), abs=1e-9)
                agreed += 1
            found = advance_clock(clock.sample, clock.a, clock.b, clock.c, left, edge, None)
            assert found[:2] == pytest.approx((alpha, t), abs=1e-9)
            again = advance_clock(clock.sample, clock.a, clock.b, clock.c, left, edge, (alpha, t))
            assert again[:2] == pytest.approx((alpha, t), abs=1e-9)
    assert agreed >= 10


def test_the_walk_follows_the_differential_equation():
    # dt / dalpha = gamma(alpha, t): integrate it and look where gamma first vanishes.
    clock, left, _ = next(rounds(3, 0.05))
    c = clock.c

    def gamma(alpha, t):
        w = np.exp(-((clock.a + alpha * clock.b - t[0]) ** 2) / c)
        return [(w @ clock.b) / w.sum()]

    def no_edge(alpha, t):
        return gamma(alpha, t)[0]

    no_edge.terminal, no_edge.direction = True, -1
    path = solve_ivp(gamma, (0, 5), [0.0], events=no_edge, rtol=1e-11, atol=1e-13)
    alpha, t = clock.search(left)
    assert t < left
    assert alpha == pytest.approx(path.t_events[0][0], abs=1e-7)
    assert t == pytest.approx(path.y_events[0][0, 0], abs=1e-8)
    middle = alpha / 3
    assert clock.time(middle) == pytest.approx(
        solve_ivp(gamma, (0, middle), [0.0], rtol=1e-11, atol=1e-13).y[0, -1], abs=1e-9
    )


def test_a_perfect_voter_runs_out_the_clock():
    c = 1.3
    clock = Clock(sample(20), np.full(20, c), np.ones(20), c)
    assert clock.time(0.4) == pytest.approx(0.4, abs=1e-12)
    assert clock.newton(0.5, 0.5) is None  # the two equations are one
    alpha, t, _ = advance_clock(clock.sample, clock.a, clock.b, c, c, 1.0, None)
    assert alpha == pytest.approx(c, abs=1e-12)
    assert t == c


def test_the_last_step_ends_on_the_clock():
    # A short rest of time: the curve passes it before the edge is gone.
    clock, left, edge = next(rounds(4, 0.1))
    _, t = clock.search(left)
    short = t / 3
    alpha, end = clock.search(short)
    assert end == short
    assert clock.excess(alpha, short) == pytest.approx(0.0, abs=1e-10)
    assert advance_clock(clock.sample, clock.a, clock.b, clock.c, short, edge, None)[:2] == pytest.approx(
        (alpha, short), abs=1e-10
    )


def test_masses_are_copies():
    c = float(erfinv(0.9)) ** 2
    rng = np.random.default_rng(0)
    k = rng.integers(1, 4, 30)
    b = np.where(rng.random(30) < 0.7, 1.0, -1.0)
    a = np.full(30, c)
    weighted = Clock(sample(30, k.astype(float)), a, b, c).search(c)
    copied = Clock(sample(k.sum()), np.repeat(a, k), np.repeat(b, k), c).search(c)
    assert weighted == pytest.approx(copied, abs=1e-10)


def test_far_margins_do_not_underflow():
    # Weights exp(-d^2 / c) of 1e-400: only their ratios matter.
    c = 0.5
    a = np.array([-20.0, -20.1, 21.0])
    clock = Clock(sample(3), a, np.array([1.0, 1.0, -1.0]), c)
    assert exp(-(20.0**2) / c) == 0.0
    assert clock.edge(0.0, 0.0) == pytest.approx(1.0)
    assert np.isfinite(clock.edge(1.0, 0.5))
