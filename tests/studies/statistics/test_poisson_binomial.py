"""The Poisson binomial test against enumeration, sampling, and its own symmetries."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from boostlab.studies.statistics import chance_of_lower_risk, discordant, poisson_binomial, poisson_binomial_test

chances = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_distribution_is_what_enumeration_gives(n):
    p = np.random.default_rng(n).random(n)
    expected = np.zeros(n + 1)
    for outcome in itertools.product([0, 1], repeat=n):
        expected[sum(outcome)] += np.prod(np.where(outcome, p, 1 - p))
    np.testing.assert_allclose(poisson_binomial(p), expected, atol=1e-15)


def test_equal_chances_are_binomial():
    np.testing.assert_allclose(poisson_binomial([0.3] * 25), stats.binom.pmf(np.arange(26), 25, 0.3), atol=1e-14)


@given(chances)
def test_is_antisymmetric(p):
    p = np.array(p)
    assert poisson_binomial_test(p) + poisson_binomial_test(1 - p) == pytest.approx(1.0, abs=1e-12)


@given(chances, st.data())
def test_is_monotone_in_every_chance(p, data):
    j = data.draw(st.integers(0, len(p) - 1))
    higher = list(p)
    higher[j] = data.draw(st.floats(p[j], 1))
    assert poisson_binomial_test(higher) >= poisson_binomial_test(p) - 1e-12


@pytest.mark.parametrize("n", [1, 2, 24, 25])
def test_identical_classifiers_are_even(n):
    p = chance_of_lower_risk(np.zeros(n), np.zeros(n))
    assert poisson_binomial_test(p) == pytest.approx(0.5, abs=1e-15)


def test_majority_by_hand():
    # Better on the first for sure; on two or more if on one of the others: 1 - 0.5 * 0.8.
    assert poisson_binomial_test([1.0, 0.5, 0.2]) == pytest.approx(0.6)
    # An even number: both 0.5 * 0.2, or half of exactly one, 0.5 * 0.8 + 0.5 * 0.2.
    assert poisson_binomial_test([0.5, 0.2]) == pytest.approx(0.1 + 0.25)


@pytest.mark.parametrize(("k_a", "k_b", "prior"), [(3, 0, 1.0), (12, 7, 1.0), (2, 9, 0.5)])
def test_chance_is_that_of_the_dirichlet_posterior(k_a, k_b, prior):
    drawn = np.random.default_rng(0).dirichlet([k_a + prior, k_b + prior, 40.0], 200_000)
    assert float(chance_of_lower_risk(k_a, k_b, prior=prior)) == pytest.approx(
        np.mean(drawn[:, 0] > drawn[:, 1]), abs=4e-3
    )


def test_chance_by_hand():
    # Beta(k + 1, 1) has the distribution function x^(k + 1).
    np.testing.assert_allclose(chance_of_lower_risk([0, 1, 5], 0), 1 - 0.5 ** np.array([1, 2, 6]))
    np.testing.assert_allclose(chance_of_lower_risk(4, 9) + chance_of_lower_risk(9, 4), 1.0)


def test_discordant_counts_only_what_one_gets_right():
    y = np.array(["a", "b", "a", "b", "a"])
    first = np.array(["a", "b", "b", "a", "a"])
    second = np.array(["a", "a", "b", "b", "b"])
    assert discordant(y, first, second) == (2, 1)
    assert discordant(y, second, first) == (1, 2)


def test_wrong_input():
    with pytest.raises(ValueError, match="from 0 to 1"):
        poisson_binomial([0.5, 1.1])
    with pytest.raises(ValueError, match="above 0"):
        chance_of_lower_risk(1, 1, prior=0)
    with pytest.raises(ValueError, match="negative"):
        chance_of_lower_risk(-1, 1)
    with pytest.raises(ValueError, match="one length"):
        discordant([1, 2], [1], [1, 2])
