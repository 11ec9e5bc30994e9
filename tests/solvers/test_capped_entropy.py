"""Entropic programs: against scipy, by their certificates, and where they have no answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, linprog, minimize

from boostlab.solvers.allowance import SolverError
from boostlab.solvers.capped_entropy import CappedEntropy, Infeasible, capped_gibbs, newton_point, relative_entropy


def votes(seed, t, n, share=0.6):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((t, n)) < share, 1, -1).astype(np.int8)


def program(U, mass, kappa, **kwargs):
    made = CappedEntropy(mass, kappa, **kwargs)
    for u in U:
        made.add(u)
    return made


def smallest_largest_edge(U, p, kappa):
    """min beta subject to U (p q) <= beta, sum p q = 1, 0 <= q <= kappa."""
    t, n = U.shape
    return linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([U * p, -np.ones(t)]),
        b_ub=np.zeros(t),
        A_eq=np.append(p, 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None if np.isinf(kappa) else kappa)] * n + [(None, None)],
    ).fun


# -- the capped Gibbs density --------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1000, 1000), st.floats(0.01, 5)), min_size=1, max_size=15),
    st.one_of(st.floats(1.0, 50.0), st.just(np.inf)),
)
def test_the_density_is_optimal(rows, kappa):
    a, mass = np.array(rows).T
    p = mass / mass.sum()
    q, theta, _ = capped_gibbs(a, p, kappa)
    assert p @ q == pytest.approx(1.0, abs=1e-9)
    assert (q >= 0).all()
    assert (q <= kappa * (1 + 1e-9)).all()
    assert theta == pytest.approx(relative_entropy(q, p) + p @ (q * a), rel=1e-9, abs=1e-9)
    # A row at the cap has no larger cost than one below it, and below it q is exp(-a) up to a factor.
    below = q < kappa * (1 - 1e-9)
    if below.any() and (~below).any():
        assert a[~below].max() <= a[below].min() + 1e-6
    seen = below & (q > 1e-200)
    if seen.sum() > 1 and kappa > 1 + 1e-6:
        logs = np.log(q[seen]) + a[seen]
        assert np.ptp(logs) <= 1e-6 * (1 + np.abs(a[seen]).max())


def test_by_hand():
    q, theta, capped = capped_gibbs(np.array([0.0, 10.0, 10.0, 10.0]), np.full(4, 0.25), 2.0)
    assert capped == 1
    np.testing.assert_allclose(q, [2.0, 2 / 3, 2 / 3, 2 / 3])
    assert theta == pytest.approx(0.5 * np.log(2) + 0.5 * np.log(2 / 3) + 5.0)
    assert capped_gibbs(np.array([3.0, 1.0]), np.full(2, 0.5), 1.0)[0].tolist() == [1.0, 1.0]  # the cap is uniform


# -- the quadratic step --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep_sum", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_newton_point_is_the_best_of_the_quadratic(seed, keep_sum):
    rng = np.random.default_rng(seed)
    k = 6
    B = rng.normal(size=(k, k + 2))
    K, g = B @ B.T + 0.01 * np.eye(k), rng.normal(size=k)
    v = np.maximum(rng.normal(size=k), 0)
    v[0] = 1.0
    x = newton_point(K, g, v, keep_sum)
    assert (x >= 0).all()
    slope = g - K @ (x - v)
    price = slope[x > 0].mean() if keep_sum else 0.0
    if keep_sum:
        assert x.sum() == pytest.approx(v.sum())
    np.testing.assert_allclose(slope[x > 0], price, atol=1e-9)
    assert (slope <= price + 1e-9).all()


# -- the programs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kappa", [1.0, 3.0, 10.0, np.inf])
@pytest.mark.parametrize("eta", [0.5, 20.0, 500.0])
def test_penalised_closes_its_gap(eta, kappa, weighted):
    n, U = 60, votes(0, 25, 60)
    mass = np.random.default_rng(0).uniform(0.3, 3, n) if weighted else np.ones(n)
    made = program(U, mass, kappa)
    found = made.penalised(eta, 1e-8)
    p = mass / mass.sum()
    assert (found.q <= kappa * (1 + 1e-12)).all()
    assert p @ found.q == pytest.approx(1.0)
    assert found.v.sum() == pytest.approx(eta)
    assert (found.v >= 0).all()
    np.testing.assert_allclose(found.edges, U @ (p * found.q), atol=1e-12)
    # q is feasible and has the value on the left; v bounds all values from below by the one on the right.
    primal = found.edges.max() + relative_entropy(found.q, p) / eta
    dual = capped_gibbs(found.v @ U, p, kappa)[1] / eta
    assert 0 <= primal - dual + 1e-12 <= 2e-8
    # The entropy costs at most its largest value over eta.
    best = smallest_largest_edge(U, p, kappa)
    assert best - 1e-9 <= found.edges.max() <= best + made.highest_entropy / eta + 1e-7


def test_every_round_starts_from_the_last():
    U = votes(1, 40, 300)
    grown = CappedEntropy(np.ones(300), 5.0)
    for u in U:
        grown.add(u)
        found = grown.penalised(200.0, 1e-6)
    whole = program(U, np.ones(300), 5.0).penalised(200.0, 1e-6)
    assert found.theta == pytest.approx(whole.theta, abs=5e-4)  # eta times the tolerance
    assert found.steps < whole.steps
    assert grown._U.dtype == np.int8


def test_projected_against_scipy():
    n, U = 25, votes(2, 8, 25).astype(float)
    p, kappa = np.full(n, 1 / n), 4.0
    limit = smallest_largest_edge(U, p, kappa) + 0.02
    found = program(U, np.ones(n), kappa).projected(limit, 1e-9)
    assert found.edges.max() <= limit + 1e-8
    other = minimize(
        lambda q: p @ (q * np.log(np.maximum(q, 1e-300))),
        np.ones(n),
        jac=lambda q: p * (np.log(np.maximum(q, 1e-300)) + 1),
        bounds=[(1e-9, kappa)] * n,
        constraints=[LinearConstraint(U * p, -np.inf, limit), LinearConstraint(p[None], 1, 1)],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert other.success
    assert found.entropy == pytest.approx(other.fun, abs=1e-6)
    assert found.theta - limit * found.v.sum() == pytest.approx(found.entropy, abs=1e-7)  # no gap


@pytest.mark.parametrize("kappa", [1.0, 2.0, 8.0, np.inf])
def test_projected_knows_where_feasible_ends(kappa):
    n, U = 50, votes(3, 20, 50)
    best = smallest_largest_edge(U, np.full(n, 1 / n), kappa)
    with pytest.raises(Infeasible):
        program(U, np.ones(n), kappa).projected(best - 1e-3, 1e-6)
    assert program(U, np.ones(n), kappa).projected(best + 1e-3, 1e-6).edges.max() <= best + 1e-3 + 1e-6


def test_real_voters_and_a_change_of_kind():
    rng = np.random.default_rng(4)
    U = np.vstack([votes(4, 5, 40), rng.normal(size=(5, 40))])
    found = program(U, np.ones(40), 4.0).penalised(50.0, 1e-8)
    primal = (U @ found.q / 40).max() + found.entropy / 50
    assert primal == pytest.approx(found.theta / 50, abs=2e-8)


def test_too_slow_says_so_and_leaves_the_last_weights():
    made = program(votes(5, 10, 50), np.ones(50), 5.0)
    made.penalised(100.0, 1e-6)
    before = made.v.copy()
    for u in votes(6, 10, 50):
        made.add(u)
    made.seconds = 0.0
    with pytest.raises(SolverError, match="longer than 0 seconds"):
        made.penalised(100.0, 1e-9)
    assert made.v[:10].tolist() == before.tolist()
    few = program(votes(5, 10, 50), np.ones(50), 5.0, most_steps=(1, 1))
    with pytest.raises(SolverError, match="more than 1 steps"):
        few.penalised(100.0, 1e-12)
