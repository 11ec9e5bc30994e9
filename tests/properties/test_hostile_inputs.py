"""Hundreds of hostile tables by seed: one sentence, or a model that is finite, agrees with itself and comes back."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from boostlab.model_io import load, save
from hostile import case

N, PARTS = 160, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_one_sentence_or_a_sound_model(part, tmp_path):
    fitted = sum(check(case(seed), tmp_path / "model.boost") for seed in range(part, N, PARTS))
    assert fitted >= N // PARTS // 3  # most tables can be learned from


def check(one, path):
    """Return whether the booster could be trained, and see that it is sound if so."""
    model, X, y = one.model, one.X, one.y
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y, one.weight)
    except ValueError as error:
        said = str(error)
        assert said.endswith("."), one.said
        assert "\n" not in said, one.said
        assert len(said) < 500, one.said
        return False
    except Exception as error:
        raise AssertionError(one.said) from error
    try:
        sound(model, X, path)
    except Exception as error:
        raise AssertionError(one.said) from error
    return True


def sound(model, X, path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F, P, L = model.decision_function(X), model.predict_proba(X), model.predict_log_proba(X)
        stages = list(model.staged_decision_function(X))
    assert np.isfinite(F).all()
    assert all(np.isfinite(stage).all() for stage in stages)
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-9)
    assert not np.isnan(L).any()
    assert np.isfinite(model.feature_importances_).all()
    assert np.array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
    if stages and hasattr(model._ensemble, "bound"):
        np.testing.assert_allclose(stages[-1], F, rtol=0, atol=1e-9 * max(model._ensemble.bound, 1e-300))
    save(model, path)
    again = load(path)
    assert np.array_equal(again.decision_function(X), F)
    assert np.array_equal(again.predict_proba(X), P)
