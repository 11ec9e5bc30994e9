"""Posteriors against what they are made of."""

import numpy as np
import pytest
from scipy import stats

from boostlab.studies.statistics import bayesian_signed_rank, correlated_t, paired_t_test


@pytest.fixture
def pair():
    rng = np.random.default_rng(5)
    a = rng.normal(0.2, 0.02, 30)
    return a, a + rng.normal(0.004, 0.01, 30)


def test_without_a_rope_it_is_the_corrected_test(pair):
    result, test = correlated_t(*pair, test_ratio=0.5), paired_t_test(*pair, test_ratio=0.5)
    assert test.t < 0
    assert result.better == pytest.approx(1 - test.p / 2)
    assert result.equal == pytest.approx(0.0, abs=1e-12)


def test_with_a_rope_it_is_an_integral(pair):
    result = correlated_t(*pair, test_ratio=0.5, rope=0.002)
    d = pair[0] - pair[1]
    drawn = d.mean() + np.sqrt((1 / 30 + 0.5) * d.var(ddof=1)) * stats.t.rvs(29, size=200_000, random_state=0)
    shares = np.mean(drawn < -0.002), np.mean(np.abs(drawn) <= 0.002), np.mean(drawn > 0.002)
    np.testing.assert_allclose([result.better, result.equal, result.worse], shares, atol=5e-3)


@pytest.mark.parametrize("rope", [0.0, 0.003])
def test_correlated_t_is_antisymmetric(pair, rope):
    there = correlated_t(*pair, test_ratio=0.25, rope=rope)
    back = correlated_t(*pair[::-1], test_ratio=0.25, rope=rope)
    assert (there.better, there.equal) == pytest.approx((back.worse, back.equal))


def test_constant_differences_leave_no_doubt():
    a = np.array([0.1, 0.2, 0.3])
    assert correlated_t(a, a, test_ratio=0.5).equal == 1.0
    assert correlated_t(a, a + 0.1, test_ratio=0.5).better == 1.0
    assert correlated_t(a, a - 0.005, test_ratio=0.5, rope=0.01).equal == 1.0


def test_signed_rank_is_antisymmetric_and_sums_to_one():
    d = np.random.default_rng(0).normal(0.01, 0.03, 20)
    zero = np.zeros(20)
    there, back = bayesian_signed_rank(d, zero), bayesian_signed_rank(zero, d)
    assert there.better + there.equal + there.worse == pytest.approx(1.0)
    assert (there.better, there.equal, there.worse) == pytest.approx((back.worse, back.equal, back.better))


def test_signed_rank_of_clear_cases():
    zero = np.zeros(15)
    assert bayesian_signed_rank(zero, zero + 0.05).better > 0.999
    assert bayesian_signed_rank(zero, zero + 0.005).equal > 0.999
    assert bayesian_signed_rank(zero + 0.05, zero).worse > 0.999


def test_signed_rank_of_one_data_set_by_hand():
    # Weights (w, 1 - w) of the prior and of ours, w ~ Beta(s, 1).  A difference of more than twice the rope is beyond
    # it in all pairs but prior with prior: "better" has 1 - w^2, "equal" w^2.  So better wins if w^2 < 1/2, which has
    # the probability 2^(-s/2).
    result = bayesian_signed_rank([0.0], [0.05], rope=0.01, prior=0.5, n_samples=40_000)
    assert result.better == pytest.approx(0.5**0.25, abs=0.01)


def test_wrong_input(pair):
    with pytest.raises(ValueError, match="rope"):
        correlated_t(*pair, test_ratio=0.5, rope=-1)
    with pytest.raises(ValueError, match="two splits"):
        correlated_t([0.1], [0.2], test_ratio=0.5)
    with pytest.raises(ValueError, match="prior"):
        bayesian_signed_rank([0.1], [0.2], prior=0)
