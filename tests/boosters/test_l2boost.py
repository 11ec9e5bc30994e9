"""L2Boost: residuals, the hat matrix, and QuadBoost as its twin on votes of -1 and +1."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge

from boostlab import L2BoostClassifier, L2BoostRegressor, QuadBoostClassifier, VoterPool


@pytest.mark.parametrize("lam", [0.0, 1.0, 9.0])
def test_with_shrinkage_it_is_quadboost_l2(data, lam):
    # On votes of -1 and +1 the best voter times its coefficient d is QuadBoost's, and d / (1 + lambda) is nu d.
    X, y = data(seed=1, n=120, noise=0.2)
    nu = 1 / (1 + lam)
    ours = L2BoostClassifier(VoterPool(), learning_rate=nu, n_estimators=60).fit(X, y)
    quad = QuadBoostClassifier(VoterPool(), regularizer="l2", strength=lam, n_estimators=60).fit(X, y)
    assert [v.index for v in ours.estimators_] == [v.index for v in quad.estimators_]
    for F, G in zip(ours.staged_decision_function(X), quad.staged_decision_function(X), strict=True):
        np.testing.assert_allclose(F, G, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        [nu * v.sign for v in ours.estimators_],
        [a * v.sign for a, v in zip(quad.estimator_weights_, quad.estimators_, strict=True)],
        atol=1e-13,
    )
    np.testing.assert_allclose(ours.history_["objective"], quad.history_["risk"], rtol=1e-10)


def test_real_votes_of_a_pool_are_scaled_to_the_best_fit(data):
    X, codes = data(seed=2, n=80)
    y = 2.0 * codes - 1
    directions = np.random.default_rng(2).normal(size=(20, 4))
    H = np.tanh(X @ directions.T).T
    pool = VoterPool([lambda X, v=v: np.tanh(X @ v) for v in directions])
    model = L2BoostClassifier(pool, learning_rate=1.0, n_estimators=10).fit(X, codes)
    F = np.zeros(80)
    for voter, G in zip(model.estimators_, model.staged_decision_function(X), strict=True):
        d, eta = H @ (y - F), (H * H).sum(axis=1)
        k = int((d**2 / eta).argmax())
        assert voter.index == k
        F = F + d[k] / eta[k] * H[k]
        np.testing.assert_allclose(G, F, atol=1e-12)
    one_way = VoterPool([lambda X: -np.sign(X[:, 0]), lambda X: np.sign(X[:, 3])], complements=False)
    worst = L2BoostClassifier(one_way, n_estimators=3)
    with pytest.warns(match="kept no voter"):
        assert worst.fit(X, codes).stop_reason_.startswith("no_edge")


def test_two_rounds_by_hand():
    # Mean 2; residuals -2 -1 0 3: the best cut leaves out the last.  With nu = 1/2 half of it is added.
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 5.0]
    model = L2BoostRegressor(n_estimators=2, learning_rate=0.5).fit(X, y)
    assert model.baseline_ == 2.0
    first, second = model.staged_predict(X)
    np.testing.assert_allclose(first, [1.5, 1.5, 1.5, 3.5], atol=1e-14)
    np.testing.assert_allclose(model.history_["objective"], np.mean((np.array([first, second]) - y) ** 2, axis=1))
    # Residuals -1.5 -0.5 0.5 1.5: cut in the middle, leaves -1 and 1.
    np.testing.assert_allclose(second, [1.0, 1.0, 2.0, 4.0], atol=1e-14)


@pytest.mark.parametrize("nu", [1.0, 0.3, 0.05])
def test_the_risk_falls_every_round(data, nu):
    X, codes = data(seed=3, n=150, noise=0.2)
    y = np.random.default_rng(3).normal(size=150) + 3 * codes
    for model in (L2BoostClassifier(learning_rate=nu).fit(X, codes), L2BoostRegressor(learning_rate=nu).fit(X, y)):
        assert model.n_estimators_ == 100
        assert (np.diff(model.history_["objective"]) < 0).all()
    np.testing.assert_allclose(model.history_["objective"][-1], np.mean((y - model.predict(X)) ** 2), rtol=1e-10)


def test_it_is_scikit_learns_gradient_boosting_with_squared_loss(data):
    X, _ = data(seed=4, n=200)
    y = X[:, 0] ** 2 + X[:, 1] + 0.1 * np.random.default_rng(4).normal(size=200)
    ours = L2BoostRegressor(n_estimators=30, max_bins="exact").fit(X, y)
    peer = GradientBoostingRegressor(max_depth=1, n_estimators=30).fit(X, y)
    for a, b in zip(ours.staged_predict(X), peer.staged_predict(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("nu", [1.0, 0.2])
def test_the_hat_matrix_of_a_linear_smoother(data, nu):
    # With a linear smoother S, F_t = (I - (I - nu S)^t) (y - mean).
    X, _ = data(seed=5, n=60)
    X = X - X.mean(axis=0)
    y = X @ [1.0, -2.0, 0.5, 0.0] + np.random.default_rng(5).normal(size=60)
    S = X @ np.linalg.solve(X.T @ X + 50 * np.eye(4), X.T)
    model = L2BoostRegressor(Ridge(alpha=50, fit_intercept=False), learning_rate=nu, n_estimators=8).fit(X, y)
    left = np.eye(60)
    for F in model.staged_predict(X):
        left = left @ (np.eye(60) - nu * S)
        np.testing.assert_allclose(F - y.mean(), (np.eye(60) - left) @ (y - y.mean()), atol=1e-9)


def test_a_learner_that_overshoots_takes_the_best_step(data):
    class Shouting(Ridge):
        def predict(self, X):
            return 40 * super().predict(X)

    X, y = data(seed=6, n=90)
    model = L2BoostClassifier(Shouting(), n_estimators=6).fit(X, y)
    assert (model.estimator_weights_ < 0.1).all()
    assert (np.diff([1.0, *model.history_["objective"]]) < 0).all()


def test_probabilities_and_the_end(data):
    X, y = data(seed=7, n=60, noise=0.0)
    model = L2BoostClassifier(learning_rate=0.5, max_leaf_nodes=30, n_estimators=500).fit(X, y)
    assert model.stop_reason_.startswith("tolerance")
    assert model.history_["objective"][-1] < 1e-12
    F = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], np.clip((1 + F) / 2, 0, 1), atol=1e-14)
