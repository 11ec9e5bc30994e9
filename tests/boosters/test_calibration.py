"""Calibrated probabilities, decisions by expected cost, thresholds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import f1_score, log_loss
from sklearn.utils import _safe_indexing

from boostlab import AdaBoostClassifier, Binned, LogitBoostClassifier, PairwiseClassifier, load
from boostlab.boosters.calibrating import folds_of
from boostlab.calibration.costs import best_threshold, cost_matrix
from boostlab.calibration.maps import Isotonic, Sigmoid, VennAbers
from boostlab.data.sample import check_sample
from tables import noisy_table

KINDS = ["sigmoid", "isotonic", "venn-abers"]


def scored(n=400, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n).round(2)
    return s, (rng.random(n) < 1 / (1 + np.exp(-2 * s + 0.5))).astype(float), rng.integers(1, 4, n).astype(float)


def test_maps_equal_those_of_scikit_learn():
    s, y, mass = scored()
    at = np.linspace(-4, 4, 50)
    peer = _SigmoidCalibration().fit(s, y, mass)
    assert Sigmoid.fit(s, y, mass)(at) == pytest.approx(peer.predict(at), abs=2e-4)
    order = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s, y, mass)
    assert Isotonic.fit(s, y, mass)(at) == pytest.approx(order.predict(at), abs=1e-9)


def test_venn_abers_from_its_definition():
    s, y, _ = scored(60)
    found = VennAbers.fit(s, y, np.ones(60))(s[:20])
    for value, p in zip(s[:20], found, strict=True):
        both = []
        for label in (0.0, 1.0):
            fit = IsotonicRegression().fit(np.append(s, value), np.append(y, label))
            both.append(float(fit.predict([value])[0]))
        assert p == pytest.approx(both[1] / (1 - both[0] + both[1]), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_every_score_comes_from_a_model_that_has_not_seen_its_row(kind):
    """The map, from plain fits on four folds and scores of the fifth, with the bins of all rows."""
    X, y = noisy_table(200, seed=3)
    model = AdaBoostClassifier(n_estimators=15, calibrate=kind).fit(X, y)
    fold = folds_of(check_sample(X, y, None, None, "y"))
    assert np.bincount(fold[y == 1]).max() - np.bincount(fold[y == 1]).min() <= 1
    s = np.empty(len(y))
    for f in range(5):
        part = fold != f
        train = _safe_indexing(Binned.fit(X), np.flatnonzero(part))
        s[~part] = AdaBoostClassifier(n_estimators=15).fit(train, y[part]).decision_function(X[~part])
    order = np.lexsort((y, s))
    maps = {"sigmoid": Sigmoid, "isotonic": Isotonic, "venn-abers": VennAbers}
    wanted = maps[kind].fit(s[order], y[order].astype(float), np.ones(len(y)))
    plain = AdaBoostClassifier(n_estimators=15).fit(X, y)
    assert np.array_equal(plain.decision_function(X), model.decision_function(X))
    assert model.predict_proba(X)[:, 1] == pytest.approx(wanted(plain.decision_function(X)), abs=1e-12)
    assert np.array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    shuffled = np.random.default_rng(0).permutation(len(y))
    again = clone(model).fit(X[shuffled], y[shuffled])
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("kind", KINDS)
def test_log_loss_improves_where_the_link_is_poor(kind):
    X, y = noisy_table(1500, flips=0.2, seed=1)
    shown = dict(n_estimators=40, max_depth=4, learning_rate=1.0)
    raw = LogitBoostClassifier(**shown).fit(X[:700], y[:700])
    told = LogitBoostClassifier(**shown, calibrate=kind).fit(X[:700], y[:700])
    before, after = (log_loss(y[700:], m.predict_proba(X[700:])) for m in (raw, told))
    assert after < 0.7 * before
    y3 = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.5])
    three = AdaBoostClassifier(n_estimators=5, calibrate=kind, class_weight="balanced").fit(X[:300], y3[:300])
    P = three.predict_proba(X)
    assert P.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(three.predict(X), P.argmax(axis=1))


def test_decisions_by_a_table_of_costs_worked_by_hand():
    X, y = noisy_table(300, flips=0.2, seed=2)
    label = np.where(y == 1, "fraud", "ok")  # classes: fraud, ok
    model = AdaBoostClassifier(n_estimators=10, cost={("fraud", "ok"): 25}).fit(X, label)
    assert model.cost_matrix_.tolist() == [[0.0, 25.0], [1.0, 0.0]]
    P = model.predict_proba(X)
    # Saying ok costs 25 p(fraud), saying fraud costs p(ok): fraud from p = 1/26 on.
    assert np.array_equal(model.predict(X) == "fraud", 25 * P[:, 0] >= P[:, 1])
    assert (model.predict(X) == "fraud").mean() > (
        AdaBoostClassifier(n_estimators=10).fit(X, label).predict(X) == "fraud"
    ).mean()
    same = AdaBoostClassifier(n_estimators=10, cost=[[0, 25], [1, 0]]).fit(X, label)
    assert np.array_equal(same.predict(X), model.predict(X))
    y3 = np.digitize(X[:, 0], [-0.5, 0.5])
    C = np.array([[0, 1, 9], [2, 0, 2], [9, 1, 0.0]])
    three = AdaBoostClassifier(n_estimators=5, cost=C).fit(X, y3)
    assert np.array_equal(three.predict(X), (three.predict_proba(X) @ C).argmin(axis=1))


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        ({("fraud", "fine"): 3}, "which is not a pair"),
        ({("fraud", "ok"): "much"}, "is not a number"),
        ([[0, 1, 2]], "must be 2 lines of 2 finite numbers"),
        (7, "it must be a mapping from"),
    ],
)
def test_costs_that_make_no_sense(cost, sentence):
    X, y = noisy_table(40, seed=2)
    with pytest.raises(ValueError, match=sentence):
        AdaBoostClassifier(n_estimators=2, cost=cost).fit(X, np.where(y == 1, "fraud", "ok"))
    with pytest.raises(ValueError, match="there is one row of"):
        AdaBoostClassifier(n_estimators=2, calibrate="sigmoid").fit(X, [1] + [0] * 39)
    assert cost_matrix({}, np.array([0, 1])).tolist() == [[0, 1], [1, 0]]


def test_thresholds_are_the_best_of_all():
    s, y, _ = scored(80)
    cuts = [-np.inf, *(np.unique(s) + 1e-6)]
    assert f1_score(y, s > best_threshold(s, y > 0, "f1", None)) == pytest.approx(max(f1_score(y, s > c) for c in cuts))
    C = np.array([[0.0, 1.0], [5.0, 0.0]])
    spent = [((s > c) & (y == 0)).sum() + 5 * ((s <= c) & (y == 1)).sum() for c in cuts]
    best = best_threshold(s, y > 0, "cost", C)
    assert ((s > best) & (y == 0)).sum() + 5 * ((s <= best) & (y == 1)).sum() == min(spent)
    X, labels = noisy_table(200, seed=2)
    model = AdaBoostClassifier(n_estimators=10).fit(X, labels)
    named = model.threshold_for(X, labels, metric="f1")
    assert model.threshold_for(X, labels, metric=f1_score) == pytest.approx(named)
    with pytest.raises(ValueError, match="needs costs"):
        model.threshold_for(X, labels, metric="cost")
    with pytest.raises(ValueError, match="is not known"):
        model.threshold_for(X, labels, metric="gain")


@pytest.mark.parametrize("kind", KINDS)
def test_a_calibrated_model_is_saved_whole(kind, tmp_path):
    X, y = noisy_table(120, seed=4)
    label = np.where(y == 1, "bad", "good")
    model = AdaBoostClassifier(n_estimators=4, calibrate=kind, cost={("bad", "good"): 3.0}).fit(X, label)
    model.save(tmp_path / "m.boost")
    for copy in (load(tmp_path / "m.boost"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert np.array_equal(copy.predict(X), model.predict(X))
        assert copy.cost == model.cost
    assert not hasattr(clone(model).set_params(cost=None, calibrate=None).fit(X, label), "cost_matrix_")
    several = PairwiseClassifier(AdaBoostClassifier(n_estimators=2, calibrate=kind)).fit(
        X, np.digitize(X[:, 0], [-1, 1])
    )
    with pytest.raises(ValueError, match="calibrated"):
        several.save(tmp_path / "several.boost")
