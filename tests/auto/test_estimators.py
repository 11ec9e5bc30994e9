"""AutoBoost: one untuned recipe, or a comparison inside fit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import boostlab
from boostlab import AutoBoostClassifier, AutoBoostRegressor, LogitBoostClassifier
from boostlab.datasets import twonorm
from boostlab.studies import RequestError

X, Y = twonorm(120, random_state=0)


def test_rounds_are_found_on_held_out_rows_and_all_rows_are_fitted():
    model = AutoBoostClassifier().fit(X, Y)
    best = model.best_estimator_
    assert isinstance(best, boostlab.LogitBoostClassifier)
    assert (best.learning_rate, best.max_leaf_nodes) == (0.1, 3)
    assert 1 < best.n_estimators < 1000
    assert model.choice_ == (
        f"LogitBoost with trees of 3 leaves, rate 0.1; {best.n_estimators} rounds by log_loss on held-out rows."
    )
    again = boostlab.LogitBoostClassifier(n_estimators=best.n_estimators, learning_rate=0.1, max_leaf_nodes=3).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(model.classes_, [-1, 1])
    assert clone(model).get_params() == model.get_params()
    assert cross_val_score(AutoBoostClassifier(), X, Y, cv=2).mean() > 0.65


def test_frames_names_numbers_and_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "sort": np.where(X[:, 1] > 0, "high", "low")})
    model = AutoBoostRegressor().fit(frame, X[:, 0] + (X[:, 1] > 0))
    assert list(model.feature_names_in_) == ["a", "sort"]
    assert model.score(frame, X[:, 0] + (X[:, 1] > 0)) > 0.8
    model.save(tmp_path / "m.boost")
    np.testing.assert_array_equal(boostlab.load(tmp_path / "m.boost").predict(frame), model.predict(frame))


def test_a_budget_runs_the_comparison():
    model = AutoBoostRegressor(budget="1s").fit(X[:60, :3], X[:60, 0])
    assert isinstance(model.best_estimator_, boostlab.L2BoostRegressor)
    assert "L2Boost with" in model.choice_
    over = AutoBoostRegressor(budget=1e-9).fit(X[:60, :3], X[:60, 0])
    assert over.choice_.startswith("The budget was over before a first result, so untuned: L2Boost")
    with pytest.raises(RequestError, match="The budget 'soon' is not a time"):
        AutoBoostClassifier(budget="soon").fit(X, Y)
    with pytest.raises(RequestError, match="squared_error is no metric of classes; use AutoBoostRegressor"):
        AutoBoostClassifier(metric="squared_error").fit(X, Y)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        AutoBoostClassifier(budget="1s").fit(X, Y, np.ones(len(Y)))


def test_categories_of_a_few_rows_are_not_learnt_by_heart():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(240, 2)), rng.integers(0, 2, 240)
    y = np.where(rng.random(240) < 0.85, X[:, 0] > 0, y).astype(int)
    names = np.column_stack([X, np.arange(240) // 2 + 1000])  # two rows a name
    plain = AutoBoostClassifier(categorical_features=None).fit(X[:160], y[:160]).predict_proba(X[160:])
    named = AutoBoostClassifier(categorical_features=[2]).fit(names[:160], y[:160])
    np.testing.assert_allclose(named.predict_proba(names[160:]), plain, atol=1e-9)


def test_weights_of_categories_count_as_copies():
    X = np.array([[0.0], [0.0], [1.0], [2.0], [2.0], [2.0]])
    y = [0, 1, 1, 0, 1, 1]
    kwargs = dict(categorical_features=[0], min_category_size=2, n_estimators=3)
    weighed = LogitBoostClassifier(**kwargs).fit(X, y, sample_weight=[1, 1, 2, 1, 1, 1])
    copied = LogitBoostClassifier(**kwargs).fit(np.vstack([X, [[1.0]]]), [*y, 1])
    assert weighed._columns.categories == copied._columns.categories == [[0.0, 1.0, 2.0]]
    np.testing.assert_array_equal(weighed.decision_function(X), copied.decision_function(X))
    fewer = LogitBoostClassifier(**kwargs).fit(X, y)
    assert fewer._columns.categories == [[0.0, 2.0]]
