"""Concentration bounds: against direct computation, limiting cases, each other, and by simulation."""

from __future__ import annotations

from itertools import combinations
from math import log, sqrt

import numpy as np
import pytest
from scipy.stats import beta

from boostlab import theory

FORMS = ["maurer_pontil", "gao_zhou", "audibert"]


def test_against_the_formulas_written_out():
    Z, delta = np.array([0.1, 0.4, 0.4, 0.9, 0.0]), 0.1
    n, mean = 5, 0.36
    V = sum((a - b) ** 2 for a, b in combinations(Z, 2)) / (n * (n - 1))
    assert theory.hoeffding(Z, delta).value == pytest.approx(mean + sqrt(log(10) / 10))
    assert theory.hoeffding(Z, delta, n_functions=7).value == pytest.approx(mean + sqrt(log(70) / 10))
    assert theory.bernstein(Z, 0.2, delta).value == pytest.approx(mean + sqrt(0.4 * log(10) / 5) + log(10) / 15)
    found = {form: theory.empirical_bernstein(Z, delta, form=form).value for form in FORMS}
    assert found["maurer_pontil"] == pytest.approx(mean + sqrt(2 * V * log(20) / 5) + 7 * log(20) / 12)
    assert found["gao_zhou"] == pytest.approx(mean + sqrt(2 * V * log(20) / 5) + 7 * log(20) / 15)
    biased = sqrt(V * 4 / 5)
    assert found["audibert"] == pytest.approx(mean + biased * sqrt(2 * log(30) / 5) + 9 * log(30) / 15)
    uniform = theory.uniform_empirical_bernstein(np.tile(Z, 4), log(3), delta)
    assert uniform.value == pytest.approx(
        mean + sqrt(18 * np.tile(Z, 4).var(ddof=1) * log(300) / 20) + 15 * log(300) / 19
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_constant_sample_leaves_the_range_term(form):
    found = theory.empirical_bernstein(np.full(1000, 0.3), form=form)
    assert found.terms["variance"] == pytest.approx(0, abs=1e-12)
    assert found.value == pytest.approx(0.3 + found.terms["range"])


@pytest.mark.parametrize(
    "f",
    [
        theory.hoeffding,
        theory.empirical_bernstein,
        lambda Z, b=1.0: theory.bernstein(Z, 0.05 * b**2, b=b),
        lambda Z, b=1.0: theory.uniform_empirical_bernstein(Z, 1.0, b=b),
    ],
)
def test_scale_and_limits(f):
    Z = np.random.default_rng(0).beta(1, 5, 300)
    assert f(10 * Z, b=10.0).value == pytest.approx(10 * f(Z).value)
    gaps = [f(np.tile(Z, k)).value - Z.mean() for k in (1, 10, 1000)]
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < 0.1


def test_which_is_smaller_when():
    rare = np.zeros(2000)
    rare[:20] = 1
    assert theory.empirical_bernstein(rare).value < theory.hoeffding(rare).value
    wide = np.tile([0.0, 1.0], 50)
    assert theory.hoeffding(wide).value < theory.empirical_bernstein(wide).value
    assert theory.empirical_bernstein(rare, form="gao_zhou").value < theory.empirical_bernstein(rare).value
    assert theory.empirical_bernstein(rare).value < theory.uniform_empirical_bernstein(rare, 0.0).value
    assert theory.bernstein(rare, rare.var()).value < theory.empirical_bernstein(rare).value  # knowing helps


@pytest.mark.parametrize("delta", [0.05, 0.3])
@pytest.mark.parametrize("draw", ["bernoulli", "beta"])
def test_coverage_by_simulation(draw, delta):
    """Over 2,000 repeats the true mean exceeds the bound no more often than delta allows."""
    rng = np.random.default_rng(1)
    n, repeats = 60, 2000
    p = 0.1
    Z = (rng.random((repeats, n)) < p).astype(float) if draw == "bernoulli" else rng.beta(0.3, 2.7, (repeats, n))
    variance = p * (1 - p) if draw == "bernoulli" else beta(0.3, 2.7).var()
    assert beta(0.3, 2.7).mean() == pytest.approx(p)
    checks = {
        "hoeffding": lambda z: theory.hoeffding(z, delta),
        "bernstein": lambda z: theory.bernstein(z, variance, delta),
        **{form: lambda z, form=form: theory.empirical_bernstein(z, delta, form=form) for form in FORMS},
    }
    for name, f in checks.items():
        held = np.mean([f(z).value >= p for z in Z])
        assert held >= 1 - delta, name


def test_both_intervals_cover_and_the_exact_one_is_narrower():
    rng = np.random.default_rng(2)
    wrong = rng.random((600, 200)) < 0.15
    bernstein = [theory.empirical_bernstein_interval(w, 0.1) for w in wrong]
    exact = [theory.exact_interval(w, 0.1) for w in wrong[:300]]
    assert np.mean([0.15 in i for i in bernstein]) >= 0.9
    assert np.mean([0.15 in i for i in exact]) >= 0.88
    assert np.mean([i.upper - i.lower for i in exact]) < np.mean([i.upper - i.lower for i in bernstein])


def test_zero_one_loss_penalised_for_variance_is_plain_error_below_one_half():
    """p + lambda sqrt(p (1 - p)) increases on [0, 1/2), so penalising the variance changes no choice there."""
    n = 400
    bounds = [theory.empirical_bernstein(np.arange(n) < k).value for k in range(0, n // 2)]
    assert (np.diff(bounds) > 0).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.hoeffding([0.1, 1.2]), "between 0 and 1"),
        (lambda: theory.hoeffding([0.1], delta=0), "delta=0"),
        (lambda: theory.hoeffding([0.1], n_functions=0.5), "n_functions=0.5"),
        (lambda: theory.hoeffding([]), "at least 1 number"),
        (lambda: theory.empirical_bernstein([0.5]), "at least 2 numbers"),
        (lambda: theory.empirical_bernstein([0.1, np.nan]), "contains nan"),
        (lambda: theory.empirical_bernstein([0, 1], form="mine"), "maurer_pontil"),
        (lambda: theory.bernstein([0.5], -1), "variance=-1"),
        (lambda: theory.exact_interval([0.5, 1]), "0 and 1 only"),
    ],
)
def test_wrong_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_bound_that_does_not_apply_is_infinite_and_vacuous():
    found = theory.empirical_bernstein([0, 0, 0], form="gao_zhou")
    assert found.value == np.inf
    assert found.vacuous
    assert not found.holds
    assert theory.hoeffding([1.0, 1.0]).vacuous
    assert not theory.hoeffding(np.zeros(100)).vacuous
