"""The paired t-test, plain and corrected, and the marks of a table's row."""

import numpy as np
import pytest
from scipy import stats

from boostlab.studies.statistics import mark_best, paired_t_test


@pytest.fixture
def pair():
    rng = np.random.default_rng(3)
    common = rng.normal(0.2, 0.02, 50)
    return common + rng.normal(0, 0.01, 50), common + rng.normal(0.003, 0.01, 50)


def test_plain_is_scipys(pair):
    ours, peer = paired_t_test(*pair), stats.ttest_rel(*pair)
    assert ours.t == pytest.approx(peer.statistic, rel=1e-9)
    assert ours.p == pytest.approx(peer.pvalue, rel=1e-9)
    assert ours.difference == pytest.approx(np.mean(pair[0] - pair[1]))


def test_corrected_by_hand():
    # d = 1, 2, 3, so the mean is 2 and the variance 1; 25 test rows to 50 training rows: 1/3 + 1/2 = 5/6.
    result = paired_t_test([2, 4, 6], [1, 2, 3], test_ratio=0.5)
    assert result.t == pytest.approx(2 / np.sqrt(5 / 6))
    assert result.p == pytest.approx(2 * stats.t.sf(2 / np.sqrt(5 / 6), 2))


def test_the_correction_shrinks_t_by_a_known_factor(pair):
    plain, corrected = paired_t_test(*pair), paired_t_test(*pair, test_ratio=0.5)
    assert plain.t / corrected.t == pytest.approx(np.sqrt((1 / 50 + 1 / 2) / (1 / 50)))
    assert corrected.p > plain.p


def test_is_antisymmetric(pair):
    there, back = paired_t_test(*pair), paired_t_test(*pair[::-1])
    assert (there.t, there.p) == (-back.t, back.p)


def test_no_difference_at_all():
    same = [0.1, 0.2, 0.3]
    assert paired_t_test(same, same).p == 1.0
    assert paired_t_test([0.1 + 0.2] * 3, [0.3] * 3).p == 1.0, "what rounding leaves is no difference"


def test_always_the_same_difference():
    result = paired_t_test([0.2, 0.3, 0.4], [0.1, 0.2, 0.3])
    assert result.t == np.inf
    assert result.p == 0.0


def test_one_split_says_nothing():
    assert np.isnan(paired_t_test([0.1], [0.2]).p)


def test_wrong_input():
    with pytest.raises(ValueError, match="two lists of one length"):
        paired_t_test([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="must be numbers"):
        paired_t_test([0.1, np.nan], [0.1, 0.2])
    with pytest.raises(ValueError, match="test rows divided by training rows"):
        paired_t_test([0.1, 0.2], [0.1, 0.3], test_ratio=-1)


def test_marks_follow_the_definition(pair):
    a, b = pair
    errors = np.column_stack([b, a, a + 0.01, a])
    marks = mark_best(errors, level=0.01)
    assert marks.best == 1, "the first of the equal"
    np.testing.assert_allclose(marks.means, errors.mean(axis=0))
    np.testing.assert_allclose(marks.standard_errors, errors.std(axis=0, ddof=1) / np.sqrt(50))
    np.testing.assert_allclose(marks.p, [stats.ttest_rel(b, a).pvalue, 1.0, 0.0, 1.0], atol=1e-12)
    assert marks.marked.tolist() == [bool(stats.ttest_rel(b, a).pvalue > 0.01), True, False, True]


def test_the_level_decides(pair):
    a, b = pair
    p = stats.ttest_rel(b, a).pvalue
    errors = np.column_stack([a, b])
    assert mark_best(errors, level=p * 0.99).marked.tolist() == [True, True]
    assert mark_best(errors, level=p * 1.01).marked.tolist() == [True, False]


def test_fewer_repeats_are_compared_where_both_have_some(pair):
    a, b = pair
    few = b.copy()
    few[10:] = np.nan
    marks = mark_best(np.column_stack([a, few, np.full(50, np.nan)]))
    best = marks.best
    other = 1 - best
    assert marks.p[other] == pytest.approx(stats.ttest_rel(a[:10], b[:10]).pvalue)
    assert marks.means[1] == pytest.approx(b[:10].mean())
    assert np.isnan(marks.p[2])
    assert not marks.marked[2]


def test_a_row_without_results():
    marks = mark_best(np.full((3, 2), np.nan))
    assert marks.best == -1
    assert not marks.marked.any()
