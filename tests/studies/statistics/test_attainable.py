"""What a test can see, against simulation; and claims that too few pairs cannot decide."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from boostlab.studies.statistics import sign_test
from boostlab.studies.statistics.attainable import power, smallest_p
from boostlab.studies.study import Claim


@pytest.mark.parametrize("n", [1, 3, 5, 6, 12])
def test_no_sign_test_goes_lower(n):
    assert smallest_p(n) == pytest.approx(sign_test(np.zeros(n), np.ones(n)).p)


def test_power_is_that_of_simulated_tests():
    gaps = np.random.default_rng(0).normal(0.5, 1.0, (4000, 18))
    seen = (stats.ttest_1samp(gaps, 0.0, axis=1).pvalue <= 0.05).mean()
    assert power(0.5, 1.0, 18) == pytest.approx(seen, abs=0.03)
    assert power(-0.5, 1.0, 18) == power(0.5, 1.0, 18) < power(0.5, 1.0, 30)
    assert np.isnan(power(0.5, 1.0, 1))


def test_few_repeats_decide_nothing_and_six_sets_may():
    claim = Claim("Toys are fun.", "does not hold", "They broke.")
    few = claim.of_few(5)
    assert few.verdict == "cannot be judged"
    assert few.evidence == (
        "They broke. So far it does not hold, but 5 repeats cannot decide: the smallest p that a sign test over them "
        "can have is 0.062."
    )
    assert claim.of_few(6) is claim
    over_sets = Claim("Toys are fun.", "partly", "They broke.", over=18)
    assert over_sets.of_few(5) is over_sets
    assert "4 data sets cannot decide" in Claim("x", "holds", "y", over=4).of_few(50).evidence
