"""Shrunken steps: every rule takes a share of the step that its own loss asks for, and what it promises stays."""

from math import sqrt

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import erf, erfinv

from boostlab.boosters import REGISTRY
from boostlab.solvers.drifting import Process
from boostlab.theory import vada_V

NU = 0.5
WHOLE = ("ARBoost", "BrownBoost", "EBBoost", "L1Boost", "RobustBoost", "SoftMarginBoost", "VadaBoost", "WeightBoost")
TOTALLY_CORRECTIVE = ("ERLPBoost", "LPBoost", "RLPBoost", "RQPBoost", "SoftBoost", "TotalBoost")


def booster(name, **params):
    return REGISTRY[f"{name}Classifier"].cls(**params)


# What a rule minimises along a vote h, after the vote F; m = y F and b = y h.
def penalised(lam):
    return lambda a, m, b: vada_V(a, np.exp(-m) / np.exp(-m).sum(), lam, b > 0).value


def priced(beta):
    return lambda a, m, b: np.log(np.exp(-m - a * b).mean()) + beta * a


def added(beta):
    return lambda a, m, b: np.exp(-m - a * b).mean() + beta * a


def braked(beta):
    return lambda a, m, b: (np.exp(-m - np.abs(beta * m)) * np.exp(-a * b)).sum()


MINIMISED = {
    "VadaBoost": ({"step": "exact", "variance_penalty": 5.0}, penalised(5.0)),
    "EBBoost": ({"variance_penalty": 0.5}, penalised(0.5)),
    "L1Boost": ({"beta": 0.05}, priced(0.05)),
    "L1Boost, added": ({"beta": 0.05, "penalty": "additive"}, added(0.05)),
    "WeightBoost": ({"beta": 0.5}, braked(0.5)),
}


@pytest.mark.parametrize("name", MINIMISED)
def test_a_share_of_the_step_that_minimises_the_loss(data, replay, name):
    X, codes = data(seed=1, n=70)
    y, (params, loss) = 2.0 * codes - 1, MINIMISED[name]
    model = booster(name.partition(",")[0], n_estimators=6, learning_rate=NU, **params).fit(X, codes)
    assert model.n_estimators_ == 6
    for before, h, alpha, _ in replay(model, X):
        at = lambda a: loss(a, y * before, y * h)  # noqa: B023, E731
        whole = minimize_scalar(at, bounds=(0, 4 * alpha), method="bounded", options={"xatol": 1e-10})
        assert alpha == pytest.approx(NU * whole.x, rel=1e-5)
        assert at(alpha) < at(0.0)


def test_every_rule_begins_with_the_same_voter_and_a_share_of_its_coefficient(data):
    X, codes = data(seed=2, n=60)
    for name in WHOLE:
        one, some = (booster(name, n_estimators=2, learning_rate=nu).fit(X, codes) for nu in (1.0, NU))
        same = [(m.estimators_[0].feature, m.estimators_[0].threshold) for m in (one, some)]
        assert same[0] == same[1], name
        assert some.history_["alpha"][0] == pytest.approx(NU * one.history_["alpha"][0], rel=1e-12), name
        default = booster(name, n_estimators=2).fit(X, codes)
        assert default.decision_function(X).tobytes() == one.decision_function(X).tobytes(), name
        with pytest.raises(ValueError, match=r"learning_rate=1.5 is not possible; it must be a number in \(0, 1\]\."):
            booster(name, learning_rate=1.5).fit(X, codes)
    for name in TOTALLY_CORRECTIVE:  # all coefficients are solved for anew: there is no step to shrink
        assert "learning_rate" not in booster(name).get_params()


@pytest.mark.parametrize("form", [{"power": 2}, {"penalty": "cumulative", "C": 0.005}], ids=str)
def test_slack_is_handed_out_for_the_share_only(data, replay, form):
    X, codes = data(seed=2, n=70, noise=0.2)
    y, n = 2.0 * codes - 1, len(codes)
    model = booster("SoftMarginBoost", n_estimators=8, learning_rate=NU, **form).fit(X, codes)
    C, V, S, last = model.C, np.zeros(n), 0.0, 1.0

    def terms(F, V, S):
        return np.exp(-y * F - C * (V**2 if "penalty" in form else V**2 / max(S, 1e-300)))

    for t, (before, h, alpha, _) in enumerate(replay(model, X)):
        u = terms(before, V, S)
        u *= n / u.sum()
        at = lambda a: terms(before + a * h, V + a * u, S + a).mean()  # noqa: B023, E731
        whole = minimize_scalar(at, bounds=(0, 4 * alpha), method="bounded", options={"xatol": 1e-10})
        assert alpha == pytest.approx(NU * whole.x, rel=1e-4)
        V, S = V + alpha * u, S + alpha
        now = terms(before + alpha * h, V, S).mean()
        assert model.history_["objective"][t] == pytest.approx(now, rel=1e-10)
        assert now < last
        last = now


@pytest.mark.parametrize("nu", [0.5, 0.1])
def test_brownboost_goes_a_share_of_its_curve(data, replay, nu):
    """The potential is conserved on the whole curve, so that the clock keeps its promise; the edge is not used up."""
    X, codes = data(seed=1, n=120, noise=0.1)
    y, eps = 2.0 * codes - 1, 0.25
    model = booster("BrownBoost", target_error=eps, learning_rate=nu).fit(X, codes)
    c = left = float(erfinv(1 - eps)) ** 2
    assert model.stop_reason_.startswith("time_up")
    for t, (before, h, alpha, after) in enumerate(replay(model, X)):
        b, start = y * h, left
        left = model.history_["time_left"][t]
        assert left < start
        assert (1 - erf((y * after + left) / sqrt(c))).mean() == pytest.approx(eps, abs=1e-12)
        if t == 0:  # where the curve has no edge left the whole coefficient is reached
            on = lambda a: brentq(lambda s: erf((y * before + a * b + s) / sqrt(c)).mean() - 1 + eps, -9, 9)  # noqa: B023, E731
            edge = lambda a: (b * np.exp(-((y * before + a * b + on(a)) ** 2) / c)).sum()  # noqa: B023, E731
            assert alpha == pytest.approx(nu * brentq(edge, 1e-6, 3.0), rel=1e-6)
    assert left == 0.0
    assert (y * model.decision_function(X) <= 0).mean() <= eps


@pytest.mark.parametrize("clip", [True, False], ids=["clip", "smooth"])
def test_robustboost_keeps_its_potential_with_small_steps(data, clip):
    X, codes = data(seed=1, n=120, noise=0.1)
    y, eps = 2.0 * codes - 1, 0.2
    model = booster("RobustBoost", target_error=eps, clip=clip, learning_rate=0.2).fit(X, codes)
    whole = booster("RobustBoost", target_error=eps, clip=clip).fit(X, codes)
    assert model.stop_reason_.startswith("time_up")
    assert model.n_estimators_ > whole.n_estimators_
    assert (np.diff([0.0, *model.history_["time"]]) > 0).all()
    p = Process(eps, 0.0, 0.1, clip)
    for F, t in zip(model.staged_decision_function(X), model.history_["time"], strict=True):
        u = np.maximum((y * F - p.mu(t)) / p.sigma(t), p.floor)
        now = p.height * (1 - erf(u)).mean()
        assert now == pytest.approx(eps, abs=1e-9) if t < 1 else now <= eps + 1e-9
    if clip:
        assert (y * model.decision_function(X) <= 0).mean() <= eps


def test_small_steps_in_several_classes(data):
    """VadaBoost's cost falls by every share of its step; of AR-Boost with rho = 1 and a rate remains SAMME with it."""
    X, y = data(seed=3, n=90, n_classes=3)
    few = dict(n_estimators=6, max_leaf_nodes=4, learning_rate=NU)
    vada = booster("VadaBoost", step="exact", variance_penalty=5.0, **few).fit(X, y)
    e = np.exp(-vada.decision_function(X)[np.arange(len(y)), y] * (2 / 3))
    cost = e.mean() ** 2 + 5.0 * e.var()
    assert vada.history_["objective"][-1] == pytest.approx(cost, rel=1e-9)
    assert (np.diff(vada.history_["objective"]) < 0).all()
    one, two = (booster(name, **few, **kw).fit(X, y) for name, kw in (("ARBoost", {"rho": 1}), ("SAMME", {})))
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), rtol=1e-12)


def test_arboost_forgives_by_the_share(data, replay):
    """Its loss counts the errors of the voter at hand rho times as much: alpha is the minimum of that."""
    X, codes = data(seed=4, n=70)
    y = 2.0 * codes - 1
    model = booster("ARBoost", rho=3, n_estimators=6, learning_rate=NU).fit(X, codes)
    for before, h, alpha, _ in replay(model, X):
        w = np.exp(-y * before)
        right, wrong = w[h == y].sum(), w[h != y].sum()
        at = lambda a: right * np.exp(-a) + wrong * np.exp(a) / 3  # noqa: B023, E731
        whole = minimize_scalar(at, bounds=(0, 4 * alpha), method="bounded", options={"xatol": 1e-10})
        assert alpha == pytest.approx(NU * whole.x, rel=1e-5)
    assert model.history_["complements"][-1] == 0  # at the full step the complement of a voter comes next
