"""Bounds on the training sample, against models that were trained, and the formulas in their limits."""

from __future__ import annotations

from itertools import product
from math import ceil, exp, log

import numpy as np
import pytest

from boostlab import (
    AdaBoostClassifier,
    ARBoostClassifier,
    DecisionStump,
    EBBoostClassifier,
    QuadBoostClassifier,
    VadaBoostClassifier,
    theory,
)
from boostlab.datasets import ringnorm

X, Y = ringnorm(300, random_state=0)


@pytest.fixture(scope="module")
def ada():
    return AdaBoostClassifier(n_estimators=40).fit(X, Y)


def test_the_product_is_the_exponential_loss_and_bounds_the_error(ada):
    errors = ada.history_["error"]
    found = theory.adaboost_training_error(errors)
    assert found.value == pytest.approx(np.exp(-Y * ada.decision_function(X)).mean(), rel=1e-9)
    assert np.mean(ada.predict(X) != Y) <= found.value <= found.terms["exponential"] < 1
    assert theory.normaliser_product(errors, ada.history_["alpha"]).value == pytest.approx(found.value)
    assert found.terms["exponential"] == pytest.approx(exp(-2 * ((0.5 - errors) ** 2).sum()))


@pytest.mark.parametrize("theta", np.linspace(-1, 1, 9))
def test_the_margin_form_bounds_every_share_of_margins(ada, theta):
    found = theory.adaboost_margin_bound(ada.history_["error"], theta)
    assert np.mean(ada.margins(X, Y) <= theta) <= found.value + 1e-12


@pytest.mark.parametrize("rho", [1.0, 2.0, 4.0])
def test_arboost_theorems_on_a_trained_model(rho):
    model = ARBoostClassifier(DecisionStump(polarity="+"), rho=rho, n_estimators=25).fit(X, Y)
    errors, alphas = model.history_["error"], model.history_["alpha"]
    found = theory.arboost_training_error(errors, rho)
    assert found.value == pytest.approx(theory.normaliser_product(errors, alphas).value, rel=1e-9)
    assert np.mean(model.predict(X) != Y) <= found.value <= found.terms["exponential"] * (1 + 1e-12)
    for theta in (0.0, 0.05, 0.2):
        assert np.mean(model.margins(X, Y) <= theta) <= theory.arboost_margin_bound(errors, rho, theta).value


@pytest.mark.parametrize(("rho", "theta", "g"), list(product([1.5, 2, 8], [0.0, 0.1, 0.3], [0.05, 0.2, 0.3])))
def test_theorem_2_simplifies_as_corrected(rho, theta, g):
    """The bracket is 1 - (rho + 1) g / rho, not 1/rho - (rho + 1) g / rho as printed."""
    T = 30
    e = rho / (rho + 1) - g
    simple = (1 - (rho + 1) * g / rho) ** ((1 - theta) * T / 2) * (1 + (rho + 1) * g) ** ((1 + theta) * T / 2)
    assert theory.arboost_margin_bound([e] * T, rho, theta).value == pytest.approx(simple, rel=1e-10)


@pytest.mark.parametrize(("rho", "g"), [(1, 0.1), (1, 0.4), (2, 0.5), (4, 0.75)])
def test_at_the_margin_limit_theorem_2_stands_still(rho, g):
    limit = theory.arboost_margin_limit(g, rho)
    assert 0 < limit < 1
    e = rho / (rho + 1) - g
    assert theory.arboost_margin_bound([e], rho, limit).value == pytest.approx(1, rel=1e-9)
    assert theory.arboost_margin_bound([e], rho, limit - 0.01).value < 1


def test_the_printed_condition_after_theorem_2_is_not_sufficient():
    assert theory.arboost_margin_bound([4 / 5 - 0.601], 4, 0.15).value == pytest.approx(1.229, abs=1e-3)
    assert theory.arboost_margin_limit(0.601, 4) < 0.15


def test_no_edge_no_promise():
    for rho in (1.0, 3.0):
        e = rho / (rho + 1)
        assert theory.arboost_training_error([e] * 5, rho).value == pytest.approx(1.0)
        at = 1 / (rho + 1)  # where the exponent changes its sign
        assert theory.arboost_training_error([at] * 5, rho).terms["exponential"] == pytest.approx(1.0)
    assert theory.adaboost_training_error([]).value == 1.0
    assert theory.adaboost_training_error([0.0, 0.4]).value == 0.0


def test_rounds_are_enough():
    for gamma, error in product((0.05, 0.2, 0.5), (0.5, 0.01)):
        T = int(theory.adaboost_rounds(gamma, error).value)
        assert exp(-2 * gamma**2 * T) <= error * (1 + 1e-12)
        assert ceil(log(1 / error) / (2 * gamma**2)) == T
    T = theory.adaboost_rounds(0.1, n=1000).value
    assert exp(-2 * 0.01 * T) < 1 / 1000 <= exp(-2 * 0.01 * (T - 1))


def test_quadboosts_rate_and_risk():
    model = QuadBoostClassifier(n_estimators=30).fit(X, Y)
    edges, risks = model.history_["edge"], model.history_["risk"]
    found = theory.quadratic_risk(model.decision_function(X), Y)
    assert found.value == pytest.approx(risks[-1])
    assert np.mean(model.predict(X) != Y) <= found.value
    assert len(edges) <= theory.quadboost_rounds(float(edges.min()), float(risks[-1])).value + 1e-9
    assert theory.quadboost_rounds(1.0).value == 1.0


@pytest.mark.parametrize("kind", [VadaBoostClassifier, EBBoostClassifier])
@pytest.mark.parametrize("lam", [0.0, 0.4, 1.0])
def test_the_penalised_cost_is_the_boosters_own_and_bounds_the_error(kind, lam):
    model = kind(variance_penalty=lam, n_estimators=20).fit(X, Y)
    for F, objective, guess in zip(
        model.staged_decision_function(X), model.history_["objective"], model.staged_predict(X), strict=True
    ):
        found = theory.svp_cost(F, Y, lam)
        assert objective == pytest.approx(found.value**2, rel=1e-9)
        assert np.mean(guess != Y) <= found.value


def test_the_cost_written_out_and_without_overflow():
    F, y, lam = np.array([0.5, -1.0, 2.0]), np.array([1, 1, -1]), 0.3
    e = np.exp(-y * F)
    cost = e.sum() ** 2 + lam * (3 * (e**2).sum() - e.sum() ** 2)
    pairs = sum((e[i] - e[j]) ** 2 for i in range(3) for j in range(i))
    found = theory.svp_cost(F, y, lam)
    assert found.terms["cost"] == pytest.approx(cost)
    assert found.terms["cost"] == pytest.approx(e.sum() ** 2 + lam * pairs)
    assert found.terms["mean"] == pytest.approx(e.mean())
    assert found.terms["variance"] == pytest.approx(e.var())
    assert theory.svp_cost([-5000.0, 1.0], [1, 1], 2.0).terms["log_cost"] == pytest.approx(10_000 + log(3))


@pytest.mark.parametrize("seed", range(5))
def test_u_is_at_least_v_and_touches_it(seed):
    rng = np.random.default_rng(seed)
    w, right, alpha = rng.dirichlet(np.ones(30)), rng.random(30) < 0.6, np.linspace(-2, 2, 81)
    for lam in (0.0, 0.3, 0.9, 1.0):
        U, V = theory.vada_U(alpha, w, lam, right), theory.vada_V(alpha, w, lam, right)
        gap = (1 - lam) * w[right].sum() * w[~right].sum() * (np.exp(alpha) - np.exp(-alpha)) ** 2
        np.testing.assert_allclose(U - V, gap, atol=1e-12)
        assert theory.vada_U(0.0, w, lam, right) == pytest.approx(theory.vada_V(0.0, w, lam, right))
    e = w * np.exp(-0.7 * np.where(right, 1, -1))  # V is the cost after the step over the cost before it, times it
    before, after = theory.svp_cost(-np.log(w), np.ones(30), 0.3), theory.svp_cost(-np.log(e), np.ones(30), 0.3)
    ratio = theory.vada_V(0.7, w, 0.3, right) / theory.vada_V(0.0, w, 0.3, right)
    assert after.terms["cost"] / before.terms["cost"] == pytest.approx(ratio)


def test_theorem_5():
    r = theory.vadaboost_round_factor
    assert r(0.001) == pytest.approx(1.628, abs=1e-3)
    assert r(0.4) == pytest.approx(1.336, abs=1e-3)
    assert r(0.5 - 1e-4) == pytest.approx(4 / 3, abs=1e-4)
    assert r(1e-200) == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.adaboost_training_error([0.2, 1.2]), "errors must lie"),
        (lambda: theory.arboost_training_error([0.2], 0.5), "rho=0.5"),
        (lambda: theory.adaboost_rounds(0.6, 0.1), "gamma=0.6"),
        (lambda: theory.adaboost_rounds(0.1), "one of them"),
        (lambda: theory.svp_cost([1.0], [0], 0.5), "-1 or \\+1"),
        (lambda: theory.vada_U(0.1, [1.0], 1.5, [True]), "vada_V"),
        (lambda: theory.vadaboost_round_factor(0.5), "between 0 and 1/2"),
    ],
)
def test_wrong_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
