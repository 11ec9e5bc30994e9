"""Certificates: every booster has one, its promises hold on the sample, and what does not apply is said."""

from __future__ import annotations

import numpy as np
import pytest

import boostlab
from boostlab import AdaBoostClassifier, ARBoostClassifier, DecisionStump, DecisionTree, VoterPool, theory
from boostlab.datasets import three_gaussians, twonorm
from variants import every

X, Y = twonorm(400, random_state=0)
TRAIN, TEST = slice(250), slice(250, 400)


@every
def test_every_booster_has_a_certificate_whose_promises_hold(make):
    model = make(n_estimators=10, random_state=0).fit(X[TRAIN], Y[TRAIN])
    found = model.certificate(X[TRAIN], Y[TRAIN], X_test=X[TEST], y_test=Y[TEST], draws=5)
    assert found.training_error == np.mean(model.margins(X[TRAIN], Y[TRAIN]) <= 0)
    assert found.margins.n == found.n == 250
    for promise in found.promises:
        assert promise.bound.value >= promise.observed - 1e-9, promise.name
        assert promise.bound.vacuous == (promise.bound.value >= 1)
        assert promise.bound.terms
    bernstein, exact = found.held_out
    assert (
        bernstein.lower <= exact.lower <= np.mean(model.predict(X[TEST]) != Y[TEST]) <= exact.upper <= bernstein.upper
    )
    text = str(found)
    assert "training error" in text
    assert "held-out error" in text
    assert all(p.name in text for p in found.promises)
    assert len(found.rows()) == len(found.promises)


def names(model, **options):
    return [p.name for p in model.certificate(X[TRAIN], Y[TRAIN], draws=5, **options).promises]


def test_the_steps_tell_which_theorem_applies():
    n = dict(n_estimators=10)
    plain = names(AdaBoostClassifier(**n).fit(X[TRAIN], Y[TRAIN]))
    assert "product of 2 sqrt(eps (1 - eps)) (2.16)" in plain
    shrunk = names(AdaBoostClassifier(learning_rate=0.5, **n).fit(X[TRAIN], Y[TRAIN]))
    assert "product of normalisers" in shrunk
    relaxed = ARBoostClassifier(DecisionStump(polarity="+"), rho=2, **n).fit(X[TRAIN], Y[TRAIN])
    found = relaxed.certificate(X[TRAIN], Y[TRAIN], draws=5)
    direct = theory.arboost_training_error(relaxed.history_["error"], 2.0)
    assert found["AR-Boost Theorem 1"].value == pytest.approx(direct.value)
    quad = names(boostlab.QuadBoostClassifier(**n).fit(X[TRAIN], Y[TRAIN]))
    assert {"quadratic risk", "QuadBoost Theorem 1, safe, p = 2", "QuadBoost Theorem 1, as stated, p = inf"} <= set(
        quad
    )
    assert "variance-penalised cost, sqrt(J) / n" in names(boostlab.EBBoostClassifier(**n).fit(X[TRAIN], Y[TRAIN]))


def test_products_are_not_claimed_for_other_rows_or_weights():
    model = AdaBoostClassifier(n_estimators=10).fit(X[TRAIN], Y[TRAIN])
    other = model.certificate(X[TEST], Y[TEST], draws=0)
    assert any("products over rounds" in line for line in other.left_out)
    weighted = AdaBoostClassifier(n_estimators=10).fit(X[TRAIN], Y[TRAIN], np.arange(1, 251))
    assert not any("2.16" in p.name for p in weighted.certificate(X[TRAIN], Y[TRAIN], draws=0).promises)


def test_a_fixed_pool_brings_the_bounds_for_finite_classes():
    pool = VoterPool([lambda X, j=j: np.where(X[:, j] > 0, 1.0, -1.0) for j in range(20)])
    model = AdaBoostClassifier(pool, n_estimators=20).fit(X[TRAIN], Y[TRAIN])
    found = model.certificate(X[TRAIN], Y[TRAIN], draws=5)
    direct = theory.schapire(model.margins(X[TRAIN], Y[TRAIN]), 40)
    assert found["Schapire et al. (2.20)"].value == pytest.approx(direct.value)
    given = {"Breiman, minimum margin", "Emargin", "k-th margin", "Gao and Zhou", "Gao and Zhou, average margin"}
    assert given <= {p.name for p in found.promises}
    stumps = AdaBoostClassifier(n_estimators=5).fit(X[TRAIN], Y[TRAIN])
    assert given <= set(names(stumps, n_voters=1000))
    assert not given & set(names(stumps))
    default = AdaBoostClassifier(VoterPool(), n_estimators=5).fit(X[TRAIN], Y[TRAIN])
    assert not given & set(names(default))  # its thresholds follow the data


def test_a_large_sample_of_an_easy_problem_is_certified():
    """With many rows and one clear column the bounds on new rows are below one half, and hold."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60_000, 2)).round(1)
    y = np.where(x[:, 0] > 0, 1, -1)
    x[:, 0] += np.where(rng.random(len(y)) < 0.01, -2 * x[:, 0], 0)
    half = len(y) // 2
    model = AdaBoostClassifier(n_estimators=1).fit(x[:half], y[:half])
    found = model.certificate(x[:half], y[:half], draws=20, X_test=x[half:], y_test=y[half:])
    for name in ("VC bound (2.18)", "Koltchinskii and Panchenko"):
        assert found.held_out[0].mean <= found[name].value < 0.5
    assert found["QuadBoost Theorem 1, safe, p = 1"].value >= found.training_error


def test_what_does_not_apply_is_said():
    def left_out(model, X=X[TRAIN], y=Y[TRAIN]):
        return " | ".join(model.fit(X, y).certificate(X, y, draws=5).left_out)

    assert "plain weighted sum" in left_out(boostlab.WeightBoostClassifier(n_estimators=5))
    assert "lower estimate" in left_out(AdaBoostClassifier(DecisionTree(), n_estimators=5))
    assert "say -1 or +1" in left_out(boostlab.LogitBoostClassifier(n_estimators=5))
    assert "two classes" in left_out(
        boostlab.AdaBoostM2Classifier(n_estimators=5), *three_gaussians(90, random_state=0)
    )
    assert "X_test" in left_out(AdaBoostClassifier(n_estimators=5))
    gaps = X[TRAIN].copy()
    gaps[::9, 0] = np.nan
    assert "VC bound" in left_out(AdaBoostClassifier(n_estimators=5), gaps)


def test_wrong_input_is_named():
    model = AdaBoostClassifier(n_estimators=3).fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ValueError, match="delta=2"):
        model.certificate(X, Y, delta=2)
    with pytest.raises(ValueError, match="go together"):
        model.certificate(X, Y, X_test=X)
    with pytest.raises(ValueError, match="give one label a row"):
        model.certificate(X, Y[:5])
    with pytest.raises(KeyError, match="not on this certificate"):
        model.certificate(X, Y, draws=0)["luck"]
