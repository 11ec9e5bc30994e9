"""Sums over rows: exact to a known bound, and the same bits for any order, partition and number of copies."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from boostlab.backend.cpu.masses import Masses

KINDS = {
    "any": st.floats(-1e300, 1e300),
    "huge": st.floats(1e299, 1e300) | st.floats(-1e300, -1e299),
    "tiny": st.floats(-1e-300, 1e-300),
    "subnormal": st.floats(-1e-310, 1e-310),
    "common": st.floats(-1, 1),
    "mixed": st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1e-300, 5e-324, 1 / 3, 2.0**-60, 1e16, -1e16]),
}


@st.composite
def values(draw, max_size=30, columns=None):
    """An array of one kind of numbers, of shape (n,) or (n, columns)."""
    n = draw(st.integers(1, max_size))
    shape = n if columns is None else (n, columns)
    return draw(hnp.arrays(np.float64, shape, elements=KINDS[draw(st.sampled_from(sorted(KINDS)))]))


def exact(x, mass):
    """The sum and the sum of magnitudes of mass * x as fractions."""
    terms = [Fraction(float(m)) * Fraction(float(v)) for m, row in zip(mass, x, strict=True) for v in np.ravel(row)]
    return sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))


def allowed(n, signed, gross, per_term=0):
    """n 2^-61 of the magnitudes, one rounding of the result and `per_term` of every term, and the finest float."""
    u = Fraction(2) ** -53
    return n * Fraction(2) ** -61 * gross + u * abs(signed) * 2 + per_term * u * gross + Fraction(2) ** -1074


# -- total ----------------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@example(x=np.array([1e300, 1.0, -1e300]))
@example(x=np.array([5e-324]))
@example(x=np.array([-0.0]))
@given(values())
def test_total_keeps_its_bound(x):
    signed, gross = exact(x, np.ones(len(x)))
    assert abs(Fraction(Masses(len(x)).total(x)) - signed) <= allowed(len(x), signed, gross)


@settings(max_examples=50)
@given(values(columns=3))
def test_total_of_a_matrix_is_over_all_its_cells(x):
    signed, gross = exact(x, np.ones(len(x)))
    assert abs(Fraction(Masses(len(x)).total(x)) - signed) <= allowed(x.size, signed, gross)


@settings(max_examples=75)
@given(st.data())
def test_total_with_masses_keeps_its_bound(data):
    x = data.draw(values())
    if data.draw(st.booleans()):
        mass = data.draw(hnp.arrays(np.float64, len(x), elements=st.integers(1, 10**6).map(float)))
        n, per_term = mass.sum(), 0
    else:
        mass = data.draw(hnp.arrays(np.float64, len(x), elements=st.floats(1e-3, 1e3)))
        n, per_term = len(x), 1  # real masses cost one rounding a product
    signed, gross = exact(x, mass)
    bound = allowed(int(n), signed, gross, per_term) + len(x) * Fraction(2) ** -1074
    assert abs(Fraction(Masses(len(x), mass).total(x)) - signed) <= bound


def test_total_of_whole_numbers_is_exact():
    x = np.arange(-500.0, 1000.0)
    assert Masses(1500).total(x) == sum(range(-500, 1000))
    mass = np.arange(1.0, 1501.0)
    assert Masses(1500, mass).total(x) == sum(m * v for m, v in zip(range(1, 1501), range(-500, 1000), strict=True))


def test_total_takes_several_arrays_of_any_kind():
    rows = Masses(4)
    one, two, three = rows.total(np.array([True, False, True, True]), np.arange(4), np.float32([0.5, 0.25, 0, 0]))
    assert (one, two, three) == (3.0, 6.0, 0.75)
    assert isinstance(rows.total(np.ones(4)), float)


def test_total_follows_strides():
    x = np.arange(40.0).reshape(10, 4)
    assert Masses(10).total(x[:, 1]) == float(sum(range(1, 40, 4)))
    assert Masses(5).total(x[::2]) == float(sum(v for row in x.tolist()[::2] for v in row))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("mass", [None, np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 1.0])])
def test_nan_and_infinity_are_refused(bad, mass):
    rows = Masses(3, mass)
    for x in (np.array([1.0, bad, 0.0]), np.array([[1.0, 2.0], [0.0, bad], [0.0, 0.0]])):
        with pytest.raises(ArithmeticError, match="NaN or infinity"):
            rows.total(x)
        with pytest.raises(ArithmeticError, match="NaN or infinity"):
            rows.whole(x)


def test_a_total_beyond_the_floats_is_refused():
    with pytest.raises(ArithmeticError):
        Masses(4).total(np.full(4, 1e308))
    assert Masses(4).total(np.array([1e308, 1e308, -1e308, -1e308])) == 0.0


# -- whole ----------------------------------------------------------------------------------------------------------


def rounded(x, mass, k):
    """mass * rint(x 2^k) in rational arithmetic."""
    return [
        [int(m) * round(Fraction(float(v)) * Fraction(2) ** k) for v in np.ravel(row)]
        for row, m in zip(x, mass, strict=True)
    ]


@settings(max_examples=100)
@given(st.data())
def test_whole_is_exact_rounding_and_fills_the_integers(data):
    x = data.draw(values(max_size=12, columns=data.draw(st.sampled_from([None, 1, 3]))))
    mass = np.array(data.draw(st.lists(st.integers(1, 2**20), min_size=len(x), max_size=len(x))), np.float64)
    q, k, signed, gross = Masses(len(x), mass).whole(x)
    assert q.shape == x.shape
    assert q.dtype == np.int64
    assert q.reshape(len(x), -1).tolist() == rounded(x, mass, k)
    flat = q.ravel().tolist()
    assert signed == sum(flat)
    assert gross == sum(map(abs, flat))
    if x.any():
        assert 2**60 <= gross < 2**62


@settings(max_examples=50)
@given(st.data())
def test_heavy_masses_do_not_overflow(data):
    n = data.draw(st.integers(1, 6))
    mass = 2.0 ** np.array(data.draw(st.lists(st.sampled_from([0, 1, 10, 35, 36]), min_size=n, max_size=n)))
    x = 2.0 ** -np.array(data.draw(st.lists(st.sampled_from([0, 1, 20, 27, 29, 60]), min_size=n, max_size=n)), float)
    rows = Masses(n, mass)
    q, _, signed, gross = rows.whole(x)
    assert 2**60 <= gross < 2**62
    assert signed == gross == sum(q.tolist())
    assert rows.total(x) == pytest.approx(math.fsum(mass * x), rel=2.0**-20, abs=0.0)  # n 2^-61, n up to 2^39


def test_a_heavy_row_of_tiny_weight_counts():
    rows = Masses(2, np.array([1.0, 2.0**39]))
    assert rows.total(np.array([1.0, 0.49 * 2.0**-20])) == pytest.approx(1 + 0.49 * 2.0**19, rel=1e-6)


def test_whole_of_nothing_but_zeros():
    q, k, signed, gross = Masses(3).whole(np.array([0.0, -0.0, 0.0]))
    assert (q.tolist(), k, signed, gross) == ([0, 0, 0], 0, 0, 0)
    assert Masses(3).total(np.zeros(3)) == 0.0


@settings(max_examples=75)
@given(st.data())
def test_order_and_partition_do_not_matter(data):
    x = data.draw(values(columns=data.draw(st.sampled_from([None, 2]))))
    n = len(x)
    mass = data.draw(
        st.none()
        | hnp.arrays(np.float64, n, elements=st.integers(1, 9).map(float))
        | hnp.arrays(np.float64, n, elements=st.floats(0.1, 10))
    )
    order = np.array(data.draw(st.permutations(range(n))))
    q, k, signed, gross = Masses(n, mass).whole(x)
    shuffled = Masses(n, None if mass is None else mass[order])
    q2, k2, signed2, gross2 = shuffled.whole(x[order])
    assert (k2, signed2, gross2) == (k, signed, gross)
    assert np.array_equal(q2, q[order])
    assert shuffled.total(x[order]) == Masses(n, mass).total(x)
    parts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    assert sum(int(q[parts == p].sum()) for p in range(4)) == signed


@settings(max_examples=100)
@given(st.data())
def test_mass_k_is_k_copies_bit_for_bit(data):
    x = data.draw(values(max_size=12, columns=data.draw(st.sampled_from([None, 2]))))
    copies = np.array(data.draw(st.lists(st.integers(1, 7), min_size=len(x), max_size=len(x))))
    massive, plain = Masses(len(x), copies.astype(np.float64)), Masses(int(copies.sum()))
    assert massive.n == plain.n
    assert massive.total(x) == plain.total(x.repeat(copies, axis=0))
    q, *facts = massive.whole(x)
    q2, *facts2 = plain.whole(x.repeat(copies, axis=0))
    assert facts == facts2
    starts = np.concatenate([[0], np.cumsum(copies)[:-1]])
    assert np.array_equal(q, np.add.reduceat(q2, starts, axis=0))


@settings(max_examples=50)
@given(st.data())
def test_counts_of_a_draw_replace_the_masses(data):
    x = data.draw(values(max_size=12, columns=data.draw(st.sampled_from([None, 2]))))
    counts = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(x), max_size=len(x)).filter(any)))
    for mass in (None, np.full(len(x), 3.0), np.linspace(0.5, 0.7, len(x))):
        q, *facts = Masses(len(x), mass).whole(x, counts)
        copies, *facts2 = Masses(int(counts.sum())).whole(x.repeat(counts, axis=0))
        assert facts == facts2
        assert np.array_equal(q.repeat(counts, axis=0), copies * counts.repeat(counts).reshape(-1, *[1] * (x.ndim - 1)))
        assert not q[counts == 0].any()


def test_rows_left_out_of_a_draw_count_nothing():
    x, counts = np.array([0.3, -0.7, 0.9, 0.1]), np.array([2, 0, 1, 0])
    q, *facts = Masses(4).whole(x, counts)
    expected, *facts2 = Masses(3).whole(x.repeat(counts))
    assert facts == facts2
    assert q.tolist() == [2 * expected.tolist()[0], 0, expected.tolist()[2], 0]


# -- masses and extremes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mass", "uniform", "n"),
    [
        (None, True, 3.0),
        ([1.0, 1.0, 1.0], True, 3.0),
        ([1.0, 2.0, 3.0], False, 6.0),
        ([0.5, 0.5, 0.5], False, 1.5),
        ([2.0**50, 1.0, 1.0], False, 2.0**50 + 2),
    ],
)
def test_masses_are_kept_as_given(mass, uniform, n):
    rows = Masses(3, None if mass is None else np.array(mass))
    assert rows.uniform is uniform
    assert rows.n == n
    assert rows.masses.tolist() == (mass or [1.0, 1.0, 1.0])
    assert rows.total(np.ones(3)) == n


def test_extremes_ignore_masses():
    rows = Masses(3, np.array([5.0, 1.0, 2.0]))
    assert rows.largest(np.array([-1.0, 3.0, 2.0])) == 3.0
    assert rows.smallest(np.array([-1.0, 3.0, 2.0])) == -1.0


@pytest.mark.parametrize("threads", [1, 3])
def test_the_unit_is_what_ones_are_rounded_to(threads):
    for n in (*range(1, 300), 4095, 4096, 4097, 65_536, 100_000, 131_071):
        rows = Masses(n).on(threads)
        assert rows.unit == rows.whole(np.ones(n))[0][0]
