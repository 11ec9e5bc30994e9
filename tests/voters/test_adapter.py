"""Any scikit-learn estimator as a weak learner."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boostlab.contract import Stop, Task
from boostlab.data.rows import Rows
from boostlab.data.table import Table
from boostlab.engine import Training
from boostlab.rules.adaboost import AdaBoost
from boostlab.voters.adapter import ConstantVoter, EstimatorLearner, EstimatorVoter

SEEN = []  # what the recording estimators were given, since every round trains a clone


@pytest.fixture(autouse=True)
def forget():
    SEEN.clear()


class Weighted(ClassifierMixin, BaseEstimator):
    """Says the heavier class, and records what it was trained on."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        SEEN.append((X, y, sample_weight))
        self.classes_ = np.unique(y)
        self.label_ = 1 if (sample_weight * y).sum() > 0 else -1
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


class Unweighted(ClassifierMixin, BaseEstimator):
    """Nearest class mean of the first column; takes no weights."""

    def fit(self, X, y):
        SEEN.append((X, y, None))
        self.middle_ = (X[y > 0, 0].mean() + X[y < 0, 0].mean()) / 2
        self.sign_ = 1 if X[y > 0, 0].mean() >= X[y < 0, 0].mean() else -1
        return self

    def predict(self, X):
        return np.where(X[:, 0] > self.middle_, self.sign_, -self.sign_)


class WeightedMean(RegressorMixin, BaseEstimator):
    """Predicts the weighted mean, and records."""

    def fit(self, X, y, sample_weight=None):
        SEEN.append((X, y, sample_weight))
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0), rng.random(30) * 1e-5


def best(estimator, X, task, mass=None, seed=0):
    rng = np.random.default_rng(seed)
    return EstimatorLearner(estimator).begin(Table(X), Rows(len(X), mass), rng).best(task)


# -- weights --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mass", [None, np.arange(1.0, 31.0), np.linspace(0.1, 0.9, 30)], ids=["none", "counts", "real"]
)
def test_weights_of_mean_one_reach_the_estimator(data, mass):
    X, y, w = data
    voter = best(Weighted(), X, Task("edge", w, y), mass)
    ((X_seen, y_seen, weight),) = SEEN
    assert np.array_equal(X_seen, X)
    assert np.array_equal(y_seen, y)
    expected = w * (1.0 if mass is None else mass)
    assert weight.mean() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(weight, expected / expected.mean(), rtol=1e-12)
    assert isinstance(voter, EstimatorVoter)
    assert voter.bound == 1.0


def test_rows_without_weight_are_left_out(data):
    X, y, w = data
    w = np.where(np.arange(30) % 3 == 0, 0.0, w)
    best(Weighted(), X, Task("edge", w, y))
    ((X_seen, y_seen, weight),) = SEEN
    kept = w > 0
    assert np.array_equal(X_seen, X[kept])
    assert np.array_equal(y_seen, y[kept])
    assert weight.mean() == pytest.approx(1.0, rel=1e-12)
    assert len(weight) == 20


def test_labels_are_classes_whatever_their_size(data):
    X, y, w = data
    best(Weighted(), X, Task("edge", w, y * 3.7))
    assert SEEN[0][1].dtype.kind == "i"
    assert set(SEEN[0][1].tolist()) == {-1, 1}


def test_the_counts_of_a_draw_are_the_weights(data):
    X, y, _ = data
    counts = np.random.default_rng(1).multinomial(30, np.full(30, 1 / 30))
    best(Weighted(), X, Task("edge", np.ones(30), y, counts=counts), np.full(30, 5.0))
    ((X_seen, _, weight),) = SEEN
    assert np.array_equal(X_seen, X[counts > 0])
    np.testing.assert_allclose(weight, counts[counts > 0] / counts[counts > 0].mean(), rtol=1e-12)


def test_a_pipeline_passes_the_weights_to_its_last_step(data):
    X, y, w = data
    learner = EstimatorLearner(make_pipeline(StandardScaler(), Weighted()))
    assert not learner.draws
    voter = best(make_pipeline(StandardScaler(), Weighted()), X, Task("edge", w, y))
    ((X_seen, _, weight),) = SEEN
    np.testing.assert_allclose(X_seen, (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-12)
    np.testing.assert_allclose(weight, w / w.mean(), rtol=1e-12)
    assert set(np.unique(voter.votes(Table(X)))) <= {-1.0, 1.0}


def test_weights_change_what_a_real_estimator_learns(data):
    X, y, w = data
    voter = best(LogisticRegression(), X, Task("edge", w, y))
    expected = LogisticRegression().fit(X, y, sample_weight=w / w.mean())
    np.testing.assert_allclose(voter.estimator.coef_, expected.coef_, rtol=1e-10)
    plain = best(LogisticRegression(), X, Task("edge", np.ones(30), y))
    assert np.abs(plain.estimator.coef_ - expected.coef_).max() > 1e-3
    votes = voter.votes(Table(X))
    assert votes.dtype == np.float64
    assert np.array_equal(votes, expected.predict(X))
    assert np.array_equal(voter.predict(X), votes)


# -- draws ----------------------------------------------------------------------------------------------------------


def test_who_asks_for_draws():
    assert EstimatorLearner(KNeighborsClassifier()).draws
    assert EstimatorLearner(make_pipeline(StandardScaler(), KNeighborsClassifier())).draws
    assert not EstimatorLearner(DecisionTreeClassifier()).draws
    assert not EstimatorLearner(make_pipeline(KNeighborsClassifier(), DecisionTreeClassifier())).draws


@pytest.mark.parametrize("mass", [None, np.tile([1.0, 3.0], 15)], ids=["none", "counts"])
def test_the_engine_draws_for_a_learner_without_weights(data, mass):
    X, y, _ = data
    rows = Rows(30, mass)
    training = Training(
        AdaBoost(), EstimatorLearner(Unweighted()), Table(X), rows, (y > 0).astype(int), 2, horizon=6, max_restarts=50
    )
    training.run(6)
    assert training.state.t >= 2
    assert len(SEEN) >= training.state.t
    for X_seen, y_seen, _ in SEEN:
        assert len(X_seen) == rows.n  # as many draws as the sample is large
        at = [int(np.flatnonzero((x == X).all(axis=1))[0]) for x in X_seen]
        assert np.array_equal(y_seen, y[at])
        assert len(set(at)) < 30  # with replacement
    assert len({X_seen.tobytes() for X_seen, _, _ in SEEN}) == len(SEEN)  # a fresh draw every time


def test_a_draw_repeats_rows_as_often_as_they_were_picked(data):
    X, y, _ = data
    counts = np.random.default_rng(2).multinomial(50, np.full(30, 1 / 30))
    best(Unweighted(), X, Task("edge", np.ones(30), y, counts=counts))
    assert np.array_equal(SEEN[0][0], X.repeat(counts, axis=0))
    assert np.array_equal(SEEN[0][1], y.repeat(counts))


def test_nearest_neighbours_can_be_boosted(data):
    X, y, _ = data
    learner = EstimatorLearner(KNeighborsClassifier(3))
    training = Training(AdaBoost(), learner, Table(X), Rows(30), (y > 0).astype(int), 2, horizon=5)
    training.run(5)
    assert training.state.t >= 1
    assert ((training.state.F > 0) == (y > 0)).mean() > 0.8


# -- regressors -----------------------------------------------------------------------------------------------------


def test_a_regressor_serves_least_squares(data):
    X, _, w = data
    z = np.random.default_rng(3).normal(size=30) * 4
    assert EstimatorLearner(LinearRegression()).searches() == {"least_squares"}
    voter = best(LinearRegression(), X, Task("least_squares", w, z))
    expected = LinearRegression().fit(X, z, sample_weight=w)
    np.testing.assert_allclose(voter.votes(Table(X)), expected.predict(X), rtol=1e-8)
    assert voter.bound == pytest.approx(np.abs(expected.predict(X)).max(), rel=1e-8)


def test_a_regressor_sees_the_targets_as_they_are(data):
    X, _, w = data
    z = np.linspace(-3, 3, 30)
    voter = best(WeightedMean(), X, Task("least_squares", w, z))
    assert np.array_equal(SEEN[0][1], z)
    assert SEEN[0][2].mean() == pytest.approx(1.0, rel=1e-12)
    assert voter.votes(Table(X)) == pytest.approx(np.average(z, weights=w), rel=1e-12)
    constant = best(WeightedMean(), X, Task("least_squares", w, np.ones(30)))  # nothing special about one value
    assert isinstance(constant, EstimatorVoter)


def test_who_serves_what():
    assert EstimatorLearner(DecisionTreeClassifier()).searches() == {"edge"}
    assert EstimatorLearner(make_pipeline(StandardScaler(), LogisticRegression())).searches() == {"edge"}
    assert EstimatorLearner(make_pipeline(StandardScaler(), DecisionTreeRegressor())).searches() == {"least_squares"}
    assert EstimatorLearner(StandardScaler()).searches() == frozenset()


# -- chance ---------------------------------------------------------------------------------------------------------


def test_every_random_state_is_set_from_the_generator(data):
    X, y, w = data
    nested = BaggingClassifier(DecisionTreeClassifier(), n_estimators=2)
    for estimator, names in (
        (nested, ["random_state", "estimator__random_state"]),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), ["decisiontreeclassifier__random_state"]),
    ):
        session = EstimatorLearner(estimator).begin(Table(X), Rows(30), np.random.default_rng(5))
        rounds = [session.best(Task("edge", w, y)).estimator.get_params() for _ in range(2)]
        again = best(estimator, X, Task("edge", w, y), seed=5).estimator.get_params()
        for name in names:
            assert isinstance(rounds[0][name], int)
            assert rounds[0][name] != rounds[1][name]  # a new one every round
            assert rounds[0][name] == again[name]  # the same from the same generator
            assert estimator.get_params()[name] is None  # the user's own object is left alone


# -- corner cases ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_one_class_gives_a_constant_voter(data, label):
    X, y, w = data
    w = np.where(y == label, w, 0.0)
    voter = best(Weighted(), X, Task("edge", w, y))
    assert isinstance(voter, ConstantVoter)
    assert not SEEN  # nothing was trained
    assert np.array_equal(voter.votes(Table(X)), np.full(30, label))
    assert voter.bound == 1.0


def test_without_any_weight_there_is_no_voter(data):
    X, y, _ = data
    stop = best(Weighted(), X, Task("edge", np.zeros(30), y))
    assert isinstance(stop, Stop)
    assert stop.code == "no_edge"
