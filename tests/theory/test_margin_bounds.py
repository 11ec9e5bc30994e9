"""Generalisation bounds: direct computation, order among them, monotony, and simulation with a known true error."""

from __future__ import annotations

from itertools import product
from math import exp, log, log2, sqrt

import numpy as np
import pytest

from boostlab import DecisionTree, VoterPool, theory

FINITE = {
    "schapire": theory.schapire,
    "breiman": theory.breiman,
    "emargin": theory.emargin,
    "kth_margin": theory.kth_margin,
    "gao_zhou": theory.gao_zhou,
    "gao_zhou_average": theory.gao_zhou_average,
}
MARGINS = np.random.default_rng(0).beta(6, 3, 50_000) * 0.9 + 0.05


@pytest.mark.parametrize("f", FINITE.values(), ids=FINITE)
def test_more_data_more_confidence_wider_margins_fewer_voters(f):
    v = np.maximum(MARGINS, 0.7)
    base = f(v, 100).value
    assert f(np.tile(v, 4), 100).value < base < np.inf
    assert f(v, 100, delta=0.5).value < base
    assert f(v, 1000).value > base
    if f is not theory.gao_zhou_average:  # there wider margins may also be more spread out
        assert f((v * 1.05).clip(max=1), 100).value <= base + 1e-12


@pytest.mark.parametrize("f", FINITE.values(), ids=FINITE)
def test_never_below_the_training_error(f):
    for seed in range(5):
        v = np.random.default_rng(seed).normal(0.3, 0.3, 5000).clip(-1, 1)
        assert f(v, 50).value >= np.mean(v <= 0)


def test_kl_inverse_against_its_definition():
    def kl(q, p):
        return sum(a * log(a / b) for a, b in ((q, p), (1 - q, 1 - p)) if a > 0)

    for q, u in product((0.0, 0.1, 0.5), (0.01, 0.3, 2.0)):
        assert kl(q, theory.kl_inverse(q, u)) == pytest.approx(u, rel=1e-6)
    assert theory.kl_inverse(0.3, 0.0) == 0.3
    assert theory.kl_inverse(1.0, 0.5) == 1.0
    assert theory.kl_inverse(0.0, 1.7) == pytest.approx(1 - exp(-1.7))


def test_schapire_written_out_for_one_theta():
    v, H, delta, theta, m = np.sort(MARGINS), 30, 0.1, 0.4, 50_000
    tried = [
        np.mean(v <= theta)
        + 2 * exp(-N * theta**2 / 8)
        + sqrt((log(N * (N + 1) ** 2) + N * log(H) - log(delta)) / (2 * m))
        for N in range(1, 1100)
    ]
    assert theory.schapire(v, H, delta, theta).value == pytest.approx(min(tried), rel=1e-3)
    assert theory.schapire(v, H, delta, theta).value >= min(tried)
    assert theory.schapire(v, H, delta).value <= theory.schapire(v, H, delta, theta).value


def test_breiman_and_gao_zhou_written_out():
    v, m, H, delta = np.full(20_000, 0.8), 20_000, 100, 0.05
    R = 32 * log(200) / (m * 0.64)
    assert theory.breiman(v, H).value == pytest.approx(R * (log(2 * m) - log(R) + 1) + log(H / delta) / m)
    mu = 8 / 0.8**2 * log(m) * log(200) + log(200 / delta)
    assert theory.gao_zhou(v, H).value == pytest.approx(2 / m + (7 * mu + 3 * sqrt(3 * mu)) / (3 * m))
    mu = 144 / 0.8**2 * log(m) * log(200) + log(200 / delta)
    direct = m ** (-2 / (1 - 0.64 + 0.8 / 9)) + 3 * sqrt(mu) * m**-1.5 + 7 * mu / (3 * m)
    assert theory.gao_zhou_average(v, H).value <= direct + 1e-12
    assert not theory.breiman([-0.1, 0.9], 100).holds


def test_emargin_and_kth_margin_written_out():
    v, m, H, delta = np.sort([0.5] * 10 + [0.9] * 1990), 2000, 20, 0.05
    tried = {}
    for k in range(1, m + 1):
        q = 8 * log(2 * H) / v[k - 1] ** 2 * log(2 * m**2 / log(H)) + log(H) + log(m / delta)
        tried[k] = q / m if v[k - 1] > sqrt(8 / H) else np.inf
    values = log(H) / m + theory.kl_inverse((np.array(list(tried)) - 1) / m, np.array(list(tried.values())))
    best = int(values.argmin()) + 1
    found = theory.kth_margin(v, H)
    assert found.value == pytest.approx(values[best - 1])
    assert found.terms["k"] == best
    assert not theory.kth_margin(v, H, k=1).holds  # 0.5 is below sqrt(8/20)
    q0 = 10 / m
    u = (8 * log(H) / 0.81 * log(2 * m**2 / log(H)) + log(H) + log(m / delta)) / m
    emargin = theory.emargin(v, H)
    assert emargin.value == pytest.approx(log(H) / m + theory.kl_inverse(q0, u))
    assert (emargin.terms["emargin"], emargin.terms["emargin error"]) == (0.9, q0)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_among_the_bounds(seed):
    rng = np.random.default_rng(seed)
    v, H = rng.beta(8, 2, 60_000).clip(0.35), 200
    assert theory.kth_margin(v, H).value <= theory.kth_margin(v, H, k=1).value
    assert theory.emargin(v, H).value <= theory.kth_margin(v, H).value  # ln|H| in place of ln 2|H|
    assert theory.kth_margin(v, H, k=1).value <= theory.breiman(v, H).value
    wide = np.full(500_000, 0.8)  # of order ln(m) / m, not its root, where no margin is small
    assert theory.gao_zhou(wide, H).value < theory.schapire(wide, H).value


EVERY = np.array(list(product([-1, 1], repeat=8)))


def world(rng, m, noise=0.05):
    """Eight coins and their negatives vote; the label is the first coin, flipped sometimes."""
    x = rng.choice([-1, 1], (m, 8))
    return x, np.where(rng.random(m) < noise, -x[:, 0], x[:, 0])


def true_error(w, noise=0.05):
    right = EVERY[:, 0] * (EVERY @ w) > 1e-12
    return float(np.where(right, noise, 1 - noise).mean())


def test_every_margin_bound_holds_in_a_world_with_a_known_error():
    """100 samples, each with a vote chosen on it: bounds fail no more often than delta allows."""
    rng, delta = np.random.default_rng(3), 0.1
    held, said = dict.fromkeys([*FINITE, "kp"], 0), dict.fromkeys([*FINITE, "kp"], False)
    for _ in range(100):
        x, y = world(rng, 3000)
        w = np.abs((y[:, None] * x).mean(axis=0)) ** 0.7
        w /= w.sum()
        v, truth = y * (x @ w), true_error(w)
        bounds = {name: f(v, 16, delta=delta) for name, f in FINITE.items()}
        bounds["kp"] = theory.koltchinskii_panchenko(v, theory.massart(16, 3000), delta)
        for name, found in bounds.items():
            held[name] += found.value >= truth
            said[name] |= not found.vacuous
    assert min(held.values()) >= 100 * (1 - delta), held
    assert said["schapire"]
    assert said["kp"]


def test_koltchinskii_panchenko_written_out():
    v, m, R = MARGINS, 50_000, 0.004
    found = theory.koltchinskii_panchenko(v, R, 0.1, theta=0.3)
    assert found.value == pytest.approx(np.mean(v <= 0.3) + 2 / 0.3 * R + 3 * sqrt(log(10) / (2 * m)))
    tried = [
        np.mean(v <= t) + 4 / t * R + 3 * sqrt(log(log2(2 / t)) / m) + 3 * sqrt(log(20) / (2 * m))
        for t in np.arange(1, 101) / 100
    ]
    assert theory.koltchinskii_panchenko(v, R, 0.1).value == pytest.approx(min(tried))


# -- counting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 2, 3])
def test_stump_dichotomies_by_enumeration(p):
    X = np.random.default_rng(p).normal(size=(5, p))
    found = {(1,) * 5, (-1,) * 5}
    for j in range(p):
        for cut in np.sort(X[:, j])[:-1]:
            votes = np.where(X[:, j] > cut, 1, -1)
            found |= {tuple(votes.tolist()), tuple((-votes).tolist())}
    assert len(found) <= theory.stump_dichotomies(p, 5)
    if p == 1:
        assert len(found) == theory.stump_dichotomies(1, 5)


def test_the_vc_dimension_is_where_counting_fails():
    for p in (1, 2, 5, 100):
        d = theory.stump_vc_dimension(p)
        assert 2**d <= theory.stump_dichotomies(p, d)
        assert 2 ** (d + 1) > theory.stump_dichotomies(p, d + 1)
    d_T = 2 * 7 * 11 * log2(np.e * 11)
    direct = 0.1 + 2 * sqrt((d_T * (log(2e5 / d_T) + 1) + log(180)) / 1e5)
    assert theory.vc_bound(0.1, 100_000, 10, 6).value == pytest.approx(direct)
    assert theory.vc_bound(0.1, 300, 10, 6).value == np.inf


# -- Rademacher complexity and QuadBoost's theorem -------------------------------------------------------------------


def test_complexity_of_all_stumps_is_that_of_their_enumeration():
    X = np.random.default_rng(0).normal(size=(8, 2))
    votes = [np.ones(8)] + [np.where(X[:, j] > c, 1.0, -1.0) for j in (0, 1) for c in np.sort(X[:, j])[:-1]]
    signs = np.array(list(product([-1.0, 1.0], repeat=8)))
    exact = np.abs(signs @ np.array(votes).T).max(axis=1).mean() / 8
    found = theory.rademacher_complexity(X, draws=4000, random_state=0)
    assert abs(found.value - exact) < 4 * found.standard_error
    assert found.upper(0.01) > exact
    assert found.exact
    assert found.value <= theory.massart(theory.stump_dichotomies(2, 8), 8)


def test_complexity_of_pools_and_trees():
    X = np.random.default_rng(1).normal(size=(200, 3))
    one = theory.rademacher_complexity(X, VoterPool([lambda X: np.where(X[:, 0] > 0, 1.0, -1.0)]), 500, 0)
    assert one.value == pytest.approx(sqrt(2 / (np.pi * 200)), rel=0.1)  # of one voter and its complement
    stumps = theory.rademacher_complexity(X, draws=60, random_state=0)
    trees = theory.rademacher_complexity(X, DecisionTree(max_leaf_nodes=8), draws=60, random_state=0)
    assert one.value < stumps.value < trees.value
    assert not trees.exact
    assert not theory.koltchinskii_panchenko(np.full(200, 0.9), trees).holds


def test_the_error_bar_of_the_complexity_covers():
    X = np.random.default_rng(2).normal(size=(60, 2))
    truth = theory.rademacher_complexity(X, draws=4000, random_state=99).value
    found = [theory.rademacher_complexity(X, draws=20, random_state=s) for s in range(100)]
    assert np.mean([f.upper(0.1) >= truth for f in found]) >= 0.9
    assert np.mean([abs(f.value - truth) <= 2.2 * f.standard_error for f in found]) >= 0.85


@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
def test_quadboosts_theorem_written_out(p):
    rng = np.random.default_rng(4)
    v, a, R, m, delta = rng.normal(0.8, 0.4, 5000), np.array([0.7, 0.5, 0.0, 0.4]), 0.01, 5000, 0.1
    norm, n = max(np.linalg.norm(a, p), 1), 3
    power = n ** (1 - (0 if p == np.inf else 1 / p))
    stated = theory.theorem1_as_stated(v, a, R, p, delta, empirical=False).value
    direct = np.mean((1 - v) ** 2) + 4 * power * norm * R
    assert stated == pytest.approx(direct + sqrt((log(1 / delta) + 2 * log(log2(2 * norm))) / (2 * m)))
    safe = theory.theorem1_safe(v, a, R, p, delta, empirical=False).value
    union = log(12) if p > 1 else 0
    last = sqrt(log(log2(2 * norm)) / m) + sqrt((log(2 / delta) + union) / (2 * m))
    assert safe == pytest.approx(np.mean(np.minimum((1 - v) ** 2, 1)) + 8 * power * norm * R + last)
    assert theory.theorem1_safe(v, a, R, p, delta).value > safe
    assert theory.theorem1_as_stated(v, a, R, p, delta).value > stated


def test_quadboosts_theorem_holds_by_simulation():
    rng, delta = np.random.default_rng(5), 0.1
    held = 0
    for _ in range(200):
        x, y = world(rng, 400)
        w = (y[:, None] * x).mean(axis=0)
        truth = true_error(w)
        bounds = [theory.theorem1_safe(y * (x @ w), w, theory.massart(16, 400), p, delta) for p in (1, 2, np.inf)]
        held += all(b.value >= truth for b in bounds)
    assert held >= 200 * (1 - delta)


def test_limits_of_the_theorem():
    nothing = theory.theorem1_safe(np.zeros(100), [], 0.1)
    assert nothing.terms["risk"] == 1.0
    assert nothing.vacuous
    perfect = theory.theorem1_safe(np.ones(10**6), [1.0], 0.0)
    assert perfect.value < 0.01


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.schapire([2.0], 10), "margins must lie"),
        (lambda: theory.schapire([0.2], 0.5), "n_voters"),
        (lambda: theory.schapire([0.2], 10, theta=0), "theta=0"),
        (lambda: theory.kth_margin([0.2, 0.3], 10, k=3), "k=3"),
        (lambda: theory.kth_margin([0.2, 0.3], 10, k=1.5), "k=1.5"),
        (lambda: theory.kl_inverse(1.5, 0.1), "between 0 and 1"),
        (lambda: theory.theorem1_safe([0.1], [1.0], 0.1, p=0.5), "p=0.5"),
        (lambda: theory.koltchinskii_panchenko([0.1], -0.1), "complexity"),
        (lambda: theory.vc_bound(1.5, 10, 1, 1), "training_error"),
        (lambda: theory.rademacher_complexity([[1.0], [2.0]], draws=1), "draws"),
    ],
)
def test_wrong_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
