"""The program of LPBoost against scipy's solver."""

import numpy as np
import pytest
from scipy.optimize import linprog

from boostlab.solvers.allowance import SolverError
from boostlab.solvers.edge_lp import EdgeLP


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
    program = EdgeLP(mass, cap=cap)
    U = np.empty((0, n))
    last = -np.inf
    for _ in range(25):
        u = np.where(rng.random(n) < 0.6, 1.0, -1.0) * (rng.uniform(0.1, 1, n) if real else 1.0)
        U = np.vstack([U, u])
        program.add(u)
        solved = program.solve()
        d, beta, weights = solved.d, solved.value, solved.weights
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
    program = EdgeLP(np.ones(4), cap=0.5)
    program.add(np.array([1.0, 1.0, 1.0, -1.0]))
    solved = program.solve()
    assert solved.value == pytest.approx(0.0, abs=1e-12)  # 1/2 on the error, 1/2 elsewhere
    assert solved.d[3] == pytest.approx(0.5)
    assert solved.weights.tolist() == [1.0]


def test_the_hard_margin_of_xor():
    # Corners of a diamond and eight stumps: the best convex combination has margin 1/3.
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    program = EdgeLP(np.ones(4), cap=1.0)
    U = [s * y * np.where(X[:, j] > c, 1.0, -1.0) for j in (0, 1) for c in (-0.5, 0.5) for s in (1, -1)]
    for u in U:
        program.add(u)
    beta, weights = (solved := program.solve()).value, solved.weights
    assert beta == pytest.approx(by_scipy(np.array(U), np.ones(4), 1.0).fun, abs=1e-9)
    assert (weights @ np.array(U)).min() == pytest.approx(beta, abs=1e-9)
    assert beta > 0


def votes(seed, t, n, share=0.6):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((t, n)) < share, 1, -1).astype(np.int8)


def by_price(U, mass, C):
    """max sum m u subject to U (m u) <= 1 and 0 <= u <= C, in one piece."""
    return -linprog(-mass, A_ub=U * mass, b_ub=np.ones(len(U)), bounds=[(0, C)] * len(mass)).fun


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("C", [0.003, 0.05, 1.0, 100.0])
def test_the_priced_form(C, weighted):
    n, U = 40, votes(1, 12, 40)
    mass = np.random.default_rng(1).uniform(0.5, 2.0, n) if weighted else np.ones(n)
    program = EdgeLP(mass, price=C)
    for u in U:
        program.add(u)
        solved = program.solve()
    assert solved.value == pytest.approx(by_price(U, mass, C), rel=1e-8)
    # The dual point is feasible, and the voters' weights cost as much: both are optimal.
    assert (solved.d >= 0).all()
    assert (solved.d <= C * (1 + 1e-9)).all()
    assert mass @ solved.d == pytest.approx(solved.value, rel=1e-8)
    assert (U @ (mass * solved.d)).max() <= 1 + 1e-8
    w = solved.weights
    assert w.sum() + C * mass @ np.maximum(0, 1 - w @ U) == pytest.approx(solved.value, rel=1e-8)


def test_the_two_forms_are_linked():
    # If the soft margin with cap C' is beta > 0, the priced form with C = C' / beta has the value 1 / beta.
    n, U = 50, votes(2, 15, 50, share=0.75)
    soft = EdgeLP(np.ones(n), cap=1 / 15)
    for u in U:
        soft.add(u)
    beta = soft.solve().value
    assert beta > 0.05
    hinge = EdgeLP(np.ones(n), price=1 / 15 / beta)
    for u in U:
        hinge.add(u)
    assert hinge.solve().value == pytest.approx(1 / beta, rel=1e-9)


def test_another_cap_starts_from_the_last_basis():
    n, U = 200, votes(3, 40, 200)
    program = EdgeLP(np.ones(n), cap=1.0)
    for u in U:
        program.add(u)
    program.solve()
    first = program.solver.getInfo().simplex_iteration_count
    for nu in (0.3, 0.28, 0.26, 0.4):
        program.set_cap(1 / (nu * n))
        assert program.solve().value == pytest.approx(by_scipy(U, np.ones(n), 1 / (nu * n)).fun, abs=1e-8)
    program.set_cap(1 / (0.39 * n))
    program.solve()
    assert program.solver.getInfo().simplex_iteration_count < first / 2


def test_a_voter_of_labels_has_entries_for_the_rarer_answer_only():
    program = EdgeLP(np.ones(100), cap=0.1)
    before = program.solver.getNumNz()
    for wrong in (10, 90):
        program.add(np.where(np.arange(100) < wrong, -1, 1).astype(np.int8))
    assert program.solver.getNumNz() - before == 2 * (10 + 2)  # and one each for the sum of all weights and for beta


def test_what_fails_says_so(monkeypatch):
    U = votes(4, 60, 2000)
    program = EdgeLP(np.ones(2000), cap=0.002, seconds=1e-9)
    for u in U:
        program.add(u)
    with pytest.raises(SolverError, match="no optimum of 60 voters within 1e-09 seconds"):
        program.solve()
    program.seconds = None
    program.solver.setOptionValue("time_limit", 1e9)
    assert program.solve().value == pytest.approx(by_scipy(U, np.ones(2000), 0.002).fun, abs=1e-8)
    program.set_cap(1e-9)  # no weights with sum 1 are so small
    with pytest.raises(SolverError, match="Infeasible"):
        program.solve()


def test_a_bad_basis_is_thrown_away(monkeypatch):
    program = EdgeLP(np.ones(30), cap=0.1)
    for u in votes(5, 5, 30):
        program.add(u)
    kinds = program._highspy.HighsModelStatus
    run, said = program._run, []

    def once_wrong():
        said.append(run())
        return kinds.kUnknown if len(said) == 1 else said[-1]

    monkeypatch.setattr(program, "_run", once_wrong)
    assert program.solve().value == pytest.approx(by_scipy(votes(5, 5, 30), np.ones(30), 0.1).fun, abs=1e-9)
    assert len(said) == 2
