"""Missing values, categories, frames and class weights, through every booster."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from boostlab import AdaBoostClassifier, AdaBoostM2Classifier, DecisionStump, LogitBoostClassifier, LPBoostClassifier
from boostlab.boosters import REGISTRY
from tables import noisy_table
from variants import every

FRAMES = [pd.DataFrame, pl.DataFrame]


def shop(n=400, seed=0):
    """Columns as people have them: numbers, whole numbers, truth values, text, gaps."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Bern", "Oslo", "Rome", "Wien"], n).astype(object)
    price, stock, online = rng.normal(size=n), rng.integers(0, 5, n), rng.random(n) < 0.5
    y = np.where((np.isin(city, ["Oslo", "Wien"]) & (price > -0.5)) | (stock == 4), "sold", "kept")
    price[rng.random(n) < 0.15] = np.nan
    city[rng.random(n) < 0.1] = None
    return {"price": price, "city": list(city), "stock": stock, "online": online}, y


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars"])
@pytest.mark.parametrize("cls", [e.cls for e in REGISTRY.values()])
def test_every_booster_takes_a_mixed_frame(frame, cls):
    data, y = shop()
    table = frame(data)
    model = cls(n_estimators=30).fit(table, y)
    assert model.score(table, y) > 0.75
    assert np.isfinite(model.predict_proba(table)).all()
    assert model.feature_importances_[1] > 0
    scale = max(model._ensemble.bound, 1.0)
    assert (
        np.abs(list(model.staged_decision_function(table))[-1] - model.decision_function(table)).max() < 1e-12 * scale
    )


def test_frames_of_both_libraries_and_categorical_dtypes_agree():
    data, y = shop()
    tables = [
        pd.DataFrame(data),
        pl.DataFrame(data),
        pd.DataFrame(data).astype({"city": "category"}),
        pd.DataFrame(data).astype({"city": "string", "stock": "Int64", "price": "Float64"}),
        pl.DataFrame(data).with_columns(pl.col("city").cast(pl.Categorical)),
    ]
    scores = [AdaBoostClassifier(n_estimators=20).fit(t, y).decision_function(t) for t in tables]
    assert all(np.array_equal(scores[0], s) for s in scores[1:])


def test_categories_by_position_name_or_mask_equal_the_dtype():
    data, y = shop()
    frame = pd.DataFrame(data)
    numbers = frame.assign(city=frame["city"].astype("category").cat.codes.replace(-1, np.nan))
    expected = AdaBoostClassifier(n_estimators=20).fit(frame, y).decision_function(frame)
    for wanted in (["city"], [1], [-3], np.array([1]), [False, True, False, False]):
        model = AdaBoostClassifier(n_estimators=20, categorical_features=wanted).fit(numbers, y)
        assert np.array_equal(model.decision_function(numbers), expected)
    array = numbers.to_numpy(dtype=float)
    model = AdaBoostClassifier(n_estimators=20, categorical_features=[1]).fit(array, y)
    assert np.array_equal(model.decision_function(array), expected)


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars"])
def test_a_category_unseen_at_fit_behaves_as_missing(frame):
    data, y = shop()
    model = AdaBoostClassifier(n_estimators=30).fit(frame(data), y)
    new = dict(data, city=["Atlantis"] * len(y))
    gone = dict(data, city=["Bern"] + [None] * (len(y) - 1))
    assert np.array_equal(model.decision_function(frame(new))[1:], model.decision_function(frame(gone))[1:])


def test_missing_values_go_to_the_better_side():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = rng.integers(0, 2, 300)
    X[(y == 1) & (rng.random(300) < 0.6), 1] = np.nan  # being absent says something
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    assert model.estimators_[0].feature == 1
    assert (model.predict(X[np.isnan(X[:, 1])]) == 1).all()
    # The same as one more column that says "absent" and a value at either end.
    low, high = np.where(np.isnan(X), -99, X), np.where(np.isnan(X), 99, X)
    best = max(AdaBoostClassifier(n_estimators=1).fit(Z, y).history_["edge"][0] for Z in (low, high))
    assert model.history_["edge"][0] == pytest.approx(best, abs=1e-12)


@every
def test_row_order_does_not_matter_with_gaps(make):
    X, y = noisy_table(100 if make is LPBoostClassifier else 200, seed=3)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.2] = np.nan
    rounds = 1000 if make is LPBoostClassifier else 15
    order = rng.permutation(len(y))
    one, two = (make(n_estimators=rounds, random_state=1).fit(X[r], y[r]) for r in (np.arange(len(y)), order))
    if make is LPBoostClassifier:  # vertices of a linear program are not unique, its value is
        assert one.history_["objective"][-1] == pytest.approx(two.history_["objective"][-1], abs=1e-9)
    else:
        assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_a_refused_table_does_not_change_how_the_model_reads():
    data, y = shop(100)
    frame = pd.DataFrame(data)
    model = AdaBoostClassifier(n_estimators=5).fit(frame, y)
    before = model.decision_function(frame)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(frame.drop(columns="city").assign(city=np.inf)[list(frame)], y)
    assert np.array_equal(model.decision_function(frame), before)


def test_whole_rows_and_columns_of_gaps():
    X, y = noisy_table(100, seed=1)
    X[:, 2] = np.nan
    X[5] = np.nan
    for model in (AdaBoostClassifier(), LogitBoostClassifier(), AdaBoostM2Classifier()):
        model.fit(X, y)
        assert model.feature_importances_[2] == 0
        assert np.isfinite(model.predict_proba(np.full((2, X.shape[1]), np.nan))).all()


def test_class_weight_k_equals_k_copies_of_the_class():
    X, y = noisy_table(150, seed=2)
    copies = np.repeat(np.arange(len(y)), np.where(y == 1, 3, 1))
    a = AdaBoostClassifier(n_estimators=20, class_weight={0: 1, 1: 3}).fit(X, y)
    b = AdaBoostClassifier(n_estimators=20).fit(X[copies], y[copies])
    assert np.array_equal(a.decision_function(X), b.decision_function(X))


def test_balanced_gives_classes_the_same_mass():
    X, y = noisy_table(300, seed=2)
    kept = np.flatnonzero((y == 0) | (np.arange(len(y)) % 5 == 0))
    X, y = X[kept], y[kept]
    seen = []
    AdaBoostClassifier(n_estimators=1, class_weight="balanced", callbacks=seen.append).fit(X, y)
    masses = np.bincount(seen[0].codes, weights=seen[0].mass)
    assert masses[0] == pytest.approx(masses[1])
    assert masses.sum() == pytest.approx(len(y))
    explicit = AdaBoostClassifier(n_estimators=20).fit(X, y, len(y) / (2 * np.bincount(y)[y]))
    balanced = AdaBoostClassifier(n_estimators=20, class_weight="balanced").fit(X, y)
    assert np.allclose(explicit.decision_function(X), balanced.decision_function(X), atol=1e-12)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (dict(categorical_features=["town"]), "names the column 'town', which the table does not have"),
        (dict(categorical_features=["citi"]), "did you mean 'city'"),
        (dict(categorical_features=[9]), r"the table has 4 columns \(0 to 3\)"),
        (dict(categorical_features=[True, False]), "2 truth values for 4 columns"),
        (dict(categorical_features="all"), "'all' is not known"),
        (dict(categorical_features=None), "Column 'city' holds text or categories"),
        (dict(class_weight="heavy"), "class_weight='heavy' is not possible"),
        (dict(class_weight={"sold": -1, "kept": 1}), "negative weight"),
    ],
)
def test_wrong_wishes_are_one_sentence(params, sentence):
    data, y = shop(60)
    with pytest.raises(ValueError, match=sentence):
        AdaBoostClassifier(**params).fit(pd.DataFrame(data), y)


def test_dates_and_text_in_the_wrong_place_are_one_sentence():
    data, y = shop(60)
    frame = pd.DataFrame(data).assign(day=pd.Timestamp("2026-11-15"))
    with pytest.raises(ValueError, match="Column 'day' holds neither numbers nor categories"):
        AdaBoostClassifier().fit(frame, y)
    with pytest.raises(ValueError, match=r"could not convert string|not compatible with arrays of bytes/strings"):
        AdaBoostClassifier().fit(np.array([["a"], ["b"]]), [0, 1])
    model = AdaBoostClassifier(DecisionStump()).fit(pd.DataFrame(data), y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(data)[["city", "price", "stock", "online"]])
