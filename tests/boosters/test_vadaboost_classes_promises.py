"""VadaBoost of classes: promises that every booster keeps, and penalties that the data decide."""

from math import log, sqrt

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import boostlab
from boosters.vadaboost_of_classes import FewVada, coded, losses, rounds
from boostlab import VadaBoostClassifier
from boostlab.backend.cpu.masses import Masses
from boostlab.boosters import selection
from boostlab.data.sample import Sample

# -- what every booster owes -----------------------------------------------------------------------------------------

FORMS = pytest.mark.parametrize(
    "params",
    [
        {"variance_penalty": 0.3},
        {"variance_penalty": 0.3, "step": "exact"},
        {"variance_penalty": 4.0, "step": "exact"},
        {"variance_penalty": "fixed_point"},
    ],
    ids=["bound", "exact", "beyond", "fixed_point"],
)


@FORMS
def test_weights_are_copies_and_the_order_of_rows_does_not_matter(data, params):
    X, y = data(seed=7, n=80, n_classes=4)
    k = np.random.default_rng(7).integers(0, 4, 80)
    order = np.random.default_rng(8).permutation(k.sum())
    for leaves in (None, 5):
        make = lambda: VadaBoostClassifier(max_leaf_nodes=leaves, n_estimators=15, **params)  # noqa: B023, E731
        one, two = make().fit(X, y, k), make().fit(X.repeat(k, axis=0)[order], y.repeat(k)[order])
        assert np.array_equal(one.estimator_weights_, two.estimator_weights_)
        assert np.array_equal(one.decision_function(X), two.decision_function(X))


@FORMS
def test_going_on_and_coming_back_from_a_file(data, params, tmp_path):
    X, y = data(seed=3, n=120, n_classes=3)
    y = np.array(["ant", "bee", "cat"])[y]
    params = {"max_leaf_nodes": 4, "random_state": 0, **params}
    long = VadaBoostClassifier(n_estimators=20, **params).fit(X, y)
    grown = VadaBoostClassifier(n_estimators=3, warm_start=True, **params).fit(X, y)
    for n in (4, 11, 20):
        grown.set_params(n_estimators=n).fit(X, y)
    assert np.array_equal(long.estimator_weights_, grown.estimator_weights_)
    assert np.array_equal(long.decision_function(X), grown.decision_function(X))
    long.save(tmp_path / "model")
    back = boostlab.load(tmp_path / "model")
    assert np.array_equal(long.predict_proba(X), back.predict_proba(X))
    assert back.classes_.tolist() == ["ant", "bee", "cat"]
    assert back.variance_penalty_ == long.variance_penalty_


@FORMS
def test_real_classes(params):
    X, y = load_wine(return_X_y=True)
    names = np.array(["red", "rosé", "white"])[y]
    model = VadaBoostClassifier(max_leaf_nodes=3, n_estimators=40, **params).fit(X[::2], names[::2])
    assert model.score(X[1::2], names[1::2]) > 0.9
    P, F = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(F.sum(axis=1), 0, atol=1e-10)
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
    assert (model.classes_[F.argmax(axis=1)] == model.predict(X)).all()
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, P, atol=1e-12)


def test_early_stopping_any_classifier_and_a_lonely_class(data):
    X, y = data(seed=1, n=300, noise=0.3, n_classes=3)
    model = VadaBoostClassifier(
        max_leaf_nodes=4, n_estimators=300, early_stopping=True, n_iter_no_change=5, scoring="log_loss", random_state=0
    ).fit(X, y)
    assert model.stop_reason_.startswith("patience")
    assert model.n_estimators_ < 300
    X, y = load_iris(return_X_y=True)
    for learner in (GaussianNB(), KNeighborsClassifier(3)):
        model = VadaBoostClassifier(learner, n_estimators=5, random_state=0).fit(X[::2], y[::2])
        assert model.score(X[1::2], y[1::2]) > 0.9
    rows = [*range(100), 120]
    for resample in (False, True):
        model = VadaBoostClassifier(max_leaf_nodes=4, resample=resample, n_estimators=10, random_state=0)
        assert model.fit(X[rows], y[rows]).score(X[rows], y[rows]) >= 100 / 101
    with pytest.raises(ValueError, match=r'at least three rows of every class.*or use "fixed_point"'):
        VadaBoostClassifier(variance_penalty="auto").fit(X[rows], y[rows])


def test_a_perfect_voter_is_kept_with_sammes_floor_and_is_the_last():
    X, y = np.arange(9.0)[:, None], np.repeat(["a", "b", "c"], 3)
    for step in ("bound", "exact"):
        model = VadaBoostClassifier(step=step, max_leaf_nodes=3).fit(X, y)
        assert model.stop_reason_ == "perfect: round 1 makes no error"
        assert model.estimator_weights_[0] == pytest.approx(log(17) + log(2))


def test_many_rounds_stay_finite(data):
    X, y = data(seed=8, n=60, noise=0.2, n_classes=3)
    for params in ({}, {"step": "exact", "variance_penalty": 3.0}):
        model = VadaBoostClassifier(n_estimators=1000, **params).fit(X, y)
        assert model.n_estimators_ > 100
        assert all(np.isfinite(c).all() for c in model.history_.values())
        assert np.isfinite(model.predict_proba(X)).all()
        assert (np.diff(model.history_["objective"]) <= 0).all()


def test_what_cannot_work_is_refused(data):
    X, y = data(n_classes=3)
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\] with step"):
        VadaBoostClassifier(variance_penalty=2.0).fit(X, y)
    with pytest.raises(ValueError, match=r"can search the criterion 'labels'"):
        VadaBoostClassifier(boostlab.VoterPool()).fit(X, y)


# -- penalties that the data decide -----------------------------------------------------------------------------------


def clipped(codes, f):
    return np.minimum(losses(codes, f), np.e) / np.e


@pytest.mark.parametrize("step", ["bound", "exact"])
def test_the_choice_against_fits_of_its_own(step):
    K, rng = 3, np.random.default_rng(0)
    X = rng.integers(0, 4, size=(100, 4)).astype(float)  # few values: every part of it has the same bins
    score = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=100)
    y = np.searchsorted(np.quantile(score, [1 / 3, 2 / 3]), score)
    make = lambda lam, T: FewVada(  # noqa: E731
        variance_penalty=lam, step=step, max_leaf_nodes=3, n_estimators=T, random_state=4
    )
    model = make("auto", 5).fit(X, y)
    grid = [0.0, 0.4, 1.0, 3.0] if step == "exact" else [0.0, 0.4, 1.0]
    seed = int(np.random.RandomState(4).randint(2**31))
    fold = selection.folds(
        Sample(X, y, Masses(100, None), np.unique(y)), np.random.default_rng(seed).spawn(1)[0], "variance_penalty"
    )
    Z, scale = np.zeros((len(grid), 100)), (K - 1) ** 2 / K
    for i, lam in enumerate(grid):
        for k in range(5):
            inner = fold == (k + 1) % 5
            fewer, train, held = (fold != k) & ~inner, fold != k, fold == k
            lowest, at = 1 / np.e, 0
            trial = make(lam, 12).fit(X[fewer], y[fewer])
            for t, shown in enumerate(trial.staged_decision_function(X[inner]), start=1):
                loss = clipped(y[inner], shown * scale).mean()
                if loss < lowest - 1e-15:
                    lowest, at = loss, t
                elif t - at >= selection.PATIENCE:
                    break
            f = np.zeros((held.sum(), K))
            if at:
                f = make(lam, at).fit(X[train], y[train]).decision_function(X[held]) * scale
            Z[i, held] = clipped(y[held], f)
    price = log(2 * len(grid) / 0.05)
    bound = Z.mean(axis=1) + np.sqrt(2 * Z.var(axis=1, ddof=1) * price / 100) + 7 * price / (3 * 99)
    np.testing.assert_allclose(model.variance_penalty_curve_["bound"], bound, rtol=1e-9)
    assert model.variance_penalty_ == grid[int(bound.argmin())]


def test_the_fixed_point_is_that_of_the_losses(data):
    X, codes = data(seed=1, n=120, n_classes=3)
    model = VadaBoostClassifier(variance_penalty="fixed_point", max_leaf_nodes=3, n_estimators=20).fit(X, codes)
    tau, n = sqrt(2 * log(2 / 0.05)), 120
    lams, objectives = model.history_["variance_penalty"], model.history_["objective"]
    assert lams[0] == 1.0
    for t, (f, h, _, beta) in enumerate(rounds(model, X, codes)):
        e = losses(codes, f)
        if t:
            assert lams[t] == pytest.approx(min(1.0, tau * e.mean() * sqrt(n) / ((n - 1) * e.std(ddof=1))), rel=1e-9)
        e = losses(codes, f + beta * coded(h, 3))
        assert objectives[t] == pytest.approx(e.mean() + tau * e.std(ddof=1) / sqrt(n), rel=1e-10)
    assert 0 < lams[-1] < 1
