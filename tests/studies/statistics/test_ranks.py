"""Rank tests against scipy, tables in print, and all sign patterns."""

import itertools

import numpy as np
import pytest
from scipy import stats

from boostlab.studies.statistics import alike, average_ranks, friedman, hodges_lehmann, holm, nemenyi, wilcoxon


def errors_of(differences):
    d = np.asarray(differences, float)
    return 0.5 + d, np.full(len(d), 0.5)


def enumerated(d):
    """The two-sided p-value over all signs of the ranks, ties and zeros included."""
    ranks = stats.rankdata(np.abs(d))[d != 0]
    observed = stats.rankdata(np.abs(d))[d > 0].sum()
    sums = np.array([np.dot(signs, ranks) for signs in itertools.product([0, 1], repeat=len(ranks))])
    return min(1.0, 2 * min(np.mean(sums <= observed + 1e-9), np.mean(sums >= observed - 1e-9)))


@pytest.mark.parametrize("n", [5, 12, 25])
def test_wilcoxon_without_ties_is_scipys(n):
    d = np.random.default_rng(n).normal(0.02, 0.05, n)
    result = wilcoxon(*errors_of(d))
    peer = stats.wilcoxon(d, method="exact")
    assert result.exact
    assert min(result.better, result.worse) == peer.statistic
    assert result.p == pytest.approx(peer.pvalue, rel=1e-12)


@pytest.mark.parametrize(
    "d",
    [
        [0.01, 0.01, -0.02, 0.03, 0.03, 0.03, -0.01],
        [0.0, 0.0, 0.01, 0.02, -0.01, 0.05],
        [0.0, 0.1, 0.1, 0.1, 0.1, -0.1, 0.2, 0.2, 0.0, 0.3],
    ],
)
def test_wilcoxon_with_ties_and_zeros_is_exact(d):
    d = np.array(d)
    assert wilcoxon(*errors_of(d)).p == pytest.approx(enumerated(d), rel=1e-12)


def test_wilcoxon_of_many_is_scipys_approximation():
    d = np.round(np.random.default_rng(0).normal(0.01, 0.05, 40), 2)
    result = wilcoxon(*errors_of(d))
    assert not result.exact
    # Rounded: as a difference of errors the same number can have two neighbouring floats, which are no tie to scipy.
    peer = stats.wilcoxon(d, zero_method="pratt", correction=False, method="asymptotic")
    assert result.p == pytest.approx(peer.pvalue, rel=1e-9)


def test_exact_and_approximate_agree_where_they_meet():
    d = np.random.default_rng(1).normal(0.01, 0.05, 25)
    approximate = stats.wilcoxon(d, method="asymptotic").pvalue
    assert wilcoxon(*errors_of(d)).p == pytest.approx(approximate, abs=0.01)


def test_wilcoxon_is_symmetric_and_knows_no_difference():
    a, b = errors_of([0.1, -0.2, 0.3, 0.4])
    assert wilcoxon(a, b).p == wilcoxon(b, a).p
    assert wilcoxon(a, b).better == wilcoxon(b, a).worse
    assert wilcoxon(a, a).p == 1.0


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.03, 0.5]), [0.04, 0.06, 0.06, 0.5])
    np.testing.assert_allclose(holm([0.9, 0.8]), [1.0, 1.0])
    np.testing.assert_allclose(holm([0.04, np.nan, 0.01]), [0.04, np.nan, 0.02])
    with pytest.raises(ValueError, match="from 0 to 1"):
        holm([0.5, 2.0])


def test_holm_rejects_as_the_step_down_rule_does():
    p = np.random.default_rng(0).random(20) ** 4
    rejected = np.zeros(20, bool)
    for step, j in enumerate(np.argsort(p)):
        if p[j] > 0.05 / (20 - step):
            break
        rejected[j] = True
    assert rejected.any()
    np.testing.assert_array_equal(holm(p) <= 0.05, rejected)


def test_hodges_lehmann():
    d = [0.01, 0.02, 0.09]
    shift = hodges_lehmann(*errors_of(d))
    assert shift.estimate == pytest.approx(np.median([0.01, 0.015, 0.05, 0.02, 0.055, 0.09]))
    assert np.all(np.diff([0.01, shift.low, shift.estimate, shift.high, 0.09]) >= 0)
    back = hodges_lehmann(*errors_of(d)[::-1])
    assert (back.estimate, back.low, back.high) == pytest.approx((-shift.estimate, -shift.high, -shift.low), abs=1e-12)


def test_the_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(200):
        shift = hodges_lehmann(*errors_of(rng.normal(0.02, 0.05, 25)), level=0.9, n_resamples=400, random_state=rng)
        covered.append(shift.low <= 0.02 <= shift.high)
    assert np.mean(covered) == pytest.approx(0.89, abs=0.07)


@pytest.mark.parametrize("decimals", [1, 6])
def test_friedman_is_scipys(decimals):
    errors = np.round(np.random.default_rng(0).random((15, 5)) + np.arange(5) * 0.1, decimals)
    result, peer = friedman(errors), stats.friedmanchisquare(*errors.T)
    assert result.chi2 == pytest.approx(peer.statistic)
    assert result.p == pytest.approx(peer.pvalue)


def test_friedman_by_the_formula_without_ties():
    errors = np.random.default_rng(1).random((14, 4))
    result = friedman(errors)
    n, k = errors.shape
    R = average_ranks(errors)
    chi2 = 12 * n / (k * (k + 1)) * (np.sum(R**2) - k * (k + 1) ** 2 / 4)
    assert result.chi2 == pytest.approx(chi2)
    F = (n - 1) * chi2 / (n * (k - 1) - chi2)
    assert pytest.approx(F) == result.F
    assert result.p_F == pytest.approx(stats.f.sf(F, k - 1, (k - 1) * (n - 1)))


def test_friedman_at_its_ends():
    tied = friedman(np.ones((4, 3)))
    assert (tied.p, tied.p_F) == (1.0, 1.0)
    ordered = friedman(np.tile([1, 2, 3], (6, 1)))
    assert ordered.chi2 == 12.0
    assert (ordered.F, ordered.p_F) == (np.inf, 0.0)


def test_ranks_share_ties_also_those_of_rounding():
    assert average_ranks([[0.1 + 0.2, 0.3, 0.1]]).tolist() == [2.5, 2.5, 1.0]
    with pytest.raises(ValueError, match="missing"):
        average_ranks([[0.1, np.nan]])
    with pytest.raises(ValueError, match="table"):
        friedman([0.1, 0.2])


@pytest.mark.parametrize(
    ("level", "table"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_nemenyi_is_the_table_in_print(level, table):
    for k, q in enumerate(table, start=2):
        assert nemenyi(10, k, level=level) == pytest.approx(q * np.sqrt(k * (k + 1) / 60), rel=3e-4)


def test_groups_within_the_critical_difference():
    assert alike([1.0, 1.2, 3.0, 3.1, 3.2], 0.5) == [[0, 1], [2, 3, 4]]
    assert alike([1.0, 2.0], 0.5) == []
    assert alike([2.0, 1.0, 1.5], 1.0) == [[1, 2, 0]]
