"""The bound that LPBoost minimises: its terms written out, its B against the program, and what it assumes."""

from math import log

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, LPBoostClassifier, theory


def test_written_out():
    v, a, C, delta = np.array([1.5, 0.2, -0.4, 1.0]), [0.7, 0.0, 0.5], 2.0, 0.1
    B = 0.7 + 0.5 + 2.0 * (0.8 + 1.4)
    found = theory.lpboost_bound(v, a, C, delta, constant=3.0)
    assert found.terms["B"] == pytest.approx(B, rel=1e-12)
    assert found.value == pytest.approx(3 * (log(4) / 4 * B**2 * log(4 * B) + log(10) / 4), rel=1e-12)
    assert found.constants_unverified
    assert found.vacuous


def test_lpboost_has_the_smallest_B(data):
    X, codes = data
    y = 2.0 * codes - 1
    lp = LPBoostClassifier(C=1.0).fit(X, codes)
    assert lp.stop_reason_.startswith("tolerance")
    B = theory.lpboost_bound(y * lp.decision_function(X), lp.estimator_weights_).terms["B"]
    assert pytest.approx(lp.history_["objective"][-1], rel=1e-6) == B
    ada = AdaBoostClassifier(n_estimators=30).fit(X, codes)
    for scale in (0.3, 1.0, 3.0):
        F, w = scale * ada.decision_function(X), scale * ada.estimator_weights_
        assert theory.lpboost_bound(y * F, w).terms["B"] >= B - 1e-6


def test_assumptions_and_refusals():
    v = np.ones(50)
    assert not theory.lpboost_bound(v, [0.5], C=0.5).holds
    assert theory.lpboost_bound(v, [-0.5]).value == np.inf
    assert theory.lpboost_bound(np.ones(10**6), [1.0]).value < 0.001
    for wrong, cause in (({"delta": 2}, "delta=2"), ({"C": 0}, "C=0"), ({"constant": -1}, "constant=-1")):
        with pytest.raises(ValueError, match=cause):
            theory.lpboost_bound(v, [1.0], **wrong)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, ((X[:, 0] + X[:, 1] > 0) ^ (rng.random(80) < 0.1)).astype(int)
