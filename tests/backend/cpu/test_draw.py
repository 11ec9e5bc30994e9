"""Draws in proportion to weight, and the order of rows they walk in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from boostlab.backend.cpu.masses import Masses
from boostlab.data.matrix import canonical_order

schemes = pytest.mark.parametrize("systematic", [False, True], ids=["multinomial", "systematic"])


def drawn(rows, weight, size, seed, order=None, systematic=False):
    order = np.arange(rows.n_rows) if order is None else order
    return rows.draw(weight, size, np.random.default_rng(seed), order, systematic)


# -- draws ----------------------------------------------------------------------------------------------------------


@schemes
@pytest.mark.parametrize("size", [1, 2, 7, 500])
def test_a_draw_has_its_size(systematic, size):
    weight = np.random.default_rng(0).random(30)
    for seed in range(20):
        counts = drawn(Masses(30), weight, size, seed, systematic=systematic)
        assert counts.shape == (30,)
        assert counts.dtype == np.int32
        assert counts.min() >= 0
        assert counts.sum() == size


@pytest.mark.parametrize("kind", ["uniform", "counts", "real", "matrix"])
def test_draws_are_in_proportion_to_mass_times_weight(kind):
    rng = np.random.default_rng(1)
    n, size = 25, 200_000
    weight = rng.random((n, 3) if kind == "matrix" else n) + 0.02
    mass = {"counts": rng.integers(1, 6, n).astype(float), "real": rng.random(n) + 0.1}.get(kind)
    p = (weight if kind != "matrix" else weight.sum(axis=1)) * (1.0 if mass is None else mass)
    counts = drawn(Masses(n, mass), weight, size, 2)
    statistic = stats.chisquare(counts, p / p.sum() * size).statistic
    assert statistic < stats.chi2.ppf(1 - 1e-6, n - 1)
    assert statistic > stats.chi2.ppf(1e-6, n - 1)  # and it is a random draw, not a rounding


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 200))
def test_a_systematic_draw_stays_within_one_of_what_is_expected(seed, n, size):
    weight = np.random.default_rng(seed).random(n) ** 4
    counts = drawn(Masses(n), weight, size, seed, systematic=True)
    assert np.abs(counts - size * weight / weight.sum()).max() < 1 + 1e-9


def test_a_systematic_draw_is_right_on_average():
    weight = np.array([0.05, 0.3, 0.15, 0.5])
    counts = sum(drawn(Masses(4), weight, 3, seed, systematic=True) for seed in range(4000))
    expected = 3 * weight * 4000
    assert np.abs(counts - expected).max() < 5 * np.sqrt(4000 / 4)  # one draw's count has a variance of at most 1/4


@schemes
@given(st.integers(0, 2**32), st.integers(2, 30))
def test_rows_without_weight_are_never_drawn(systematic, seed, n):
    rng = np.random.default_rng(seed)
    weight = np.where(rng.random(n) < 0.5, 0.0, rng.random(n))
    weight[rng.integers(n)] = 1.0
    for w in (weight, np.stack([weight, weight], axis=1)):
        counts = drawn(Masses(n), w, 300, seed, systematic=systematic)
        assert (counts[weight == 0] == 0).all()
        assert counts.sum() == 300


class Dice:
    """A generator that throws what it is told."""

    def __init__(self, marks):
        self.marks = marks

    def integers(self, low, high, size=None):
        marks = np.array([high + m if m < 0 else m for m in self.marks])
        assert (low <= marks).all()
        assert (marks < high).all()
        return marks if size else int(marks[0])


def test_the_ends_of_every_rows_share_belong_to_it():
    weight = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 0.0])
    one = int(Masses(7).whole(weight)[0][1])  # how many marks a weight of one owns
    for marks, row in (([0], 1), ([one - 1], 1), ([one], 4), ([2 * one - 1], 4), ([2 * one], 5), ([-1], 5)):
        counts = Masses(7).draw(weight, 1, Dice(marks), np.arange(7))
        assert counts.tolist() == [int(i == row) for i in range(7)]
    assert Masses(7).draw(weight, 4, Dice([0]), np.arange(7), systematic=True).tolist() == [0, 1, 0, 0, 1, 2, 0]
    assert Masses(7).draw(weight, 4, Dice([-1]), np.arange(7), systematic=True).tolist() == [0, 1, 0, 0, 1, 2, 0]


@schemes
@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_the_order_rows_come_in_does_not_matter(systematic, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    weight, mass, shuffle = rng.random(n), rng.integers(1, 4, n).astype(float), rng.permutation(n)
    a = drawn(Masses(n, mass), weight, 50, seed, canonical_order(X, y), systematic)
    order = canonical_order(X[shuffle], y[shuffle])
    b = drawn(Masses(n, mass[shuffle]), weight[shuffle], 50, seed, order, systematic)
    assert np.array_equal(b, a[shuffle])


@schemes
@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_mass_k_is_drawn_as_often_as_k_copies_together(systematic, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    X, y, weight, copies = rng.normal(size=(n, 2)), rng.integers(0, 2, n), rng.random(n), rng.integers(1, 5, n)
    a = drawn(Masses(n, copies.astype(float)), weight, 40, seed, canonical_order(X, y), systematic)
    origin = rng.permutation(np.repeat(np.arange(n), copies))  # copies lie scattered
    order = canonical_order(X[origin], y[origin])
    b = drawn(Masses(len(origin)), weight[origin], 40, seed, order, systematic)
    assert np.array_equal(np.bincount(origin, b, minlength=n), a)


# -- the canonical order --------------------------------------------------------------------------------------------

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.5, 1e-300, 1e300]) | st.floats(-4, 4)


@settings(max_examples=100)
@given(st.data())
def test_the_canonical_order_depends_on_content_only(data):
    d = data.draw(st.integers(1, 4))
    pool = data.draw(st.lists(st.tuples(*[NUMBERS] * d, st.integers(0, 2)), min_size=1, max_size=12))
    rows = np.array(data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=25)), np.float64)
    shuffle = np.array(data.draw(st.permutations(range(len(rows)))))
    a, b = canonical_order(rows[:, :-1], rows[:, -1]), canonical_order(rows[shuffle, :-1], rows[shuffle, -1])
    assert sorted(a.tolist()) == list(range(len(rows)))
    assert np.array_equal(rows[a], rows[shuffle][b])  # 0.0 and -0.0 are the same number
    runs = 1 + (rows[a][1:] != rows[a][:-1]).any(axis=1).sum()
    assert runs == len(np.unique(rows + 0.0, axis=0))  # equal rows lie together


def test_negative_zeros_are_zeros():
    rng = np.random.default_rng(1)
    for _ in range(50):
        X, y = rng.integers(0, 2, size=(12, 2)).astype(float), rng.integers(0, 2, 12)
        signed = np.where((X == 0) & (rng.random(X.shape) < 0.5), -0.0, X)
        assert np.array_equal(signed, X)
        assert np.array_equal(canonical_order(signed, y), canonical_order(X, y))


def test_labels_are_part_of_the_content():
    X = np.ones((6, 2))
    assert np.array([0, 1, 0, 1, 1, 0])[canonical_order(X, np.array([0, 1, 0, 1, 1, 0]))].tolist() in (
        [0, 0, 0, 1, 1, 1],
        [1, 1, 1, 0, 0, 0],
    )


def test_a_grid_of_small_numbers_has_no_collisions():
    X = np.stack(np.meshgrid(*[np.arange(-3.0, 4.0)] * 4), axis=-1).reshape(-1, 4)
    y = np.zeros(len(X))
    shuffle = np.random.default_rng(0).permutation(len(X))
    assert np.array_equal(X[canonical_order(X, y)], X[shuffle][canonical_order(X[shuffle], y)])
