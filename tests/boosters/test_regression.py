"""Regressors: everything that a booster owes, for numbers instead of classes."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from boostlab import L2BoostRegressor, Stop, VoterPool, load
from boostlab.model_io import ModelFileError


def numbers(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, 50 + 3 * X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


LEARNERS = {
    "stump": {},
    "tree": {"max_depth": 3},
    "pool": {"estimator": VoterPool()},
    "scikit-learn": {"estimator": DecisionTreeRegressor(max_depth=2)},
    "drawn": {"resample": True, "random_state": 0},
}


@pytest.mark.parametrize("learner", LEARNERS)
def test_it_learns_and_its_stages_end_at_its_prediction(learner):
    X, y = numbers()
    model = L2BoostRegressor(n_estimators=60, **LEARNERS[learner]).fit(X, y)
    assert is_regressor(model)
    assert model.score(X, y) > 0.7
    *_, last = model.staged_predict(X)
    np.testing.assert_allclose(last, model.predict(X), atol=1e-10)
    assert model.baseline_ == pytest.approx(y.mean(), rel=1e-14)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "decision_function")
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    twin = pickle.loads(pickle.dumps(model))
    assert twin.predict(X).tobytes() == model.predict(X).tobytes()


@pytest.mark.parametrize("kwargs", [{}, {"max_leaf_nodes": 6}], ids=["stumps", "trees"])
def test_weight_k_equals_k_copies_and_order_does_not_matter(kwargs):
    X, y = numbers(80)
    k = np.random.default_rng(1).integers(0, 4, 80)
    copies = np.random.default_rng(2).permutation(np.repeat(np.arange(80), k))
    one = L2BoostRegressor(n_estimators=25, **kwargs).fit(X, y, k)
    two = L2BoostRegressor(n_estimators=25, **kwargs).fit(X[copies], y[copies])
    assert one.baseline_ == two.baseline_
    assert one.predict(X).tobytes() == two.predict(X).tobytes()
    scaled = L2BoostRegressor(n_estimators=25, **kwargs).fit(X, y, 1e-6 * k)
    np.testing.assert_allclose(scaled.predict(X), one.predict(X), rtol=1e-9)


def test_shift_and_scale_of_y():
    X, y = numbers()
    model = L2BoostRegressor().fit(X, y)
    np.testing.assert_allclose(L2BoostRegressor().fit(X, y + 1e4).predict(X), model.predict(X) + 1e4, rtol=1e-9)
    np.testing.assert_allclose(L2BoostRegressor().fit(X, 2.0**40 * y).predict(X), 2.0**40 * model.predict(X), rtol=1e-9)


def test_early_stopping_keeps_the_best_rounds():
    X, y = numbers(120, seed=1)
    X_val, y_val = numbers(120, seed=2)
    noisy = y + 3 * np.random.default_rng(3).normal(size=120)
    kwargs = dict(n_estimators=300, learning_rate=0.5, max_depth=2)
    for scoring, cost in (
        ("squared_error", lambda p: np.mean((p - y_val) ** 2)),
        ("absolute_error", lambda p: mean_absolute_error(y_val, p)),
        ("r2", lambda p: -r2_score(y_val, p)),
        ("neg_mean_absolute_percentage_error", lambda p: np.mean(np.abs(p - y_val) / np.abs(y_val))),
    ):
        model = L2BoostRegressor(early_stopping=True, n_iter_no_change=8, scoring=scoring, **kwargs)
        model.fit(X, noisy, X_val=X_val, y_val=y_val)
        assert model.stop_reason_.startswith("patience")
        plain = L2BoostRegressor(**kwargs).fit(X, noisy)
        costs = [cost(p) for p in plain.staged_predict(X_val)][: len(model.history_["validation_score"])]
        assert model.n_estimators_ == 1 + int(np.argmin(costs))
        np.testing.assert_allclose(np.abs(model.history_["validation_score"]), np.abs(costs), rtol=1e-9)
    held = L2BoostRegressor(early_stopping=True, validation_fraction=0.25, random_state=0, n_estimators=30).fit(X, y)
    seen = []
    L2BoostRegressor(early_stopping=True, random_state=0, n_estimators=2, callbacks=lambda s: seen.append(s.n)).fit(
        X, y
    )
    assert seen[0] == 108
    assert held.n_estimators_ >= 1
    with pytest.raises(ValueError, match="scoring='error' is not possible"):
        L2BoostRegressor(scoring="error").fit(X, y)


def test_files(tmp_path):
    frame = pd.DataFrame({"x": np.arange(60.0), "city": ["Bern", "Oslo", None] * 20})
    y = np.arange(60.0) + 10 * (np.arange(60) % 3)
    model = L2BoostRegressor(n_estimators=20, max_depth=2).fit(frame, y)
    model.save(tmp_path / "a.boost")
    again = load(tmp_path / "a.boost")
    assert type(again) is L2BoostRegressor
    assert again.baseline_ == model.baseline_
    assert again.predict(frame).tobytes() == model.predict(frame).tobytes()
    pool = L2BoostRegressor(VoterPool(), n_estimators=9).fit(*numbers())
    pool.save(tmp_path / "b.boost")
    assert load(tmp_path / "b.boost").predict(numbers()[0]).tobytes() == pool.predict(numbers()[0]).tobytes()
    model.set_params(learning_rate=0.7)
    with pytest.raises(ModelFileError, match="parameters changed"):
        model.save(tmp_path / "c.boost")


def test_warm_start_callbacks_and_progress(capsys):
    X, y = numbers()
    whole = L2BoostRegressor(n_estimators=20).fit(X, y)
    warm = L2BoostRegressor(n_estimators=7, warm_start=True).fit(X, y).set_params(n_estimators=20).fit(X, y)
    assert warm.predict(X).tobytes() == whole.predict(X).tobytes()
    with pytest.raises(ValueError, match="the data changed"):
        warm.fit(X, y + 1)
    stop = L2BoostRegressor(callbacks=lambda s: Stop("callback") if s.t == 3 else None).fit(X, y)
    assert stop.n_estimators_ == 3
    L2BoostRegressor(n_estimators=3, verbose=1).fit(X, y)
    assert "train " in capsys.readouterr().err


def test_tables_of_every_kind():
    X, y = numbers()
    X = np.where(np.abs(X) < 0.6, 0.0, X)
    dense = L2BoostRegressor(n_estimators=15).fit(X, y)
    thin = L2BoostRegressor(n_estimators=15).fit(sparse.csr_array(X), y)
    assert thin.predict(sparse.csr_array(X)).tobytes() == dense.predict(X).tobytes()
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    assert L2BoostRegressor().fit(gaps, y).score(gaps, y) > 0.6
    pipe = make_pipeline(StandardScaler(), L2BoostRegressor(n_estimators=10))
    search = GridSearchCV(pipe, {"l2boostregressor__learning_rate": [0.1, 1.0]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_params_ == {"l2boostregressor__learning_rate": 1.0}
    assert clone(dense).get_params() == dense.get_params()


def test_wrong_targets_get_one_sentence():
    X, y = numbers(20)
    for bad, words in (
        (np.where(y > 50, "high", "low"), "predicts numbers, and y holds text"),
        (np.append(y[:-1], np.nan), "row 19 has no label"),
        (np.append(y[:-1], np.inf), "contains infinity"),
        (y[:-1], "inconsistent numbers of samples"),
        (1e120 * y, "scale them"),
        (1e-120 * y, "scale them"),
    ):
        with pytest.raises(ValueError, match=words) as error:
            L2BoostRegressor().fit(X, bad)
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="learning_rate=0 is not possible"):
        L2BoostRegressor(learning_rate=0).fit(X, y)


def test_nothing_to_learn():
    X, y = numbers(20)
    with pytest.warns(ConvergenceWarning, match="kept no voter .* so it predicts 3 for every row"):
        model = L2BoostRegressor().fit(X, np.full(20, 3.0))
    assert (model.predict(X) == 3.0).all()
    with pytest.warns(ConvergenceWarning, match="every column is constant"):
        model = L2BoostRegressor().fit(np.ones((20, 2)), y)
    assert model.predict(np.ones((1, 2)))[0] == model.baseline_
