"""Corrective boosters on tables that make their programs degenerate: a vote, a named stop, and honest facts."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from boostlab import (
    ERLPBoostClassifier,
    LPBoostClassifier,
    RLPBoostClassifier,
    RQPBoostClassifier,
    SoftBoostClassifier,
    TotalBoostClassifier,
)
from boostlab.contract import STOP_CODES
from boostlab.solvers.soft_margin import soft_margin

MAKERS = {
    "lp": lambda nu: LPBoostClassifier(nu=nu),
    "price": lambda nu: LPBoostClassifier(C=nu / 2),
    "erlp": lambda nu: ERLPBoostClassifier(nu=nu, tol=0.02),
    "soft": lambda nu: SoftBoostClassifier(nu=nu, tol=0.02),
    "total": lambda nu: TotalBoostClassifier(tol=0.02),
    "rlp": lambda nu: RLPBoostClassifier(nu=nu, n_estimators=30),
    "rqp": lambda nu: RQPBoostClassifier(C=nu, n_estimators=30),
}


@st.composite
def tables(draw):
    """Few rows, fewer different values, labels that need not follow from them, weights of all sizes."""
    n = draw(st.integers(4, 25))
    d = draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**31))
    values = draw(st.sampled_from([1, 2, 3, 50]))  # 1: all rows are the same
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, size=(n, d)).astype(float)
    y = (rng.random(n) < draw(st.sampled_from([0.05, 0.5, 0.9]))).astype(int)
    y[:2] = 0, 1
    if draw(st.booleans()):
        X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    if draw(st.booleans()):
        X, y = np.vstack([X, X]), np.concatenate([y, 1 - y])  # every row with both labels
    weight = draw(st.sampled_from([None, "shares", "wide"]))
    mass = None
    if weight == "shares":
        mass = rng.dirichlet(np.ones(len(y))) + 1e-6
    elif weight == "wide":
        mass = 10.0 ** rng.uniform(-4, 4, len(y))
    nu = draw(st.floats(0.0, 1.0)) * (1 - 1 / len(y)) + 1 / len(y)
    return X, y, mass, min(nu * (1 + 1e-9), 1.0)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(table=tables())
@pytest.mark.parametrize("name", MAKERS)
def test_any_table_gives_a_vote_and_a_reason(name, table):
    X, y, mass, nu = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # no voter has an edge where all rows are the same
        warnings.simplefilter("error", RuntimeWarning)
        model = MAKERS[name](nu).fit(X, y, mass)
    code = model.stop_reason_.split(":")[0]
    assert code in STOP_CODES
    assert code not in ("solver_failed", "max_rounds") or name in ("rlp", "rqp")
    assert not model.stop_reason_.startswith("solver_failed")
    F = model.decision_function(X)
    assert np.isfinite(F).all()
    assert (model.estimator_weights_ >= 0).all()
    if model.n_estimators_ and name in ("lp", "erlp", "soft", "total"):
        assert model.estimator_weights_.sum() == pytest.approx(1.0)
        m = np.ones(len(y)) if mass is None else mass
        cap = np.inf if name == "total" else 1 / (nu * m.sum())
        value = soft_margin((2 * y - 1) * F, m, cap)
        assert model.history_["objective"][-1] == pytest.approx(value, abs=1e-6)
        assert model.history_["duality_gap"][-1] <= (1e-5 if name == "lp" else 0.0201)
