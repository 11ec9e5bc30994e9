"""The soft margin of a vote."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostlab.solvers.soft_margin import check_nu, soft_margin

numbers = st.floats(-1, 1)


@given(st.lists(st.tuples(numbers, st.floats(0.1, 3)), min_size=1, max_size=12), st.floats(0.01, 1.0))
def test_it_is_the_best_over_all_rho(rows, nu):
    margins, mass = np.array(rows).T
    cap = 1 / (nu * mass.sum())
    best = max(rho - cap * mass @ np.maximum(rho - margins, 0) for rho in margins)
    assert soft_margin(margins, mass, cap) == pytest.approx(best, abs=1e-9)


def test_without_a_cap_it_is_the_smallest_margin():
    assert soft_margin(np.array([0.3, -0.2, 0.5]), np.ones(3), np.inf) == -0.2


def test_nu_may_be_one_in_n_and_what_a_refusal_names():
    for n in range(2, 500):
        check_nu(1 / n, n)  # 1/49 * 49 is less than 1
        with pytest.raises(ValueError, match=r"use nu >= ") as refusal:
            check_nu(0.99 / n, n)
        named = float(str(refusal.value).rpartition(">= ")[2].rstrip("."))
        assert 1 / n <= named * (1 + 1e-12)
        assert named <= 1.01 / n
        check_nu(named, n)
