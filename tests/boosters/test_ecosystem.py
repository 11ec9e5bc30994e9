"""The rest of scikit-learn around a booster: calibration, inspection, routing, output containers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import cross_val_predict, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import boostlab
from boostlab import AdaBoostClassifier, PairwiseClassifier, QuadBoostClassifier, SAMMEClassifier, VadaBoostClassifier
from boostlab.boosters import REGISTRY
from tables import noisy_table


def test_calibration():
    X, y = noisy_table(300, seed=1)
    model = CalibratedClassifierCV(VadaBoostClassifier(n_estimators=30), cv=3).fit(X, y)
    P = model.predict_proba(X)
    assert np.isfinite(P).all()
    assert model.score(X, y) > 0.7


def test_inspection():
    X, y = noisy_table(300, seed=1)
    model = AdaBoostClassifier(n_estimators=40).fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    assert found[1] > found[3]  # y depends on column 1, not on column 3
    curve = partial_dependence(model, X, [0], grid_resolution=10)["average"][0]
    assert curve[-1] > curve[0]


def test_partial_dependence_of_every_row_has_the_shapes_of_scikit_learns_own():
    """Grids of two columns differ in length, there as here: `grid_values` is a list, and no array can be made of it."""
    X, _ = noisy_table(60, seed=1)
    X[:, 3] = np.arange(60) % 3
    y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    found = [
        partial_dependence(model.fit(X, y), X, [0, 3], kind="both", grid_resolution=5)
        for model in (SAMMEClassifier(n_estimators=4), PairwiseClassifier(AdaBoostClassifier(n_estimators=4)), Peer())
    ]
    for one in found:
        assert [len(values) for values in one["grid_values"]] == [5, 3]
        assert (one["average"].shape, one["individual"].shape) == ((3, 5, 3), (3, 60, 5, 3))
        np.testing.assert_allclose(one["individual"].mean(axis=1), one["average"])
        with pytest.raises(ValueError, match="inhomogeneous shape"):
            np.asarray(one["grid_values"], float)


def test_metadata_routing():
    X, y = noisy_table(200, seed=1)
    weights = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = AdaBoostClassifier(n_estimators=10)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        scores = cross_validate(pipe, X, y, cv=3, params={"sample_weight": weights}, error_score="raise")
        heavy = pipe.fit(X, y, sample_weight=weights).predict(X)
    assert len(scores["test_score"]) == 3
    assert heavy.mean() > AdaBoostClassifier(n_estimators=10).fit(X, y).predict(X).mean()


def test_frames_through_set_output():
    X, y = noisy_table(200, seed=1)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    scale = make_column_transformer((StandardScaler(), ["a", "b"]), remainder="passthrough")
    scale.set_output(transform="pandas")
    model = make_pipeline(scale, AdaBoostClassifier(n_estimators=10)).fit(frame, y)
    assert list(model[-1].feature_names_in_)[2] == "remainder__c"
    assert model.predict(frame).shape == y.shape


def test_one_versus_rest_as_the_error_message_advises(three_classes):
    X, y = three_classes
    model = OneVsRestClassifier(AdaBoostClassifier(n_estimators=20)).fit(X, y)
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(),
        RidgeClassifier(),
        SVC(C=0.5),
        MLPClassifier((8,), learning_rate_init=0.05, max_iter=30),
        KNeighborsClassifier(25),
        make_pipeline(FunctionTransformer(np.abs), LogisticRegression(C=0.1)),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("booster", [AdaBoostClassifier, VadaBoostClassifier, QuadBoostClassifier])
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_any_classifier_as_weak_learner(booster, learner):
    X, y = noisy_table(150, flips=0, seed=1)
    model = booster(learner, n_estimators=3, random_state=0).fit(X, y)
    again = booster(learner, n_estimators=3, random_state=0).fit(X, y)
    assert model.n_estimators_ >= 1
    assert np.array_equal(model.decision_function(X), again.decision_function(X))
    assert model.score(X, y) > 0.6


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", [*REGISTRY, "PairwiseClassifier", "ECOCClassifier"])
def test_logarithms_of_probabilities(name, n_classes):
    """Columns that tell the classes apart drive probabilities to 0 and 1; -inf is no warning."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    X = np.column_stack([y + 0.0, rng.normal(size=60), y * rng.normal(1.0, 0.3, size=60)])
    cls = getattr(boostlab, name)
    model = (cls(n_estimators=60) if name in REGISTRY else cls(AdaBoostClassifier(n_estimators=60))).fit(X, y)
    P, L = model.predict_proba(X), model.predict_log_proba(X)
    assert L.shape == (60, n_classes)
    assert not np.isnan(L).any()
    assert (L <= 0).all()
    np.testing.assert_array_equal(np.isneginf(L), P == 0)
    np.testing.assert_array_equal(np.exp(L) > 0, P > 0)
    np.testing.assert_allclose(np.exp(L), P, rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [AdaBoostClassifier(n_estimators=5), PairwiseClassifier(AdaBoostClassifier(n_estimators=5))],
    ids=["booster", "pairwise"],
)
def test_logarithms_of_probabilities_in_cross_validation_and_chains(model):
    X, y = noisy_table(120, seed=1)
    found = cross_val_predict(model, X, y, cv=3, method="predict_log_proba")
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0)
    chain = ClassifierChain(model, chain_method="predict_log_proba", cv=3).fit(X, np.column_stack([y, X[:, 0] > 0]))
    assert chain.predict(X).shape == (120, 2)
    assert chain.predict_log_proba(X).shape == (120, 2)


def test_classifiers_without_probabilities_have_no_logarithms_either():
    assert not hasattr(PairwiseClassifier(RidgeClassifier()), "predict_log_proba")
