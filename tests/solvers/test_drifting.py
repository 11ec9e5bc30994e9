"""RobustBoost's process and the two equations of its rounds."""

from math import e, erf, exp, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import erfc

from boostlab.backend.cpu.formulas import values
from boostlab.solvers.drift_bounds import MISSED, nearly_erfc
from boostlab.solvers.drifting import Drift, Process, log_weight, potential
from tables import rows_in_memory

PROCESSES = [Process(0.1, 0.0, 0.1, False), Process(0.3, 0.5, 0.2, False), Process(0.02, 1.0, 1.0, False)]


def potentials(p, m, t):
    """The potential of margins at a time."""
    return values(potential, p.mu(t), p.sigma(t), p.floor, p.height, y=np.ones(len(m)), F=m)


def log_weights(p, m, t):
    """The logarithms of their weights."""
    return values(log_weight, p.mu(t), p.sigma(t), p.floor, y=np.ones(len(m)), F=m)


def moved(drift, ds, dt):
    """The margins of a drift's rows after a step."""
    return drift.s.y * (drift.s.scores.now * exp(-dt) + ds * drift.s.h)


@pytest.mark.parametrize("p", PROCESSES)
def test_the_process(p):
    m, t, d = np.linspace(-3, 4, 40), 0.37, 1e-4
    assert potentials(p, np.zeros(1), 0.0)[0] == pytest.approx(p.eps, rel=1e-12)
    assert p.mu(1.0) == pytest.approx(p.theta, abs=1e-12)
    assert p.sigma(1.0) == pytest.approx(p.sigma_f, abs=1e-12)
    assert p.rho == pytest.approx(
        (p.theta * e - p.mu(0)) / (2 * (e - 1)), rel=1e-12
    )  # mu(0) = (theta - 2 rho) e + 2 rho
    assert potentials(p, m, t)[7] == pytest.approx((1 - erf((m[7] - p.mu(t)) / p.sigma(t))) / 2, rel=1e-12)
    assert potentials(p, np.array([-1e9]), t)[0] == 1.0  # far behind is one error

    def phi(dm=0.0, dt=0.0):
        return potentials(p, m + dm, t + dt)

    slope = (phi(d) - phi(-d)) / (2 * d)
    curve = (phi(d) - 2 * phi() + phi(-d)) / d**2
    speed = (phi(0, d) - phi(0, -d)) / (2 * d)
    np.testing.assert_allclose(speed + (2 * p.rho - m) * slope + curve / 2, 0.0, atol=2e-6)
    w = np.exp(log_weights(p, m, t))
    np.testing.assert_allclose(-slope, w / (sqrt(np.pi) * p.sigma(t)), atol=1e-7)


def test_clipping():
    smooth, clip = Process(0.1, 0.0, 0.1, False), Process(0.2, 0.0, 0.1, True)  # the same mu: half of the potential
    m = np.linspace(-4, 3, 50)
    below = m <= smooth.mu(0.3)
    assert below.any()
    assert (potentials(clip, m, 0.3)[below] == 1.0).all()
    assert (log_weights(clip, m, 0.3)[below] == -np.inf).all()
    np.testing.assert_array_equal(potentials(clip, m, 0.3)[~below], 2 * potentials(smooth, m, 0.3)[~below])


def rounds(seed, process, n=100, n_rounds=25):
    """Play RobustBoost with random voters; yield the drift of every round."""
    rng = np.random.default_rng(seed)
    m, t, y = np.zeros(n), 0.0, np.where(rng.random(n) < 0.5, 1, -1)
    for _ in range(n_rounds):
        w = np.exp(log_weights(process, m, t))
        for _ in range(100):
            b = np.where(rng.random(n) < 0.65, 1.0, -1.0)
            edge = (w @ b) / w.sum()
            if edge > 0.05:
                break
        drift = Drift(rows_in_memory(y * m, y * b, y), process, t)
        yield drift, edge
        ds, dt = drift.search()
        m, t = moved(drift, ds, dt), t + dt
        if t >= 1 - 1e-9:
            return


@pytest.mark.parametrize("p", [*PROCESSES, Process(0.2, 0.0, 0.1, True)])
def test_the_walk_and_newton(p):
    count = ended = 0
    for seed in range(2):
        for drift, edge in rounds(seed, p, n=50, n_rounds=12):
            ds, dt = drift.search()
            assert ds > 0
            assert 0 < dt <= drift.rest
            if dt < drift.rest:
                assert drift.excess(ds, dt) / 50 == pytest.approx(0.0, abs=1e-12)
                low, high = (drift.edge(ds + d, drift.time(ds + d)) for d in (-1e-7, 1e-7))
                assert high <= 1e-7
                assert low >= -1e-7
                count += 1
                if not p.clip:
                    assert abs(drift.edge(ds, dt)) <= 1e-9
                    assert drift.newton(1.02 * ds, 0.98 * dt) == pytest.approx((ds, dt), abs=1e-8)
            else:
                assert drift.excess(ds, dt) <= 1e-9
                ended += 1
            found = drift.advance(edge, None)
            if not p.clip:
                assert found == pytest.approx((ds, dt), abs=1e-7)
    assert count >= 5
    assert ended >= 1 or p.eps < 0.05


def first_without_edge(drift, ds, n_points):
    """The first of many points before ds, all on the curve, at which no edge is left."""
    since = 0.0
    for point in np.linspace(0, ds, n_points + 1)[1:-1].tolist():
        since = drift.time(point, since)
        if since is None:
            return None
        if drift.edge(point, since) <= 0.0:
            return point
    return None


def test_the_first_root_is_taken_where_clipped_weights_jump():
    later = count = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        p = Process(float(rng.uniform(0.05, 0.5)), float(rng.choice([0.0, 0.3, 1.0])), 0.1, True)
        for drift, edge in rounds(seed, p, n=60, n_rounds=10):
            ds, _ = drift.advance(edge, None)
            earlier = first_without_edge(drift, ds, 40)
            assert earlier is None or earlier > ds * (1 - 1.5 / 40)
            others = [drift.newton(x, y * drift.rest) for x in (0.5, 1.0, 2.0) for y in (0.1, 0.5)]
            later += any(o is not None and o[0] > 1.05 * ds and 0 < o[1] < drift.rest for o in others)
            count += 1
    assert count >= 20
    assert later >= 2  # another root lies behind, at which Newton's method may end


def test_the_bound_on_the_edge_holds():
    rng = np.random.default_rng(0)
    for p in (Process(0.2, 0.3, 0.1, True), Process(0.1, 0.0, 0.5, False)):
        signs = []
        for drift, _ in rounds(1, p, n=50, n_rounds=8):
            for width in (0.02, 0.3):
                low = rng.uniform(0, 1), rng.uniform(0, 0.5 * drift.rest)
                high = low[0] + width * rng.random(), low[1] + width * rng.random() * 0.5 * drift.rest
                bound = drift.least(low, high)
                inside = [drift.edge(*rng.uniform(low, high)) for _ in range(50)]
                assert bound <= 0 or min(inside) > 0
                signs.append(bound > 0)
        assert 0 < sum(signs) < len(signs)


def test_the_quick_erfc_is_as_near_as_it_says():
    x = np.concatenate([np.linspace(-9, 9, 200_001), [-1e300, -1e5, 1e5, 1e300]])
    missed = np.abs(values(nearly_erfc, x=x) - erfc(x)).max()
    assert 0.8 * MISSED < missed < MISSED


def test_a_look_at_the_curve_is_certain_or_exact():
    """The quick potentials decide only what the exact ones do."""
    later = 0
    for p in (Process(0.2, 0.3, 0.1, True), Process(0.1, 0.0, 0.5, False)):
        for drift, edge in rounds(2, p, n=50, n_rounds=8):
            ds = 0.3 * edge
            dt = drift.time(ds)
            stretch = drift.between((0.0, 0.0), (ds, dt))
            for near in (1e-9, 1e-6, 1e-3, 0.1):
                times = dt * (1 - near), min(dt * (1 + near), drift.rest)
                for before, after in (times, (times[0], times[0]), (times[1], times[1])):
                    evaluations = drift.evaluations
                    found, least = drift.around_and_least(ds, before, after, stretch)
                    later += drift.evaluations > evaluations + 1
                    assert found == (drift.excess(ds, before) <= 0 <= drift.excess(ds, after))
                    assert least == drift.least((0.0, 0.0), (ds, dt))
    assert later > 8  # the quick ones could not tell


def test_the_walk_follows_the_differential_equation():
    # Along the curve the sum of w (b ds - (m - ... ) dt) vanishes; integrate dt/ds = -E_s / E_t from the start.
    p = PROCESSES[0]
    drift, _ = next(rounds(4, p))

    def slope(ds, dt):
        d = 1e-6
        E_s = (drift.excess(ds + d, dt[0]) - drift.excess(ds - d, dt[0])) / (2 * d)
        E_t = (drift.excess(ds, dt[0] + d) - drift.excess(ds, dt[0] - d)) / (2 * d)
        return [-E_s / E_t]

    ds, dt = drift.search()
    path = solve_ivp(slope, (0, ds), [0.0], rtol=1e-9, atol=1e-11)
    assert path.y[0, -1] == pytest.approx(dt, abs=1e-6)
