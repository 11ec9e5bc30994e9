"""Early stopping by a smooth measure, rates that suit trees, votes that degenerate, the time of a whole fit."""

import time
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from boostlab import (
    AdaBoostClassifier,
    DecisionTree,
    GentleBoostClassifier,
    L2BoostClassifier,
    LogitBoostClassifier,
    LPBoostClassifier,
    RLPBoostClassifier,
    SoftBoostClassifier,
)
from boostlab.backend import Masses
from boostlab.engine.measures import ScaledLogLoss
from tables import noisy_table

TREE = DecisionTree(max_depth=2)


def smallest_loss(F, codes, weight):
    """The scaled log loss by a search over the factor."""
    K, n = F.shape[1], weight.sum()
    sure = (n + 1) / (n + 2)

    def loss(log_factor):
        L = log_softmax(np.exp(log_factor) * F, axis=1)
        true = L[np.arange(len(codes)), codes]
        return -weight @ (sure * true + (1 - sure) / (K - 1) * (L.sum(axis=1) - true)) / n

    found = minimize_scalar(loss, bounds=(-20, 20), method="bounded", options=dict(xatol=1e-9))
    return min(found.fun, np.log(K))


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_the_scaled_log_loss_is_the_smallest_over_all_factors(K, scale):
    rng = np.random.default_rng(K)
    F, codes = scale * rng.normal(size=(300, K)), rng.integers(0, K, 300)
    F[np.arange(300), codes] += scale
    F -= F.mean(axis=1, keepdims=True)
    rows = Masses(300)
    measure = ScaledLogLoss()
    given = F if K > 2 else F[:, 1]  # two classes: one score, whose opposite is the other's
    for shrunk in (1.0, 0.5):  # the second begins where the first ended
        assert measure(rows, codes, shrunk * given) == pytest.approx(smallest_loss(F, codes, np.ones(300)), abs=1e-7)
    assert measure(rows, codes, -10 * given) == pytest.approx(np.log(K), abs=1e-6)  # no factor helps
    assert measure(rows, codes, given) == pytest.approx(smallest_loss(F, codes, np.ones(300)), abs=1e-7)


def test_separated_rows_have_a_finite_factor():
    y = np.arange(50) % 2
    loss = ScaledLogLoss()(Masses(50), y, np.where(y == 1, 1e-3, -1e-3))
    assert 0 < loss < 0.12


def test_what_early_stopping_follows():
    X, y = noisy_table(200)
    stops = AdaBoostClassifier(n_estimators=8, early_stopping=True, random_state=0)
    curve = stops.fit(X, y).history_["validation_score"]
    same = stops.set_params(scoring="scaled_log_loss").fit(X, y).history_["validation_score"]
    np.testing.assert_array_equal(curve, same)
    logit = LogitBoostClassifier(n_estimators=8, early_stopping=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        logit.history_["validation_score"], logit.set_params(scoring="log_loss").fit(X, y).history_["validation_score"]
    )
    looks_on = AdaBoostClassifier(n_estimators=8).fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert looks_on.history_["validation_score"][-1] == np.mean(looks_on.predict(X[1::2]) != y[1::2])


def test_patience_follows_the_rate_unless_it_is_set():
    X, y = noisy_table(300, seed=3)
    for rate, patience in ((1.0, 30), (0.05, 100)):
        model = AdaBoostClassifier(n_estimators=3000, learning_rate=rate, early_stopping=True, random_state=0).fit(X, y)
        assert f"no better validation score in {patience} rounds" in model.stop_reason_
    model.set_params(n_iter_no_change=4).fit(X, y)
    assert "no better validation score in 4 rounds" in model.stop_reason_


def test_trees_have_a_rate_that_suits_them_unless_one_is_set():
    X, y = noisy_table(150)
    few = dict(n_estimators=3)
    for make in (LogitBoostClassifier, GentleBoostClassifier):
        assert make(**few).fit(X, y).learning_rate_ == 1.0
        assert make(max_leaf_nodes=2, **few).fit(X, y).learning_rate_ == 1.0
        for trees in (
            dict(max_leaf_nodes=8),
            dict(max_depth=3),
            dict(estimator="tree"),
            dict(estimator=DecisionTree()),
        ):
            model = make(**trees, **few).fit(X, y)
            assert model.learning_rate_ == 0.1
            assert model.estimator_weights_.max() <= 0.1
        assert make(max_depth=3, learning_rate=0.7, **few).fit(X, y).learning_rate_ == 0.7
    assert AdaBoostClassifier(max_depth=3, **few).fit(X, y).learning_rate_ == 1.0
    assert AdaBoostClassifier(max_depth=3, algorithm="real", **few).fit(X, y).learning_rate_ == 0.1
    with pytest.raises(AttributeError):
        AdaBoostClassifier().learning_rate_  # noqa: B018


def said(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]


def test_a_vote_that_degenerates_says_so_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), rng.random(120) < 0.3
    (soft,) = said(lambda: LPBoostClassifier(nu=0.02, n_estimators=4).fit(X, y))
    assert "LPBoostClassifier found no vote with a positive soft margin" in soft
    assert "raise nu=0.02" in soft
    assert "positive soft margin" in said(lambda: SoftBoostClassifier(nu=0.02, n_estimators=4).fit(X, y))[0]
    (single,) = said(lambda: LPBoostClassifier(C=1e-4).fit(X, y))
    assert "kept a single voter" in single
    halves = np.arange(120)[:, None] % 2
    rare = (np.arange(120) % 10 < 2) | ((halves[:, 0] == 1) & (np.arange(120) % 10 < 5))
    (same,) = said(lambda: L2BoostClassifier(n_estimators=2).fit(halves, rare))
    assert "predicts the same class for every row" in same
    assert "30 % of the rows are of others" in same
    assert said(lambda: L2BoostClassifier(n_estimators=1).fit(X, np.arange(120) < 2)) == []  # a rare class
    assert said(lambda: AdaBoostClassifier(n_estimators=1).fit(X, X[:, 0] > 0)) == []
    assert said(lambda: AdaBoostClassifier().fit(X, X[:, 0] > 0)) == []  # one voter is perfect
    three = said(lambda: LPBoostClassifier(nu=0.02, n_estimators=4).fit(X, rng.integers(0, 3, 120)))
    assert len(three) == 1
    assert "in 3 of 3 binary problems" in three[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_time_limit_is_that_of_the_whole_fit():
    # Three binary problems and five folds of each: 18 trainings, each of which would take longer than the limit.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 8)), rng.integers(0, 3, 3000)
    for make in (LPBoostClassifier(nu=0.7, tol=1e-9), RLPBoostClassifier(nu=0.7, n_estimators=5000)):
        model = make.set_params(time_limit=0.5, calibrate="sigmoid")
        start = time.perf_counter()
        model.fit(X, y)
        assert time.perf_counter() - start < 2 * 0.5 + 1
        assert "time_up" in model.stop_reason_ or "solver_failed" in model.stop_reason_
