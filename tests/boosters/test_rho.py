"""AR-Boost's rho by cross-validation: errors, and the paper's soft margin."""

from __future__ import annotations

import numpy as np
import pytest

from boostlab import ARBoostClassifier, Binned, DecisionStump
from boostlab.boosters import selection
from boostlab.model_io import load, save
from tables import noisy_table


class ShortTrials(ARBoostClassifier):
    """Decides by trials of a few rounds."""

    _trial_rounds = 12


def test_rho_by_cross_validation_and_by_the_soft_margin(monkeypatch):
    # Five models a value, fitted by themselves to the folds that the choice used; 12 rounds each.
    X, y = noisy_table(150, flips=0.2, seed=2)
    s, seen = np.where(y == 1, 1.0, -1.0), []
    monkeypatch.setattr(selection, "folds", lambda *a, real=selection.folds: seen.append(real(*a)) or seen[-1])
    stump = DecisionStump(polarity="+")  # of one polarity: voters above 1/2 occur
    models = {}
    for word in ("cv_error", "cv_soft_margin"):
        models[word] = ShortTrials(stump, rho=word, n_estimators=20, random_state=0).fit(X, y)
    curve, fold = models["cv_error"].rho_curve_, seen[0]
    error, soft = np.zeros(9), np.zeros(9)
    for i, rho in enumerate(curve["rho"]):
        for k in range(5):
            train, held = fold != k, fold == k
            one = ARBoostClassifier(stump, rho=rho, n_estimators=12).fit(
                Binned.fit(X).take(np.flatnonzero(train)), y[train]
            )
            F, h = one.decision_function(X[held]), one.estimators_[-1].predict(X[held])
            error[i] += (np.where(F > 0, 1, -1) != s[held]).sum() / 150
            soft[i] += (s[held] * F + 0.5 * np.log(rho) * np.abs(s[held] - h) < 0).sum() / 150
    np.testing.assert_allclose(curve["error"], error, atol=1e-12)
    np.testing.assert_allclose(curve["soft_margin_error"], soft, atol=1e-12)
    assert models["cv_error"].rho_ == curve["rho"][error.argmin()]
    assert models["cv_soft_margin"].rho_ == curve["rho"][soft.argmin()]
    assert len(np.unique(soft - error)) > 2
    for model in models.values():
        given = ARBoostClassifier(stump, rho=model.rho_, n_estimators=20, random_state=0).fit(X, y)
        assert np.array_equal(given.decision_function(X), model.decision_function(X))
        assert given.rho_curve_ == {}


@pytest.mark.parametrize("word", ["cv_error", "cv_soft_margin"])
def test_files_hold_what_was_chosen(word, tmp_path):
    model = ARBoostClassifier(rho=word, n_estimators=2, random_state=0).fit(*noisy_table(40, 2, seed=2))
    save(model, tmp_path / "m.boost")
    again = load(tmp_path / "m.boost")
    assert again.rho_ == model.rho_
    assert np.array_equal(again.rho_curve_["error"], model.rho_curve_["error"])


def test_rho_of_several_classes():
    X, y = noisy_table(90, seed=3)
    y = np.where(X[:, 1] > 0.5, 2, y)
    model = ShortTrials(rho="cv_error", max_leaf_nodes=4, n_estimators=4).fit(X, y)
    assert set(model.rho_curve_) == {"rho", "error"}
    with pytest.raises(ValueError, match='rho="cv_soft_margin" is for two classes'):
        ARBoostClassifier(rho="cv_soft_margin", max_leaf_nodes=4).fit(X, y)
    each = ShortTrials(rho="cv_soft_margin", multiclass="ovr", n_estimators=4).fit(X, y)
    assert len(each.rho_) == 3
    with pytest.raises(ValueError, match=r"needs at least three rows of every class.*give rho a number"):
        ARBoostClassifier(rho="cv_error").fit([[0.0], [1.0], [2.0]], [0, 1, 1])
