"""EBBoost: exact minimisation of the variance-penalised cost over all stumps."""

from math import log

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from boostlab import AdaBoostClassifier, DecisionTree, EBBoostClassifier


def cost(lam, y, F):
    """(sum e)^2 + lambda (n sum e^2 - (sum e)^2)."""
    e = np.exp(-y * F)
    return e.sum() ** 2 + lam * (len(e) * (e**2).sum() - e.sum() ** 2)


def brute_force(lam, w, y, H):
    """min over alpha of cost (4), A and B of every stump in H, from the definitions of the specification."""
    n = len(y)
    right = y * H > 0
    W_I, S_I = right @ w, right @ w**2
    W_J, S_J = ~right @ w, ~right @ w**2
    A = (1 - lam) * W_I**2 + lam * n * S_I
    B = (1 - lam) * W_J**2 + lam * n * S_J
    return np.sqrt(A * B) + (1 - lam) * W_I * W_J, A, B


@pytest.mark.parametrize("factor", [1, 2])
def test_the_ends_of_the_range_are_adaboost(data, same_stumps, factor):
    # lambda = 0: AdaBoost.  lambda = 1: the cost is n sum exp(-2 y F), so AdaBoost with F halved.
    X, y = data(seed=1, n=100)
    ada = AdaBoostClassifier(n_estimators=60).fit(X, y)
    eb = EBBoostClassifier(variance_penalty=factor - 1.0, n_estimators=60).fit(X, y)
    assert same_stumps(ada, eb)
    for F, G in zip(ada.staged_decision_function(X), eb.staged_decision_function(X), strict=True):
        np.testing.assert_allclose(G, F / factor, rtol=0, atol=1e-12)


@pytest.mark.parametrize("lam", [0.3, 0.7, 1.5, 5.0])
def test_the_cost_falls_and_alpha_minimises_it(data, replay, lam):
    X, codes = data(seed=2, n=90)
    y = 2.0 * codes - 1
    model = EBBoostClassifier(variance_penalty=lam, n_estimators=40).fit(X, codes)
    J = cost(lam, y, np.zeros(len(y)))
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        grid = alpha + np.linspace(-0.5, 0.5, 401)  # fine, and alpha is a point of it
        values = np.array([cost(lam, y, before + a * h) for a in grid])
        assert abs(int(values.argmin()) - 200) <= 1
        now = cost(lam, y, after)
        assert now <= values.min() * (1 + 1e-12)
        assert now < J
        assert model.history_["objective"][t] == pytest.approx(now / len(y) ** 2, rel=1e-10)
        J = now
    assert model.n_estimators_ == 40


@pytest.mark.parametrize("lam", [0.0, 0.3, 1.0, 1.5, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_brute_force_agrees(data, all_stumps, replay, lam, seed):
    X, codes = data(seed=seed, n=30, d=3, noise=0.2)
    X = np.round(X, 1)  # with equal values
    y = 2.0 * codes - 1
    pool = all_stumps(X)
    model = EBBoostClassifier(variance_penalty=lam, n_estimators=5).fit(X, codes)
    assert model.n_estimators_ == 5
    for t, (before, h, alpha, _) in enumerate(replay(model, X)):
        w = np.exp(-y * before)
        w /= w.sum()
        score, A, B = brute_force(lam, w, y, pool.H)
        stump = model.estimators_[t]
        mine = np.flatnonzero((pool.feature == stump.feature) & np.isclose(pool.threshold, stump.threshold))
        assert len(mine) == 1
        k = int(mine[0])
        assert score[k] <= score.min() * (1 + 1e-12)
        # Two exact ties in a table of tenths: the first feature and cut win.
        assert k == np.flatnonzero(score <= score.min() * (1 + 1e-13))[0]
        up = A[k] >= B[k]
        assert (h == (pool.H[k] if up else -pool.H[k])).all()
        assert alpha == pytest.approx(0.25 * abs(log(A[k] / B[k])), rel=1e-10)


def test_only_the_ends_of_the_range_are_adaboosts_vote(data):
    X, y = data(seed=3, n=100)
    ada = AdaBoostClassifier(n_estimators=40).fit(X, y).margins(X, y)
    for lam in (0.0, 0.5, 1.0, 5.0):
        margins = EBBoostClassifier(variance_penalty=lam, n_estimators=40).fit(X, y).margins(X, y)
        assert (np.abs(margins - ada).max() < 1e-12) == (lam in (0.0, 1.0))


def test_sample_weights_replace_n(data, all_stumps, replay):
    # n S_I becomes the sum of w_i^2 / D_i.
    X, codes = data(seed=4, n=40)
    y, lam = 2.0 * codes - 1, 0.6
    mass = np.random.default_rng(0).uniform(0.3, 2.0, len(y))
    D = mass / mass.sum()
    H = all_stumps(X).H
    model = EBBoostClassifier(variance_penalty=lam, n_estimators=8).fit(X, codes, mass)
    for before, h, alpha, _ in replay(model, X):
        w = D * np.exp(-y * before)
        w /= w.sum()
        scores = []
        for votes in (h, *H):
            right = votes == y
            A = (1 - lam) * w[right].sum() ** 2 + lam * (w**2 / D)[right].sum()
            B = (1 - lam) * w[~right].sum() ** 2 + lam * (w**2 / D)[~right].sum()
            scores.append((np.sqrt(A * B) + (1 - lam) * w[right].sum() * w[~right].sum(), A, B))
        assert scores[0][0] == pytest.approx(min(s for s, _, _ in scores[1:]), rel=1e-11)
        assert alpha == pytest.approx(0.25 * log(scores[0][1] / scores[0][2]), rel=1e-10)


@pytest.mark.parametrize("learner", [LogisticRegression(), DecisionTree()], ids=lambda e: type(e).__name__)
def test_learners_that_cannot_enumerate_are_refused(data, learner):
    X, y = data()
    with pytest.raises(ValueError, match="VadaBoostClassifier") as told:
        EBBoostClassifier(learner).fit(X, y)
    sentence = str(told.value)
    assert "EBBoostClassifier" in sentence
    assert type(learner).__name__ in sentence
    assert "'svp'" in sentence
