"""Any scikit-learn estimator as a weak learner."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boostlab.backend import CpuSample, Masses
from boostlab.boosters.adaboost import AdaBoost
from boostlab.contract import Stop, Task
from boostlab.data.table import Table
from boostlab.learners.adapter import ConstantVoter, EstimatorLearner, EstimatorVoter
from learners.recording import SEEN, Unweighted, Weighted, best
from tables import training_of

# -- weights --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mass", [None, np.arange(1.0, 31.0), np.linspace(0.1, 0.9, 30)], ids=["none", "counts", "real"]
)
def test_weights_of_mean_one_reach_the_estimator(data, mass):
    X, y, w = data
    voter = best(Weighted(), X, Task("edge", w, y), mass)
    ((X_seen, y_seen, weight),) = SEEN
    assert np.array_equal(X_seen, X)
    assert np.array_equal(y_seen, y > 0)
    mass = np.ones(30) if mass is None else mass
    size = max(mass.sum(), 30)  # of the sample: a row of mass k is k examples
    assert weight.sum() == pytest.approx(size, rel=1e-12)
    np.testing.assert_allclose(weight, w * mass * (size / (w @ mass)), rtol=1e-12)
    assert isinstance(voter, EstimatorVoter)
    assert voter.bound == 1.0


def test_rows_without_weight_are_left_out(data):
    X, y, w = data
    w = np.where(np.arange(30) % 3 == 0, 0.0, w)
    best(Weighted(), X, Task("edge", w, y))
    ((X_seen, y_seen, weight),) = SEEN
    kept = w > 0
    assert np.array_equal(X_seen, X[kept])
    assert np.array_equal(y_seen, y[kept] > 0)
    assert weight.mean() == pytest.approx(1.0, rel=1e-12)
    assert len(weight) == 20


def test_labels_are_classes_whatever_their_size(data):
    X, y, w = data
    best(Weighted(), X, Task("edge", w, y * 3.7))
    assert SEEN[0][1].dtype.kind == "i"
    assert set(SEEN[0][1].tolist()) == {0, 1}


def test_the_counts_of_a_draw_are_the_weights(data):
    X, y, _ = data
    counts = np.random.default_rng(1).multinomial(30, np.full(30, 1 / 30))
    best(Weighted(), X, Task("edge", np.ones(30), y, counts=counts), np.full(30, 5.0))
    ((X_seen, _, weight),) = SEEN
    assert np.array_equal(X_seen, X[counts > 0])
    np.testing.assert_allclose(weight, counts[counts > 0], rtol=1e-12)  # a row drawn twice is two examples


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
    expected = LogisticRegression().fit(X, y > 0, sample_weight=w / w.mean())
    np.testing.assert_allclose(voter.estimator.coef_, expected.coef_, rtol=1e-10)
    plain = best(LogisticRegression(), X, Task("edge", np.ones(30), y))
    assert np.abs(plain.estimator.coef_ - expected.coef_).max() > 1e-3
    votes = voter.votes(Table(X))
    assert votes.dtype == np.float64
    assert np.array_equal(votes, 2 * expected.predict(X) - 1)
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
    rows = Masses(30, mass)
    training = training_of(
        AdaBoost(), EstimatorLearner(Unweighted()), Table(X), rows, (y > 0).astype(int), 2, horizon=6, max_restarts=50
    )
    training.run(6)
    assert training.state.t >= 2
    assert len(SEEN) >= training.state.t
    for X_seen, y_seen, _ in SEEN:
        assert len(X_seen) == rows.n  # as many draws as the sample is large
        at = [int(np.flatnonzero((x == X).all(axis=1))[0]) for x in X_seen]
        assert np.array_equal(y_seen, y[at] > 0)
        assert len(set(at)) < 30  # with replacement
    assert len({X_seen.tobytes() for X_seen, _, _ in SEEN}) == len(SEEN)  # a fresh draw every time


def test_a_draw_repeats_rows_as_often_as_they_were_picked(data):
    X, y, _ = data
    counts = np.random.default_rng(2).multinomial(50, np.full(30, 1 / 30))
    best(Unweighted(), X, Task("edge", np.ones(30), y, counts=counts))
    assert np.array_equal(SEEN[0][0], X.repeat(counts, axis=0))
    assert np.array_equal(SEEN[0][1], y.repeat(counts) > 0)


def test_nearest_neighbours_can_be_boosted(data):
    X, y, _ = data
    learner = EstimatorLearner(KNeighborsClassifier(3))
    training = training_of(AdaBoost(), learner, Table(X), Masses(30), (y > 0).astype(int), 2, horizon=5)
    training.run(5)
    assert training.state.t >= 1
    assert ((training.state.F > 0) == (y > 0)).mean() > 0.8


# -- chance ---------------------------------------------------------------------------------------------------------


def test_every_random_state_is_set_from_the_generator(data):
    X, y, w = data
    nested = BaggingClassifier(DecisionTreeClassifier(), n_estimators=2)
    for estimator, names in (
        (nested, ["random_state", "estimator__random_state"]),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), ["decisiontreeclassifier__random_state"]),
    ):
        session = EstimatorLearner(estimator).begin(CpuSample(Table(X), Masses(30)), np.random.default_rng(5))
        rounds = [session.best(Task("edge", w, y)).voter.estimator.get_params() for _ in range(2)]
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
    assert np.array_equal(voter.predict(X), np.full(30, label))
    assert voter.bound == 1.0


def test_without_any_weight_there_is_no_voter(data):
    X, y, _ = data
    stop = best(Weighted(), X, Task("edge", np.zeros(30), y))
    assert isinstance(stop, Stop)
    assert stop.code == "no_edge"


def test_the_engine_does_not_predict_the_sample_twice(data):
    X, y, _ = data
    asked = []

    class Counting(DecisionTreeClassifier):
        def predict(self, X):
            asked.append(len(X))
            return super().predict(X)

    learner = EstimatorLearner(Counting(max_depth=1))
    training = training_of(AdaBoost(), learner, Table(X), Masses(30), (y > 0).astype(int), 2, horizon=3)
    training.run(3)
    assert asked == [30] * len(asked)
    assert len(asked) == training.state.t


@pytest.mark.parametrize(
    ("said", "match"),
    [
        (np.full(30, 7), "shown the labels 0 to 1 and predicts .*7.*must predict the labels"),
        (np.full(30, -1), "predicts .*-1"),
        (np.full(30, "yes"), "predicts .*yes"),
        (np.full(30, np.nan), "predicts .*nan"),
    ],
)
def test_strange_labels_are_named(data, said, match):
    X, y, w = data

    class Strange(DecisionTreeClassifier):
        def predict(self, X):
            return said

    with pytest.raises(ValueError, match=match):
        best(Strange(), X, Task("edge", w, y))


def test_who_serves_what():
    every_one = {"edge", "z", "least_squares", "labels", "hamming", "factored", "hamming_z"}
    assert EstimatorLearner(DecisionTreeClassifier()).searches() == every_one
    assert EstimatorLearner(make_pipeline(StandardScaler(), LogisticRegression())).searches() == every_one
    assert EstimatorLearner(KNeighborsClassifier()).searches() == every_one - {"least_squares"}
    assert EstimatorLearner(LinearRegression()).searches() == {"edge", "least_squares"}
    assert EstimatorLearner(make_pipeline(DecisionTreeRegressor())).searches() == {"edge", "least_squares"}
    assert EstimatorLearner(KMeans()).searches() == frozenset()
    assert EstimatorLearner(Duck()).searches() == frozenset()
    assert EstimatorLearner(make_pipeline(StandardScaler(), LogisticRegression())).name == "LogisticRegression"


class Duck:
    """Does not say what it is."""

    def fit(self, X, y):
        return self

    def get_params(self, deep=True):
        return {}
