"""The penalty that is estimated anew every round: its formula, its objective, its end."""

from math import log, sqrt

import numpy as np
import pytest

from boostlab import DecisionStump, EBBoostClassifier, VadaBoostClassifier
from boostlab.backend.cpu.masses import Masses
from boostlab.boosters.vadaboost import FixedPointVadaBoost
from boostlab.data.table import Bins, Table
from tables import training_of

TAU = sqrt(2 * log(2 / 0.05))


def penalised(lam, y, F):
    w = np.exp(-y * F)
    w /= w.sum()
    return lam * len(w) * w**2 + (1 - lam) * w


@pytest.mark.parametrize("make", [VadaBoostClassifier, EBBoostClassifier])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_round(data, replay, make, weighted):
    X, codes = data(seed=1, n=120)
    y = 2.0 * codes - 1
    mass = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    n = mass.sum()
    model = make(variance_penalty="fixed_point", n_estimators=40).fit(X, codes, mass)
    assert model.n_estimators_ == 40
    lams, objectives = model.history_["variance_penalty"], model.history_["objective"]
    assert lams[0] == 1.0  # all losses are alike, and u is uniform whatever lambda
    for t, (before, _, _, after) in enumerate(replay(model, X)):
        e = np.exp(-y * before)
        mean, sd = np.average(e, weights=mass), sqrt(np.cov(e, fweights=mass.astype(int), ddof=1))
        if t:
            assert lams[t] == pytest.approx(min(1.0, TAU * mean * sqrt(n) / ((n - 1) * sd)), rel=1e-10)
        e = np.exp(-y * after)
        mean, sd = np.average(e, weights=mass), sqrt(np.cov(e, fweights=mass.astype(int), ddof=1))
        assert objectives[t] == pytest.approx(mean + TAU * sd / sqrt(n), rel=1e-11)
    assert 0 < lams[-1] < 1
    assert model.variance_penalty_ == lams[-1]


def test_the_gradients_are_parallel(data):
    # The reason for the formula: mean + tau sd / sqrt(n) and the cost (3) pull at F in the same direction.
    X, codes = data(seed=2, n=90)
    y, n = 2.0 * codes - 1, 90
    model = VadaBoostClassifier(variance_penalty="fixed_point", n_estimators=12).fit(X, codes)
    F = list(model.staged_decision_function(X))[10]
    e = np.exp(-y * F)
    lam, sd = model.history_["variance_penalty"][11], e.std(ddof=1)
    svp = -y * e * (1 / n + TAU / sqrt(n) * (e - e.mean()) / ((n - 1) * sd))  # derivatives by F
    cost = -2 * y * e * ((1 - lam) * e.sum() + lam * n * e)
    np.testing.assert_allclose(svp / np.linalg.norm(svp), cost / np.linalg.norm(cost), rtol=0, atol=1e-12)


def test_each_round_is_a_round_of_its_own_penalty(data, replay):
    X, codes = data(seed=3, n=100)
    y = 2.0 * codes - 1
    model = VadaBoostClassifier(variance_penalty="fixed_point", n_estimators=20).fit(X, codes)
    for lam, (before, h, alpha, _) in zip(model.history_["variance_penalty"], replay(model, X), strict=True):
        u = penalised(lam, y, before)
        assert alpha == pytest.approx(0.25 * log(u[h == y].sum() / u[h != y].sum()), rel=1e-9)


@pytest.mark.parametrize(
    ("make", "params"),
    [(VadaBoostClassifier, {}), (VadaBoostClassifier, {"step": "exact"}), (EBBoostClassifier, {})],
    ids=["bound", "exact", "ebboost"],
)
def test_the_objective_falls_wherever_lambda_is_not_cut(data, make, params):
    # mean + tau sd / sqrt(n) is concave in mean^2 and variance, and the cost that a round lowers is its tangent there.
    for seed in range(4):
        X, codes = data(seed=seed, n=80, noise=0.3)
        model = make(variance_penalty="fixed_point", n_estimators=100, **params).fit(X, codes)
        falls = np.diff(model.history_["objective"]) < 0
        assert falls[model.history_["variance_penalty"][1:] < 1].all()
        assert falls.sum() > 90


def test_it_ends_when_the_penalised_loss_rises(data):
    # A confidence so high that lambda is always cut to 1, where the objective may rise.
    X, codes = data(seed=3, n=60, noise=0.3, d=2)
    rows = Masses(60)
    rule = FixedPointVadaBoost(patience=4, delta=1e-300)
    training = training_of(rule, DecisionStump(), Table.of(X, Bins.fit(X, rows)), rows, codes, 2, horizon=500)
    stop = training.run(500)
    objectives = [r.facts["objective"] for r in training.state.rounds]
    assert {r.facts["variance_penalty"] for r in training.state.rounds} == {1.0}
    assert str(stop) == "patience: no lower penalised loss in 4 rounds"
    assert len(objectives) == int(np.argmin(objectives)) + 1 + 4


@pytest.mark.parametrize("make", [VadaBoostClassifier, EBBoostClassifier])
def test_separable_samples_stay_finite(make):
    X = np.arange(40.0)[:, None]
    y = ((X[:, 0] // 10) % 2).astype(int)
    model = make(variance_penalty="fixed_point", n_estimators=400).fit(X, y)
    assert all(np.isfinite(column).all() for column in model.history_.values())
    assert model.score(X, y) == 1.0
