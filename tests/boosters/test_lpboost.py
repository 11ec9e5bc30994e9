"""LPBoost: column generation against the whole program, duality, and the meaning of nu."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from boostlab import LPBoostClassifier, VoterPool


def whole_program(U, mass, nu):
    """The optimum over all rows of U and their negatives: the primal, solved in one piece.

    max rho - cap sum m xi over w, v >= 0 with sum (w + v) = 1 and U'(w - v) >= rho - xi.
    """
    U = np.vstack([U, -U])
    t, n = U.shape
    cap = 1 / (nu * mass.sum())
    answer = linprog(
        np.concatenate([np.zeros(t), [-1.0], cap * mass]),
        A_ub=np.column_stack([-U.T, np.ones(n), -np.eye(n)]),
        b_ub=np.zeros(n),
        A_eq=np.concatenate([np.ones(t), np.zeros(n + 1)])[None],
        b_eq=[1.0],
        bounds=[(0, None)] * t + [(None, None)] + [(0, None)] * n,
    )
    assert answer.status == 0
    return -answer.fun


def soft_margin(margins, mass, nu):
    """The best rho for given margins, and the value rho - cap sum m (rho - margin)_+."""
    cap = 1 / (nu * mass.sum())
    values = [rho - cap * mass @ np.maximum(rho - margins, 0) for rho in margins]
    best = int(np.argmax(values))
    return margins[best], values[best]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5])
def test_the_optimum_is_that_of_all_stumps(data, all_stumps, nu, weighted):
    X, codes = data(seed=1, n=70, d=3, noise=0.15)
    y = 2.0 * codes - 1
    mass = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model = LPBoostClassifier(nu=nu, tol=1e-9).fit(X, codes, mass)
    assert model.stop_reason_.startswith("tolerance")
    best = whole_program(y * all_stumps(X).H, mass, nu)
    assert model.history_["objective"][-1] == pytest.approx(best, abs=1e-7)
    # The model itself reaches it: its soft margin on the training rows, not what the history says.
    margins = y * model.decision_function(X)
    assert soft_margin(margins, mass, nu)[1] == pytest.approx(best, abs=1e-7)
    # No stump outside has an edge above beta.
    assert model.history_["duality_gap"][-1] >= -1e-12


def test_the_hard_margin_on_separable_data(all_stumps):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2))
    codes = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    y = 2.0 * codes - 1
    model = LPBoostClassifier(nu=1 / 40).fit(X, codes)
    margins = y * model.decision_function(X)
    assert margins.min() == pytest.approx(whole_program(y * all_stumps(X).H, np.ones(40), 1 / 40), abs=1e-7)
    assert margins.min() > 0
    assert model.margins(X, codes).min() == pytest.approx(margins.min(), abs=1e-12)  # the weights sum to one


@pytest.mark.parametrize("nu", [0.1, 0.3])
def test_every_round_solves_its_program(data, nu):
    X, codes = data(seed=3, n=80, noise=0.15)
    y = 2.0 * codes - 1
    cap, seen = 1 / (nu * 80), []

    def look(state):
        d = state.own.d
        seen.append(d.copy())
        assert (d >= 0).all()
        assert (d <= cap * (1 + 1e-9)).all()
        assert d.sum() == pytest.approx(1.0, abs=1e-9)
        assert state.votes.dtype == np.int8
        assert state.votes.shape == (state.t, 80)
        assert (state.alphas >= 0).all()
        assert state.alphas.sum() == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_allclose(state.F, state.alphas @ state.votes, rtol=0, atol=1e-12)

    model = LPBoostClassifier(nu=nu, callbacks=look).fit(X, codes)
    H = np.array([s.predict(X) for s in model.estimators_])
    beta = -np.inf
    staged = list(model.staged_decision_function(X))
    assert len(seen) == len(staged) == model.n_estimators_
    for t, (F, d) in enumerate(zip(staged, seen, strict=True)):
        # Primal and dual value of the first t + 1 voters, each from its own side, are the same number.
        edges = H[: t + 1] @ (d * y)
        value = soft_margin(y * F, np.ones(80), nu)[1]
        assert edges.max() == pytest.approx(value, abs=1e-7)
        assert model.history_["objective"][t] == pytest.approx(value, abs=1e-7)
        assert value >= beta - 1e-8
        beta = value
        # Complementarity: rows at the cap are below the margin or on it, rows without weight above or on it.
        rho = soft_margin(y * F, np.ones(80), nu)[0]
        assert ((y * F)[d >= cap * (1 - 1e-7)] <= rho + 1e-6).all()
        assert ((y * F)[d <= cap * 1e-7] >= rho - 1e-6).all()
    # The learner was asked under the d of the round before.
    first = np.full(80, 1 / 80)
    for t, d in enumerate([first, *seen[:-1]]):
        assert model.history_["edge"][t] == pytest.approx(H[t] @ (d * y), abs=1e-9)


@pytest.mark.parametrize("nu", [0.05, 0.15, 0.3, 0.6])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_at_most_nu_of_the_rows_fall_short(data, nu, noise):
    X, codes = data(seed=4, n=100, noise=noise)
    y = 2.0 * codes - 1
    model = LPBoostClassifier(nu=nu).fit(X, codes)
    margins = y * model.decision_function(X)
    rho, value = soft_margin(margins, np.ones(100), nu)
    assert value == pytest.approx(model.history_["objective"][-1], abs=1e-7)
    assert (margins < rho - 1e-9).mean() <= nu
    assert (margins <= rho + 1e-9).mean() >= nu
    if rho > 1e-9:
        assert (margins <= 0).mean() <= nu


def test_a_larger_nu_is_a_smaller_cap_and_a_larger_optimum(data):
    X, y = data(seed=5, n=100)
    values = [LPBoostClassifier(nu=nu).fit(X, y).history_["objective"][-1] for nu in (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)]
    assert (np.diff(values) > -1e-7).all()


def test_nu_one_is_the_best_voter(data, all_stumps):
    # The cap is 1/n, so d stays uniform and the optimum is the largest plain edge.
    X, codes = data(seed=6, n=90)
    y = 2.0 * codes - 1
    model = LPBoostClassifier(nu=1.0).fit(X, codes)
    assert model.history_["objective"][-1] == pytest.approx(np.abs(all_stumps(X).H @ y).max() / 90, abs=1e-9)
    assert model.n_estimators_ == 1


def test_a_nu_too_small_for_the_sample_is_one_sentence(data):
    X, y = data(seed=7, n=50)
    with pytest.raises(ValueError, match=r"nu=0\.01 is too small for 50 examples.*use nu >= 0\.02"):
        LPBoostClassifier(nu=0.01).fit(X, y)
    LPBoostClassifier(nu=0.02, n_estimators=3).fit(X, y)


@pytest.mark.parametrize("total", [1000.0, 1.0, 1e-3])
def test_the_scale_of_weights_does_not_matter(data, all_stumps, total):
    X, codes = data(seed=12, n=60, d=3)
    y, mass = 2.0 * codes - 1, np.random.default_rng(12).uniform(0.5, 2.0, 60)
    model = LPBoostClassifier(nu=0.2).fit(X, codes, mass * (total / mass.sum()))
    best = whole_program(y * all_stumps(X).H, mass, 0.2)
    assert model.history_["objective"][-1] == pytest.approx(best, abs=2e-6)
    assert soft_margin(y * model.decision_function(X), mass, 0.2)[1] == pytest.approx(best, abs=2e-6)


def test_duplicated_voters_do_not_matter(data, all_stumps):
    X, codes = data(seed=8, n=60, d=2)
    y = 2.0 * codes - 1
    voters = all_stumps(X).callables()
    best = whole_program(y * all_stumps(X).H, np.ones(60), 0.2)
    model = LPBoostClassifier(VoterPool([*voters, *voters, *voters]), nu=0.2).fit(X, codes)
    assert model.stop_reason_.startswith("tolerance")
    assert model.history_["objective"][-1] == pytest.approx(best, abs=2e-6)
    votes = np.array([v.predict(X) for v in model.estimators_])
    assert len(np.unique(votes, axis=0)) == len(votes)  # a copy has no edge above beta, so it never joins


def test_conflicting_copies_of_rows(data):
    # Every row twice with both labels: no combination has a positive margin, and beta is not above zero.
    X, y = data(seed=9, n=30)
    with pytest.warns(ConvergenceWarning, match="no vote with a positive soft margin"):
        model = LPBoostClassifier(nu=0.5).fit(np.vstack([X, X]), np.concatenate([y, 1 - y]))
    assert model.history_["objective"][-1] == pytest.approx(0.0, abs=1e-7)
    assert np.isfinite(model.decision_function(X)).all()


def test_staged_output_is_the_weights_of_that_round(data):
    X, codes = data(seed=10, n=80)
    long = LPBoostClassifier(nu=0.2, n_estimators=12).fit(X, codes)
    other = np.random.default_rng(0).normal(size=(30, 4))
    for t, F in enumerate(long.staged_decision_function(other), start=1):
        short = LPBoostClassifier(nu=0.2, n_estimators=t).fit(X, codes)
        assert short.n_estimators_ == t
        np.testing.assert_allclose(F, short.decision_function(other), rtol=0, atol=1e-12)
    np.testing.assert_allclose(F, long.decision_function(other), rtol=0, atol=1e-12)


def test_real_valued_voters(data):
    X, codes = data(seed=11, n=60)
    y = 2.0 * codes - 1
    voters = [lambda X, v=v: np.tanh(X @ v) for v in np.random.default_rng(11).normal(size=(25, 4))]
    kinds = set()
    model = LPBoostClassifier(VoterPool(voters), nu=0.2, callbacks=lambda s: kinds.add(s.votes.dtype.str)).fit(X, codes)
    U = y * np.stack([f(X) for f in voters])
    assert model.history_["objective"][-1] == pytest.approx(whole_program(U, np.ones(60), 0.2), abs=2e-6)
    assert kinds == {"<f8"}
    assert soft_margin(y * model.decision_function(X), np.ones(60), 0.2)[1] == pytest.approx(
        model.history_["objective"][-1], abs=1e-7
    )
