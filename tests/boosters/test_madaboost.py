"""MadaBoost: capped weights, and a bound that stops it."""

from math import log

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, MadaBoostClassifier
from boostlab.backend.cpu.formulas import values
from boostlab.boosters.filterboost import FilterBoost
from boostlab.boosters.madaboost import MadaBoost


def phi(v):
    return np.where(v > 0, np.exp(-np.maximum(v, 0)), 1 - v)


def test_two_rounds_by_hand():
    # One stump is wrong on one of four rows: eps = 1/4, alpha = (1/2) ln 3.  Then the wrong row keeps the weight 1
    # (AdaBoost: sqrt 3) and the others fall to 1/sqrt 3.
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, -1])
    seen = []
    model = MadaBoostClassifier(n_estimators=2, callbacks=lambda s: seen.append(MadaBoost().task(s).weight)).fit(X, y)
    assert model.estimator_weights_[0] == pytest.approx(0.5 * log(3), rel=1e-14)
    wrong = model.estimators_[0].predict(X) != y
    assert wrong.sum() == 1
    np.testing.assert_allclose(seen[0], np.where(wrong, 1.0, 3**-0.5), rtol=1e-14)
    W = seen[0]
    eps = W[model.estimators_[1].predict(X) != y].sum() / W.sum()
    assert model.history_["error"][1] == pytest.approx(eps, rel=1e-14)
    assert model.estimator_weights_[1] == pytest.approx(0.5 * log((1 - eps) / eps), rel=1e-14)


@pytest.mark.parametrize("exponent", [1.0, 0.5, 0.2])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_weights_bound_and_potential(data, all_stumps, replay, noise, exponent):
    X, codes = data(seed=1, n=120, noise=noise)
    y = 2.0 * codes - 1
    H = all_stumps(X).H
    model = MadaBoostClassifier(exponent=exponent, target_error=0.0, n_estimators=150).fit(X, codes)
    loss = 1.0
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        W = np.minimum(1.0, np.exp(-y * before))
        assert (y * before <= 0).mean() <= W.mean()  # an error has the weight 1
        edge = (W * y * h).sum() / W.sum()
        assert edge == pytest.approx(np.abs(H @ (W * y)).max() / W.sum(), abs=1e-12)
        error = (1 - edge) / 2
        assert alpha == pytest.approx(exponent * 0.5 * log((1 - error) / error), rel=1e-9)
        now = phi(y * after).mean()
        promised = W.mean() * (1 - (1 - error) * np.exp(-alpha) - error * np.exp(alpha))
        assert now <= loss - promised + 1e-12 < loss  # also with exponent 1, without an assumption on the edges
        assert model.history_["objective"][t] == pytest.approx(now, rel=1e-10)
        loss = now
    assert model.n_estimators_ > 20


@pytest.mark.parametrize(("rule", "loss"), [(MadaBoost(), phi), (FilterBoost(), lambda v: np.logaddexp(0, -v))])
def test_the_inequality_behind_it(rule, loss):
    v, d = np.meshgrid(np.linspace(-6, 6, 241), np.linspace(-4, 4, 161))
    ones, zeros = np.ones(v.size), np.zeros(v.size)
    weights = values(rule.weight, y=ones, F=v.ravel()).reshape(v.shape)
    losses = values(rule.loss_after, 0.0, y=ones, F=v.ravel(), h=zeros).reshape(v.shape)
    np.testing.assert_allclose(losses, loss(v), rtol=1e-14)
    assert (loss(v + d) - loss(v) <= weights * (np.exp(-d) - 1) + 1e-12).all()
    slope = (loss(v + 1e-6) - loss(v - 1e-6)) / 2e-6
    np.testing.assert_allclose(weights, -slope, atol=1e-6)


def test_the_first_round_is_adaboosts(same_stumps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    ada, mada = (
        cls(n_estimators=1).fit(X, np.where(np.arange(60) < 6, 1 - y, y))
        for cls in (AdaBoostClassifier, MadaBoostClassifier)
    )
    assert same_stumps(ada, mada)
    assert ada.estimator_weights_.tobytes() == mada.estimator_weights_.tobytes()


def test_it_stops_by_its_bound(data):
    X, y = data(seed=2, n=150, noise=0.0)
    model = MadaBoostClassifier(target_error=0.05, n_estimators=1000).fit(X, y)
    assert model.stop_reason_.startswith("tolerance")
    assert (model.predict(X) != y).mean() <= 0.05
    v = (2.0 * y - 1) * model.decision_function(X)
    assert np.minimum(1, np.exp(-v)).mean() <= 0.05
    *_, before, _ = model.staged_decision_function(X)
    assert np.minimum(1, np.exp(-(2.0 * y - 1) * before)).mean() > 0.05  # not a round too late
    gamma = model.history_["edge"].min()
    assert model.n_estimators_ <= 1 / (0.05 * (1 - np.sqrt(1 - gamma**2)))  # what the potential can pay for


def test_link(data):
    X, y = data(seed=3)
    model = MadaBoostClassifier(n_estimators=20).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))), rtol=1e-12)
    # F = ln(P / (1 - P)) minimises P phi(F) + (1 - P) phi(-F)
    F = np.linspace(-4, 4, 8001)
    for P in (0.1, 0.4, 0.8):
        assert F[(P * phi(F) + (1 - P) * phi(-F)).argmin()] == pytest.approx(log(P / (1 - P)), abs=2e-3)
