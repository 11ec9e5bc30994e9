"""One policy decides fixed-point scales, for histograms that follow their rows and for small tables."""

from __future__ import annotations

import ast
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from boostlab.backend.cpu import followed_histograms
from boostlab.backend.cpu.kernels import fused_rounds, small_table
from boostlab.backend.cpu.scales import FEWEST, HEADROOM, LEAST, MOST, keeps, limits, next_scale

compiled = njit(lambda k, gross, rough, headroom, least: next_scale(k, gross, rough, headroom, least))


@given(
    k=st.integers(-1100, 1100),
    bits=st.integers(0, 62),
    share=st.floats(0, 1),
    n=st.integers(1, 10**7),
    lasting=st.booleans(),
)
def test_a_scale_is_kept_or_left_for_one_that_is_kept(k, bits, share, n, lasting):
    gross = min((1 << bits) + int(share * (1 << bits)), (1 << 63) - 1)
    headroom, least = limits(n, lasting)
    after, known = next_scale(k, gross, float(gross), headroom, least)
    assert compiled(k, gross, float(gross), headroom, least) == (after, known)
    assert known == (gross >= FEWEST and float(gross) < 1.4 * MOST)
    if not known or keeps(gross, least):
        assert after == k
    else:
        assert after != k
        moved = gross << (after - k) if after > k else gross >> (k - after)
        assert 1 << (61 - headroom) <= moved < 1 << (62 - headroom)
        assert keeps(moved, least)


def test_sums_that_may_have_overflowed_tell_nothing():
    for rough in (1.5 * MOST, float("inf"), float("nan")):
        assert next_scale(7, 1 << 60, rough, HEADROOM, LEAST) == (7, False)


@pytest.mark.parametrize(("n", "lasting", "found"), [(100, False, (4, 1 << 54)), (100, True, (10, 1 << 48))])
def test_few_examples_give_up_bits_where_they_may(n, lasting, found):
    assert limits(n, lasting) == found
    assert limits(1 << 18, lasting) == (HEADROOM, LEAST)


@pytest.mark.parametrize("module", [followed_histograms, small_table, fused_rounds], ids=lambda m: m.__name__)
def test_no_other_module_has_a_policy(module):
    """No power of two beyond 2^32 stands anywhere else."""
    numbers = [n.value for n in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(n, ast.Constant)]
    assert not {32, 54, 60, 61, 62} & {n for n in numbers if isinstance(n, int) and not isinstance(n, bool)}
