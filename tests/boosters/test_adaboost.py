"""AdaBoost, discrete and real."""

from math import exp, log, sqrt

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from boostlab import AdaBoostClassifier
from boostlab.boosters import REGISTRY
from boostlab.contract import Found, Learner, Session, Voter


def weights(y, F):
    """w_i proportional to exp(-y_i F_i), by the textbook formula."""
    logs = -y * F
    w = np.exp(logs - logs.max())
    return w / w.sum()


# -- two rounds by hand ----------------------------------------------------------------------------------------------


def test_two_rounds_by_hand():
    # x = 1 2 3 4 5, y = + - + - -.
    # Round 1, w = 1/5 each.  "+ below 1.5" misses x = 3 only, "+ below 3.5" misses x = 2 only: both 1/5, and the first
    #   cut wins the tie.  alpha = (1/2) ln((4/5) / (1/5)) = ln 2.
    #   New weights: the missed x = 3 gets 1/2, the other four share 1/2: 1/8 each.
    # Round 2.  + below 1.5: 1/2.  + above 2.5: 3/8 (x = 1, 4, 5).  + below 3.5: 1/8 (x = 2).  + below 4.5: 1/4 (2, 4).
    #   So + below 3.5, eps = 1/8, alpha = (1/2) ln 7.
    #   New weights: x = 2 gets 1/2; the rest is divided by 2 (7/8) = 7/4: x = 3 has 2/7, x = 1, 4, 5 have 1/14.
    X = np.arange(1.0, 6.0)[:, None]
    y = np.array([1, -1, 1, -1, -1])
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    stumps = [(s.threshold, s.left, s.right) for s in model.estimators_]
    assert stumps == [(1.5, 1.0, -1.0), (3.5, 1.0, -1.0)]
    np.testing.assert_allclose(model.history_["error"], [1 / 5, 1 / 8], rtol=0, atol=1e-15)
    np.testing.assert_allclose(model.estimator_weights_, [log(2), 0.5 * log(7)], rtol=1e-15)
    first, second = model.staged_decision_function(X)
    a, b = log(2), 0.5 * log(7)
    np.testing.assert_allclose(first, [a, -a, -a, -a, -a], rtol=0, atol=1e-15)
    np.testing.assert_allclose(second, [a + b, -a + b, -a + b, -a - b, -a - b], rtol=0, atol=1e-15)
    np.testing.assert_allclose(weights(y, first), [1 / 8, 1 / 8, 1 / 2, 1 / 8, 1 / 8], rtol=0, atol=1e-15)
    np.testing.assert_allclose(weights(y, second), [1 / 14, 1 / 2, 2 / 7, 1 / 14, 1 / 14], rtol=0, atol=1e-15)


# -- the identities of the specification -----------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_identities_of_every_round(data, all_stumps, replay, noise):
    X, codes = data(seed=1, n=90, noise=noise)
    y = 2.0 * codes - 1
    H = all_stumps(X).H
    model = AdaBoostClassifier(n_estimators=60).fit(X, codes)
    product, advantage, bound = 1.0, 0.0, 1.0
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        w = weights(y, before)
        error = w[h != y].sum()
        best = 0.5 - np.abs(H @ (w * y)).max() / 2  # the smallest error any stump or its complement has
        assert error == pytest.approx(best, abs=1e-12)
        assert alpha == pytest.approx(0.5 * log((1 - error) / error), rel=1e-12)
        np.testing.assert_allclose(after, before + alpha * h, rtol=0, atol=1e-12)
        product *= 2 * sqrt(error * (1 - error))
        assert np.exp(-y * after).mean() == pytest.approx(product, rel=1e-11)  # I1
        assert weights(y, after)[h != y].sum() == pytest.approx(0.5, abs=1e-12)  # I3
        bound *= sqrt(error * (1 - error))
        advantage += (0.5 - error) ** 2
        training_error = (y * after <= 0).mean()
        assert training_error <= 2 ** (t + 1) * bound * (1 + 1e-12)  # I2
        assert product <= exp(-2 * advantage) * (1 + 1e-12)
        assert model.history_["error"][t] == pytest.approx(error, abs=1e-13)
        assert model.history_["edge"][t] == pytest.approx((w * y * h).sum(), abs=1e-12)
        assert model.history_["objective"][t] == pytest.approx(product, rel=1e-11)
    assert t == 59


def test_the_floor_is_for_perfect_voters_only(replay):
    # On four points 1/(2n) = 1/8, and the third round of the XOR table has an error of 1/10.  Its alpha is AdaBoost's
    # all the same, or the loss would not be the product of 2 sqrt(eps (1 - eps)) nor the voter's new error 1/2.
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    errors = []
    for before, h, alpha, after in replay(model, X):
        errors.append(weights(y, before)[h != y].sum())
        assert alpha == pytest.approx(0.5 * log((1 - errors[-1]) / errors[-1]), rel=1e-12)
        assert weights(y, after)[h != y].sum() == pytest.approx(0.5, abs=1e-12)
    assert 0 < min(errors) < 1 / 8


# -- how training ends -----------------------------------------------------------------------------------------------


def test_a_perfect_voter_is_kept_with_a_finite_vote():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["no", "no", "yes", "yes"]
    model = AdaBoostClassifier().fit(X, y)
    assert model.n_estimators_ == 1
    assert model.stop_reason_.startswith("perfect")
    assert model.estimator_weights_[0] == pytest.approx(0.5 * log((1 - 1 / 8) / (1 / 8)), rel=1e-15)
    assert model.history_["error"].tolist() == [0.0]
    assert model.predict(X).tolist() == y


def test_a_perfect_voter_in_a_later_round(data):
    X, codes = data(seed=3, n=40, noise=0.0)
    y = 2.0 * codes - 1

    class Patient(Learner, Session):
        """A learner that offers a fair stump twice and the truth the third time."""

        def searches(self):
            return frozenset(["edge"])

        def begin(self, rows, rng):
            self.calls = 0
            return self

        def best(self, task):
            self.calls += 1
            missed = {1: np.arange(40) % 4 == 0, 2: np.arange(40) % 5 == 1, 3: np.zeros(40, bool)}[self.calls]
            return Found(Told(np.where(missed, -y, y)))

    model = AdaBoostClassifier(Patient()).fit(X, codes)
    assert model.n_estimators_ == 3
    assert model.stop_reason_.startswith("perfect")
    assert model.history_["error"][0] == 0.25
    assert model.estimator_weights_[2] == pytest.approx(0.5 * log(79), rel=1e-14)


class Told(Voter):
    """A voter whose votes on the training rows are given."""

    bound = 1.0

    def __init__(self, votes):
        self.given = votes

    def votes(self, table):
        return self.given

    def predict(self, X):
        return self.given


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]),  # every stump is right on half of the corners
        ([[7.0], [7.0], [7.0]], [0, 1, 1]),  # nothing to split
        ([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1]),  # labels do not depend on x
    ],
    ids=["symmetric", "constant", "independent"],
)
def test_no_edge_keeps_no_voter(X, y):
    with pytest.warns(ConvergenceWarning, match="kept no voter"):
        model = AdaBoostClassifier().fit(X, y)
    assert model.n_estimators_ == 0
    assert model.stop_reason_.startswith("no_edge")
    assert model.predict(X).tolist() == [0] * len(y)  # F = 0 is the first class
    assert model.decision_function(X).tolist() == [0.0] * len(y)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("AdaBoostClassifier", {}),
        ("WeightBoostClassifier", {}),
        ("VadaBoostClassifier", {"step": "exact"}),
        ("EBBoostClassifier", {}),
    ],
)
def test_an_error_of_one_half_ends_training_after_good_rounds(name, params):
    # One cut only.  After its exact step that stump has no edge left, nor has its complement: an edge the size of a
    # rounding error is none, and a voter with alpha = 1e-16 would be added for ever.
    rng = np.random.default_rng(0)
    for _ in range(30):
        right, wrong = rng.integers(2, 12, 2)
        X = np.repeat([[0.0], [1.0]], right + wrong, axis=0)
        y = np.repeat([0, 1, 1, 0], [right, wrong, right, wrong])
        if right == wrong:
            continue
        model = REGISTRY[name].cls(**params).fit(X, y)  # no warning: one voter was kept
        assert model.n_estimators_ == 1, (right, wrong, model.estimator_weights_[:3])
        assert model.stop_reason_.startswith("no_edge")
        assert model.estimator_weights_[0] > 0.01


# -- small steps -----------------------------------------------------------------------------------------------------


def test_learning_rate_one_changes_nothing(data, same_stumps):
    X, y = data(seed=5)
    one, two = (AdaBoostClassifier(n_estimators=40, **k).fit(X, y) for k in ({}, {"learning_rate": 1.0}))
    assert same_stumps(one, two)
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()


@pytest.mark.parametrize("nu", [0.9, 0.3, 0.05])
def test_shrinkage(data, replay, nu):
    X, codes = data(seed=5)
    y = 2.0 * codes - 1
    model = AdaBoostClassifier(n_estimators=80, learning_rate=nu).fit(X, codes)
    loss = 1.0
    for before, h, alpha, after in replay(model, X):
        w = weights(y, before)  # the shrunken F drives the weights
        error = w[h != y].sum()
        assert alpha == pytest.approx(nu * 0.5 * log((1 - error) / error), rel=1e-11)
        now = np.exp(-y * after).mean()
        assert now < loss
        assert now == pytest.approx(loss * ((1 - error) * exp(-alpha) + error * exp(alpha)), rel=1e-12)
        loss = now
    assert model.n_estimators_ == 80


def test_fixed_steps(data, replay, all_stumps):
    X, codes = data(seed=5)
    y = 2.0 * codes - 1
    H = all_stumps(X).H
    model = AdaBoostClassifier(n_estimators=150, fixed_step=0.02).fit(X, codes)
    assert (model.estimator_weights_ == 0.02).all()
    loss = 1.0
    for before, h, _, after in replay(model, X):
        w = weights(y, before)
        assert (w * y * h).sum() == pytest.approx(np.abs(H @ (w * y)).max(), abs=1e-12)  # always the best coordinate
        # A step s pays while it is shorter than twice AdaBoost's alpha.
        assert log((1 + (w * y * h).sum()) / (1 - (w * y * h).sum())) > 0.02
        assert np.exp(-y * after).mean() < loss
        loss = np.exp(-y * after).mean()


# -- a peer ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_scikit_learn_agrees(data, noise):
    # The same trees inside both.  Random initial weights, because trees break ties by their random state.
    X, codes = data(seed=15, n=300, d=6, noise=noise)
    y = 2.0 * codes - 1
    w = np.random.default_rng(15).uniform(0.5, 1.5, len(y))
    peer = Peer(DecisionTreeClassifier(max_depth=1), n_estimators=60, random_state=0).fit(X, y, w)
    ours = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=60, random_state=0).fit(X, y, w)
    assert len(peer.estimators_) == ours.n_estimators_ == 60
    np.testing.assert_allclose(ours.history_["error"], peer.estimator_errors_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(2 * ours.estimator_weights_, peer.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(
        2 * ours.decision_function(X) / ours.estimator_weights_.sum(), peer.decision_function(X), rtol=0, atol=1e-9
    )
    for mine, theirs in zip(ours.staged_predict(X), peer.staged_predict(X), strict=True):
        assert (mine == theirs).all()


# -- long runs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["discrete", "real"])
@pytest.mark.parametrize("noise", [0.0, 0.15], ids=["separable", "noisy"])
def test_ten_thousand_rounds_stay_finite(algorithm, noise):
    rng = np.random.default_rng(16)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + X[:, 1] - 0.5 * X[:, 2] > 0, 1.0, -1.0)
    y[rng.random(200) < noise] *= -1
    rounds = 10_000 if noise == 0 else 2000  # scores that only grow are those that overflow
    model = AdaBoostClassifier(algorithm=algorithm, n_estimators=rounds).fit(X, y)
    assert model.n_estimators_ == rounds
    for column in model.history_.values():
        assert np.isfinite(column).all()
    F = model.decision_function(X)
    P = model.predict_proba(X)
    assert np.isfinite(F).all()
    assert np.isfinite(P).all()
    assert ((P >= 0) & (P <= 1)).all()
    w = weights(y, F)
    assert np.isfinite(w).all()
    assert w.sum() == pytest.approx(1)
    assert np.isfinite(model.estimator_weights_).all()
    error = (y * F <= 0).mean()
    if noise == 0:
        assert error == 0
        assert model.margins(X, y).min() > 0
    # The table that predicts and the sum voter by voter are the same function.
    *_, staged = model.staged_decision_function(X)
    np.testing.assert_allclose(F, staged, rtol=0, atol=1e-9 * max(1, np.abs(F).max()))


# -- Real AdaBoost ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [1.0, 0.4])
def test_real_adaboost_leaves_and_loss(data, all_stumps, replay, nu):
    X, codes = data(seed=17, n=90, noise=0.2)
    y = 2.0 * codes - 1
    pool = all_stumps(X)
    model = AdaBoostClassifier(algorithm="real", n_estimators=60, learning_rate=nu).fit(X, codes)
    loss, smoothing = 1.0, 1 / (2 * len(y))
    assert (model.estimator_weights_ == nu).all()
    for t, (before, h, _, after) in enumerate(replay(model, X)):
        w = weights(y, before)
        stump = model.estimators_[t]
        above = X[:, stump.feature] > stump.threshold
        for side, leaf in ((~above, stump.left), (above, stump.right)):
            plus, minus = w[side & (y > 0)].sum(), w[side & (y < 0)].sum()
            assert leaf == pytest.approx(0.5 * log((plus + smoothing) / (minus + smoothing)), abs=1e-12)
        np.testing.assert_allclose(h, np.where(above, stump.right, stump.left))
        # The cut has the smallest Z = 2 sum sqrt(W+ W-) of all cuts.
        right = pool.H > 0
        plus, minus = right @ (w * (y > 0)), right @ (w * (y < 0))
        rest = np.maximum(w[y > 0].sum() - plus, 0) * np.maximum(w[y < 0].sum() - minus, 0)
        Z = 2 * np.sqrt(plus * minus) + 2 * np.sqrt(rest)
        mine = np.flatnonzero((pool.feature == stump.feature) & (pool.threshold == stump.threshold))
        assert Z[mine[0]] <= Z.min() + 1e-12
        now = np.exp(-y * after).mean()
        assert now < loss
        assert model.history_["objective"][t] == pytest.approx(now, rel=1e-10)
        assert model.history_["Z"][t] == pytest.approx(now / loss, rel=1e-10)
        loss = now


def test_real_voters_of_equal_strength_are_discrete_ones():
    # Both leaves err on a quarter of their weight, so both say +-(1/2) ln 3 up to the smoothing of 1/(2n).
    X = np.repeat([[0.0], [1.0]], 400, axis=0)
    y = np.concatenate([np.arange(400) % 4 == 0, np.arange(400) % 4 != 0]).astype(int)
    real = AdaBoostClassifier(algorithm="real", n_estimators=1).fit(X, y)
    discrete = AdaBoostClassifier(n_estimators=1).fit(X, y)
    np.testing.assert_allclose(real.decision_function(X), discrete.decision_function(X), atol=3e-3)
    s = 1 / 1600
    assert real.decision_function([[1.0]])[0] == pytest.approx(0.5 * log((3 / 8 + s) / (1 / 8 + s)), rel=1e-12)


def test_real_adaboost_stops_without_an_edge():
    with pytest.warns(ConvergenceWarning, match="kept no voter"):
        model = AdaBoostClassifier(algorithm="real").fit([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
    assert model.stop_reason_.startswith("no_edge")
