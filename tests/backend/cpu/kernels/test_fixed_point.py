"""Fixed-point sums against rational arithmetic."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.kernels import fixed_point as sums

largest_magnitude = kernel(sums.largest_of)

ONCE = np.empty(0, np.int64)
TINY = 5e-324  # the smallest positive float
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def power(k):
    return Fraction(2) ** k


def exact_fixed(x, counts, k):
    """q = counts * rint(x 2^k) in rational arithmetic; Python's round goes to even, like rint."""
    counts = np.ones(len(x), np.int64) if counts.size == 0 else counts
    return [[int(c) * round(Fraction(float(v)) * power(k)) for v in row] for row, c in zip(x, counts, strict=True)]


# -- the largest magnitude ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], 0.0),
        ([0.0], 0.0),
        ([-0.0], 0.0),
        ([-0.0, 0.0, -0.0], 0.0),
        ([TINY, -0.0], TINY),
        ([-TINY, 0.0], TINY),
        ([1e-310, -2e-310, 1.5e-310], 2e-310),
        ([2.2250738585072014e-308, -2.225073858507201e-308], 2.2250738585072014e-308),  # normal beside subnormal
        ([1.0, -2.0, 1.5], 2.0),
        ([1.7976931348623157e308, 1.0], 1.7976931348623157e308),
        ([-1.7976931348623157e308, TINY], 1.7976931348623157e308),
    ],
)
def test_largest_magnitude(values, expected):
    got = largest_magnitude(np.array(values, np.float64))
    assert got == expected
    assert math.copysign(1.0, got) == 1.0  # never the negative zero


@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", [0, 3, 8])
def test_largest_magnitude_finds_what_is_not_a_number(bad, where):
    x = np.array([1.0, -5.0, 0.0, -0.0, 1e308, TINY, 2.0, 3.0, 4.0])
    assert math.isfinite(largest_magnitude(x))
    x[where] = bad
    assert math.isnan(largest_magnitude(x))


@given(st.lists(FINITE, max_size=40))
def test_largest_magnitude_of_anything(values):
    expected = 0.0
    for v in values:
        expected = max(expected, math.fabs(v))
    assert largest_magnitude(np.array(values, np.float64)) == expected


# -- scaling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 1, -1, 60, 999, 1000, 1001, 1022, 1023, 1024, 1075, 1133, -1000, -1001, -1022, -1100])
def test_two_factors_make_any_power_of_two(k):
    first, second = sums.power_factors(k)
    assert Fraction(first) * Fraction(second) == power(k)


@settings(max_examples=75)
@given(st.data())
def test_fixed_is_exact_rounding(data):
    rows, columns = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 3))
    size = data.draw(st.sampled_from([1.0, 1e-300, 1e300, 1e-310]))
    x = data.draw(hnp.arrays(np.float64, (rows, columns), elements=st.floats(-1, 1))) * size
    counts = data.draw(st.just(ONCE) | hnp.arrays(np.int64, rows, elements=st.integers(0, 100)))
    top = max(np.abs(x).max(), TINY)
    k = 50 - math.frexp(top)[1] - data.draw(st.integers(0, 60))  # so that |q| stays below 2^57
    out = np.empty(x.shape, np.int64)
    sums.fixed(x, counts, k, out)
    assert out.tolist() == exact_fixed(x, counts, k)


def test_fixed_rounds_halves_to_even():
    x = np.array([[0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.25, 0.75]]).T
    out = np.empty(x.shape, np.int64)
    sums.fixed(x, ONCE, 0, out)
    assert out.ravel().tolist() == [0, 2, 2, 0, -2, -2, 0, 1]
    sums.fixed(x, np.arange(1, 9), 0, out)  # masses multiply after rounding
    assert out.ravel().tolist() == [0, 4, 6, 0, -10, -12, 0, 8]


# -- the choice of k and the sums -----------------------------------------------------------------------------------


@settings(max_examples=100)
@given(st.data())
def test_fixed_sums_fill_the_integers_and_agree_with_rational_arithmetic(data):
    rows, columns = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    elements = data.draw(st.sampled_from([FINITE, st.floats(-1, 1), st.floats(-1e-300, 1e-300)]))
    x = data.draw(hnp.arrays(np.float64, (rows, columns), elements=elements))
    counts = data.draw(st.just(ONCE) | hnp.arrays(np.int64, rows, elements=st.integers(1, 1000)))
    size = float(x.size if counts is ONCE else counts.sum() * columns)
    k, signed, gross = sums.fixed_sums(x, counts, size)
    q = [v for row in exact_fixed(x, counts, k) for v in row]
    assert signed == sum(q)
    assert gross == sum(map(abs, q))
    if x.any():
        assert 2**60 <= gross < 2**62
    else:
        assert (k, signed, gross) == (0, 0, 0)


@example(shift=0, rows=3)
@given(st.integers(-900, 900), st.integers(1, 30))
def test_k_follows_the_scale(shift, rows):
    x = np.linspace(-1.0, 0.7, rows)[:, None]
    k, signed, gross = sums.fixed_sums(x, ONCE, float(rows))
    assert sums.fixed_sums(x * 2.0**shift, ONCE, float(rows)) == (k - shift, signed, gross)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_fixed_sums_report_what_cannot_be_summed(bad):
    assert sums.fixed_sums(np.array([[1.0], [bad], [2.0]]), ONCE, 3.0)[2] == -1
    assert sums.fixed_sums(np.array([[1.0], [bad]]), np.array([1, 5]), 6.0)[2] == -1


def test_a_sum_of_magnitudes_just_below_a_power_of_two_still_reaches_the_range():
    # With k = 59 rounding lifts the sum of |q| to exactly 2^59; doubled, the true sum falls short of 2^60.
    x = np.array([[1 - 2.0**-53], [(2**6 - 0.4) * 2.0**-59]])
    assert 2**60 <= sums.fixed_sums(x, ONCE, 2.0)[2] < 2**62


def test_a_heavy_row_that_first_rounds_to_nothing_does_not_overflow():
    x, counts = np.array([[1.0], [0.49 * 2.0**-20]]), np.array([1, 2**39])
    k, signed, gross = sums.fixed_sums(x, counts, float(counts.sum()))
    assert gross == signed == sum(v for row in exact_fixed(x, counts, k) for v in row)
    assert 2**60 <= gross < 2**62


def test_rows_that_count_zero_times_do_not_matter():
    # In a process of its own, because a compiled loop that never ends cannot be interrupted.
    code = """
import numpy as np
from boostlab.backend.cpu.kernels.fixed_point import fixed_sums
for x, counts in [([1.0, 0.0], [0, 3]), ([1.0, 1e-60], [0, 3]), ([1.0, 2.0], [0, 0]), ([1e9, 1.0, 2.0], [0, 2, 1])]:
    k, signed, gross = fixed_sums(np.array(x)[:, None], np.array(counts), float(sum(counts)))
    print(np.ldexp(float(signed), -int(k)), 2**60 <= gross < 2**62)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=15, check=True)
    lines = [line.split() for line in run.stdout.splitlines()]
    assert [float(value) for value, _ in lines] == pytest.approx([0.0, 3e-60, 0.0, 4.0], rel=1e-15, abs=0.0)
    assert [in_range for _, in_range in lines] == ["False", "True", "False", "True"]


@pytest.mark.parametrize("n", [1, 5, 100, 5000])
@pytest.mark.parametrize("kind", ["normal", "wide", "eighths", "tiny"])
def test_vectors_of_integers_are_the_nearest_integers(n, kind):
    # Few rows have integers above 2^51, which are converted one by one; many rows have small ones.
    rng = np.random.default_rng(n)
    x = {
        "normal": rng.normal(size=n),
        "wide": np.exp(20 * rng.normal(size=n)),
        "eighths": np.round(4 * rng.normal(size=n)) / 8,
        "tiny": 1e-250 * rng.normal(size=n),
    }[kind]
    k, signed, gross = sums.fixed_sums(x.reshape(-1, 1), np.empty(0, np.int32), float(n))
    q = [int(v) for v in np.rint(np.ldexp(x, k))]
    assert (signed, gross) == (sum(q), sum(map(abs, q)))
