"""The best stump on sums of two labels against an enumeration of all stumps in plain Python."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.interleaved import InterleavedLayout
from boostlab.backend.cpu.kernels.shifted_search import (
    best_of_columns,
    bounds_in_columns,
    bounds_in_words_of_eight,
    bounds_in_words_of_four,
    start_in_word,
    start_of_column,
    told_bound,
    told_worth,
)
from boostlab.learners.criteria import shifted

TURNS = {0: (1.0, -1.0), 1: (1.0, 1.0), -1: (-1.0, -1.0)}


@kernel
def in_words_of_eight(minus, plus, words, places, about, n_words, d, bounds):
    bounds_in_words_of_eight(minus, plus, words, places, about, 0, n_words, np.empty(16), bounds)
    return best_of_columns(start_in_word, minus, plus, words, places, about, 8, 0, d, bounds)


@kernel
def in_words_of_four(minus, plus, words, places, about, n_words, d, bounds):
    bounds_in_words_of_four(minus, plus, words, places, about, 0, n_words, np.empty(8), bounds)
    return best_of_columns(start_in_word, minus, plus, words, places, about, 4, 0, d, bounds)


@kernel
def by_itself(minus, plus, places, about, d, bounds):
    bounds_in_columns(minus, plus, (), places, about, 0, d, np.empty(2), bounds)
    return best_of_columns(start_of_column, minus, plus, (), places, about, 1, 0, d, bounds)


class Columns:
    """Columns of slots: the sums of both labels, or None where no row is; the last slot is for missing values."""

    def __init__(self, columns, categorical):
        self.columns, self.categorical = columns, np.array(categorical)
        self.starts = np.append(0, np.cumsum([len(c) for c in columns]))
        slots = [slot for c in columns for slot in c]
        self.filled = np.array([slot is not None for slot in slots], bool)
        self.minus, self.plus = (np.array([slot[side] if slot else 0 for slot in slots], np.int64) for side in (0, 1))
        several = [sum(slot is not None for slot in c) > 1 for c in columns]
        self.filled &= np.repeat(several, np.diff(self.starts))
        last = [c[-1] is not None and many for c, many in zip(columns, several, strict=True)]
        bins = np.array([len(c) - 1 for c in columns])
        self.cuts = np.maximum(bins - 1 + np.array(last), 0)
        self.cuts_below = np.where(last, np.maximum(bins - 1, 0), 0)

    @property
    def places(self):
        return self.starts, self.filled, self.categorical, self.cuts, self.cuts_below

    def sums(self, j, low):
        """The sums of both labels over some of a column's slots."""
        mine = range(self.starts[j], self.starts[j + 1])
        chosen = [s for s, is_low in zip(mine, low, strict=True) if is_low]
        return tuple(sum(int(x[s]) for s in chosen) for x in (self.minus, self.plus))

    def numeric(self, j):
        """Every cut of a column as (cut, side of missing values, sums below)."""
        size = self.starts[j + 1] - self.starts[j]
        for cut in range(self.cuts[j]):
            for side in (0, 1) if cut < self.cuts_below[j] else (0,):
                yield cut, side, self.sums(j, [s <= cut or (side == 1 and s == size - 1) for s in range(size)])

    def parted(self, j):
        """The sums below of every way to part the categories of a column that rows have."""
        mine = np.flatnonzero(self.filled[self.starts[j] : self.starts[j + 1]])
        for chosen in product((False, True), repeat=len(mine)):
            if len(set(chosen)) == 2:
                low = np.zeros(self.starts[j + 1] - self.starts[j], bool)
                low[mine] = chosen
                yield self.sums(j, low)


def cost_of(below, total, factors, sides):
    """What the criterion of the general loop says of a cut, given the sums of both labels."""
    above = total[0] - below[0], total[1] - below[1]
    left, right = ((float(m + p), float(p - m)) for m, p in (below, above))
    gross = float(total[0] + total[1])
    return float(shifted(left, right, (gross, gross), (*factors, *TURNS[sides])))


def enumerate_all(columns, total, factors, sides):
    """The first of the cheapest cuts of numbers, its cost, and the lowest cost of every column of categories."""
    best, found, of_categories = math.inf, None, {}
    for j in range(len(columns.columns)):
        if columns.categorical[j]:
            costs = [cost_of(below, total, factors, 0) for below in columns.parted(j)]
            of_categories[j] = min(costs, default=math.inf)
            continue
        for cut, side, below in columns.numeric(j):
            cost = cost_of(below, total, factors, sides)
            if cost < best:
                best, found = cost, (j, cut, side, *below)
    return best, found, of_categories


def check(columns, factors, sides):
    total = columns.sums(0, [True] * len(columns.columns[0]))
    about, d = (total, factors, TURNS[sides]), len(columns.columns)
    best, expected, of_categories = enumerate_all(columns, total, factors, sides)
    answers = [by_itself(columns.minus, columns.plus, columns.places, about, d, np.empty(d))]
    for width, search in ((8, in_words_of_eight), (4, in_words_of_four)):
        layout = InterleavedLayout(columns.starts, columns.filled, columns.categorical, width)
        laid, n_words = [layout.of(half) for half in (columns.minus, columns.plus)], -(-d // width)
        bounds = np.empty(n_words * width)
        answers.append(search(*laid, layout.arrays, columns.places, about, n_words, d, bounds))
        for half, there in zip((columns.minus, columns.plus), laid, strict=True):
            back = np.zeros_like(half)
            layout.back(there, back)
            assert np.array_equal(back, half)
    for feature, cut, side, low_minus, low_plus in answers:
        leads = [j for j, cost in of_categories.items() if cost < best]
        if feature >= 0 and cut < 0:  # categories may have the best cut, and nothing that they have is better than told
            assert columns.categorical[feature]
            assert -min(of_categories.values()) <= told_worth((feature, cut, low_minus, low_plus), about)
        else:
            assert not leads
            assert (expected if best < math.inf else (-1, -1, 0, 0, 0)) == (feature, cut, side, low_minus, low_plus)
            if feature >= 0:
                assert -best == told_worth((feature, cut, low_minus, low_plus), about)


@settings(max_examples=80)
@given(st.data())
def test_the_first_of_the_best_cuts(data):
    size = data.draw(st.sampled_from([1, 3, 2**55]))  # small numbers: many ties
    total = data.draw(st.integers(2, 9)), data.draw(st.integers(2, 9))
    columns, categorical = [], []
    for _ in range(data.draw(st.integers(1, 10))):
        category = data.draw(st.integers(0, 4)) == 0
        slots = [[0, 0] for _ in range(data.draw(st.integers(1, 4 if category else 12)) + 1)]
        used = len(slots) if data.draw(st.booleans()) else len(slots) - 1  # without missing values, or with some
        for side in (0, 1):
            for _ in range(total[side]):
                slots[data.draw(st.integers(0, used - 1))][side] += size
        rows = [tuple(slot) for slot in slots]
        if category:
            rows = [slot if any(slot) else None for slot in rows]
        elif used < len(slots):
            rows[-1] = None
        columns.append(rows)
        categorical.append(category)
    shift = data.draw(st.sampled_from([0.0, 0.3, -0.3, 1.7, -2.0]))
    for sides in (0, 1, -1):
        check(Columns(columns, categorical), (math.exp(shift), math.exp(-shift)), sides)


@pytest.mark.parametrize("d", [1, 8, 11])
def test_many_codes(d):
    """Running sums of whole words of columns, some of which have fewer codes."""
    rng = np.random.default_rng(d)
    columns = []
    for j in range(d):
        codes, labels = rng.integers(0, 200 - 7 * j, 600), np.arange(600) % 3 == 0
        weight = np.random.default_rng(0).integers(1, 2**42, 600)
        sums = [np.bincount(codes[of], weight[of], 200 - 7 * j).astype(int).tolist() for of in (~labels, labels)]
        columns.append([*zip(*sums, strict=True), None])
    for shift in (0.0, 0.9):
        check(Columns(columns, [False] * d), (math.exp(shift), math.exp(-shift)), 0)


def test_edges_are_rounded_so_that_equal_ones_tie():
    """What rounding parts is worth the same, and what differs by 2^-32 of all weights is not."""
    total, low = (2**60, 2**60), (2**59, 2**58)
    costs = [cost_of((low[0], low[1] + more), total, (1.0, 1.0), 0) for more in (0, 2**15, 2**29)]
    assert costs[0] == costs[1]
    assert abs(costs[0] - costs[2]) == pytest.approx(2 * 2**29, rel=0.5)
    exact = (total[0] - 2 * low[0]) - (total[1] - 2 * low[1])
    assert abs(-costs[0] - abs(exact)) <= 2.0**-33 * sum(total)


def test_a_bound_travels_as_a_whole_number():
    for bound in (0.0, 1.0, 63.9, 2.0**62, 7.3 * 2.0**62):
        told = told_bound(bound)
        assert bound <= 64.0 * told <= bound * (1 + 1e-11) + 64.0
