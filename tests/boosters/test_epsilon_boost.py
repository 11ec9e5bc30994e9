"""Epsilon-boost: small steps follow the L1 path, down to the largest margin."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from boostlab import AdaBoostClassifier


@pytest.fixture
def small(all_stumps):
    """A table that stumps can separate, and y times the votes of all stumps and complements."""
    X = np.round(np.random.default_rng(0).normal(size=(16, 3)), 1)
    y = (np.sign(X - [0.05, -0.15, 0.25]).sum(axis=1) > 0).astype(int)
    H = all_stumps(X).H
    return X, y, (2.0 * y - 1) * np.concatenate([H, -H])


def best_loss(A, budget):
    """Minimise the mean of exp(-y F) over votes whose coefficients sum to at most the budget."""
    k = len(A)

    def loss(a):
        e = np.exp(-a @ A)
        return e.mean(), -(A @ e) / A.shape[1]

    found = minimize(
        loss,
        np.full(k, budget / (2 * k)),
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * k,
        constraints={"type": "ineq", "fun": lambda a: budget - a.sum(), "jac": lambda a: -np.ones(k)},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success
    return found.fun


def test_fixed_steps_trace_the_l1_path(small):
    X, y, A = small
    budgets, off = (0.3, 1.0, 2.0), {}
    lowest = [best_loss(A, budget) for budget in budgets]
    for step in (0.05, 0.01):
        model = AdaBoostClassifier(fixed_step=step, n_estimators=round(2.0 / step)).fit(X, y)
        off[step] = []
        for budget, best in zip(budgets, lowest, strict=True):
            reached = model.history_["objective"][round(budget / step) - 1]
            assert reached >= best * (1 - 1e-7)
            off[step].append(reached / best - 1)
    assert max(off[0.01]) < 0.01
    assert max(off[0.01]) < max(off[0.05])


def test_small_steps_tend_to_the_largest_margin(small):
    X, y, A = small
    k, n = A.shape
    program = linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=np.hstack([-A.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(k), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(None, None)],
    )
    largest = -program.fun
    assert largest > 0.1
    for params in ({"fixed_step": 0.01}, {"learning_rate": 0.02}):
        model = AdaBoostClassifier(n_estimators=4000, **params).fit(X, y)
        margins = [np.min((2.0 * y - 1) * F) for F in model.staged_decision_function(X)]
        margins /= np.cumsum(model.estimator_weights_)
        assert margins.max() <= largest + 1e-9
        assert margins[-1] > 0.9 * largest
        assert margins[99] < margins[999] < margins[-1]
