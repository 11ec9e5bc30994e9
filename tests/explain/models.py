"""Small fitted models of every kind that explanations and exports must open, and rows at their cuts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas

from boostlab import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    QuadBoostClassifier,
    SAMMEClassifier,
    VoterPool,
)


@cache
def table(n=240):
    """Numbers with missing values, a column of categories, labels of two and three classes, and numbers."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(n, 3)).round(2)
    city = np.array(["Bern", "Oslo", "Rome", "Turin"])[rng.integers(0, 4, n)]
    score = x[:, 0] * x[:, 1] + x[:, 2] + (city == "Oslo") - (city == "Turin") * x[:, 0]
    x[rng.random(x.shape) < 0.1] = np.nan
    frame = pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "city": city, "c": x[:, 2]})
    frame.loc[rng.random(n) < 0.1, "city"] = None
    return frame, np.where(score > 0, "yes", "no"), np.digitize(score, [-0.5, 0.8]), score


def _two(model):
    return model.fit(table()[0], table()[1])


def _three(model):
    return model.fit(table()[0], table()[2])


def _numbers(model):
    frame, y, _, _ = table()
    return model.fit(frame[["a", "b", "c"]].to_numpy(), y)


MODELS = {
    "stumps": lambda: _two(AdaBoostClassifier(n_estimators=30)),
    "trees": lambda: _two(LogitBoostClassifier(n_estimators=8, max_leaf_nodes=7)),
    "real": lambda: _two(AdaBoostClassifier(n_estimators=8, algorithm="real", max_depth=2)),
    "pool": lambda: _numbers(QuadBoostClassifier(VoterPool(), n_estimators=15)),
    "numbers": lambda: _numbers(LogitBoostClassifier(n_estimators=8, max_depth=3)),
    "regressor": lambda: L2BoostRegressor(n_estimators=10, max_depth=2).fit(table()[0], table()[3]),
    "logit of classes": lambda: _three(LogitBoostClassifier(n_estimators=6, max_depth=2)),
    "named classes": lambda: _three(SAMMEClassifier(n_estimators=12, max_depth=2)),
    "labelwise": lambda: _three(AdaBoostMHClassifier(n_estimators=12)),
    "one against the rest": lambda: _three(AdaBoostClassifier(n_estimators=8, multiclass="ovr")),
    "pairs": lambda: _three(AdaBoostClassifier(n_estimators=8, multiclass="ovo", max_depth=2)),
    "code": lambda: _three(AdaBoostClassifier(n_estimators=5, multiclass="ecoc")),
}


@cache
def fitted(name):
    """Return a model of `MODELS`."""
    return MODELS[name]()


def rows(model, n=60):
    """Return rows in the form that a model was fitted to."""
    frame = table()[0].iloc[:n]
    return frame if model.n_features_in_ == 4 else frame[["a", "b", "c"]].to_numpy()


def scores_of(model, X):
    """Return the scores that contributions add up to: of binary problems, where classes' are no sums of these."""
    if model._numeric:
        return model.predict(X)
    vote = model._ensemble
    if getattr(vote, "form", None) is not None and vote.form.decoder != "strongest":
        return vote._binary(vote.scores(model._table(X)))
    return model.decision_function(X)
