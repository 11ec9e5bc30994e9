"""Who gets the weights, without and with scikit-learn's metadata routing."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from boostlab.contract import Task
from boostlab.learners.adapter import EstimatorLearner
from learners.recording import SEEN, Weighted, best


class Passing(BaseEstimator):
    """A transformer that takes weights, and records whether it got some."""

    def fit(self, X, y=None, sample_weight=None):
        SEEN.append(("transformer", sample_weight is not None))
        return self

    def transform(self, X):
        return X


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def who_got_weights(pipe, data):
    X, y, w = data
    best(pipe, X, Task("edge", w, y))
    (_, transformer), (_, _, weight) = SEEN
    if weight is not None:
        np.testing.assert_allclose(weight, w / w.mean(), rtol=1e-12)
    return transformer, weight is not None


def test_without_routing_the_last_step_gets_the_weights(data):
    assert who_got_weights(make_pipeline(Passing(), Weighted()), data) == (False, True)


@pytest.mark.parametrize("transformer", [None, False, True])
@pytest.mark.parametrize("last", [None, True, "importance"])
def test_routing_follows_requests_and_else_does_as_without(data, routing, transformer, last):
    passing, weighted = Passing(), Weighted()
    if transformer is not None:
        passing.set_fit_request(sample_weight="importance" if transformer and last == "importance" else transformer)
    if last is not None:
        weighted.set_fit_request(sample_weight=last)
    pipe = make_pipeline(passing, weighted)
    assert who_got_weights(pipe, data) == (bool(transformer), True)
    assert weighted.get_metadata_routing().fit.requests["sample_weight"] == last  # the user's own object is left alone


def test_who_draws_while_routing_is_on(routing):
    assert not EstimatorLearner(DecisionTreeClassifier()).draws
    assert EstimatorLearner(make_pipeline(DecisionTreeClassifier().set_fit_request(sample_weight=False))).draws
    assert EstimatorLearner(KNeighborsClassifier()).draws
    assert EstimatorLearner(SklearnAdaBoost()).draws  # which cannot take weights while routing is on


@pytest.mark.parametrize(
    "estimator",
    [
        BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=2),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression())),
        make_pipeline(SelectFromModel(DecisionTreeClassifier()), LogisticRegression()),
    ],
    ids=["bagging", "nested", "selection"],
)
def test_routing_changes_nothing_where_it_is_not_asked_for(data, estimator):
    X, y, w = data
    plain = best(estimator, X, Task("edge", w, y))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = best(estimator, X, Task("edge", w, y))
    unweighted = best(estimator, X, Task("edge", np.ones(30), y))
    for method in ("predict_proba", "decision_function"):
        if hasattr(plain.estimator, method):
            said = getattr(plain.estimator, method)(X)
            assert np.array_equal(said, getattr(routed.estimator, method)(X))
            assert not np.array_equal(said, getattr(unweighted.estimator, method)(X))
