"""The program of LPBoost against scipy's solver."""

import numpy as np
import pytest
from scipy.optimize import linprog

from boostlab.programs.edge_lp import EdgeLP


def by_scipy(U, mass, cap):
    """min beta subject to U (mass d) <= beta, mass d = 1, 0 <= d <= cap, in one piece."""
    n = len(mass)
    return linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([U * mass, -np.ones(len(U))]),
        b_ub=np.zeros(len(U)),
        A_eq=np.append(mass, 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, cap)] * n + [(None, None)],
    )


@pytest.mark.parametrize("real", [False, True], ids=["labels", "real"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_every_solve_is_optimal(real, weighted):
    rng = np.random.default_rng(0)
    n, nu = 40, 0.3
    mass = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    cap = 1 / (nu * mass.sum())
    program = EdgeLP(mass, cap)
    U = np.empty((0, n))
    last = -np.inf
    for _ in range(25):
        u = np.where(rng.random(n) < 0.6, 1.0, -1.0) * (rng.uniform(0.1, 1, n) if real else 1.0)
        U = np.vstack([U, u])
        program.add(u)
        d, beta, weights = program.solve()
        assert beta == pytest.approx(by_scipy(U, mass, cap).fun, abs=1e-8)
        assert beta >= last - 1e-9  # a constraint more cannot lower a minimum
        last = beta
        # Both points are feasible, and their values meet: that is a proof of optimality.
        assert (d >= 0).all()
        assert (d <= cap + 1e-9).all()
        assert mass @ d == pytest.approx(1.0, abs=1e-9)
        assert (U @ (mass * d)).max() == pytest.approx(beta, abs=1e-8)
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1.0)
        margins = weights @ U
        dual = max(rho - cap * mass @ np.maximum(rho - margins, 0) for rho in margins)
        assert dual == pytest.approx(beta, abs=1e-8)


def test_a_single_voter():
    # d moves to the voter's errors as far as the cap lets it.
    program = EdgeLP(np.ones(4), 0.5)
    program.add(np.array([1.0, 1.0, 1.0, -1.0]))
    d, beta, weights = program.solve()
    assert beta == pytest.approx(0.0, abs=1e-12)  # 1/2 on the error, 1/2 elsewhere
    assert d[3] == pytest.approx(0.5)
    assert weights.tolist() == [1.0]


def test_the_hard_margin_of_xor():
    # Corners of a diamond and eight stumps: the best convex combination has margin 1/3.
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    program = EdgeLP(np.ones(4), 1.0)
    U = [s * y * np.where(X[:, j] > c, 1.0, -1.0) for j in (0, 1) for c in (-0.5, 0.5) for s in (1, -1)]
    for u in U:
        program.add(u)
    _, beta, weights = program.solve()
    assert beta == pytest.approx(by_scipy(np.array(U), np.ones(4), 1.0).fun, abs=1e-9)
    assert (weights @ np.array(U)).min() == pytest.approx(beta, abs=1e-9)
    assert beta > 0
