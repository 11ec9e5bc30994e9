"""scikit-learn's conventions, for every registered booster."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boostlab
from boostlab.boosters import REGISTRY, REGRESSORS
from checks import check_all
from tables import noisy_table

BOOSTERS = [entry.cls for entry in REGISTRY.values()]


# Weights of 1000 to 0.0001 on 50 rows: beyond the last row of the heavy class the exact stump finds a pure region of
# the light one (8 % of the training rows, 18 % of the test rows; the check allows 13 %).  What class weights must do is
# tested in test_real_tables.py.
NOT_DUE = {"check_class_weight_classifiers": "an exact stump may give the light class a region of its own"}
MEETS_IT = {"GentleBoostClassifier", "RQPBoostClassifier", *REGRESSORS}  # others may, and need not

# AdaBoost.M1's voters must be right on more than half of the weight: no stump is, on three classes of noise.
SETTINGS = {"AdaBoostM1Classifier": {"max_leaf_nodes": 8}}
# Conventions hold after few rounds as after a hundred, for which the checks would take four times as long.  Some checks
# ask for a score that these do not reach so soon.
SETTINGS |= {"GentleBoostClassifier": {"n_estimators": 8}}
SETTINGS |= {name: {"n_estimators": 15} for name in ("L2BoostRegressor", "RQPBoostClassifier")}
SETTINGS |= {name: {"n_estimators": 10} for name in ("SoftBoostClassifier", "TotalBoostClassifier")}
CHECKED = [
    entry.cls(**{"n_estimators": 3, **SETTINGS.get(name, {})}) for name, entry in (REGISTRY | REGRESSORS).items()
]
CHECKED += [boostlab.AdaBoostClassifier()]  # as it comes
# These two fit to every format of scipy, as matrix and as array: a third of the time of all checks.  Tables are read
# before a booster sees them, so that one booster of every kind of training does; test_sparse.py looks at all of them.
SPARSE = {"check_estimator_sparse_matrix", "check_estimator_sparse_array"}
READ_BY = {"AdaBoostClassifier", "AdaBoostMHClassifier", "LogitBoostClassifier", "LPBoostClassifier", *REGRESSORS}


@pytest.mark.filterwarnings("ignore:LPBoostClassifier found no vote with a positive soft margin")
@pytest.mark.parametrize("estimator", CHECKED, ids=lambda e: f"{type(e).__name__}({e.n_estimators})")
def test_check_estimator(estimator):
    name = type(estimator).__name__
    due = name in MEETS_IT
    check_all(
        estimator,
        without=frozenset() if name in READ_BY else SPARSE,
        excused=lambda check, error: not due and check in NOT_DUE and isinstance(error, AssertionError),
    )


@pytest.mark.parametrize("cls", BOOSTERS)
def test_lives_in_pipelines_and_searches(cls):
    X, y = noisy_table(flips=0)
    pipe = make_pipeline(StandardScaler(), cls(n_estimators=8))
    scores = cross_validate(pipe, X, y, cv=3, error_score="raise")["test_score"]
    assert scores.mean() > 0.6
    name = pipe.steps[-1][0]
    search = GridSearchCV(pipe, {f"{name}__n_estimators": [2, 4]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_params_[f"{name}__n_estimators"] in (2, 4)


@pytest.mark.parametrize("cls", BOOSTERS)
def test_copies_predict_the_same(cls, table):
    X, y = table
    model = cls(n_estimators=10, warm_start=True).fit(X, y)
    longer = cls(n_estimators=14).fit(X, y).decision_function(X)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(twin.decision_function(X), model.decision_function(X))
        # A copy has no live training: going on from it starts anew and must end at the same model.
        assert np.array_equal(twin.set_params(n_estimators=14).fit(X, y).decision_function(X), longer)


@pytest.mark.parametrize("cls", BOOSTERS)
def test_parameters_round_trip(cls):
    model = cls(n_estimators=7, random_state=3)
    params = model.get_params()
    assert clone(model).get_params() == params
    assert {"estimator", "early_stopping", "n_jobs", "max_bins"} <= set(params)
    with pytest.raises(TypeError, match="rounds"):
        cls(rounds=3)


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda d: pl.DataFrame(d)], ids=["pandas", "polars"])
def test_frames_keep_their_column_names(frame, table):
    X, y = table
    names = [f"c{j}" for j in range(X.shape[1])]
    data = frame(dict(zip(names, X.T, strict=True)))
    model = boostlab.AdaBoostClassifier(n_estimators=10).fit(data, y)
    assert list(model.feature_names_in_) == names
    assert np.array_equal(model.predict(data), boostlab.AdaBoostClassifier(n_estimators=10).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(data[names[::-1]])


@pytest.mark.parametrize("cls", [*BOOSTERS, *(entry.cls for entry in REGRESSORS.values())])
def test_docstrings_are_complete(cls):
    assert "{shared}" not in cls.__doc__
    for section in ("Parameters\n", "Attributes\n", "Examples\n"):
        assert section in cls.__doc__
    for name in cls().get_params(deep=False):
        assert re.search(rf"^(\w+, )*{name}(, \w+)* :", cls.__doc__, re.M), f"{cls.__name__} does not document {name}"


def test_public_names_are_there():
    for name in boostlab.__all__:
        assert getattr(boostlab, name) is not None
    assert set(REGISTRY | REGRESSORS) <= set(boostlab.__all__), "a registered booster is not public"
    with pytest.raises(AttributeError, match="no attribute 'AdaBost'"):
        boostlab.AdaBost  # noqa: B018
