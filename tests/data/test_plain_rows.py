"""A plain array of floats is predicted as it is; whatever else it may be is checked as ever."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import validation

from boostlab import AdaBoostClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture
def checks(monkeypatch):
    """Count what scikit-learn is asked to check."""
    seen = []
    monkeypatch.setattr("boostlab.data.input_tables.validate_data", lambda *a, **k: seen.append(1) or _real(*a, **k))
    return seen


_real = validation.validate_data


def test_some_rows_of_floats_are_not_checked_again(checks):
    model = AdaBoostClassifier(n_estimators=5).fit(X, Y)
    checks.clear()
    for rows in (X, X[:1], X[::2], np.asfortranarray(X), X.astype(np.float32)):
        model.predict_proba(rows)
    assert not checks


@pytest.mark.parametrize(
    "rows",
    [X.tolist(), X.astype(int), np.where(X > 2, np.nan, X), np.ma.masked_array(X), X.astype(np.longdouble)],
    ids=["list", "integers", "missing", "masked", "long"],
)
def test_other_tables_are(rows, checks):
    model = AdaBoostClassifier(n_estimators=5).fit(X, Y)
    checks.clear()
    model.predict(rows)
    assert checks


@pytest.mark.parametrize(
    "wrong", [X[0], X[:, :2], X[:0], np.full((2, 3), np.inf)], ids=["flat", "few", "none", "infinite"]
)
def test_what_is_wrong_is_said(wrong):
    with pytest.raises(ValueError, match=r"1D|2 features|0 sample|infinity"):
        AdaBoostClassifier(n_estimators=5).fit(X, Y).predict(wrong)
