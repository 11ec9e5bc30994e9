"""Hostile tables at every booster: a clear error or finite predictions, never a crash, a hang or a NaN."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from boostlab import AdaBoostClassifier, AdaBoostMHClassifier, LogitBoostClassifier, VadaBoostClassifier
from boostlab.boosters import REGISTRY

MAKES = {
    **{name: entry.cls for name, entry in REGISTRY.items()},
    "real": partial(AdaBoostClassifier, algorithm="real"),
    "trees": partial(AdaBoostClassifier, max_depth=3),
    "logit trees": partial(LogitBoostClassifier, max_leaf_nodes=4),
    "drawn": partial(AdaBoostClassifier, resample=True, random_state=0),
    "categories": partial(AdaBoostClassifier, categorical_features=[0]),
    "mh_real": partial(AdaBoostMHClassifier, votes="real", max_leaf_nodes=3),
    "mh_sum_alpha": partial(AdaBoostMHClassifier, form="ovr", normalise="sum_alpha"),
    "mh trees": partial(AdaBoostMHClassifier, max_leaf_nodes=4, categorical_features=[0]),
    "early": partial(AdaBoostClassifier, early_stopping=True, random_state=0),
    "penalty beyond one": partial(VadaBoostClassifier, variance_penalty=3.0, step="exact"),
}

SPICE = [0.0, -0.0, 1.0, -1.0, np.nan, 1e308, -1e308, 5e-324, 1e-300, np.nextafter(1.0, 2.0), 0.1, 2**53 + 1.0]


@st.composite
def tables(draw, n_classes=2):
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    values = st.sampled_from(SPICE) | st.integers(-3, 3).map(float) | st.floats(-1e6, 1e6)
    X = draw(hnp.arrays(np.float64, (n, d), elements=values))
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))]  # duplicates
    kind = draw(st.sampled_from([np.float64, np.float64, np.float32, np.int8, np.int64, np.uint16, "sparse"]))
    if kind == "sparse":
        X = sparse.csr_matrix(X)
    else:
        if np.dtype(kind).kind != "f":
            X = np.clip(np.nan_to_num(X), 0, 100)
        with np.errstate(over="ignore"):  # float32 has no 1e308: infinities, which must be refused
            X = X.astype(kind, copy=False)
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, n_classes - 1)))
    y[:2] = 0, 1  # two classes at least, perhaps one row each
    scales = st.sampled_from([0.0, 1.0, 2.0, 0.3, 1e-12, 1e12, 1e-30, 1e30])
    weights = draw(st.none() | hnp.arrays(np.float64, n, elements=scales))
    return X, y, weights


@pytest.mark.parametrize("name", MAKES)
@settings(max_examples=10)
@given(table=tables())
def test_finite_or_one_sentence(name, table):
    check(name, *table)


BY_CLASS = ["AdaBoostM2", "AdaBoostMR", "AdaBoostMH", "LogitBoost", "VadaBoost"]


@pytest.mark.parametrize(
    "name", [*(f"{n}Classifier" for n in BY_CLASS), "mh_real", "mh_sum_alpha", "mh trees", "penalty beyond one"]
)
@settings(max_examples=15)
@given(table=tables(n_classes=3))
def test_three_classes(name, table):
    check(name, *table)


def check(name, X, y, weights):
    finite = not np.isinf(X.data if sparse.issparse(X) else X).any()
    model = MAKES[name](n_estimators=4)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*kept no voter")
            warnings.filterwarnings("ignore", message=".*no vote with a positive soft margin")
            model.fit(X, y, weights)
    except ValueError as error:
        sentence = str(error)
        assert sentence.strip()
        assert "\n" not in sentence
        known = ("class", "infinity", "zero", "too large", "nu=", "hold out", "categories", "categorical")
        assert not finite or any(word in sentence for word in known), sentence
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = [model.decision_function(X), *model.staged_decision_function(X)]
        P = model.predict_proba(X)
    assert all(np.isfinite(F).all() for F in scores)
    assert np.isfinite(P).all()
    assert np.allclose(P.sum(axis=1), 1)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    known = np.isin(y, model.classes_)  # all of a class's rows may weigh nothing
    assert np.isfinite(model.margins(X[known], y[known])).all()
    assert np.isfinite(model.feature_importances_).all()
    assert all(np.isfinite(column).all() for column in model.history_.values())
