"""The quadratic program of RQP-Boost: against a second solver, by its certificate, and over a grid."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from boostlab.solvers.allowance import SolverError
from boostlab.solvers.hinge_qp import HingeQP


def votes(seed, t, n, share=0.6):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((t, n)) < share, 1, -1).astype(np.int8)


def by_scipy(U, mass, C):
    """The dual, smooth and with bounds, by L-BFGS-B: max sum l - |(U l)_+|^2 / 2 over 0 <= l <= C m."""
    U = U.astype(float)

    def cost(x):
        b = np.maximum(U @ (C * mass * x), 0)
        return (b @ b / 2 - (C * mass * x).sum()) / (C * mass.sum()), C * mass * (b @ U - 1) / (C * mass.sum())

    bounds, options = [(0, 1)] * len(mass), {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-12}
    answer = minimize(cost, np.full(len(mass), 0.5), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return -answer.fun * C * mass.sum()


def by_slsqp(U, mass, C):
    """The primal with slack, by sequential quadratic steps: for few rows, whose prices may differ by any scale."""
    (t, n), price = U.shape, C * mass.sum()
    A = np.hstack([U.T.astype(float), np.eye(n)])

    def cost(x):
        return x[:t] @ x[:t] / 2 / price + mass @ x[t:] / mass.sum(), np.append(x[:t] / price, mass / mass.sum())

    covered = {"type": "ineq", "fun": lambda x: A @ x - 1, "jac": lambda x: A}
    start, bounds, options = np.append(np.zeros(t), np.ones(n)), [(0, None)] * (t + n), {"ftol": 1e-15, "maxiter": 1000}
    answer = minimize(cost, start, jac=True, method="SLSQP", bounds=bounds, constraints=[covered], options=options)
    return answer.fun * price


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("C", [1e-4, 0.01, 0.3, 5.0])
def test_a_second_solver_agrees(C, weighted):
    U = votes(0, 15, 80, share=0.65)
    mass = np.random.default_rng(0).uniform(0.3, 3, 80) if weighted else np.ones(80)
    b, cost = HingeQP(U, mass).solve(C)
    assert (b >= 0).all()
    assert cost == pytest.approx(b @ b / 2 + C * mass @ np.maximum(0, 1 - b @ U), rel=1e-12)
    assert cost == pytest.approx(by_scipy(U, mass, C), rel=1e-6)


def test_a_small_price_gives_plain_edges():
    U = votes(1, 10, 50)
    b, _ = HingeQP(U, np.ones(50)).solve(1e-6)
    np.testing.assert_allclose(b, 1e-6 * np.maximum(U.sum(axis=1), 0), rtol=1e-5, atol=1e-12)


def test_a_large_price_is_the_hard_margin():
    U = np.array([[1, 1, 1, -1], [1, 1, -1, 1], [-1, 1, 1, 1]])  # every row has two for it: b = 1 each
    b, cost = HingeQP(U, np.ones(4)).solve(1e5)
    np.testing.assert_allclose(b, 1.0, atol=1e-6)
    assert cost == pytest.approx(1.5, abs=1e-6)


def test_a_grid_is_cheaper_than_its_parts_and_just_as_exact():
    U, grid = votes(2, 40, 200), np.logspace(-4, 1, 21)
    program, warm, cold = HingeQP(U, np.ones(200)), 0, 0
    for C in grid:
        cost = program.solve(C)[1]
        warm += program.steps
        fresh = HingeQP(U, np.ones(200))
        assert cost == pytest.approx(fresh.solve(C)[1], rel=3e-9)
        cold += fresh.steps
    assert warm < cold


def test_labels_are_not_copied_as_float64():
    # Some rows at a time are; copies of all labels would be 8 bytes each, and twice that with the rows' prices.
    U, mass = votes(4, 60, 40_000), np.full(40_000, 1 / 40_000)
    tracemalloc.start()
    cost = HingeQP(U, mass).solve(1.0)[1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert cost == pytest.approx(HingeQP(U.astype(float), mass).solve(1.0)[1], rel=1e-9)
    assert peak < 6 * U.nbytes


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**31), st.floats(-6, 4))
def test_degenerate_voters(t, n, seed, log_c):
    rng = np.random.default_rng(seed)
    U = rng.choice([-1, 1], size=(t, n)).astype(np.int8)
    U[rng.integers(t)] = U[0]
    mass, C = rng.choice([1e-3, 1.0, 50.0], size=n), 10.0**log_c
    program = HingeQP(U, mass)
    b, cost = program.solve(C)
    assert np.isfinite(b).all()
    assert cost <= C * mass.sum() * (1 + 1e-9)  # b = 0 is possible
    assert cost == pytest.approx(by_slsqp(U, mass, C), rel=1e-6, abs=1e-7)  # L-BFGS-B ends early in 1 of 60


def test_too_slow_says_so():
    U = votes(3, 10, 50)
    with pytest.raises(SolverError, match="longer than 0 seconds"):
        HingeQP(U, np.ones(50), seconds=0.0).solve(1.0)
    with pytest.raises(SolverError, match="more than 2 steps"):
        HingeQP(U, np.ones(50), most_steps=2).solve(1.0)
