"""L1-regularised AdaBoost: both penalties against numeric minimisation."""

from math import atanh, exp, log

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from boostlab import AdaBoostClassifier, ArcGVClassifier, L1BoostClassifier

PENALTIES = ["multiplicative", "additive"]
both = pytest.mark.parametrize("penalty", PENALTIES)


def weights(y, F):
    """w_i proportional to exp(-y_i F_i)."""
    logs = -y * F
    w = np.exp(logs - logs.max())
    return w / w.sum()


def penalised(penalty, beta, y, F, S, mass=None):
    """The loss by its definition."""
    L = np.average(np.exp(-y * F), weights=mass)
    return L * exp(beta * S) if penalty == "multiplicative" else L + beta * S


def kl2(p, q):
    """The divergence of two coins."""
    return p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))


@both
def test_no_penalty_is_adaboost(data, same_stumps, penalty):
    X, y = data(seed=1, n=100)
    ada = AdaBoostClassifier(n_estimators=80).fit(X, y)
    l1 = L1BoostClassifier(beta=0.0, penalty=penalty, n_estimators=80).fit(X, y)
    assert same_stumps(ada, l1)
    assert ada.estimator_weights_.tobytes() == l1.estimator_weights_.tobytes()
    assert np.array_equal(ada.history_["objective"], l1.history_["objective"])


@pytest.mark.parametrize("beta", [0.01, 0.1, 0.3])
@both
def test_every_round(data, all_stumps, replay, penalty, beta):
    X, codes = data(seed=2, n=90, noise=0.1)
    y, H = 2.0 * codes - 1, all_stumps(X).H
    mass = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = L1BoostClassifier(beta=beta, penalty=penalty, n_estimators=60).fit(X, codes, mass)
    assert model.n_estimators_ >= 3
    S, loss = 0.0, 1.0
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        w = mass * weights(y, before) / (mass * weights(y, before)).sum()
        eps, g = w[h != y].sum(), (w * y * h).sum()
        assert g == pytest.approx(np.abs(H @ (w * y)).max(), abs=1e-12)
        L = np.average(np.exp(-y * before), weights=mass)
        price = beta if penalty == "multiplicative" else beta / L
        assert g > price + 0.9e-6
        found = minimize_scalar(
            lambda a: penalised(penalty, beta, y, before + a * h, S + a, mass),  # noqa: B023
            bounds=(0, 10),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert alpha == pytest.approx(found.x, abs=1e-6)
        # The closed forms.
        if penalty == "multiplicative":
            assert alpha == pytest.approx(0.5 * log((1 - beta) * (1 - eps) / ((1 + beta) * eps)), rel=1e-9)
            assert alpha == pytest.approx(atanh(g) - atanh(beta), rel=1e-9)
        else:
            W_I, W_J = L * (1 - eps), L * eps
            assert exp(alpha) == pytest.approx((-beta + (beta**2 + 4 * W_I * W_J) ** 0.5) / (2 * W_J), rel=1e-10)
        S += alpha
        now = penalised(penalty, beta, y, after, S, mass)
        assert now <= loss * (1 + 1e-14)
        if penalty == "multiplicative":
            assert now / loss == pytest.approx(exp(-kl2((1 + beta) / 2, (1 + g) / 2)), rel=1e-12)
        assert model.history_["objective"][t] == pytest.approx(now, rel=1e-11)
        loss = now


@both
def test_training_ends_where_no_voter_is_worth_its_price(data, all_stumps, penalty):
    X, codes = data(seed=3, n=80, noise=0.2)
    y, H = 2.0 * codes - 1, all_stumps(X).H
    sizes = []
    for beta in (0.1, 0.2, 0.3):
        model = L1BoostClassifier(beta=beta, penalty=penalty, n_estimators=2000).fit(X, codes)
        assert model.stop_reason_.startswith("no_edge")
        F = model.decision_function(X)
        price = beta if penalty == "multiplicative" else beta / np.exp(-y * F).mean()
        assert np.abs(H @ (y * weights(y, F))).max() <= price + 1.1e-6
        # No voter, at any coefficient, lowers the loss any more.
        S = model.estimator_weights_.sum()
        here = penalised(penalty, beta, y, F, S)
        for a in (1e-3, 0.1, 1.0):
            assert min(penalised(penalty, beta, y, F + a * s * h, S + a) for h in H for s in (-1, 1)) > here
        sizes.append(S)
    assert sizes[0] > sizes[1] > sizes[2]


def test_a_price_is_a_margin_target():
    # AdaBoost_rho: below the largest margin the smallest one comes to exceed rho, and the coefficients grow for ever;
    # above it they stay bounded.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = (np.sign(X).sum(axis=1) > 0).astype(int)
    best = ArcGVClassifier(n_estimators=2000).fit(X, y).history_["edge"].min()  # an upper bound of the largest margin
    assert best < 0.36
    for beta in (0.1, 0.25):
        model = L1BoostClassifier(beta=beta, n_estimators=2000).fit(X, y)
        assert model.margins(X, y).min() >= beta
        assert model.estimator_weights_[1000:].sum() > 100
        # The same steps as arc-gv's while its floor is the larger.
        arc = ArcGVClassifier(margin_floor=beta, n_estimators=10).fit(X, y)
        same = 1 + int((arc.history_["minimum_margin"] > beta).argmax())
        assert same >= 3
        np.testing.assert_allclose(model.estimator_weights_[:same], arc.estimator_weights_[:same], rtol=1e-12)
        assert model.estimator_weights_[same] > arc.estimator_weights_[same]
    model = L1BoostClassifier(beta=best + 0.05, n_estimators=2000).fit(X, y)
    assert model.estimator_weights_.sum() < 20


def test_a_perfect_voter():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = L1BoostClassifier(beta=0.05, penalty="additive").fit(X, y)
    assert model.stop_reason_.startswith("perfect")
    assert model.estimator_weights_ == pytest.approx([log(20)], rel=1e-12)  # where e^-a + a/20 is smallest
    for beta in (0.0, 0.5, 0.999):
        model = L1BoostClassifier(beta=beta).fit(X, y)
        assert model.stop_reason_.startswith("perfect")
        assert 0.3 < model.estimator_weights_[0] < 2


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"beta": 1}, r"beta=1 is not possible; it must be a number in \[0, 1\)"),
        ({"beta": -0.1}, r"in \[0, 1\)"),
        ({"penalty": "l1"}, "penalty='l1' is not possible; it must be 'multiplicative' or 'additive'"),
    ],
)
def test_parameters_out_of_range(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        L1BoostClassifier(**params).fit([[0], [1]], [0, 1])


@both
def test_many_rounds_stay_finite(data, penalty):
    X, codes = data(seed=6, n=100, noise=0.0)
    model = L1BoostClassifier(beta=1e-9, penalty=penalty, n_estimators=3000).fit(X, codes)
    assert all(np.isfinite(c).all() for c in model.history_.values())
    assert np.isfinite(model.predict_proba(X)).all()
