"""The fitted vote: scores, stages, probabilities, margins, importances."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from boostlab import AdaBoostClassifier, AdaBoostM2Classifier, DecisionStump, LPBoostClassifier, WeightBoostClassifier
from boostlab.functions import exp
from variants import every


@every
def test_stages_end_at_the_model(make, table):
    X, y = table
    model = make(n_estimators=15, random_state=0).fit(X, y)
    scale = max(model._ensemble.bound, 1.0)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_estimators_
    assert np.abs(stages[-1] - model.decision_function(X)).max() <= 1e-12 * scale
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert np.allclose(list(model.staged_predict_proba(X))[-1], model.predict_proba(X), atol=1e-11)


@every
def test_predictions_and_probabilities_agree(make, table):
    X, y = table
    grid = np.random.default_rng(0).normal(size=(2000, X.shape[1])) * 3
    for n in (1, 2, 20):
        model = make(n_estimators=n, random_state=0).fit(X, y)
        P = model.predict_proba(grid)
        assert ((P >= 0) & (P <= 1)).all()
        assert np.allclose(P.sum(axis=1), 1)
        assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(grid))
        assert np.array_equal(model.predict(grid) == model.classes_[1], model.decision_function(grid) > 0)


def test_a_score_too_small_for_the_link_still_decides():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    model = AdaBoostClassifier(fixed_step=1e-30).fit(X, y)
    assert model.predict(X).tolist() == [0, 1]
    assert model.predict_proba(X).argmax(axis=1).tolist() == [0, 1]


def test_lookup_table_equals_the_sum_of_votes(table):
    X, y = table
    model = AdaBoostClassifier(n_estimators=400, max_bins="exact").fit(X, y)
    F = np.zeros(len(X))
    for alpha, stump in zip(model.estimator_weights_, model.estimators_, strict=True):
        F += alpha * np.where(X[:, stump.feature] <= stump.threshold, stump.left, stump.right)
    assert np.abs(F - model.decision_function(X)).max() <= 1e-12 * model._ensemble.bound
    on_cuts = np.array([[s.threshold] * X.shape[1] for s in model.estimators_])  # a value at a cut goes left
    expected = sum(
        a * np.where(on_cuts[:, s.feature] <= s.threshold, s.left, s.right)
        for a, s in zip(model.estimator_weights_, model.estimators_, strict=True)
    )
    assert np.abs(expected - model.decision_function(on_cuts)).max() <= 1e-12 * model._ensemble.bound


def test_multiclass_scores(three_classes):
    X, y = three_classes
    labels = np.array(["ant", "bee", "cat"])[y]
    model = AdaBoostM2Classifier(n_estimators=40).fit(X, labels)
    F = model.decision_function(X)
    assert F.shape == (len(y), 3)
    assert np.array_equal(model.classes_[F.argmax(axis=1)], model.predict(X))
    own = F[np.arange(len(y)), y]
    rest = np.where(np.eye(3, dtype=bool)[y], -np.inf, F).max(axis=1)
    assert np.allclose(model.margins(X, labels) * model._ensemble.bound, own - rest)
    assert model._ensemble.table is not None
    assert np.allclose(list(model.staged_decision_function(X))[-1], F, atol=1e-10)


@every
def test_margins_are_normalised(make, table):
    X, y = table
    model = make(n_estimators=10, random_state=0).fit(X, y)
    margins = model.margins(X, y)
    assert (np.abs(margins) <= 1 + 1e-12).all()
    wrong = model.predict(X) != y
    assert (margins[wrong] <= 0).all()
    assert (margins[~wrong] >= 0).all()


def test_margins_by_hand():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1, 0, 1])
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    alphas = model.estimator_weights_
    votes = np.array([np.where(X[:, 0] <= s.threshold, s.left, s.right) for s in model.estimators_])
    expected = (2 * y - 1) * (alphas @ votes) / alphas.sum()
    assert np.allclose(model.margins(X, y), expected, atol=1e-15)
    with pytest.raises(ValueError, match="label 7"):
        model.margins(X, [1, 7, 1])
    with pytest.raises(ValueError, match="give one label a row"):
        model.margins(X, [1, 0])


@every
def test_importances_never_nan(make, table):
    X, y = table
    shares = make(n_estimators=6, random_state=0).fit(X, y).feature_importances_
    assert shares.shape == (X.shape[1],)
    assert shares.sum() == pytest.approx(1)


def test_importances_by_hand(table):
    X, y = table
    model = AdaBoostClassifier(n_estimators=9).fit(X, y)
    shares = np.zeros(X.shape[1])
    for a, s in zip(model.estimator_weights_, model.estimators_, strict=True):
        shares[s.feature] += a
    assert np.allclose(model.feature_importances_, shares / shares.sum())
    trees = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0).fit(X, y)
    assert trees.feature_importances_.sum() == pytest.approx(1)


def test_braked_votes_are_predicted_in_order(table):
    X, y = table
    model = WeightBoostClassifier(beta=0.7, n_estimators=12).fit(X, y)
    assert model._ensemble.table is None
    H = np.zeros(len(X))
    for a, s in zip(model.estimator_weights_, model.estimators_, strict=True):
        brake = np.array([exp(-abs(0.7 * F)) for F in H.tolist()])
        H = H + a * brake * np.where(X[:, s.feature] <= s.threshold, s.left, s.right)
    assert np.array_equal(H, model.decision_function(X))


def test_float32_tables_are_cut_exactly():
    x = np.nextafter(np.float32(1), np.float32(2)) * np.ones(4, np.float32)
    x[:2] = 1.0  # neighbours in float32: their midpoint exists only in float64
    X, y = x[:, None], np.array([0, 0, 1, 1])
    model = AdaBoostClassifier(DecisionStump()).fit(X, y)
    assert model.predict(X).tolist() == [0, 0, 1, 1]
    assert model.estimators_[0].predict(X).tolist() == [-1, -1, 1, 1]


def test_corrective_stages_use_the_weights_of_their_round(table):
    X, y = table
    model = LPBoostClassifier(nu=0.3, n_estimators=12).fit(X, y)
    for t, F in enumerate(model.staged_decision_function(X), start=1):
        short = LPBoostClassifier(nu=0.3, n_estimators=t).fit(X, y)
        assert np.allclose(F, short.decision_function(X), atol=1e-12)
