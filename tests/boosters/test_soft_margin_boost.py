"""AdaBoost_Reg: every round from the paper's formulas, with weights that sum to 1 and numeric minimisation."""

from math import atanh, log

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from boostlab import AdaBoostClassifier, SoftMarginBoostClassifier

FORMS = [
    {"power": 1},
    {"power": 2},
    {"penalty": "cumulative"},
    {"penalty": "literal"},
]
forms = pytest.mark.parametrize("form", FORMS, ids=str)


def loss_terms(form, C, y, F, M, S):
    """The terms of the loss, with the paper's C for weights that sum to 1 over the sample: M = sum of alpha w."""
    if form.get("penalty") == "literal":
        slack = F**2  # (sum of alpha h)^2, as AR-Boost's paper prints it
    elif form.get("penalty") == "cumulative":
        slack = M**2
    elif form["power"] == 1:
        slack = M
    else:
        slack = M**2 / S if S > 0 else 0.0
    return np.exp(-y * F - C * slack)


def papers_C(form, C, n):
    """C n for power 1, C n^2 where the weights enter squared."""
    if form.get("penalty") == "literal":
        return C
    return C * n if form.get("power") == 1 else C * n**2


@forms
def test_no_slack_is_adaboost(data, same_stumps, form):
    X, y = data(seed=1, n=100)
    ada = AdaBoostClassifier(n_estimators=80).fit(X, y)
    soft = SoftMarginBoostClassifier(C=0, n_estimators=80, **form).fit(X, y)
    assert same_stumps(ada, soft)
    np.testing.assert_allclose(soft.estimator_weights_, ada.estimator_weights_, rtol=1e-11)
    np.testing.assert_allclose(soft.history_["objective"], ada.history_["objective"], rtol=1e-12)
    perfect = [cls.fit([[0], [1], [2]], [0, 1, 1]) for cls in (AdaBoostClassifier(), soft)]
    assert perfect[0].estimator_weights_.tolist() == perfect[1].estimator_weights_.tolist()
    assert perfect[1].stop_reason_.startswith("perfect")


@pytest.mark.parametrize(
    ("form", "C"), [(f, c) for f in FORMS for c in ((0.001, 0.01) if "penalty" in f else (0.05, 0.3))]
)
def test_every_round(data, all_stumps, replay, form, C):
    X, codes = data(seed=2, n=70, noise=0.2)
    y, H = 2.0 * codes - 1, all_stumps(X).H
    mass = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    n = mass.sum()
    model = SoftMarginBoostClassifier(C=C, n_estimators=25, **form).fit(X, codes, mass)
    assert model.n_estimators_ == 25
    C_n, M, S, loss = papers_C(form, C, n), np.zeros(len(y)), 0.0, n
    for t, (before, h, alpha, _) in enumerate(replay(model, X)):
        w = loss_terms(form, C_n, y, before, M, S)
        w /= (mass * w).sum()  # one example's weight; a row stands for `mass` examples
        eps = (mass * w)[h != y].sum()
        assert eps == pytest.approx(0.5 - np.abs(H @ (mass * w * y)).max() / 2, abs=1e-12)
        assert model.history_["error"][t] == pytest.approx(eps, abs=1e-12)

        def L(a):
            return (mass * loss_terms(form, C_n, y, before + a * h, M + a * w, S + a)).sum()  # noqa: B023

        found = minimize_scalar(L, bounds=(0, 2 * alpha), method="bounded", options={"xatol": 1e-9})
        assert alpha == pytest.approx(found.x, abs=1e-6)
        grid = np.linspace(0, alpha, 60)
        assert (np.diff([L(a) for a in grid]) < 0).all()  # the first valley
        M, S, now = M + alpha * w, S + alpha, L(alpha)
        assert now < loss
        assert model.history_["objective"][t] == pytest.approx(now / n, rel=1e-10)
        assert 1 <= model.history_["evaluations"][t] < 40
        loss = now


def test_power_one_by_its_equation(data, replay):
    # sum of w q e^(-alpha q) = 0 with q = y h + C w, and so the voter's edge under the next weights is -C sum of w' w:
    # its complement has a positive one.
    X, codes = data(seed=3, n=80, noise=0.2)
    y, C, M = 2.0 * codes - 1, 0.1, np.zeros(80)
    model = SoftMarginBoostClassifier(C=C, n_estimators=30).fit(X, codes)
    for before, h, alpha, after in replay(model, X):
        w = np.exp(-y * before - C * 80 * M)
        w /= w.sum()
        q = y * h + C * 80 * w
        terms = w * q * np.exp(-alpha * q)
        assert abs(terms.sum()) <= 1e-12 * np.abs(terms).sum()
        M = M + alpha * w
        new = np.exp(-y * after - C * 80 * M)
        new /= new.sum()
        assert (new * y * h).sum() == pytest.approx(-C * 80 * (new * w).sum(), abs=1e-11)


@pytest.mark.parametrize("power", [1, 2])
def test_the_first_round_forgives_like_ar_boost(data, power):
    # All weights are equal, so that every example gets the same slack: alpha = artanh(edge) + artanh(C).
    X, y = data(seed=4, n=90)
    for C in (0.0, 0.1, 0.5, 0.9):
        model = SoftMarginBoostClassifier(C=C, power=power, n_estimators=1).fit(X, y)
        assert model.estimator_weights_[0] == pytest.approx(atanh(model.history_["edge"][0]) + atanh(C), rel=1e-12)


@pytest.mark.parametrize("power", [1, 2])
def test_more_slack_flattens_the_weights(data, power):
    X, codes = data(seed=5, n=100, noise=0.2)
    y, largest = 2.0 * codes - 1, []
    for C in (0.0, 0.1, 0.2):
        model = SoftMarginBoostClassifier(C=C, power=power, n_estimators=60).fit(X, codes)
        M, S, F = np.zeros(100), 0.0, np.zeros(100)
        scores = [F, *model.staged_decision_function(X)]
        top = []
        for before, alpha in zip(scores, model.estimator_weights_, strict=False):
            w = loss_terms({"power": power}, papers_C({"power": power}, C, 100), y, before, M, S)
            w /= w.sum()
            M, S = M + alpha * w, S + alpha
            top.append(w.max())
        largest.append(np.mean(top[20:]))
    assert largest[0] > 1.2 * largest[1] > 1.2 * largest[2]


@forms
def test_where_every_error_is_forgiven_training_ends(data, form):
    X, y = data(seed=6, n=80)
    model = SoftMarginBoostClassifier(C=1.0, **form).fit(X, y)
    assert model.stop_reason_.startswith("given_up: round 1")
    assert model.n_estimators_ == 1
    assert model.estimator_weights_[0] == pytest.approx(0.5 * log(2 * 80 - 1), rel=1e-14)  # as for a perfect voter


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"C": -1}, "C=-1 is not possible; it must be a number in"),
        ({"power": 3}, "power=3 is not possible; it must be a whole number from 1 to 2"),
        ({"penalty": "l1"}, "penalty='l1' is not possible; it must be 'influence' or 'cumulative' or 'literal'"),
    ],
)
def test_parameters_out_of_range(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        SoftMarginBoostClassifier(**params).fit([[0], [1]], [0, 1])


@forms
def test_no_edge(form):
    # Every stump is right on half of the corners; slack alone would still lower the loss.
    with pytest.warns(UserWarning, match="kept no voter"):
        model = SoftMarginBoostClassifier(C=0.1, **form).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    assert model.stop_reason_.startswith("no_edge")


@forms
def test_many_rounds_stay_finite(data, form):
    X, codes = data(seed=6, n=100, noise=0.1)
    model = SoftMarginBoostClassifier(C=0.01, n_estimators=1000, **form).fit(X, codes)
    assert all(np.isfinite(c).all() for c in model.history_.values())
    assert np.isfinite(model.predict_proba(X)).all()
