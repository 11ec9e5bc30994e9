"""RLP-Boost and RQP-Boost: AdaBoost's voters, a second solver's weights, grids, and failures."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import boostlab
from boostlab import AdaBoostClassifier, RLPBoostClassifier, RQPBoostClassifier
from boostlab.solvers.allowance import SolverError
from boostlab.solvers.edge_lp import EdgeLP
from boostlab.solvers.hinge_qp import HingeQP
from boostlab.solvers.soft_margin import soft_margin

BOTH = [RLPBoostClassifier, RQPBoostClassifier]


def agreements(model, X, codes):
    return (2.0 * codes - 1) * np.array([v.predict(X) for v in model.estimators_])


def by_linprog(U, mass, cap):
    """max rho - cap sum m xi, w' U >= rho - xi, over the simplex."""
    t, n = U.shape
    answer = linprog(
        np.concatenate([np.zeros(t), [-1.0], cap * mass]),
        A_ub=np.column_stack([-U.T, np.ones(n), -np.eye(n)]),
        b_ub=np.zeros(n),
        A_eq=np.concatenate([np.ones(t), np.zeros(n + 1)])[None],
        b_eq=[1.0],
        bounds=[(0, None)] * t + [(None, None)] + [(0, None)] * n,
    )
    return -answer.fun


@pytest.mark.parametrize("make", BOTH)
def test_the_voters_are_adaboosts(make, data, same_stumps):
    X, y = data(seed=0)
    model, ada = make(n_estimators=40).fit(X, y), AdaBoostClassifier(n_estimators=40).fit(X, y)
    assert same_stumps(model, ada)
    assert not np.allclose(model.estimator_weights_, ada.estimator_weights_)
    *stages, last = model.staged_decision_function(X)
    for ours, theirs in zip(stages, ada.staged_decision_function(X), strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)
    np.testing.assert_allclose(last, model.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("nu", [0.05, 0.3])
def test_rlp_is_the_linear_program(nu, weighted, data):
    X, codes = data(seed=1)
    mass = np.random.default_rng(1).uniform(0.5, 2.0, 100) if weighted else np.ones(100)
    model = RLPBoostClassifier(nu=nu, n_estimators=40).fit(X, codes, mass)
    U, cap = agreements(model, X, codes), 1 / (nu * mass.sum())
    best = by_linprog(U, mass, cap)
    assert model.history_["program"][-1] == pytest.approx(best, abs=1e-8)
    margins = (2 * codes - 1) * model.decision_function(X)
    assert soft_margin(margins, mass, cap) == pytest.approx(best, abs=1e-8)
    ada = AdaBoostClassifier(n_estimators=40).fit(X, codes, mass)
    assert best >= soft_margin(ada.margins(X, codes), mass, cap) - 1e-9
    ordered = np.argsort(margins)  # the nu-property: the rows below the margin are at most a share nu
    k = np.searchsorted(np.cumsum(mass[ordered]), nu * mass.sum() * (1 - 1e-12))
    rho = margins[ordered[k]]
    assert mass[margins < rho - 1e-9].sum() <= nu * mass.sum() * (1 + 1e-9)


def test_the_hard_margin_is_at_least_adaboosts():
    X = np.random.default_rng(2).normal(size=(50, 3))
    y = (X @ [1.0, 0.5, -0.5] > 0).astype(int)
    hard, ada = RLPBoostClassifier(nu=1 / 50).fit(X, y), AdaBoostClassifier().fit(X, y)
    assert hard.margins(X, y).min() >= ada.margins(X, y).min()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_rqp_is_the_quadratic_program(C, weighted, data):
    X, codes = data(seed=3)
    mass = np.random.default_rng(3).uniform(0.5, 2.0, 100) if weighted else np.ones(100)
    model = RQPBoostClassifier(C=C, n_estimators=30).fit(X, codes, mass)
    U = np.unique(agreements(model, X, codes), axis=0)  # voters that vote alike are one
    mass = mass / mass.sum()
    assert len(U) < 30

    def dual(x):
        b = np.maximum(U @ (mass * x), 0)
        return b @ b / 2 - mass @ x, mass * (b @ U - 1)

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-10}
    bounds = [(0, C)] * 100
    other = minimize(dual, np.full(100, C / 2), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    b = model.estimator_weights_
    slack = np.maximum(0, 1 - (2 * codes - 1) * model.decision_function(X))
    assert b @ b / 2 + C * mass @ slack == pytest.approx(-other.fun, rel=1e-6)
    assert model.history_["program"][-1] == pytest.approx(-other.fun, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "parameter", "grid"),
    [(RLPBoostClassifier, "nu", [0.5, 0.3, 0.2, 0.1]), (RQPBoostClassifier, "C", [0.01, 0.1, 1.0, 100.0])],
)
def test_a_path_is_the_fits(make, parameter, grid, data, tmp_path):
    X, y = data(seed=4)
    weights = np.random.default_rng(4).uniform(0.5, 2.0, 100)
    model = make(n_estimators=30).fit(X, y, weights)
    before = model.decision_function(X)
    models = model.path(X, y, grid, weights)
    for value, ours in zip(grid, models, strict=True):
        fresh = make(**{parameter: value}, n_estimators=30).fit(X, y, weights)
        assert getattr(ours, parameter) == getattr(ours, f"{parameter}_") == value
        assert ours.history_["program"][-1] == pytest.approx(fresh.history_["program"][-1], rel=1e-7)
        ours.save(tmp_path / "model.boost")
        again = boostlab.load(tmp_path / "model.boost")
        np.testing.assert_array_equal(again.decision_function(X), ours.decision_function(X))
    np.testing.assert_array_equal(model.decision_function(X), before)  # the model itself stays as it was
    with pytest.raises(ValueError, match=f"{parameter}=-1.0 is not possible"):
        model.path(X, y, [-1], weights)


@pytest.mark.parametrize(("make", "parameter"), [(RLPBoostClassifier, "nu"), (RQPBoostClassifier, "C")])
def test_validation_chooses_from_one_set_of_voters(make, parameter, data, monkeypatch):
    X, y = data(seed=5, n=300, noise=0.25)
    X_val, y_val = data(seed=6, n=300, noise=0.25)
    rounds = []
    monkeypatch.setattr(make._rule(make()).__class__, "solve", counted(make._rule(make()).__class__.solve, rounds))
    model = make(**{parameter: "validation"}, random_state=0).fit(X, y, X_val=X_val, y_val=y_val)
    curve = getattr(model, f"{parameter}_curve_")
    assert len(rounds) == len(curve[parameter]) + 1
    assert getattr(model, f"{parameter}_") == curve[parameter][curve["error"].argmin()]
    # Its trial is the model itself where the rounds are as many: the errors are those on the validation set.
    assert 1 - model.score(X_val, y_val) == pytest.approx(curve["error"].min())
    again = make(**{parameter: getattr(model, f"{parameter}_")}, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    held = make(**{parameter: "validation"}, random_state=0).fit(X, y)
    assert getattr(held, f"{parameter}_") in curve[parameter]


def counted(solve, calls):
    def call(self, program):
        calls.append(self)
        return solve(self, program)

    return call


@pytest.mark.parametrize(("make", "cls"), [(RLPBoostClassifier, EdgeLP), (RQPBoostClassifier, HingeQP)])
def test_a_failing_solver_leaves_adaboosts_weights(make, cls, data, monkeypatch):
    X, y = data(seed=7)

    def failing(self, *args):
        raise SolverError("out of order")

    fitted = make(n_estimators=10).fit(X, y)
    monkeypatch.setattr(cls, "solve", failing)
    model = make(n_estimators=10).fit(X, y)
    assert model.stop_reason_.startswith("solver_failed: out of order")
    ada = AdaBoostClassifier(n_estimators=10).fit(X, y)
    np.testing.assert_allclose(model.estimator_weights_, ada.estimator_weights_, rtol=1e-13)
    parameter = make._parameter
    (other,) = fitted.path(X, y, [0.3])
    assert other.stop_reason_.startswith("solver_failed")
    np.testing.assert_array_equal(other.estimator_weights_, fitted.estimator_weights_)
    assert make(**{parameter: "validation"}, n_estimators=10).fit(X, y).n_estimators_ == 10


@pytest.mark.parametrize("make", BOTH)
def test_a_time_limit(make, data):
    X, y = data(seed=8)
    model = make(time_limit=1e-9).fit(X, y)
    assert model.stop_reason_.startswith("solver_failed")
    assert model.n_estimators_ == 1  # the time of the fit is that of the rounds, too
    assert model.score(X, y) > 0.6


def test_a_nu_too_small_is_one_sentence(data):
    X, y = data(seed=9, n=50)
    with pytest.raises(ValueError, match=r"nu=0\.01 is too small for 50 examples.*use nu >= 0\.02"):
        RLPBoostClassifier(nu=0.01).fit(X, y)
    with pytest.raises(ValueError, match=r"nu=0\.001 is too small for 50 examples"):
        RLPBoostClassifier(nu=0.3).fit(X, y).path(X, y, [0.2, 0.001])


@pytest.mark.parametrize("make", BOTH)
def test_early_stopping_weighs_the_rounds_kept(make, data):
    X, y = data(seed=10, n=200, noise=0.2)
    X_val, y_val = data(seed=11, n=200, noise=0.2)
    model = make(early_stopping=True, n_iter_no_change=5).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.stop_reason_.startswith("patience")
    short = make(n_estimators=model.n_estimators_).fit(X, y)
    np.testing.assert_array_equal(short.decision_function(X), model.decision_function(X))
    assert np.isfinite(model.history_["program"][model.n_estimators_ - 1])
