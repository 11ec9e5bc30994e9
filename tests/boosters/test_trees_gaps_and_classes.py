"""Boosted trees on several classes, missing values and categories."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

from boosters.boosted_trees import every, same_model
from boostlab import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
)


def test_three_classes(three_classes):
    X, y = three_classes
    names = np.array(["a", "b", "c"])[y]
    model = AdaBoostM2Classifier(max_leaf_nodes=8, n_estimators=25).fit(X, names)
    stumps = AdaBoostM2Classifier(n_estimators=25).fit(X, names)
    assert model.score(X, names) > stumps.score(X, names)
    assert model.history_["error"][0] < stumps.history_["error"][0]
    F = model.decision_function(X)
    assert F.shape == (len(y), 3)
    assert np.array_equal(model.predict(X), model.classes_[F.argmax(axis=1)])
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.abs(model.margins(X, names)).max() <= 1
    # The recorded pseudo-loss is that of the tree's answers under the first weights.
    h = model.estimators_[0].predict(X)
    right = h[np.arange(len(y)), y][:, None]
    wrong = np.arange(3) != y[:, None]
    assert model.history_["error"][0] == pytest.approx(((1 - right + h) / 2)[wrong].mean(), abs=1e-12)


def shop(n=500, seed=0):
    """What sells depends on the price, but in another way in every city."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Bern", "Oslo", "Rome", "Wien"], n).astype(object)
    price, size = rng.normal(size=n), rng.integers(0, 4, n).astype(float)
    y = np.where(np.isin(city, ["Oslo", "Wien"]) == (price > 0), "sold", "kept")
    gap, lost = rng.random(n) < 0.15, rng.random(n) < 0.1
    y = np.where(gap & (size > 1), "kept", y)
    price[gap] = np.nan
    city[lost] = None
    return pd.DataFrame({"size": size, "city": city, "price": price}), y


@every
def test_gaps_and_categories(make):
    frame, y = shop()
    model = make(max_leaf_nodes=8, n_estimators=30, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.88  # no sum of stumps sees which city likes which price
    assert np.isfinite(model.predict_proba(frame)).all()
    assert (model.feature_importances_[1:] > 0.05).all()
    assert any(len(tree.lows) for tree in model.estimators_)
    fresh, labels = shop(seed=1)
    assert model.score(fresh, labels) > 0.8
    scale = max(model._ensemble.bound, 1.0)
    F = model.decision_function(fresh)
    assert np.abs(list(model.staged_decision_function(fresh))[-1] - F).max() < 1e-12 * scale


def test_categorical_dtype_and_positions_say_the_same():
    frame, y = shop()
    make = partial(AdaBoostClassifier, max_leaf_nodes=6, n_estimators=10)
    text = make().fit(frame, y)
    dtype = frame.astype({"city": "category"})
    numbers = frame.assign(city=dtype["city"].cat.codes.replace(-1, np.nan)).to_numpy(dtype=float)
    assert same_model(text, make().fit(dtype, y))
    assert same_model(text, make(categorical_features=[1]).fit(numbers, y))


def test_a_category_unseen_at_fit_behaves_as_missing():
    frame, y = shop()
    for known in (frame, frame[frame["city"].notna()]):  # with and without gaps at fit
        model = AdaBoostClassifier(max_leaf_nodes=8, n_estimators=15).fit(known, y[known.index])
        new, gone = frame.assign(city="Atlantis"), frame.assign(city=["Bern", *[None] * (len(y) - 1)])
        F = model.decision_function(new)
        assert np.array_equal(F[1:], model.decision_function(gone)[1:])
        assert np.isfinite(F).all()
