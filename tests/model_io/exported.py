"""Models that exports are tested with, hostile rows for them, and what the models say of these."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas

from boostlab import (
    AdaBoostClassifier,
    LogitBoostClassifier,
    SAMMEClassifier,
)
from boostlab.model_io.exports.description import describe
from explain.models import MODELS, fitted, table

COSTLY = [[0, 1, 3], [2, 0, 1], [4, 1, 0]]
CALIBRATED = {
    "sigmoid": lambda: AdaBoostClassifier(n_estimators=15, calibrate="sigmoid").fit(table()[0], table()[1]),
    "isotonic": lambda: LogitBoostClassifier(
        n_estimators=5, max_depth=2, calibrate="isotonic", cost={("yes", "no"): 4}
    ).fit(table()[0], table()[1]),
    "venn-abers": lambda: SAMMEClassifier(n_estimators=8, calibrate="venn-abers").fit(table()[0], table()[1]),
    "three sigmoids": lambda: SAMMEClassifier(n_estimators=6, max_depth=2, calibrate="sigmoid").fit(
        table()[0], table()[2]
    ),
    "three isotonic": lambda: AdaBoostClassifier(
        n_estimators=6, multiclass="ovr", calibrate="isotonic", cost=COSTLY
    ).fit(table()[0], table()[2]),
}


@cache
def calibrated(name):
    return CALIBRATED[name]()


KINDS = [name for name in MODELS if name not in ("pairs", "code")]


def hostile(model, n=10_000, single=False):
    """Rows of numbers as the exports take them: cuts, their neighbours, extremes, missing values, categories."""
    d, rng = describe(model), np.random.default_rng(1)
    kind = np.float32 if single else np.float64
    X = np.empty((n, len(d.names)), kind)
    for j, known in enumerate(d.categories):
        own = [f.cuts for f in d.steps if f.feature == j] + [d.trees.threshold[d.trees.feature == j]]
        cuts = np.concatenate(own) if known is None else np.arange(len(known), dtype=float)
        cuts = cuts[np.isfinite(cuts)].astype(kind)
        near = [cuts] if known else [cuts, *(np.nextafter(cuts, kind(to)) for to in (-np.inf, np.inf)), [0.0, -0.0]]
        if known is None:
            near.append([3e38, -3e38, 1e-40])
        values = np.concatenate(near).astype(kind)
        X[:, j] = np.where(rng.random(n) < 0.1, np.nan, rng.choice(values, n))
    return X


def original(model, X):
    """The same rows in the form that the model was fitted to."""
    if model.n_features_in_ != 4:
        return X
    frame = pandas.DataFrame(np.asarray(X, float), columns=["a", "b", "city", "c"])
    names = np.array(["Bern", "Oslo", "Rome", "Turin", None], object)
    frame["city"] = names[np.where(np.isnan(X[:, 2]), 4, X[:, 2]).astype(int)]
    return frame


def expected(model, X):
    """Scores, class numbers and probabilities by the model itself."""
    given = original(model, X)
    if model._numeric:
        return model.predict(given)[:, None], None, None
    S = np.asarray(model.decision_function(given))
    if S.ndim == 1:
        S = S[:, None]
    return S, np.searchsorted(model.classes_, model.predict(given)), model.predict_proba(given)


@cache
def asked(name, n=10_000, single=False):
    """Hostile rows of a model and what it says of them, for all exports."""
    X = hostile(fitted(name), n, single)
    return X, *expected(fitted(name), X)
