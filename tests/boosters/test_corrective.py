"""The corrective family against one another and against the whole program: optimum, rounds, certificates, failures."""

from math import ceil, log

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from boostlab import (
    ArcGVClassifier,
    ERLPBoostClassifier,
    LPBoostClassifier,
    RLPBoostClassifier,
    SoftBoostClassifier,
    TotalBoostClassifier,
    VoterPool,
)
from boostlab.solvers.allowance import SolverError
from boostlab.solvers.capped_entropy import CappedEntropy, Stuck
from boostlab.solvers.edge_lp import EdgeLP
from boostlab.solvers.soft_margin import soft_margin

SOFT = [ERLPBoostClassifier, SoftBoostClassifier]
FAMILY = [LPBoostClassifier, *SOFT, TotalBoostClassifier]


def best_soft_margin(U, mass, cap):
    """The optimum over the rows of U and their negatives, in one piece: min beta over the weights."""
    U, n = np.vstack([U, -U]), len(mass)
    answer = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([U * mass, -np.ones(len(U))]),
        b_ub=np.zeros(len(U)),
        A_eq=np.append(mass, 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None if np.isinf(cap) else cap)] * n + [(None, None)],
    )
    assert answer.status == 0
    return answer.fun


def separable(n=40, seed=2):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("tol", [0.05, 0.01])
@pytest.mark.parametrize("make", SOFT)
def test_the_vote_is_within_tol_of_the_best(make, tol, weighted, data, all_stumps):
    X, codes = data(seed=1, n=70, d=3)
    y, nu = 2.0 * codes - 1, 0.2
    mass = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    cap = 1 / (nu * mass.sum())
    best = best_soft_margin(y * all_stumps(X).H, mass, cap)
    model = make(nu=nu, tol=tol).fit(X, codes, mass)
    assert model.stop_reason_.startswith("tolerance")
    value = soft_margin(y * model.decision_function(X), mass, cap)
    assert best - tol <= value <= best + 1e-9
    assert model.history_["objective"][-1] == pytest.approx(value, abs=1e-7)
    # What the history promises holds: the optimum is no further away than the gap.
    assert value + model.history_["duality_gap"][-1] >= best - 1e-9
    assert model.estimator_weights_.sum() == pytest.approx(1.0)
    assert (model.estimator_weights_ >= 0).all()


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.6])
def test_the_family_agrees(nu, data):
    X, y = data(seed=3, n=100)
    exact = LPBoostClassifier(nu=nu, tol=1e-9).fit(X, y).history_
    assert exact["duality_gap"][-1] <= 2e-9
    for make in SOFT:
        found = make(nu=nu, tol=0.02).fit(X, y).history_["objective"][-1]
        assert exact["objective"][-1] - 0.02 <= found <= exact["objective"][-1] + 1e-9


@pytest.mark.parametrize(("nu", "tol"), [(0.1, 0.1), (0.3, 0.05), (1.0, 0.3)])
def test_no_more_rounds_than_proved(nu, tol, data):
    X, y = data(seed=4, n=80, noise=0.2)
    entropic, soft = (make(nu=nu, tol=tol, n_estimators=100_000).fit(X, y) for make in SOFT)
    assert entropic.stop_reason_.startswith("tolerance")
    assert soft.stop_reason_.startswith("tolerance")
    assert entropic.n_estimators_ <= ceil(max(4 / tol, 8 * log(1 / nu) / tol**2))
    assert soft.n_estimators_ <= max(ceil(2 * log(1 / nu) / tol**2), 1)


def test_the_potentials_never_fall(data):
    X, y = data(seed=5, n=90)
    tol = 0.01
    history = ERLPBoostClassifier(nu=0.15, tol=tol).fit(X, y).history_
    assert (np.diff(history["potential"]) >= -tol / 50).all()  # to the accuracy of the programs
    history = SoftBoostClassifier(nu=0.15, tol=tol).fit(X, y).history_
    assert (np.diff(history["potential"][:-1]) >= -1e-6).all()  # the last round has no weights
    # Pythagoras: every round adds at least tol^2 / 2, which is where the number of rounds comes from.
    assert np.diff(history["potential"][:-1]).min() >= tol**2 / 2 * 0.9


@pytest.mark.parametrize("make", SOFT)
def test_weights_stay_on_the_capped_simplex_and_edges_below_the_target(make, data):
    X, codes = data(seed=6, n=80)
    y, nu, tol, rounds = 2.0 * codes - 1, 0.2, 0.01, []

    def look(s):
        d, H = s.own.d, s.votes
        assert H.dtype == np.int8
        assert (d >= 0).all()
        assert (d <= 1 / (nu * 80) * (1 + 1e-9)).all()
        assert d.sum() == pytest.approx(1.0, abs=1e-9)
        rounds.append((H @ (d * y), s.own.lowest_edge))

    make(nu=nu, tol=tol, callbacks=look).fit(X, codes)
    if make is SoftBoostClassifier:
        for edges, lowest in rounds[:-1]:
            assert edges.max() <= lowest - tol + tol / 500


def test_nu_one_is_the_best_voter(data, all_stumps):
    X, codes = data(seed=7, n=60)
    best = np.abs(all_stumps(X).H @ (2.0 * codes - 1)).max() / 60
    for make in SOFT:
        model = make(nu=1.0).fit(X, codes)
        assert model.n_estimators_ == 1
        assert model.history_["objective"][-1] == pytest.approx(best)


def test_totalboost_finds_the_largest_minimum_margin(all_stumps):
    X, codes = separable()
    y = 2.0 * codes - 1
    best = best_soft_margin(y * all_stumps(X).H, np.ones(40), np.inf)
    total = TotalBoostClassifier(tol=0.01).fit(X, codes)
    least = (y * total.decision_function(X)).min()
    assert total.stop_reason_.startswith("tolerance")
    assert total.n_estimators_ <= 2 * log(40) / 0.01**2
    assert best - 0.01 <= least <= best + 1e-9
    # arc-gv tends to the same number from below, in many more rounds.
    arc = ArcGVClassifier(n_estimators=total.n_estimators_).fit(X, codes)
    long = ArcGVClassifier(n_estimators=3000).fit(X, codes)
    assert arc.margins(X, codes).min() < least
    assert least - 0.05 <= long.margins(X, codes).min() <= best + 1e-9


def test_totalboost_and_sample_weights():
    # The hard margin does not ask how often a row is there, be the weights counts or shares.
    X, codes = separable()
    weights = np.random.default_rng(0).uniform(0.01, 5.0, 40)
    exact = LPBoostClassifier(nu=1 / 40, tol=1e-9).fit(X, codes).history_["objective"][-1]
    for w in (weights, weights / weights.sum()):
        model = TotalBoostClassifier(tol=0.01).fit(X, codes, w)
        assert exact - 0.01 <= model.margins(X, codes).min() <= exact + 1e-9


def test_totalboost_without_separation(data):
    X, y = data(seed=8, n=30)
    model = TotalBoostClassifier().fit(np.vstack([X, X]), np.concatenate([y, 1 - y]))  # every row with both labels
    assert model.history_["objective"][-1] == pytest.approx(0.0, abs=1e-7)
    assert model.stop_reason_.startswith("tolerance")


@pytest.mark.parametrize("make", FAMILY)
def test_real_valued_voters(make, data):
    X, codes = data(seed=11, n=60)
    y = 2.0 * codes - 1
    voters = [lambda X, v=v: np.tanh(X @ v) for v in np.random.default_rng(11).normal(size=(25, 4))]
    U, nu = y * np.stack([f(X) for f in voters]), 0.2
    kwargs = {} if make is TotalBoostClassifier else {"nu": nu}
    model = make(VoterPool(voters), tol=0.005, **kwargs).fit(X, codes)
    cap = np.inf if make is TotalBoostClassifier else 1 / (nu * 60)
    best = best_soft_margin(U, np.ones(60), cap)
    assert best - 0.005 <= soft_margin(y * model.decision_function(X), np.ones(60), cap) <= best + 1e-8


# -- where nu or a solver does not do ------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [LPBoostClassifier, *SOFT])
def test_nu_out_of_range_is_one_sentence(make, data):
    X, y = data(n=50)
    with pytest.raises(ValueError, match=r"nu=0\.01 is too small for 50 examples.*use nu >= 0\.02"):
        make(nu=0.01).fit(X, y)
    for nu in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"it must be a number in \(0, 1\]"):
            make(nu=nu).fit(X, y)
    assert make(nu=0.02, n_estimators=3).fit(X, y).n_estimators_ == 3


@pytest.mark.parametrize("make", [LPBoostClassifier, *SOFT, RLPBoostClassifier])
def test_the_smallest_nu_is_one_in_n_whatever_its_rounding(make, data):
    X, y = data(n=49)
    assert 1 / 49 * 49 < 1
    assert make(nu=1 / 49, n_estimators=3).fit(X, y).n_estimators_ == 3


def fail_from(monkeypatch, round_, *methods, error=SolverError):
    """Let the solvers fail in this call and all later ones."""
    for cls, name in methods:
        solve, calls = getattr(cls, name), []

        def failing(self, *args, solve=solve, calls=calls, **kwargs):
            calls.append(1)
            if len(calls) >= round_:
                raise error("out of order")
            return solve(self, *args, **kwargs)

        monkeypatch.setattr(cls, name, failing)


@pytest.mark.parametrize("round_", [1, 2, 7])
@pytest.mark.parametrize("params", [{}, {"C": 0.1}])
@pytest.mark.parametrize("make", FAMILY)
def test_a_failing_solver_leaves_a_usable_model(make, params, round_, data, monkeypatch):
    if params and make is not LPBoostClassifier:
        pytest.skip("C is LPBoost's")
    X, y = data(seed=12, n=60)
    methods = [(EdgeLP, "solve"), (CappedEntropy, "penalised"), (CappedEntropy, "projected")]
    fail_from(monkeypatch, round_, *methods)
    model = make(**params).fit(X, y)
    assert model.stop_reason_.startswith("solver_failed: out of order")
    assert model.n_estimators_ == max(round_ - 1, 1)
    assert model.score(X, y) > 0.5
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("round_", [1, 2, 9])
@pytest.mark.parametrize("make", [*SOFT, TotalBoostClassifier])
def test_where_newton_steps_get_stuck_the_linear_program_goes_on(make, round_, data, all_stumps, monkeypatch):
    X, codes = data(seed=18, n=70, d=3)
    y, tol, kwargs = 2.0 * codes - 1, 0.01, {} if make is TotalBoostClassifier else {"nu": 0.2}
    cap = 1 / (0.2 * 70) if kwargs else np.inf
    for name in ("penalised", "projected"):
        fail_from(monkeypatch, round_, (CappedEntropy, name), error=Stuck)
    model = make(tol=tol, **kwargs).fit(X, codes)
    assert model.stop_reason_.startswith("tolerance")
    assert np.isfinite(model.history_.get("potential", np.zeros(0))).sum() == round_ - 1
    best = best_soft_margin(y * all_stumps(X).H, np.ones(70), cap)
    value = soft_margin(y * model.decision_function(X), np.ones(70), cap)
    assert best - tol <= value <= best + 1e-9
    assert model.history_["duality_gap"][-1] <= tol


@pytest.mark.parametrize("tol", [1e-4, 1e-6])
def test_a_tiny_tol_ends_at_the_optimum(tol, data):
    X, y = data(seed=19, n=80)
    exact = LPBoostClassifier(nu=0.2, tol=1e-9).fit(X, y).history_["objective"][-1]
    model = ERLPBoostClassifier(nu=0.2, tol=tol).fit(X, y)
    assert model.stop_reason_.startswith("tolerance")
    assert model.history_["objective"][-1] == pytest.approx(exact, abs=tol + 1e-9)


@pytest.mark.parametrize("make", SOFT)
def test_a_last_solve_that_fails_leaves_the_last_rounds_weights(make, data, monkeypatch):
    X, y = data(seed=13, n=60)
    fail_from(monkeypatch, 1, (EdgeLP, "solve"))
    model = make(nu=0.2).fit(X, y)
    assert model.stop_reason_ == "solver_failed: out of order; the weights are the last round's"
    assert model.n_estimators_ > 5
    assert model.estimator_weights_.sum() == pytest.approx(1.0)
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("make", FAMILY)
def test_a_time_limit(make, data):
    X, y = data(seed=14, n=100)
    model = make(time_limit=1e-9).fit(X, y)
    assert model.stop_reason_ == "time_up: the limit of 1e-09 seconds came in round 1, before an optimum"
    assert model.score(X, y) > 0.6
    with pytest.raises(ValueError, match="time_limit=0 is not possible; it must be None or a number above 0"):
        make(time_limit=0).fit(X, y)


def test_the_time_limit_is_the_fits(data):
    # No usual round takes a twentieth of all rounds' time; together they do.
    X, y = data(seed=15, n=400, noise=0.3)
    whole = LPBoostClassifier(nu=0.4, n_estimators=150).fit(X, y)
    limit = whole.history_["seconds"].sum() / 20
    assert np.median(whole.history_["seconds"]) < limit
    model = LPBoostClassifier(nu=0.4, time_limit=limit).fit(X, y)
    assert model.stop_reason_.startswith(f"time_up: the limit of {limit} seconds came in round")
    assert 1 <= model.n_estimators_ < whole.n_estimators_
    assert model.estimator_weights_.sum() == pytest.approx(1.0)


def test_a_nu_below_the_error_rate_is_said_in_one_sentence():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(300, 2)).astype(float), rng.integers(0, 2, 300)
    with pytest.warns(ConvergenceWarning, match="found no vote with a positive soft margin") as said:
        model = LPBoostClassifier(nu=0.05).fit(X, y)
    assert len(said) == 1
    assert "raise nu=0.05 well above the share of wrong labels, or use stronger voters" in str(said[0].message)
    share = "the mean margin of its worst nu=0.05 of the examples"
    assert model.stop_reason_ == f"tolerance: no vote has a soft margin above 0, {share}"
    assert abs(model.history_["objective"][-1]) < 1e-9
    y = (X[:, 0] > 0) ^ (rng.random(300) < 0.2)
    assert LPBoostClassifier(nu=0.6).fit(X, y).stop_reason_.startswith("tolerance: the best edge")  # and no warning


# -- the priced form of LPBoost ------------------------------------------------------------------------------------


def hinge_optimum(U, mass, C):
    """max sum m u over 0 <= u <= C with U (m u) <= 1 for all rows of U and their negatives."""
    U = np.vstack([U, -U])
    return -linprog(-mass, A_ub=U * mass, b_ub=np.ones(len(U)), bounds=[(0, C)] * len(mass)).fun


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("C", [0.03, 0.2, 10.0])
def test_the_priced_form_is_optimal_over_all_stumps(C, weighted, data, all_stumps):
    X, codes = data(seed=15, n=60, d=3)
    y = 2.0 * codes - 1
    mass = np.random.default_rng(15).uniform(0.5, 2.0, 60) if weighted else np.ones(60)
    model = LPBoostClassifier(C=C, tol=1e-9).fit(X, codes, mass)
    best = hinge_optimum(y * all_stumps(X).H, mass, C)
    assert model.stop_reason_.startswith("tolerance")
    assert model.history_["objective"][-1] == pytest.approx(best, rel=1e-7)
    assert model.history_["duality_gap"][-1] <= 1e-7 * best
    slack = np.maximum(0, 1 - y * model.decision_function(X))
    assert model.estimator_weights_.sum() + C * mass @ slack == pytest.approx(best, rel=1e-7)
    assert (np.diff(model.history_["objective"]) <= 1e-7).all()  # a voter more cannot cost more


def test_a_price_too_small_for_any_vote(data, all_stumps):
    X, codes = data(seed=16, n=60)
    largest = np.abs(all_stumps(X).H @ (2.0 * codes - 1)).max()
    model = LPBoostClassifier(C=0.99 / largest).fit(X, codes)
    assert "no vote pays" in model.stop_reason_
    assert model.n_estimators_ == 1
    assert model.score(X, codes) == pytest.approx((1 + largest / 60) / 2)
    more = LPBoostClassifier(C=1.01 / largest).fit(X, codes)
    assert "no vote pays" not in more.stop_reason_


def test_the_forms_are_views_of_each_other(data):
    # alpha / rho of the soft margin solves the priced form with C = cap / beta.
    X, codes = data(seed=17, n=60, noise=0.0)
    soft = LPBoostClassifier(nu=0.2, tol=1e-10).fit(X, codes)
    beta = soft.history_["objective"][-1]
    assert beta > 0.01
    priced = LPBoostClassifier(C=1 / (0.2 * 60) / beta, tol=1e-10).fit(X, codes)
    assert priced.history_["objective"][-1] == pytest.approx(1 / beta, rel=1e-6)
