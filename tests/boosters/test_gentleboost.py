"""GentleBoost: Newton steps on the exponential loss, by least squares."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from boostlab import AdaBoostClassifier, GentleBoostClassifier


def exponential(y, F):
    return np.exp(-y * F).mean()


def newton(y, F):
    """-g/H of the loss of a leaf constant added to F, by finite differences at 0."""
    d = 1e-4
    low, mid, high = (exponential(y, F + c) for c in (-d, 0.0, d))
    return -((high - low) / (2 * d)) / ((high - 2 * mid + low) / d**2)


def test_two_rounds_by_hand():
    # x < 1 holds two of -1, the rest one of -1 and two of +1: leaves -1 and 1/3.  Then the wrong row weighs e^(1/3),
    # the others e^(-1/3) or e^(-1).
    X, y = [[0.0], [0.0], [1.0], [1.0], [2.0]], np.array([-1, -1, 1, -1, 1])
    model = GentleBoostClassifier(n_estimators=2).fit(X, y)
    first, second = model.estimators_
    assert (first.threshold, first.left) == (0.5, -1.0)
    assert first.right == pytest.approx(1 / 3, abs=1e-15)
    a, b, c = np.exp(-1), np.exp(-1 / 3), np.exp(1 / 3)
    assert second.threshold == 1.5
    assert second.left == pytest.approx((b - c - 2 * a) / (b + c + 2 * a), abs=1e-14)
    assert second.right == pytest.approx(1.0, abs=1e-14)
    assert model.history_["objective"][0] == pytest.approx((2 * a + 2 * b + c) / 5, rel=1e-14)


@pytest.mark.parametrize("kwargs", [{}, {"learning_rate": 0.3}, {"max_depth": 3}], ids=["stumps", "rate", "trees"])
def test_leaves_are_newton_steps_and_the_loss_falls(data, replay, kwargs):
    X, codes = data(seed=3, n=150, noise=0.2)
    y = 2.0 * codes - 1
    model = GentleBoostClassifier(n_estimators=40, **kwargs).fit(X, codes)
    assert model.n_estimators_ == 40
    loss = 1.0
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        assert np.abs(h).max() <= 1.0 + 1e-12
        for value in np.unique(h):
            leaf = h == value
            assert value == pytest.approx(newton(y[leaf], before[leaf]), rel=1e-4, abs=1e-4)
        assert alpha == model.learning_rate_
        now = exponential(y, after)
        # p e^-f + q e^f with f = p - q, a leaf's weights shared out as p and q
        w = np.exp(-y * before)
        assert now / loss == pytest.approx((w * np.exp(-y * alpha * h)).sum() / w.sum(), rel=1e-10)
        assert now < loss
        assert model.history_["objective"][t] == pytest.approx(now, rel=1e-9)
        loss = now


def test_the_stump_is_the_weighted_least_squares_fit(data, all_stumps, replay):
    X, codes = data(seed=5, n=80)
    y = 2.0 * codes - 1
    up = all_stumps(X).H > 0
    model = GentleBoostClassifier(n_estimators=12).fit(X, codes)
    for before, h, _, _ in replay(model, X):
        w = np.exp(-y * before)
        right, top = up @ w, up @ (w * y)
        explained = top**2 / right + (w @ y - top) ** 2 / (w.sum() - right)
        assert (w * (y - h) ** 2).sum() == pytest.approx(w.sum() - explained.max(), rel=1e-10)


def test_votes_are_bounded_where_real_adaboosts_are_not(data):
    X, y = data(seed=6, n=200, noise=0.05)
    gentle = GentleBoostClassifier(n_estimators=60).fit(X, y)
    real = AdaBoostClassifier(algorithm="real", n_estimators=60).fit(X, y)
    assert max(v.bound for v in gentle.estimators_) <= 1 + 1e-12 < max(v.bound for v in real.estimators_)
    np.testing.assert_allclose(
        gentle.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * gentle.decision_function(X))), atol=1e-14
    )


@pytest.mark.parametrize("learner", [LinearRegression(), DecisionTreeRegressor(max_depth=2)], ids=["linear", "tree"])
def test_other_learners_cannot_raise_the_loss(data, learner):
    X, y = data(seed=7, n=150, noise=0.1)
    model = GentleBoostClassifier(learner, n_estimators=15).fit(X, y)
    assert model.n_estimators_ > 1
    assert (np.diff([1.0, *model.history_["objective"]]) < 0).all()
