"""The sphere of the AR-Boost paper (section 3.2, Figure 5): when relaxing the weak learning assumption helps.

The figure shows AdaBoost with stumps at a standstill (every error 1/2) and AR-Boost with rho = 5 learning.  Stumps that
fit the weights exactly cannot show that: there AdaBoost learns well, and AR-Boost at rho = 5 takes every voter back in
the next round.  Stumps that may vote +1 on one side only, trained on drawn rows, do: AdaBoost soon meets an error of
1/2 and ends, AR-Boost goes on.  Even then its loss rises in the end, so that it needs a validation set to stop by.
"""

import numpy as np
import pytest

from boostlab import AdaBoostClassifier, ARBoostClassifier, DecisionStump
from boostlab.datasets import chi2_spheres

DRAWN = {"estimator": DecisionStump(polarity="+"), "resample": True, "max_restarts": 0, "random_state": 0}


@pytest.fixture(params=[0, 1, 2])
def seed(request):
    return request.param


def errors(model, X, y):
    """The error after every round."""
    return np.array([np.mean(p != y) for p in model.staged_predict(X)])


def test_exact_stumps_are_not_the_figures(seed):
    (X, y), (X_test, y_test) = chi2_spheres(2000, seed), chi2_spheres(10_000, 1000 + seed)
    ada = errors(AdaBoostClassifier(n_estimators=200).fit(X, y), X_test, y_test)
    assert ada[0] > 0.44
    assert ada[-1] < 0.2  # 0.18 to 0.19
    model = ARBoostClassifier(rho=5.0, n_estimators=50).fit(X, y)
    assert model.history_["complements"][-1] == 49
    assert errors(model, X_test, y_test).min() > 0.44


def test_adaboost_stalls_and_ar_boost_learns(seed):
    (X, y), (X_test, y_test) = chi2_spheres(2000, seed), chi2_spheres(10_000, 1000 + seed)
    X_val, y_val = chi2_spheres(2000, 500 + seed)
    ada = AdaBoostClassifier(n_estimators=200, **DRAWN).fit(X, y)
    assert ada.stop_reason_.startswith("no_edge: weighted error 0.5")
    assert ada.n_estimators_ < 100
    ar = ARBoostClassifier(rho=1.5, n_estimators=200, early_stopping=True, n_iter_no_change=60, **DRAWN)
    ar.fit(X, y, X_val=X_val, y_val=y_val)
    stalled, learned = 1 - ada.score(X_test, y_test), 1 - ar.score(X_test, y_test)
    assert 0.32 < stalled < 0.38
    assert learned < stalled - 0.02


def test_errors_beyond_one_half_are_taken_up_to_the_limit(seed):
    X, y = chi2_spheres(2000, seed)
    model = ARBoostClassifier(rho=1.2, n_estimators=280, **DRAWN).fit(X, y)
    error = model.history_["error"]
    assert (error >= 0.5).sum() >= 5
    assert error.max() < 1.2 / 2.2
    np.testing.assert_allclose(model.estimator_weights_, 0.5 * np.log(1.2 * (1 - error) / error), rtol=1e-9)
    # Equation (10): the loss is the product of Z = (rho^(-1/2) + rho^(1/2)) sqrt(eps (1 - eps)).
    Z = (1.2**-0.5 + 1.2**0.5) * np.sqrt(error * (1 - error))
    np.testing.assert_allclose(np.cumprod(Z), model.history_["objective"], rtol=1e-9)
    assert Z.max() > 1 > Z.min()  # forgiven errors raise the training loss
