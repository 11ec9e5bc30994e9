"""WeightBoost: a brake where the vote is already sure."""

from math import log

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, DecisionStump, WeightBoostClassifier
from boostlab.backend import CpuRows, Masses
from boostlab.backend.cpu.usual import UsualRounds
from boostlab.boosters.weightboost import WeightBoost
from boostlab.data.table import Bins, Table
from boostlab.engine.training import Training
from boostlab.ensemble.vote import Ensemble, settle


def test_no_brake_is_adaboost(data, same_stumps):
    X, y = data(seed=1, n=100)
    new = np.random.default_rng(0).normal(size=(300, 4))
    ada = AdaBoostClassifier(n_estimators=100).fit(X, y)
    weight = WeightBoostClassifier(beta=0.0, n_estimators=100).fit(X, y)
    assert same_stumps(ada, weight)
    assert (ada.predict(new) == weight.predict(new)).all()
    np.testing.assert_allclose(weight.decision_function(new), ada.decision_function(new), rtol=0, atol=1e-12)
    np.testing.assert_allclose(weight.estimator_weights_, ada.estimator_weights_, rtol=1e-11)


@pytest.mark.parametrize("beta", [0.1, 0.5, 2.0])
def test_every_round(data, all_stumps, beta):
    X, codes = data(seed=2, n=90, noise=0.2)
    y = 2.0 * codes - 1
    stumps = all_stumps(X).H
    model = WeightBoostClassifier(beta=beta, n_estimators=60).fit(X, codes)
    assert model.n_estimators_ == 60
    H, loss, largest = np.zeros(len(y)), 1.0, 0.0
    staged = list(model.staged_decision_function(X))
    for t, (voter, alpha, after) in enumerate(zip(model.estimators_, model.estimator_weights_, staged, strict=True)):
        h = voter.predict(X)
        w = np.exp(-y * H - np.abs(beta * H))
        w /= w.sum()
        error = w[h != y].sum()
        assert error == pytest.approx(0.5 - np.abs(stumps @ (w * y)).max() / 2, abs=1e-12)
        assert alpha == pytest.approx(0.5 * log((1 - error) / error), rel=1e-10)
        assert model.history_["error"][t] == pytest.approx(error, abs=1e-12)
        brake = np.exp(-np.abs(beta * H))
        # exp is convex: the new loss lies below the chord between no vote and a full one, and so falls.
        chord = (np.exp(-y * H) * (brake * np.exp(-alpha * y * h) + 1 - brake)).mean()
        H = H + alpha * brake * h
        np.testing.assert_allclose(after, H, rtol=0, atol=1e-12)
        now = np.exp(-y * H).mean()
        assert now <= chord * (1 + 1e-13)
        assert chord < loss
        assert model.history_["objective"][t] == pytest.approx(now, rel=1e-11)
        loss = now
        # |H_T| <= (1/beta) ln(beta a e^(beta a) (T - 1) + e^(beta |H_1|)): votes add up like a logarithm.
        largest = max(largest, alpha)
        first = np.abs(staged[0]).max()
        growth = np.log(beta * largest * np.exp(beta * largest) * t + np.exp(beta * first)) / beta
        assert np.abs(H).max() <= growth + 1e-12
    np.testing.assert_allclose(model.decision_function(X), H, rtol=0, atol=1e-12)


def test_prediction_is_sequential_on_new_rows(data):
    # The brake of a row depends on the votes it has heard so far, so the order of the voters matters.
    X, y = data(seed=3, n=100)
    new = np.random.default_rng(1).normal(size=(200, 4))
    model = WeightBoostClassifier(beta=0.7, n_estimators=50).fit(X, y)

    def vote(order):
        H = np.zeros(len(new))
        for t in order:
            H = H + model.estimator_weights_[t] * np.exp(-np.abs(0.7 * H)) * model.estimators_[t].predict(new)
        return H

    np.testing.assert_allclose(model.decision_function(new), vote(range(50)), rtol=0, atol=1e-12)
    assert np.abs(vote(range(50)) - vote(range(49, -1, -1))).max() > 0.01
    np.testing.assert_array_equal(model.predict(new), (vote(range(50)) > 0).astype(int))


@pytest.mark.parametrize("rounds_at_once", [1, 60])
def test_training_validation_and_prediction_compute_the_same_bits(data, rounds_at_once):
    X, codes = data(seed=3, n=200)
    table = Table.of(X, Bins.fit(X, Masses(200)))
    rows = CpuRows(WeightBoost(0.7), table, Masses(200), codes, 2)
    training = Training(rows.rule, DecisionStump(), rows, horizon=60, watched=Table(X))
    assert isinstance(training.fused, UsualRounds)
    if rounds_at_once == 1:
        training.fused = None
    training.run(60)
    F = settle(rows.scores.now, training.state.bound.value)
    assert len(np.unique(F)) > 20
    assert training.watched is not None
    np.testing.assert_array_equal(settle(training.watched.scores.now, training.state.bound.value), F)
    for threads in (1, 2):
        ensemble, other = Ensemble(rows.rule, training.finished(), 2), Table(np.tile(X, (30, 1)), threads=threads)
        *_, last = ensemble.staged_scores(other)
        np.testing.assert_array_equal(ensemble.scores(other), np.tile(F, 30))
        np.testing.assert_array_equal(last, np.tile(F, 30))


def test_the_brake_bounds_the_scores(data):
    X, y = data(seed=4, n=100, noise=0.0)
    top = [
        np.abs(WeightBoostClassifier(beta=b, n_estimators=300).fit(X, y).decision_function(X)).max()
        for b in (0, 0.5, 2)
    ]
    assert top[0] > top[1] > top[2]


def test_sample_weights(data):
    X, codes = data(seed=5, n=80)
    y = 2.0 * codes - 1
    mass = np.random.default_rng(5).uniform(0.3, 2.0, 80)
    model = WeightBoostClassifier(n_estimators=15).fit(X, codes, mass)
    H = np.zeros(80)
    for t, voter in enumerate(model.estimators_):
        w = mass * np.exp(-y * H - np.abs(0.5 * H))
        error = w[voter.predict(X) != y].sum() / w.sum()
        assert model.history_["error"][t] == pytest.approx(error, abs=1e-12)
        H = H + model.estimator_weights_[t] * np.exp(-np.abs(0.5 * H)) * voter.predict(X)
        assert model.history_["objective"][t] == pytest.approx(np.average(np.exp(-y * H), weights=mass), rel=1e-11)


def test_many_rounds_stay_finite(data):
    X, codes = data(seed=6, n=100, noise=0.1)
    for beta in (0.05, 5.0):
        model = WeightBoostClassifier(beta=beta, n_estimators=3000).fit(X, codes)
        assert all(np.isfinite(c).all() for c in model.history_.values())
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.predict_proba(X)).all()


# -- the normalisation of the paper's experiments --------------------------------------------------------------------


@pytest.mark.parametrize("beta", [0.1, 0.5, 2.0])
def test_normalised_rounds(data, beta):
    X, codes = data(seed=2, n=90, noise=0.2)
    y = 2.0 * codes - 1
    mass = np.random.default_rng(1).uniform(0.5, 2.0, 90)
    model = WeightBoostClassifier(beta=beta, normalize=True, n_estimators=100).fit(X, codes, mass)
    assert model.n_estimators_ == 100
    H, loss = np.zeros(90), 1.0
    for t, after in enumerate(model.staged_decision_function(X)):
        error, alpha, brake = model.history_["error"][t], model.estimator_weights_[t], np.exp(-np.abs(beta * H))
        C = np.average(brake, weights=mass) / 0.1
        assert alpha == pytest.approx(0.5 * log((1 - error) / error) / C, rel=1e-10)
        moved = np.average(np.abs(after - H), weights=mass)
        assert moved == pytest.approx(0.1 * 0.5 * log((1 - error) / error), rel=1e-9)  # a tenth of AdaBoost's step
        H, now = after, np.average(np.exp(-y * after), weights=mass)
        assert now < loss
        loss = now


def test_normalised_without_a_brake_is_shrinkage(data, same_stumps):
    X, y = data(seed=1, n=100)
    one = AdaBoostClassifier(learning_rate=0.1, n_estimators=60).fit(X, y)
    two = WeightBoostClassifier(beta=0.0, normalize=True, n_estimators=60).fit(X, y)
    assert same_stumps(one, two)
    np.testing.assert_allclose(two.estimator_weights_, one.estimator_weights_, rtol=1e-12)


def test_the_constants_reach_new_rows(data):
    X, y = data(seed=3, n=100)
    new = np.random.default_rng(1).normal(size=(200, 4))
    model = WeightBoostClassifier(beta=2.0, normalize=True, n_estimators=50).fit(X, y)
    H = np.zeros(200)
    for alpha, voter in zip(model.estimator_weights_, model.estimators_, strict=True):
        H = H + alpha * np.exp(-np.abs(2.0 * H)) * voter.predict(new)
    np.testing.assert_allclose(model.decision_function(new), H, rtol=0, atol=1e-12)


def test_brakes_too_small_to_normalise_by_end_training(data):
    X, y = data(seed=4, n=100, noise=0.0)
    model = WeightBoostClassifier(beta=10.0, normalize=True, n_estimators=1000).fit(X, y)
    assert model.stop_reason_.startswith("assumption_violated: the mean of exp(-|beta H|) is 0.0")
    *_, before, last = model.staged_decision_function(X)
    assert np.exp(-10 * np.abs(last)).mean() <= 0.05 < np.exp(-10 * np.abs(before)).mean()
    assert (np.diff(model.history_["objective"]) < 0).all()
