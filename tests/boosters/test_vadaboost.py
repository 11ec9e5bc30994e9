"""VadaBoost: the cost (3), the bound (5), and its two ways of stepping."""

from math import log, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from boostlab import AdaBoostClassifier, DecisionStump, DecisionTree, EBBoostClassifier, VadaBoostClassifier
from boostlab.contract import Found, Learner, Session, Voter

BOUND = [0.0, 0.1, 0.3, 0.5, 0.9, 1.0]
EXACT = [0.3, 1.0, 2.0, 5.0, 10.0]


def cost(lam, y, F):
    """(sum e)^2 + lambda (n sum e^2 - (sum e)^2), literally."""
    e = np.exp(-y * F)
    return e.sum() ** 2 + lam * (len(e) * (e**2).sum() - e.sum() ** 2)


def penalised(lam, y, F):
    """u_i = lambda n w_i^2 + (1 - lambda) w_i."""
    w = np.exp(-y * F)
    w /= w.sum()
    return lam * len(w) * w**2 + (1 - lam) * w


def test_the_cost_is_mean_and_variance(data):
    # n sum e^2 - (sum e)^2 = n (n - 1) times the unbiased sample variance; the history reports cost / n^2.
    X, codes = data(seed=1)
    y, lam = 2.0 * codes - 1, 0.4
    model = VadaBoostClassifier(variance_penalty=lam, n_estimators=20).fit(X, codes)
    n = len(y)
    for F, said in zip(model.staged_decision_function(X), model.history_["objective"], strict=True):
        e = np.exp(-y * F)
        assert said == pytest.approx(e.mean() ** 2 + lam * (n - 1) / n * e.var(ddof=1), rel=1e-11)


@pytest.mark.parametrize("lam", BOUND)
def test_every_round_of_the_bound_form(data, all_stumps, replay, lam):
    X, codes = data(seed=2, n=90, noise=0.15)
    y = 2.0 * codes - 1
    H = all_stumps(X).H
    model = VadaBoostClassifier(variance_penalty=lam, n_estimators=60).fit(X, codes)
    assert model.n_estimators_ == 60
    J = cost(lam, y, np.zeros(len(y)))
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        u = penalised(lam, y, before)
        assert (u * y * h).sum() == pytest.approx(np.abs(H @ (u * y)).max(), abs=1e-12)  # the best stump under u
        assert alpha == pytest.approx(0.25 * log(u[h == y].sum() / u[h != y].sum()), rel=1e-11)
        np.testing.assert_allclose(after, before + alpha * h, rtol=0, atol=1e-12)
        now = cost(lam, y, after)
        assert now < J
        J = now
        assert model.history_["objective"][t] == pytest.approx(J / len(y) ** 2, rel=1e-10)


@pytest.mark.parametrize("lam", BOUND)
def test_the_bound_lies_above_the_cost(data, replay, lam):
    X, codes = data(seed=3, n=80)
    y = 2.0 * codes - 1
    model = VadaBoostClassifier(variance_penalty=lam, n_estimators=15).fit(X, codes)
    grid = np.linspace(-2.0, 2.0, 41)
    assert grid[20] == 0.0
    for t, (before, h, alpha, _) in enumerate(replay(model, X)):
        u = penalised(lam, y, before)
        whole = np.exp(-y * before).sum() ** 2
        U = np.array([(u * np.exp(-2 * a * y * h)).sum() for a in grid])
        V = np.array([cost(lam, y, before + a * h) / whole for a in grid])
        assert (U >= V * (1 - 1e-12)).all()
        assert U[20] == pytest.approx(V[20], rel=1e-12)
        if lam == 1.0:
            np.testing.assert_allclose(U, V, rtol=1e-12)
        else:
            assert (U[[10, 30]] > V[[10, 30]] * (1 + 1e-9)).all()
        here = (u * np.exp(-2 * alpha * y * h)).sum() - cost(lam, y, before + alpha * h) / whole
        assert model.history_["bound_gap"][t] == pytest.approx(here, abs=1e-12)
        # The step minimises the bound.
        assert (u * np.exp(-2 * alpha * y * h)).sum() <= U.min() + 1e-15


@pytest.mark.parametrize("step", ["bound", "exact"])
def test_full_penalty_is_adaboost_halved(data, same_stumps, step):
    X, y = data(seed=4, n=100)
    ada = AdaBoostClassifier(n_estimators=60).fit(X, y)
    vada = VadaBoostClassifier(variance_penalty=1.0, step=step, n_estimators=60).fit(X, y)
    assert same_stumps(ada, vada)
    for F, G in zip(ada.staged_decision_function(X), vada.staged_decision_function(X), strict=True):
        np.testing.assert_allclose(G, F / 2, rtol=0, atol=1e-12)


def test_no_penalty_steps_half_as_far(data, replay):
    X, codes = data(seed=5, n=100)
    y = 2.0 * codes - 1
    ada = AdaBoostClassifier(n_estimators=1).fit(X, codes)
    vada = VadaBoostClassifier(variance_penalty=0.0, n_estimators=60).fit(X, codes)
    one, other = ada.estimators_[0], vada.estimators_[0]
    assert (one.feature, one.threshold, one.left) == (other.feature, other.threshold, other.left)
    assert vada.estimator_weights_[0] == pytest.approx(ada.estimator_weights_[0] / 2, rel=1e-14)
    for before, h, alpha, _ in replay(vada, X):  # the normaliser, equation (8)
        w = np.exp(-y * before)
        w /= w.sum()
        eps = w[h != y].sum()
        z = (w * np.exp(-alpha * y * h)).sum()
        assert z == pytest.approx((eps * (1 - eps)) ** 0.25 * (sqrt(eps) + sqrt(1 - eps)), rel=1e-12)
        assert z**2 == pytest.approx(2 * eps * (1 - eps) + sqrt(eps * (1 - eps)), rel=1e-12)


@pytest.mark.parametrize("lam", EXACT)
def test_the_exact_step(data, all_stumps, replay, lam):
    X, codes = data(seed=6, n=90, noise=0.15)
    y = 2.0 * codes - 1
    H = all_stumps(X).H
    model = VadaBoostClassifier(variance_penalty=lam, step="exact", n_estimators=50).fit(X, codes)
    J = cost(lam, y, np.zeros(len(y)))
    negative = 0
    for before, h, alpha, after in replay(model, X):
        u = penalised(lam, y, before)  # the negative gradient of the cost, also where it is negative
        negative += (u < 0).sum()
        assert (u * y * h).sum() == pytest.approx(np.abs(H @ (u * y)).max(), abs=1e-11)
        found = minimize_scalar(lambda a: log(cost(lam, y, before + a * h)), bracket=(0.0, 0.1))  # noqa: B023
        assert alpha == pytest.approx(found.x, abs=1e-6)
        now = cost(lam, y, after)
        assert now <= np.exp(found.fun) * (1 + 1e-12)
        assert 0 < now < J
        J = now
    assert (negative > 0) == (lam > 1)
    assert model.history_["objective"][-1] == pytest.approx(J / len(y) ** 2, rel=1e-9)


def test_exact_without_penalty_is_adaboost(data, same_stumps):
    X, y = data(seed=7, n=100)
    ada = AdaBoostClassifier(n_estimators=60).fit(X, y)
    vada = VadaBoostClassifier(variance_penalty=0.0, step="exact", n_estimators=60).fit(X, y)
    assert same_stumps(ada, vada)
    np.testing.assert_allclose(vada.decision_function(X), ada.decision_function(X), rtol=0, atol=1e-12)


def test_the_exact_step_along_the_same_voter_goes_further(data):
    # For lambda < 1 the bound is loose, so one exact step lowers the cost at least as much as one bound step.
    X, codes = data(seed=8, n=100)
    y = 2.0 * codes - 1
    for lam in (0.1, 0.5, 0.9):
        after = [
            cost(
                lam, y, VadaBoostClassifier(variance_penalty=lam, step=s, n_estimators=1).fit(X, y).decision_function(X)
            )
            for s in ("exact", "bound")
        ]
        assert after[0] < after[1]


@pytest.mark.parametrize(
    "learner", [LogisticRegression(), RidgeClassifier(), DecisionTree(max_depth=2)], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize(
    ("lam", "step"), [(0.0, "bound"), (0.5, "bound"), (1.0, "bound"), (0.5, "exact"), (3.0, "exact"), (10.0, "exact")]
)
def test_any_weighted_learner_serves(data, replay, learner, lam, step):
    X, codes = data(seed=9, n=120, noise=0.1)
    y = 2.0 * codes - 1
    model = VadaBoostClassifier(learner, variance_penalty=lam, step=step, n_estimators=15).fit(X, codes)
    assert model.n_estimators_ >= 1
    J = cost(lam, y, np.zeros(len(y)))
    for before, h, alpha, after in replay(model, X):
        assert set(np.unique(h)) <= {-1.0, 1.0}
        u = penalised(lam, y, before)
        assert alpha > 0
        if step == "bound":
            assert alpha == pytest.approx(0.25 * log(u[h == y].sum() / u[h != y].sum()), rel=1e-10, abs=1e-14)
        now = cost(lam, y, after)
        if alpha > 1e-6:  # a learner that repeats itself ends in steps too short for a float to show
            assert (u * y * h).sum() > 0
            assert now < J
        assert now <= J * (1 + 1e-14)
        J = now


def test_the_learner_sees_signed_targets_beyond_one(data):
    # For lambda > 1 well-classified rows should lose margin: the learner is shown their other label.
    X, codes = data(seed=9, n=120, noise=0.1)
    y = 2.0 * codes - 1
    seen = []

    class Curious(Learner, Session):
        uses_bins = True

        def searches(self):
            return frozenset(["edge"])

        def begin(self, rows, rng):
            self.inner = DecisionStump().begin(rows, rng)
            return self

        def best(self, task):
            seen.append((task.weight.copy(), task.target.copy()))
            return self.inner.best(task)

    lam = 4.0
    model = VadaBoostClassifier(Curious(), variance_penalty=lam, step="exact", n_estimators=8).fit(X, codes)
    scores = [np.zeros(len(y)), *model.staged_decision_function(X)]
    for F, (weight, target) in zip(scores, seen, strict=False):
        u = penalised(lam, y, F)
        signed = weight * target
        np.testing.assert_allclose(signed / np.abs(signed).sum(), u * y / np.abs(u).sum(), rtol=0, atol=1e-13)
        assert (weight >= 0).all()


def test_sample_weights_enter_cost_and_weights(data, replay):
    # With masses D of sum 1 the cost is (sum D e)^2 + lambda (sum D e^2 - (sum D e)^2)
    # and u_i = lambda w_i^2 / D_i + (1 - lambda) w_i.
    X, codes = data(seed=10, n=90)
    y, lam = 2.0 * codes - 1, 0.35
    mass = np.random.default_rng(0).uniform(0.3, 2.0, len(y))
    D = mass / mass.sum()
    model = VadaBoostClassifier(variance_penalty=lam, n_estimators=25).fit(X, codes, mass)
    J = 1.0
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        w = D * np.exp(-y * before)
        w /= w.sum()
        u = lam * w**2 / D + (1 - lam) * w
        assert alpha == pytest.approx(0.25 * log(u[h == y].sum() / u[h != y].sum()), rel=1e-11)
        e = np.exp(-y * after)
        now = (D @ e) ** 2 + lam * (D @ e**2 - (D @ e) ** 2)
        assert now < J
        assert model.history_["objective"][t] == pytest.approx(now, rel=1e-10)
        J = now


def test_the_perfect_voter_has_a_finite_step():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    half = 0.5 * log((1 - 1 / 8) / (1 / 8))
    for model, alpha in [
        (VadaBoostClassifier(), half),  # (1/4) ln of the squared odds, as EBBoost
        (VadaBoostClassifier(step="exact", variance_penalty=3.0), half),
        (EBBoostClassifier(variance_penalty=2.0), half),
    ]:
        model.fit(X, y)
        assert model.n_estimators_ == 1
        assert model.stop_reason_.startswith("perfect")
        assert model.estimator_weights_[0] == pytest.approx(alpha, rel=1e-12)


def test_the_bound_refuses_what_it_cannot_bound(data):
    X, y = data()
    with pytest.raises(ValueError, match=r"variance_penalty=1\.5 must lie in \[0, 1\].*step=\"exact\""):
        VadaBoostClassifier(variance_penalty=1.5).fit(X, y)
    with pytest.raises(ValueError, match=r"variance_penalty=-0\.1"):
        VadaBoostClassifier(variance_penalty=-0.1).fit(X, y)


def test_large_penalties_over_many_rounds_stay_finite(data):
    X, codes = data(seed=11, n=100, noise=0.0)
    y = 2.0 * codes - 1
    for lam in (0.5, 1.0, 20.0):
        model = VadaBoostClassifier(variance_penalty=lam, step="exact", n_estimators=2000).fit(X, codes)
        assert all(np.isfinite(c).all() for c in model.history_.values())
        F = model.decision_function(X)
        assert np.isfinite(F).all()
        assert (y * F > 0).mean() > 0.9


# -- Theorem 5 --------------------------------------------------------------------------------------------------------


def slowdown(eps):
    """Theorem 5: how many rounds without penalty VadaBoost needs for one of AdaBoost's."""
    return log(4 * eps * (1 - eps)) / log(2 * eps * (1 - eps) + sqrt(eps * (1 - eps)))


class Mediocre(Learner, Session):
    """A learner whose voters have the weighted error eps, round after round."""

    def __init__(self, eps):
        self.eps = eps

    def searches(self):
        return frozenset(["edge"])

    def begin(self, rows, rng):
        self.rng = np.random.default_rng(0)
        return self

    def best(self, task):
        w, votes = task.weight, task.target.copy()
        left = self.eps * w.sum()
        for order in (self.rng.permutation(len(w)), np.argsort(w)):  # the light ones fill what is left
            order = order[votes[order] == task.target[order]]
            wrong = order[np.cumsum(w[order]) <= left]
            votes[wrong] *= -1
            left -= w[wrong].sum()
        return Found(Remembered(votes))


class Remembered(Voter):
    """Votes by row number, which is the table's only column."""

    bound = 1.0

    def __init__(self, votes):
        self.by_row = votes

    def votes(self, table):
        return self.by_row[table.X[:, 0].astype(int)]


@pytest.mark.parametrize("eps", [0.05, 0.2, 0.4])
def test_theorem_5(eps):
    X, y = np.arange(20_000.0)[:, None], np.arange(20_000) % 2
    ada = AdaBoostClassifier(Mediocre(eps), n_estimators=8).fit(X, y).history_
    vada = VadaBoostClassifier(Mediocre(eps), variance_penalty=0.0, n_estimators=8).fit(X, y).history_
    np.testing.assert_allclose(ada["error"], eps, rtol=0.01)
    np.testing.assert_allclose(vada["error"], eps, rtol=0.01)
    rounds = 2 * np.log(ada["objective"]) / np.log(vada["objective"])  # VadaBoost's cost is the squared loss
    np.testing.assert_allclose(rounds, slowdown(eps), rtol=0.01)


def test_the_factor_of_theorem_5():
    assert slowdown(0.001) == pytest.approx(1.628, abs=1e-3)
    assert slowdown(0.4) == pytest.approx(1.336, abs=1e-3)
    assert slowdown(0.5 - 1e-4) == pytest.approx(4 / 3, abs=1e-4)
    assert abs(slowdown(1e-300) - 2) < 0.01


# -- probabilities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [VadaBoostClassifier, EBBoostClassifier])
def test_the_ends_of_the_range_have_an_exact_link(data, make):
    X, y = data(seed=12)
    ada = AdaBoostClassifier(n_estimators=20).fit(X, y)
    full = make(variance_penalty=1.0, n_estimators=20).fit(X, y)  # AdaBoost with F halved: the same probabilities
    np.testing.assert_allclose(full.predict_proba(X), ada.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        full.predict_proba(X)[:, 1], 1 / (1 + np.exp(-4 * full.decision_function(X))), rtol=1e-12
    )
    for lam in (0.0, 0.5):
        model = make(variance_penalty=lam, n_estimators=20).fit(X, y)
        np.testing.assert_allclose(
            model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * model.decision_function(X))), rtol=1e-12
        )


@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0])
def test_the_effective_size_is_that_of_the_penalised_weights(data, replay, lam):
    X, codes = data(seed=9, n=70, noise=0.2)
    y = 2.0 * codes - 1
    model = VadaBoostClassifier(variance_penalty=lam, n_estimators=15).fit(X, codes)
    assert (model.history_["variance_penalty"] == lam).all()
    for size, (before, *_) in zip(model.history_["effective_size"], replay(model, X), strict=True):
        w = np.exp(-y * before)
        w /= w.sum()
        u = lam * len(y) * w**2 + (1 - lam) * w
        assert size == pytest.approx(u.sum() ** 2 / (u @ u), rel=1e-9)
    assert model.history_["effective_size"][0] == pytest.approx(70)
