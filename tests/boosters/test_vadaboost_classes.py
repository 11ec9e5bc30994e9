"""VadaBoost for several classes: the cost, the bound, both steps, and what they become at the ends.

The twins work in the SAMME paper's own words: codes 1 and -1/(K-1), f with sum zero, the loss exp(-y'f / K).
"""

from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from boosters.vadaboost_of_classes import (
    BOUND,
    BY_ERROR,
    EXACT,
    FewVada,
    SmallGrid,
    best_error,
    both,
    coded,
    cost,
    losses,
    penalised,
    rounds,
)
from boostlab import DecisionTree, SAMMEClassifier, VadaBoostClassifier
from boostlab.boosters.vadaboost import FixedPointVadaBoostOfClasses, VadaBoostOfClasses
from boostlab.contract import Found, Learner, Session, Voter

# -- every round ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [3, 5])
@both
def test_every_round(data, K, step, lam, weighted):
    X, codes = data(seed=K, n=70, d=3, noise=0.15, n_classes=K)
    mass = np.random.default_rng(K).uniform(0.3, 2.0, 70) if weighted else np.ones(70)
    n = mass.sum()
    model = VadaBoostClassifier(BY_ERROR, variance_penalty=lam, step=step, n_estimators=8).fit(X, codes, mass)
    assert model.n_estimators_ > 3
    J, right_ones = n**2, 0
    for t, (f, h, alpha, beta) in enumerate(rounds(model, X, codes)):
        e, g, said = losses(codes, f), coded(h, K), {k: c[t] for k, c in model.history_.items()}
        u, wrong = penalised(lam, e, mass), h != codes
        # the voter: the best of all stumps under u (beyond 1 it looks at other labels, see below)
        if lam <= 1:
            assert u[wrong].sum() == pytest.approx(best_error(u, codes, X, K), abs=1e-12)
        # it beats a random guess under u, and not necessarily under w
        assert u[wrong].sum() < (K - 1) / K * u.sum()
        assert said["penalised_error"] == pytest.approx(u[wrong].sum() / u.sum(), abs=1e-12)
        # the step: the minimiser, found by a search, of the bound or of the cost, in the paper's words
        V = lambda b, e=e, f=f, g=g: cost(lam, losses(codes, f + b * g), mass) / (mass @ e) ** 2  # noqa: E731
        U = lambda b, u=u, g=g: u @ losses(codes, b * g) ** 2  # noqa: E731
        found = minimize_scalar(V if step == "exact" else U, bounds=(1e-9, 40.0), options={"xatol": 1e-10})
        assert beta == pytest.approx(found.x, abs=1e-6)
        goal = V if step == "exact" else U
        assert goal(beta) <= found.fun * (1 + 1e-13)
        if step == "bound":
            assert alpha == pytest.approx((log(u[~wrong].sum() / u[wrong].sum()) + log(K - 1)) / 2, rel=1e-9)
        # the cost: it falls, and as much as the page promises
        now = cost(lam, losses(codes, f + beta * g), mass)
        assert now < J
        if lam <= 1:
            error, limit = u[wrong].sum() / u.sum(), (K - 1) / K
            divergence = limit * log(limit / error) + (1 - limit) * log((1 - limit) / (1 - error))
            assert now <= J * exp(-divergence) * (1 + 1e-12)
            assert exp(-divergence) <= exp(-2 * (limit - error) ** 2)
            assert said["bound_gap"] == pytest.approx(U(beta) - V(beta), abs=1e-11)
        J = now
        assert said["objective"] == pytest.approx(J / n**2, rel=1e-9)
        w = mass * e / (mass @ e)
        assert said["error"] == pytest.approx(w[wrong].sum(), abs=1e-12)
        assert said["edge"] == pytest.approx(1 - w[wrong].sum() * K / (K - 1), abs=1e-11)
        per_row = u / mass
        assert said["effective_size"] == pytest.approx((mass @ per_row) ** 2 / (mass @ per_row**2), rel=1e-9)
        right_ones += (~wrong).sum()
    assert right_ones > 0
    # boostlab's scores are the paper's f, up to K / (K-1)^2, and sum to zero
    f = f + beta * g
    np.testing.assert_allclose(model.decision_function(X), f * K / (K - 1) ** 2, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 0, atol=1e-10)


@pytest.mark.parametrize("K", [3, 4, 7])
@pytest.mark.parametrize("lam", [0.0, 0.2, 0.7, 1.0])
def test_the_bound_lies_above_the_cost_and_touches_it(K, lam):
    rng = np.random.default_rng(K)
    codes, h = rng.integers(0, K, 40), rng.integers(0, K, 40)
    f = rng.normal(size=(40, K))
    f -= f.mean(axis=1, keepdims=True)
    e, g, ones = losses(codes, f), coded(h, K), np.ones(40)
    u = penalised(lam, e, ones)
    grid = np.linspace(-4, 4, 81)
    V = np.array([cost(lam, losses(codes, f + b * g)) for b in grid]) / e.sum() ** 2
    U = np.array([u @ losses(codes, b * g) ** 2 for b in grid])
    assert (U >= V * (1 - 1e-12)).all()
    assert U[40] == pytest.approx(V[40], rel=1e-13)
    # where they touch they have the same slope, which is below zero exactly if h beats a random guess under u
    slopes = [(c[41] - c[39]) / (grid[41] - grid[39]) for c in (U, V)]
    assert slopes[0] == pytest.approx(slopes[1], rel=0.02, abs=0.02)
    if lam == 1:
        np.testing.assert_allclose(U, V, rtol=1e-12)
    else:
        assert (U[[20, 60]] > V[[20, 60]]).all()


@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("K", [3, 6])
def test_u_is_the_negative_gradient_of_the_cost(K, lam):
    rng = np.random.default_rng(K)
    codes, h, f = rng.integers(0, K, 30), rng.integers(0, K, 30), rng.normal(size=(30, K))
    f -= f.mean(axis=1, keepdims=True)
    e = losses(codes, f)
    u, wrong = penalised(lam, e, np.ones(30)), h != codes
    tiny = 1e-6
    up, down = (cost(lam, losses(codes, f + b * coded(h, K))) for b in (tiny, -tiny))
    slope = (up - down) / (2 * tiny) / e.sum() ** 2
    assert slope == pytest.approx(2 / (K - 1) ** 2 * (u[wrong].sum() - (K - 1) * u[~wrong].sum()), rel=1e-6)


def test_two_rounds_by_hand():
    # x = 1 2 3 of classes 0 1 2, lambda = 1/2.  Round 1: w = u = 1/3; the first cut says 0 | 1 and errs on x = 3:
    #   alpha = (ln 2 + ln 2) / 2 = ln 2, so that e is 2^(-2/3) twice and 2^(1/3) once: w = 1/4 1/4 1/2.
    # Round 2: u = (3 w^2 + w) / 2 = 7/32 7/32 20/32; the cut 1.5 says 0 | 2 and errs on x = 2:
    #   alpha = (ln(27/7) + ln 2) / 2.
    # The cost after round 1, over n^2: mean 2^(-2/3) 4/3, mean square 2^(-4/3) 2, so 2^(-4/3) (16/9 + 2) / 2.
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 2])
    model = VadaBoostClassifier(BY_ERROR, variance_penalty=0.5, n_estimators=2).fit(X, y)
    one, two = model.estimators_
    assert (one.threshold, one.left, one.right) == (1.5, 0, 1)
    assert (two.threshold, two.left, two.right) == (1.5, 0, 2)
    np.testing.assert_allclose(model.estimator_weights_, [log(2), log(54 / 7) / 2], rtol=1e-14)
    assert model.history_["objective"][0] == pytest.approx(2 ** (-4 / 3) * 17 / 9, rel=1e-13)
    np.testing.assert_allclose(model.history_["penalised_error"], [1 / 3, 7 / 34], rtol=1e-13)
    # The exact first step: A = (W_I^2 + 3 S_I)/2 = 5/9, B = 2/9, C = 1/9, and 2 x^2 - x - 10 = 0 has the root 5/2.
    model = VadaBoostClassifier(BY_ERROR, variance_penalty=0.5, step="exact", n_estimators=1).fit(X, y)
    assert model.estimator_weights_[0] == pytest.approx(log(2.5), rel=1e-14)


# -- two classes, and the ends ----------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class ByClasses(VadaBoostClassifier):
    """VadaBoost by the rule for several classes, also where there are two."""

    @property
    def _rules(self):
        return VadaBoostOfClasses, FixedPointVadaBoostOfClasses


@pytest.mark.parametrize(("step", "lam"), [*BOUND, *EXACT, ("bound", "fixed_point")])
def test_two_classes_are_vadaboost(data, step, lam):
    X, y = data(seed=5, n=150, noise=0.15)
    mass = np.random.default_rng(5).uniform(0.5, 2.0, 150)
    params = dict(variance_penalty=lam, step=step, max_leaf_nodes=4, n_estimators=30)
    binary = VadaBoostClassifier(**params).fit(X, y, mass)
    model = ByClasses(**params).fit(X, y, mass)
    assert model.n_estimators_ == binary.n_estimators_ == 30
    for one, two in zip(binary.estimators_, model.estimators_, strict=True):
        assert np.array_equal(one.predict(X) > 0, two.predict(X) == 1)
    np.testing.assert_allclose(model.estimator_weights_, 2 * binary.estimator_weights_, rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), 2 * binary.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), binary.predict_proba(X), atol=1e-8)
    for name in ("error", "edge", "bound_gap", "objective", "variance_penalty", "effective_size"):
        np.testing.assert_allclose(model.history_[name], binary.history_[name], rtol=1e-8, atol=1e-11)


class FewByClasses(SmallGrid, ByClasses):
    pass


def test_two_classes_choose_the_same_penalty(data):
    X, y = data(seed=6, n=90, noise=0.15)
    for word in ("auto", "validation"):
        params = dict(variance_penalty=word, max_leaf_nodes=3, n_estimators=5, random_state=0)
        one, two = FewVada(**params).fit(X, y), FewByClasses(**params).fit(X, y)
        assert one.variance_penalty_ == two.variance_penalty_
        for name, column in one.variance_penalty_curve_.items():
            np.testing.assert_allclose(two.variance_penalty_curve_[name], column, rtol=1e-8, atol=1e-12)


def test_the_ends_are_samme(data):
    X, y = data(seed=6, n=120, noise=0.1, n_classes=4)
    samme = SAMMEClassifier(max_leaf_nodes=4, n_estimators=30).fit(X, y)
    for step, lam, times in (("exact", 0.0, 1.0), ("exact", 1.0, 0.5), ("bound", 1.0, 0.5)):
        model = VadaBoostClassifier(variance_penalty=lam, step=step, max_leaf_nodes=4, n_estimators=30).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), times * samme.decision_function(X), atol=1e-8)
        np.testing.assert_allclose(model.predict_proba(X), samme.predict_proba(X), atol=1e-8)
        objective = model.history_["objective"]  # the mean loss squared, or the mean square, which is SAMME's
        np.testing.assert_allclose(objective, samme.history_["objective"] ** (2 if lam == 0 else 1), rtol=1e-8)
    # The bound's step without penalty is half of SAMME's, every round.
    half = VadaBoostClassifier(variance_penalty=0.0, max_leaf_nodes=4, n_estimators=30).fit(X, y)
    shrunken = SAMMEClassifier(learning_rate=0.5, max_leaf_nodes=4, n_estimators=30).fit(X, y)
    np.testing.assert_allclose(half.decision_function(X), shrunken.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(half.history_["objective"], shrunken.history_["objective"] ** 2, rtol=1e-8)


@pytest.mark.parametrize("K", [2, 3, 10])
def test_what_the_bound_costs_without_penalty(K):
    # A round of error eps: SAMME's factor for the squared loss is exp(-2 KL), a half step's Z^2.
    limit = (K - 1) / K
    ratio = {}
    for eps in (1e-300, 0.2, limit - 1e-4):
        rho = (K - 1) * (1 - eps) / eps
        full, half = ((1 - eps) * rho ** (-limit * s) + eps * rho ** (s / K) for s in (1.0, 0.5))
        divergence = limit * log(limit / eps) + (1 - limit) * log((1 - limit) / (1 - eps))
        assert full == pytest.approx(exp(-divergence), rel=1e-9)
        assert half == pytest.approx(rho ** (-limit / 2) * (1 - eps + sqrt((K - 1) * eps * (1 - eps))), rel=1e-9)
        ratio[eps] = log(full) / log(half)
    first, middle, last = ratio.values()
    assert first == pytest.approx(2, abs=0.02)
    assert 1 < middle < 2  # ln Z is convex and 0 at 0: half a step goes at least half the way
    assert last == pytest.approx(4 / 3, abs=1e-3)


# -- penalties above 1 ------------------------------------------------------------------------------------------------


def test_beyond_one_rows_that_should_lose_margin_are_shown_their_runner_up(data):
    X, codes = data(seed=9, n=90, noise=0.1, n_classes=4)
    seen = []

    class Curious(Learner, Session):
        uses_bins = True

        def searches(self):
            return frozenset(["labels"])

        def begin(self, rows, rng):
            self.inner = DecisionTree(max_leaf_nodes=5).begin(rows, rng)
            return self

        def best(self, task):
            seen.append((np.array(task.weight), np.array(task.target)))
            return self.inner.best(task)

    model = VadaBoostClassifier(Curious(), variance_penalty=5.0, step="exact", n_estimators=15).fit(X, codes)
    turned = 0
    for (weight, target), (f, h, *_) in zip(seen, rounds(model, X, codes), strict=False):
        u = penalised(5.0, losses(codes, f), np.ones(90))
        np.testing.assert_allclose(weight / weight.sum(), np.abs(u) / np.abs(u).sum(), rtol=0, atol=1e-12)
        others = np.where(np.arange(4) == codes[:, None], -np.inf, np.round(f, 9))
        clear = (np.abs(u) > 1e-9) & ((others == others.max(axis=1, keepdims=True)).sum(axis=1) == 1)
        wanted = np.where(u < 0, others.argmax(axis=1), codes)
        assert (target[clear] == wanted[clear]).all()
        turned += (u < 0).sum()
        # what the learner raises is no more than what counts, up to a constant
        raised, counts = weight @ (h == target) - weight[u < 0].sum(), (weight * np.sign(u)) @ (h == codes)
        assert raised <= counts + 1e-9 * weight.sum()
    assert turned > 50


def test_the_penalty_narrows_the_spread_of_the_losses(data):
    X, codes = data(seed=2, n=200, noise=0.2, n_classes=3)
    spread = []
    for lam in (0.0, 0.5, 2.0, 10.0):
        model = VadaBoostClassifier(variance_penalty=lam, step="exact", max_leaf_nodes=4, n_estimators=40)
        e = losses(codes, model.fit(X, codes).decision_function(X) * 4 / 3)
        spread.append(e.std() / e.mean())
    assert (np.diff(spread) < 0).all()


# -- weak voters ------------------------------------------------------------------------------------------------------


class Told(Learner, Session):
    """A learner whose voters say what they are told, by row number, the table's only column."""

    def __init__(self, *said):
        self.said = [np.asarray(s) for s in said]

    def searches(self):
        return frozenset(["labels"])

    def begin(self, rows, rng):
        self.left = list(self.said)
        return self

    def best(self, task):
        return Found(Says(self.left.pop(0)))


class Says(Voter):
    """Such a voter."""

    bound = 1.0

    def __init__(self, said):
        self.said = said

    def votes(self, table):
        return self.said[table.X[:, 0].astype(int)]


@pytest.mark.parametrize(("step", "lam"), [("bound", 0.0), ("bound", 0.5), ("exact", 0.5), ("exact", 3.0)])
def test_a_voter_must_beat_a_random_guess_in_the_penalised_weights(step, lam):
    # 12 rows of 3 classes, all alike.  A voter that is right on 4 is a guess; on 5 it is not.
    X, y = np.arange(12.0)[:, None], np.arange(12) % 3
    guess, better = (np.where(np.arange(12) < right, y, (y + 1) % 3) for right in (4, 5))
    with pytest.warns(UserWarning, match="kept no voter"):
        model = VadaBoostClassifier(Told(guess), variance_penalty=lam, step=step).fit(X, y)
    assert model.stop_reason_ == "no_edge: penalised weighted error 0.6667, and the rule needs less than 0.6667"
    model = VadaBoostClassifier(Told(better, better), variance_penalty=lam, step=step, n_estimators=2).fit(X, y)
    assert model.estimator_weights_[0] > 0
    assert model.history_["error"][0] == pytest.approx(7 / 12)
    if step == "exact":  # the step was the best one: the same voter again is of no use
        assert model.n_estimators_ == 1
        assert model.stop_reason_.startswith("no_edge: penalised weighted error 0.6667")
    elif lam == 0:  # half a step was taken: the second is half of what is left
        np.testing.assert_allclose(model.estimator_weights_[1], model.estimator_weights_[0] / 2, rtol=1e-12)


def test_after_an_exact_step_the_voter_is_a_guess_in_the_new_penalised_weights(data):
    # That is what it means to stand at the minimum: u is the gradient.
    K = 4
    X, codes = data(seed=4, n=80, noise=0.1, n_classes=K)
    for lam in (0.0, 0.4, 1.0, 3.0):
        model = VadaBoostClassifier(variance_penalty=lam, step="exact", max_leaf_nodes=5, n_estimators=12)
        for f, h, _, beta in rounds(model.fit(X, codes), X, codes):
            u = penalised(lam, losses(codes, f + beta * coded(h, K)), np.ones(80))
            assert u[h != codes].sum() / u.sum() == pytest.approx((K - 1) / K, abs=1e-9)


# -- the loss and the error -------------------------------------------------------------------------------------------


def test_the_loss_bounds_the_error_with_a_factor_only(data):
    # With three or more classes a row may be misclassified and yet have a loss below 1: then F_c is above the mean.
    f = np.array([[1.0, 0.9, -1.9]])
    assert losses(np.array([1]), f)[0] < 1
    assert f.argmax() != 1
    for K in (3, 5):
        X, codes = data(seed=K, n=100, noise=0.2, n_classes=K)
        model = VadaBoostClassifier(BY_ERROR, variance_penalty=0.3, n_estimators=25).fit(X, codes)
        whole = np.cumsum(model.estimator_weights_)
        for shown, total in zip(model.staged_decision_function(X), whole, strict=True):
            e = losses(codes, shown * (K - 1) ** 2 / K)
            assert e.min() >= exp(-total * (K - 1) / K) * (1 - 1e-9)
            assert e.max() <= exp(total / K) * (1 + 1e-9)
            wrong = shown.argmax(axis=1) != codes
            assert (wrong <= e * exp(total * (K - 2) / (2 * K)) * (1 + 1e-9)).all()
