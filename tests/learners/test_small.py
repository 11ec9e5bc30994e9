"""Rounds on small tables in two compiled calls, against the general way; and their kernels against plain twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import DecisionStump
from boostlab.backend import CpuSample, Masses
from boostlab.backend.cpu.kernels.small_table import ABSENT, round_two
from boostlab.backend.cpu.kernels.totals import totals_of
from boostlab.backend.cpu.kernels.tree_search import first_below
from boostlab.contract import MixedTask, Stop, Task
from boostlab.contract.criterion import SIGNED, SIZE, SQUARE
from boostlab.data.table import Table
from boostlab.learners.criteria import CRITERIA, Gini

NONE = np.empty(0, np.int32), np.empty(0)
seeds = st.integers(0, 2**32)


def session(table, rows, small):
    return DecisionStump().begin(CpuSample(table, rows, way="anew" if small else "followed"), np.random.default_rng(0))


def asked(kind, weight, y, rng, before):
    if kind == "mixed":
        return MixedTask(weight, y, float(rng.normal()), float(rng.random()))
    if kind == "svp":
        return MixedTask(weight, y, 0.5, 0.5, "svp", {"variance_penalty": 0.3, "n": float(len(y))})
    if kind == "without":
        return Task("edge", weight, y, without=before)
    target = rng.normal(size=len(y)) if kind == "least_squares" else y
    return Task(kind, weight, target, params={"smoothing": 0.01})


@pytest.mark.parametrize("kind", ["edge", "without", "mixed", "svp", "z", "least_squares"])
@settings(max_examples=60)
@given(seed=seeds)
def test_stumps_are_those_of_the_general_way_round_after_round(kind, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 60)), int(rng.integers(1, 12))
    n = 300 if rng.random() < 0.1 else n  # more slots than a byte can tell
    X = [rng.normal(size=(n, d)), rng.integers(0, 3, (n, d)).astype(float)][int(rng.integers(2))]
    X[rng.random((n, d)) < rng.choice([0.0, 0.3])] = np.nan
    categories = {0: 3} if rng.random() < 0.2 else {}
    for j in categories:
        X[:, j] = rng.choice([0.0, 1.0, 2.0, np.nan], n)
    rows = Masses(n, [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][int(rng.integers(3))])
    table = Table.fit(X, rows, "exact", 1, categories)
    y = rng.choice([-1, 1], n).astype(np.int8)
    fast, slow = session(table, rows, True), session(table, rows, False)
    before = y.copy()
    for _ in range(6):
        size = 2.0 ** float(rng.choice([0, 0, 3, -9, 30, -30, 110, -110]))  # scales stay, move, and are lost
        weight = rng.random(n) ** 3 * size
        chance = rng.bit_generator.state
        mine = asked(kind, weight, y, rng, before)
        rng.bit_generator.state = chance
        other = asked(kind, weight, y, rng, before)
        found, wanted = fast.best(mine), slow.best(other)
        if isinstance(found, Stop):
            assert repr(found) == repr(wanted)
            return
        assert repr(found.voter) == repr(wanted.voter)
        said, says = found.votes, wanted.voter.votes(table)
        said = found.voter.votes(table) if said is None else said
        np.testing.assert_array_equal(said, says)
        assert said.dtype == says.dtype
        before = said
        assert found.sums == wanted.sums
        for a, b in zip(fast.rows.followers.known, slow.rows.followers.known, strict=True):
            assert (a.power, a.minus, a.plus) == (b.power, b.minus, b.plus)
            if b.q is not None:  # else they were released: nothing is compared with them
                np.testing.assert_array_equal(a.q, b.q)


# -- kernels ---------------------------------------------------------------------------------------------------------


def plain_round(form, w, t, counts, mass, k, headroom, least):
    """The integers, their k, and their sums, in Python's own numbers; None if no k is found."""
    x = [{SIZE: a, SIGNED: a * b, SQUARE: a * a * b}[form] for a, b in zip(w.tolist(), t.tolist(), strict=True)]
    times = counts.tolist() or [1] * len(x)
    x = [v * m for v, m in zip(x, mass.tolist() or [1.0] * len(x), strict=True)]
    while True:
        q = [c * round(math.ldexp(v, k)) for c, v in zip(times, x, strict=True)]
        gross = sum(map(abs, q))
        if gross >= 1.4 * 2**62 or gross < 2**32:
            return None
        if least <= gross < 2**62:
            return q, k, sum(q), gross
        k += 62 - headroom - gross.bit_length()


@settings(max_examples=75)
@given(seed=seeds, form=st.sampled_from([SIZE, SIGNED, SQUARE]), k=st.integers(20, 75))
def test_rounding_is_that_of_plain_numbers(seed, form, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    w, t = rng.random(n) ** 2, rng.choice([-1.0, 1.0], n)
    counts = rng.integers(0, 4, n).astype(np.int32) if rng.random() < 0.3 else NONE[0]
    mass = rng.random(n) if rng.random() < 0.3 else NONE[1]
    spare, q = int(rng.integers(0, 10)), np.zeros((2, n), np.int64)
    headroom, least = 4 + spare, 1 << (54 - spare)
    wanted = plain_round(form, w, t, counts, mass, k, headroom, least)
    facts = np.array([k, 0, 0, 0, 0, 0, headroom, least])
    if not round_two(form, ABSENT, w, t, counts, mass, q, facts):
        assert wanted is None
        return
    assert wanted is not None
    assert (q[0].tolist(), *facts[:6:2].tolist()) == wanted
    facts = np.array([k, 40, 0, 0, 0, 0, headroom, least])
    assert round_two(form, SIGNED, w, t, counts, mass, q, facts)
    other = plain_round(SIGNED, w, t, counts, mass, 40, headroom, least)
    assert other is not None
    assert (q[0].tolist(), *facts[:6:2].tolist()) == wanted
    assert (q[1].tolist(), *facts[1:6:2].tolist()) == other


def test_labels_have_magnitudes_for_the_first_channel():
    w, t, q = np.array([0.5, 0.25, 1.0]), np.array([1, -1, -1], np.int8), np.empty((2, 3), np.int64)
    facts = np.array([50, 50, 0, 0, 0, 0, 4, 1 << 46])
    assert round_two(-1, SIGNED, w, t, *NONE, q, facts)
    assert q.tolist() == [[2**49, 2**48, 2**50], [2**49, -(2**48), -(2**50)]]
    assert facts[:6].tolist() == [50, 50, 7 * 2**48, -3 * 2**48, 7 * 2**48, 7 * 2**48]


@pytest.mark.parametrize("bad", [1e40, 1e-40, np.nan, np.inf])
def test_unusual_weights_are_left_to_the_general_way(bad):
    w = np.array([0.5, bad]) if not bad < 1 else np.array([bad, bad])
    q, facts = np.empty((2, 2), np.int64), np.array([50, 50, 0, 0, 0, 0, 4, 1 << 46])
    assert not round_two(SIZE, SIGNED, w, np.ones(2), *NONE, q, facts)


@given(st.lists(st.sampled_from([3.0, 1.0, 0.5, -0.0, 0.0, -2.0, np.inf, np.nan]), max_size=40), st.floats(-3, 3))
def test_the_first_of_the_smallest_prices_is_found(prices, best):
    wanted, least = -1, best
    for s, p in enumerate(prices):
        if p < least:
            wanted, least = s, p
    assert first_below(np.array(prices), len(prices), best) == (wanted, least)


@given(seeds)
def test_totals_are_those_of_any_other_shape(seed):
    """A matrix of one column, and a strided array, go the general way."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 50))
    x = rng.normal(size=(n, 2))[:, 0] * 2.0 ** float(rng.integers(-300, 300))
    rows = Masses(n, [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][int(rng.integers(3))])
    flat = np.ascontiguousarray(x)
    assert rows.total(flat) == rows.total(x) == rows.total(x[:, None])
    assert rows.sums(flat) == rows.sums(x)
    assert math.isnan(totals_of(np.append(flat, np.nan), *NONE, n + 1.0)[0])


def test_cuts_are_counted_column_by_column():
    rows = Masses(4)
    table = Table.fit(np.array([[0.0, 5.0, np.nan], [1.0, 5.0, 2.0], [2.0, 5.0, 2.0], [2.0, 5.0, 1.0]]), rows, 255)
    above, below = CpuSample(table, rows).slots.count_cuts()
    assert above.tolist() == [2, 0, 2]  # the last column also parts all numbers from the missing one
    assert below.tolist() == [0, 0, 1]


@pytest.mark.parametrize("criterion", [CRITERIA["z"], CRITERIA["least_squares"], Gini()])
def test_leaves_vote_together_as_they_do_alone(criterion):
    rng = np.random.default_rng(0)
    w = rng.random(200) * (rng.random(200) < 0.9)
    sums, gross = np.stack([w, w * rng.uniform(-1, 1, 200)], axis=1), np.array([w.sum(), w.sum()])
    numbers = criterion.numbers({"smoothing": 0.01})
    alone = [criterion.leaf(s, gross, numbers) for s in sums]
    assert criterion.leaves_of(sums, gross, numbers).tolist() == alone
