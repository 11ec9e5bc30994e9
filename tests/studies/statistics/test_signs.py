"""The sign test, by hand and on the published table of QuadBoost."""

import itertools

import numpy as np
import pytest
from scipy import stats

from boostlab.studies.statistics import sign_test
from boostlab_reproductions.published import published


@pytest.fixture(scope="module")
def risks():
    rows = published("quadboost_table1")
    names = list(dict.fromkeys(row["algorithm"] for row in rows))
    return {name: [row["test_risk"] for row in rows if row["algorithm"] == name] for name in names}


@pytest.mark.parametrize(
    ("first", "second", "wins", "losses", "p"),
    [
        ("QuadBoost-Linf", "LPBoost", 16, 4, 0.012),
        ("QuadBoost-Linf", "AdaBoost", 18, 5, 0.011),
        ("QuadBoost-Linf", "QuadBoost-L1", 12, 3, 0.035),
        ("QuadBoost-Linf", "QuadBoost", 11, 3, 0.057),
        ("QuadBoost-L2", "QuadBoost-L1", 13, 5, 0.096),
        ("QuadBoost-L2", "QuadBoost", 12, 6, 0.238),
    ],
)
def test_on_quadboosts_table(risks, first, second, wins, losses, p):
    result = sign_test(risks[first], risks[second])
    assert (result.wins, result.losses, result.ties) == (wins, losses, 25 - wins - losses)
    assert round(result.p, 3) == p


def test_the_papers_claims_of_wins(risks):
    """Not worse: QuadBoost than AdaBoost on 17 of 25, with L1 than LPBoost on 16 of 25."""
    plain = sign_test(risks["QuadBoost"], risks["AdaBoost"])
    lasso = sign_test(risks["QuadBoost-L1"], risks["LPBoost"])
    assert plain.wins + plain.ties == 17
    assert lasso.wins + lasso.ties == 16


def test_one_sided_stars_too_many(risks):
    """A one-sided test at 5 percent stars the three pairs that the paper stars, and four more."""
    starred = {
        pair
        for pair in itertools.permutations(risks, 2)
        if sign_test(risks[pair[0]], risks[pair[1]], alternative="greater").p <= 0.05
    }
    rows = published("quadboost_table2_poisson_binomial")
    printed = {
        (row["row_algorithm"], row["column_algorithm"])
        for row in rows
        if row["sign_test_star"] and row["probability_row_better"] > 0.5
    }
    assert printed == {
        ("QuadBoost-Linf", "QuadBoost"),
        ("QuadBoost-Linf", "QuadBoost-L1"),
        ("QuadBoost-L2", "QuadBoost-L1"),
    }
    assert starred - printed == {
        ("QuadBoost-Linf", "LPBoost"),
        ("QuadBoost-Linf", "AdaBoost"),
        ("QuadBoost-L2", "LPBoost"),
        ("QuadBoost", "LPBoost"),
    }
    assert printed <= starred


def errors_of(wins, losses, ties):
    return np.array([0.0] * wins + [1.0] * losses + [0.5] * ties), np.full(wins + losses + ties, 0.5)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("ties", [0, 3, 4])
def test_ties_by_hand(alternative, ties):
    a, b = errors_of(7, 2, ties)
    assert sign_test(a, b, alternative=alternative).p == stats.binomtest(7, 9, 0.5, alternative).pvalue
    half = stats.binomtest(7 + ties // 2, 9 + 2 * (ties // 2), 0.5, alternative).pvalue
    assert sign_test(a, b, ties="half", alternative=alternative).p == half


def test_is_antisymmetric():
    a, b = errors_of(6, 3, 1)
    assert sign_test(a, b).p == sign_test(b, a).p
    assert sign_test(a, b, alternative="greater").p == sign_test(b, a, alternative="less").p


def test_nothing_but_ties():
    assert sign_test([0.1, 0.2], [0.1, 0.2]).p == 1.0


def test_wrong_options():
    with pytest.raises(ValueError, match='use "drop" or "half"'):
        sign_test([0.1], [0.2], ties="keep")
    with pytest.raises(ValueError, match='use "two-sided"'):
        sign_test([0.1], [0.2], alternative="both")
