"""Early stopping by AIC and BIC: the criteria by brute force, the round kept, and all kinds of votes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import boostlab
from boostlab import AdaBoostClassifier, L2BoostRegressor, LogitBoostClassifier, LPBoostClassifier, SAMMEClassifier
from boostlab.model_io import load
from tables import noisy_table


def deviance(model, X, y, t):
    """-2 ln likelihood of the first t rounds, by a fit of t rounds without early stopping."""
    one = type(model)(**{**model.get_params(), "n_estimators": t, "early_stopping": False}).fit(X, y)
    P = one.predict_proba(X)[np.arange(len(y)), np.searchsorted(one.classes_, y)]
    heard = np.count_nonzero(one.estimator_weights_)
    return -2 * np.log(np.maximum(P, np.finfo(float).eps)).sum(), heard


@pytest.mark.parametrize("name", ["aic", "bic"])
@pytest.mark.parametrize(
    "make",
    [
        AdaBoostClassifier,
        partial(AdaBoostClassifier, algorithm="real"),
        partial(LogitBoostClassifier, learning_rate=0.5),
        partial(LPBoostClassifier, nu=0.6),
    ],
    ids=["ada", "real", "logit", "lp"],
)
def test_the_criterion_and_the_round(make, name, tmp_path):
    X, y = noisy_table(200, flips=0.2, seed=1)
    model = make(n_estimators=200, early_stopping=name, n_iter_no_change=5).fit(X, y)
    curve = model.history_[name]
    for t in (1, 2, len(curve)):
        d, heard = deviance(model, X, y, t)
        assert curve[t - 1] == pytest.approx(d + heard * (2 if name == "aic" else np.log(200)), rel=1e-9)
    assert model.n_estimators_ == curve.argmin() + 1
    if model.stop_reason_.startswith("patience"):
        assert f"no better {name.upper()} in 5 rounds; the best was round {model.n_estimators_}" in model.stop_reason_
        assert len(curve) == model.n_estimators_ + 5
    given = make(n_estimators=model.n_estimators_).fit(X, y)
    assert np.array_equal(given.decision_function(X), model.decision_function(X))  # no row was held out
    model.save(tmp_path / "m.boost")
    assert load(tmp_path / "m.boost").early_stopping == name


def test_bic_stops_sooner_and_weights_are_copies():
    X, y = noisy_table(300, flips=0.2, seed=2)
    aic, bic = (AdaBoostClassifier(n_estimators=300, early_stopping=name).fit(X, y) for name in ("aic", "bic"))
    assert 1 <= bic.n_estimators_ < aic.n_estimators_ < 300
    k = np.random.default_rng(0).integers(1, 4, 300)
    one = AdaBoostClassifier(early_stopping="bic").fit(X, y, k)
    two = AdaBoostClassifier(early_stopping="bic").fit(np.repeat(X, k, axis=0), np.repeat(y, k))
    assert one.history_["bic"].tobytes() == two.history_["bic"].tobytes()


def test_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    model = L2BoostRegressor(learning_rate=1.0, n_estimators=200, early_stopping="bic").fit(X, y)
    errors = np.array([((y - p) ** 2).mean() for p in L2BoostRegressor(learning_rate=1.0).fit(X, y).staged_predict(X)])
    k = len(model.history_["bic"])
    np.testing.assert_allclose(
        model.history_["bic"], 200 * np.log(errors[:k]) + np.arange(1, k + 1) * np.log(200), rtol=1e-9
    )
    assert model.n_estimators_ == model.history_["bic"].argmin() + 1 < 30


def test_several_classes_reductions_and_validation_rows():
    X, y = noisy_table(200, seed=3)
    y = np.where(X[:, 1] > 0.5, 2, y)
    for model in (
        SAMMEClassifier(max_leaf_nodes=4, early_stopping="aic", n_estimators=60),
        LogitBoostClassifier(early_stopping="aic", n_estimators=60),
    ):
        model.fit(X, y)
        assert model.n_estimators_ == model.history_["aic"].argmin() + 1
        P = model.predict_proba(X)[np.arange(200), y]
        voters = 3 if isinstance(model, LogitBoostClassifier) else 1
        expected = -2 * np.log(P).sum() + 2 * voters * model.n_estimators_
        assert model.history_["aic"].min() == pytest.approx(expected, rel=1e-9)
    each = boostlab.MadaBoostClassifier(early_stopping="bic", target_error=0.0).fit(X, y)
    assert [len(h["bic"]) for h in each.history_] != []
    seen = AdaBoostClassifier(early_stopping="bic").fit(X, y > 0, X_val=X[:50], y_val=y[:50] > 0)
    assert seen.n_estimators_ == seen.history_["bic"].argmin() + 1  # the validation rows are only followed
    with pytest.raises(ValueError, match="early_stopping='dic' is not possible; it must be True or False or 'aic'"):
        AdaBoostClassifier(early_stopping="dic").fit(X, y)
