"""Stumps against brute force: every feature, every midpoint, both orientations, every criterion by its definition."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend import CpuSample, Masses
from boostlab.backend.cpu.threads import WORTH
from boostlab.contract import Stop, Task
from boostlab.data.table import Bins, Table
from boostlab.learners.criteria import CRITERIA
from boostlab.learners.fitted_stump import Stump
from boostlab.learners.stump import DecisionStump
from learners.stump_problems import (
    Problem,
    below,
    brute,
    cost,
    cuts_of,
    every_criterion,
    leaf_mean,
    make,
    make_task,
    names_by,
    pseudo_loss,
    scale,
)

# -- the best stump -------------------------------------------------------------------------------------------------


@every_criterion
@settings(max_examples=40)
@given(
    weights=st.sampled_from(["equal", "small", "some"]),
    masses=st.sampled_from(["none", "counts", "real"]),
    seed=st.integers(0, 2**32),
)
def test_no_stump_is_better(criterion, weights, masses, seed):
    problem = make(seed, criterion, weights, masses)
    optimum, stump = brute(problem), problem.best()
    if optimum is None:
        assert isinstance(stump, Stop)
        return
    got = cost(problem, below(problem, stump))
    slack = scale(problem) if criterion in ("least_squares", "labels", "gini") else abs(optimum)
    assert got <= optimum + 1e-12 * slack + 1e-300


@every_criterion
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_weights_over_thirty_magnitudes(criterion, seed):
    problem = make(seed, criterion, "wide")
    optimum, stump = brute(problem), problem.best()
    if optimum is None:
        return
    # Sums are right to about n 2^-53 of all weight; criteria with a root lose half of the digits near zero.
    digits = {"edge": 1e-15, "least_squares": 1e-13, "z": 1e-6, "svp": 1e-6, "hamming_z": 1e-6}
    assert cost(problem, below(problem, stump)) <= optimum + digits.get(criterion, 1e-14) * scale(problem)


@settings(max_examples=75)
@given(st.integers(0, 2**32), st.sampled_from(["both", "+", "-"]), st.sampled_from(["none", "counts"]))
def test_edge_follows_the_tie_rule(seed, polarity, masses):
    problem = make(seed, "edge", "small", masses)
    m = np.ones(len(problem.X)) if problem.mass is None else problem.mass
    signed = [int(v) for v in m * problem.task.weight * problem.task.target]
    best = None
    for j, c in cuts_of(problem.X):
        above = problem.X[:, j] > c
        for sign in (+1, -1):  # +1 above comes first
            if polarity in ("both", "+-"[sign < 0]):
                edge = sum(sign * s if a else -sign * s for s, a in zip(signed, above, strict=True))
                if best is None or edge > best[0]:  # a later one must be strictly better
                    best = edge, j, c, sign
    stump = problem.best(polarity=polarity)
    if best is None:
        assert isinstance(stump, Stop)
        return
    _, j, c, sign = best
    assert (stump.feature, stump.threshold, stump.left, stump.right) == (j, c, -float(sign), float(sign))
    assert isinstance(stump.feature, int)
    assert isinstance(stump.threshold, float)


@every_criterion
def test_of_equal_columns_the_first_wins(criterion):
    rng = np.random.default_rng(3)
    for _ in range(30):
        x, constant = rng.integers(0, 6, 40).astype(float), np.ones(40)
        task = make_task(rng, criterion, 40, "small")
        task.target = np.rint(task.target).astype(task.target.dtype)  # whole numbers all along: ties are exact
        for columns, first in (([x, x, -x], 0), ([-x, x, x], 0), ([constant, x, -x], 1), ([x > 9, x > 9, x], 2)):
            problem = Problem(np.stack(columns, axis=1).astype(float), task, names_by=names_by(criterion))
            assert problem.best().feature == first


@every_criterion
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_only_the_cuts_of_the_bins_are_searched(criterion, seed):
    problem = make(seed, criterion, "some")
    bins = Bins.fit(problem.X, Masses(len(problem.X)), 3)
    stump = problem.best(bins=bins)
    costs = [cost(problem, problem.X[:, j] <= c) for j in range(bins.n_features) for c in bins.of(j)]
    if not costs:
        assert isinstance(stump, Stop)
        return
    assert stump.threshold == bins.of(stump.feature)[stump.cut]
    slack = scale(problem) if criterion in ("least_squares", "gini") else abs(min(costs))
    assert cost(problem, below(problem, stump)) <= min(costs) + 1e-12 * slack + 1e-300


@every_criterion
@pytest.mark.parametrize("mass", [None, np.arange(1.0, 7.0)])
def test_constant_columns_leave_nothing_to_split(criterion, mass):
    task = make_task(np.random.default_rng(0), criterion, 6, "some")
    problem = Problem(np.full((6, 3), 2.5), task, mass, names_by(criterion))
    stop = problem.best()
    assert isinstance(stop, Stop)
    assert stop.code == "no_edge"


# -- leaves ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masses", ["none", "counts", "real"])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_leaves_of_edge_and_svp_take_the_better_side(masses, seed):
    for criterion in ("edge", "svp"):
        problem = make(seed, criterion, "some", masses)
        stump = problem.best()
        if isinstance(stump, Stop):
            return
        assert {stump.left, stump.right} == {-1.0, 1.0}
        assert stump.bound == 1.0
        m = np.ones(len(problem.X)) if problem.mass is None else problem.mass
        w, y = m * problem.task.weight, problem.task.target
        agrees = np.where(below(problem, stump), stump.left, stump.right) == y
        if criterion == "edge":
            assert w[agrees].sum() >= w[~agrees].sum() * (1 - 1e-12)
        else:
            lam, n = problem.task.params["variance_penalty"], problem.task.params["n"]
            v = w * problem.task.weight
            A, B = ((1 - lam) * w[s].sum() ** 2 + lam * n * v[s].sum() for s in (agrees, ~agrees))
            assert A >= B * (1 - 1e-9)


@settings(max_examples=50)
@given(st.integers(0, 2**32))
def test_the_only_cut_is_turned_the_right_way(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    x = np.arange(n) % 2
    for criterion in ("edge", "svp"):
        problem = Problem(x[:, None].astype(float), make_task(rng, criterion, n, "small"))
        w, up = problem.task.weight, np.where(x == 1, 1.0, -1.0) == problem.task.target  # right if +1 goes above
        lam = problem.task.params.get("variance_penalty", 0.0)
        A, B = ((1 - lam) * w[s].sum() ** 2 + lam * n * (w[s] ** 2).sum() for s in (up, ~up))
        if A == B or abs(A - B) > 1e-9 * (A + B):
            assert problem.best().right == (1.0 if A >= B else -1.0)


@pytest.mark.parametrize("masses", ["none", "counts", "real"])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_leaves_of_z_vote_half_the_smoothed_log_odds(masses, seed):
    problem = make(seed, "z", "some", masses)
    stump = problem.best()
    if isinstance(stump, Stop):
        return
    m = np.ones(len(problem.X)) if problem.mass is None else problem.mass
    w, y = m * problem.task.weight, problem.task.target
    s = problem.task.params["smoothing"] * w.sum()
    side = below(problem, stump)
    for leaf, vote in ((side, stump.left), (~side, stump.right)):
        expected = 0.5 * math.log((w[leaf & (y > 0)].sum() + s) / (w[leaf & (y < 0)].sum() + s))
        assert vote == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("masses", ["none", "counts", "real"])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_leaves_of_least_squares_vote_the_mean(masses, seed):
    problem = make(seed, "least_squares", "some", masses)
    stump = problem.best()
    if isinstance(stump, Stop):
        return
    side = below(problem, stump)
    top = np.abs(problem.task.target).max()
    for leaf, vote in ((side, stump.left), (~side, stump.right)):
        assert vote == pytest.approx(leaf_mean(problem, leaf), rel=1e-9, abs=1e-9 * top)
    assert stump.bound == max(abs(stump.left), abs(stump.right))


@pytest.mark.parametrize("masses", ["none", "counts", "real"])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_leaves_of_pseudo_loss_are_the_cheapest_labels(masses, seed):
    problem = make(seed, "hamming", "some", masses)
    stump = problem.best()
    if isinstance(stump, Stop):
        return
    votes = stump.votes(Table(problem.X))
    assert votes.shape == problem.task.weight.shape
    assert set(np.unique(votes).tolist()) <= {0.0, 1.0}
    side = below(problem, stump)
    assert (votes == np.where(side[:, None], stump.left, stump.right)).all()
    got = pseudo_loss(problem, side, stump.left) + pseudo_loss(problem, ~side, stump.right)
    assert got == pytest.approx(cost(problem, side), rel=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_a_light_leaf_is_averaged_as_well_on_the_right_as_on_the_left(turned):
    # Sums are right to n 2^-61 of all weight, on both sides of the cut: here 1e-12 of the weight lies in one leaf.
    X = np.arange(8.0)[:, None] * (-1 if turned else 1)
    w = np.array([0.3, 0.7, 0.11, 0.23, 0.9, 0.77, 1.3e-12, 1.7e-12])
    z = np.array([0.01, 0.02, 0.013, 0.011, 0.02, 0.012, 5e6, 4e6])
    problem = Problem(X, Task("least_squares", w, z))
    stump = problem.best()
    light = stump.left if turned else stump.right
    share = w[6:].sum() / w.sum()
    assert abs(stump.threshold) == 5.5
    assert light == pytest.approx(leaf_mean(problem, np.arange(8) > 5), rel=4 * 8 * 2.0**-61 / share)


# -- what does not matter -------------------------------------------------------------------------------------------


@every_criterion
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_row_order_does_not_matter(criterion, seed):
    for weights, masses in (("some", "real"), ("wide", "counts")):
        problem = make(seed, criterion, weights, masses)
        order = np.random.default_rng(seed).permutation(len(problem.X))
        assert repr(problem.take(order, problem.mass[order]).best()) == repr(problem.best())


@every_criterion
@pytest.mark.parametrize("max_bins", [3, "exact"])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_weight_k_is_k_copies(criterion, max_bins, seed):
    problem = make(seed, criterion, "some", "counts")
    copies = problem.take(np.repeat(np.arange(len(problem.X)), problem.mass.astype(int)))
    assert repr(problem.best(max_bins)) == repr(copies.best(max_bins))


@every_criterion
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_a_draw_is_its_rows(criterion, seed):
    problem = make(seed, criterion, "some", "real")  # the masses are already in the draw
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(2 * len(problem.X), np.full(len(problem.X), 1 / len(problem.X))).astype(np.int32)
    if criterion == "gini":
        counts[problem.task.target.argmax()] += 1  # a draw from a sample knows the sample's classes
    bins = Bins.fit(problem.X, Masses(len(problem.X)), "exact")
    problem.task.counts = counts
    drawn = problem.take(np.repeat(np.arange(len(problem.X)), counts))
    drawn.task.counts = None
    # Where values never seen would go is decided by the whole sample.
    one, two = (p.best(bins=bins) for p in (problem, drawn))
    if isinstance(one, Stump) and isinstance(two, Stump):
        one, two = (replace(stump, missing=None) for stump in (one, two))
    assert repr(one) == repr(two)


@every_criterion
@pytest.mark.parametrize("power", [-600, -100, 100, 400])
def test_the_scale_of_the_weights_does_not_matter(criterion, power):
    for seed in range(12):
        problem = make(seed, criterion, "some")
        scaled = replace(problem, task=replace(problem.task, weight=problem.task.weight * 2.0**power))
        assert repr(scaled.best()) == repr(problem.best())


@every_criterion
def test_threads_do_not_matter(criterion):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(12_000, 45))
    assert X.size >= WORTH
    bins = Bins.fit(X, Masses(len(X)), 255, 4)
    problem = Problem(X, make_task(rng, criterion, len(X), "some"), names_by=names_by(criterion))
    assert repr(problem.best(bins=bins, threads=4)) == repr(problem.best(bins=bins, threads=1))


@every_criterion
def test_a_session_remembers_nothing_but_its_scale(criterion):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(30, 3))
    rows = Masses(30)
    table = Table.of(X, Bins.fit(X, rows))
    learner = DecisionStump(criterion=names_by(criterion))
    session = learner.begin(CpuSample(table, rows), rng)
    for _ in range(5):
        task = make_task(rng, criterion, 30, "some")
        again = learner.begin(CpuSample(table, rows), rng)
        stump = session.best(task).voter
        fresh = again.best(task).voter
        assert (stump.feature, stump.cut, stump.threshold) == (fresh.feature, fresh.cut, fresh.threshold)
        for leaf in ("left", "right", "missing"):
            np.testing.assert_allclose(getattr(stump, leaf), getattr(fresh, leaf), rtol=1e-12)
        session.added(stump, 0.5)


# -- voters and settings --------------------------------------------------------------------------------------------


def test_votes_on_bins_on_numbers_and_on_plain_arrays_are_the_same():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 2)).astype(np.float32)
    bins = Bins.fit(X, Masses(50), 10)
    for cut, threshold in enumerate(bins.of(1).tolist()):
        for left, right in ((-1.0, 1.0), (0.25, -3.5), (np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0]))):
            stump = Stump(1, cut, threshold, left, right)
            expected = np.array([left if float(v) <= threshold else right for v in X[:, 1]])
            for votes in (stump.votes(Table.of(X, bins)), stump.votes(Table(X)), stump.predict(X)):
                assert np.array_equal(votes, expected)


def test_polarity_limits_the_criteria_and_must_be_known():
    assert DecisionStump().searches() == frozenset(CRITERIA)
    assert DecisionStump("+").searches() == DecisionStump("-").searches() == {"edge"}
    with pytest.raises(ValueError, match='polarity=\'up\' is not known; use "both", "\\+" or "-"'):
        make(0, "edge", "equal").best(polarity="up")


def test_polarity_by_hand():
    problem = Problem(np.arange(4.0)[:, None], Task("edge", np.ones(4), np.array([1.0, 1.0, -1.0, -1.0])))
    assert repr(problem.best()) == repr(Stump(0, 1, 1.5, 1.0, -1.0, -1.0))
    assert repr(problem.best(polarity="-")) == repr(Stump(0, 1, 1.5, 1.0, -1.0, -1.0))
    assert repr(problem.best(polarity="+")) == repr(Stump(0, 0, 0.5, -1.0, 1.0, 1.0))  # edge -2, better than -4
