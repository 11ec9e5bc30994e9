"""What must not matter to a tree: the order of rows, copies, scales, threads; and its exact sums."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from boostlab.backend.cpu import in_parts
from boostlab.backend.cpu import threads as threads_module
from boostlab.backend.cpu.panel import Panel
from boostlab.backend.cpu.threads import AtOnce
from boostlab.contract import Stop, Task
from boostlab.data.table import Table
from boostlab.learners.search import SplitSearch
from boostlab.learners.tree.fitted import Tree
from learners.tree.tree_problems import (
    Problem,
    continuous,
    every_criterion,
    make,
    make_task,
    rows_of_nodes,
    same_tree,
    seeds,
    some_limits,
)

# -- what must not matter -----------------------------------------------------------------------------------------


@every_criterion
@pytest.mark.parametrize("weights", ["small", "wide"])
@settings(max_examples=12)
@given(seed=seeds)
def test_row_order(criterion, weights, seed):
    problem = make(seed, criterion, weights, "real", categories=True)
    limits = some_limits(np.random.default_rng(seed))
    order = np.random.default_rng(seed).permutation(len(problem.X))
    other = problem.take(order, problem.mass[order])
    a, b = problem.grow(**limits), other.grow(**limits)
    assert same_tree(a, b)
    if isinstance(a, Tree):
        assert np.array_equal(problem.votes[order], other.votes, equal_nan=True)


@every_criterion
@pytest.mark.parametrize("weights", ["some", "small"])
@settings(max_examples=12)
@given(seed=seeds)
def test_weight_k_is_k_copies(criterion, weights, seed):
    rng = np.random.default_rng(seed)
    problem = make(seed, criterion, weights, "counts", categories=True)
    limits = some_limits(rng) | {"ccp_alpha": float(rng.choice([0.0, 0.01]))}
    origin = rng.permutation(np.repeat(np.arange(len(problem.X)), problem.mass.astype(int)))
    for max_bins in (3, "exact"):
        problem.max_bins = max_bins
        assert same_tree(problem.grow(**limits), problem.take(origin).grow(**limits))


@every_criterion
@settings(max_examples=10)
@given(seed=seeds)
def test_drawn_counts_are_masses(criterion, seed):
    drawn = make(seed, criterion, "near", drawn=True, categories=True)
    kept = drawn.task.counts > 0
    limits = some_limits(np.random.default_rng(seed)) | {"max_leaf_nodes": 6}
    tree = drawn.grow(**limits)
    own = replace(drawn.take(kept, drawn.task.counts[kept].astype(float)))
    own.task.counts = None
    other = own.grow(**limits)
    assert isinstance(tree, Stop) == isinstance(other, Stop)
    if isinstance(tree, Tree):
        a, b = tree.predict(drawn.X[kept]), other.predict(own.X)
        # Bins come from all rows, so thresholds may differ; the drawn rows' leaves do not.
        assert np.allclose(a, b, rtol=1e-12)


@every_criterion
@settings(max_examples=10)
@given(seed=seeds)
def test_float32_and_float64_copies_of_the_same_numbers(criterion, seed):
    problem = make(seed, criterion, "near", categories=True)
    small = problem.X.astype(np.float32)
    limits = {"max_leaf_nodes": None}
    a = replace(problem, X=small).grow(**limits)
    b = replace(problem, X=small.astype(np.float64)).grow(**limits)
    assert same_tree(a, b)
    if isinstance(a, Tree):
        assert np.array_equal(a.votes(Table(small)), a.votes(Table(small.astype(np.float64))))


@every_criterion
@settings(max_examples=10)
@given(seed=seeds)
def test_only_the_order_of_values_matters(criterion, seed):
    problem = make(seed, criterion, "near")
    rng = np.random.default_rng(seed)
    X = problem.X.copy()
    for x in X.T[~np.isnan(X).all(axis=0)]:
        values, place = np.unique(x[~np.isnan(x)], return_inverse=True)
        steps = np.cumsum(rng.random(len(values)) + 0.1) * 10.0 ** rng.integers(-9, 9)
        x[~np.isnan(x)] = (steps - steps.mean())[place]
    other = replace(problem, X=X)
    a, b = problem.grow(max_leaf_nodes=6), other.grow(max_leaf_nodes=6)
    assert same_tree(a, b, but=["threshold"])
    if isinstance(a, Tree):
        assert np.array_equal(a.predict(problem.X), b.predict(X))


@every_criterion
@pytest.mark.parametrize("power", [-300, -40, 40, 300])
def test_the_scale_of_the_weights_does_not_matter(criterion, power):
    for seed in range(10):
        problem = make(seed, criterion, "near", categories=True)
        scaled = replace(problem, task=replace(problem.task, weight=np.ldexp(problem.task.weight, power)))
        assert same_tree(problem.grow(max_leaf_nodes=None), scaled.grow(max_leaf_nodes=None))


@pytest.mark.parametrize("power", [-40, -20, -3, 3, 20, 40])
def test_the_scale_of_the_target_does_not_matter(power):
    for seed in range(10):
        problem = make(seed, "least_squares", "near", categories=True)
        scaled = replace(problem, task=replace(problem.task, target=np.ldexp(problem.task.target, power)))
        a, b = problem.grow(max_leaf_nodes=None), scaled.grow(max_leaf_nodes=None)
        assert same_tree(a, b, but=["values", "gains"])
        if isinstance(a, Tree):
            assert np.array_equal(np.ldexp(a.values, power), b.values)


@pytest.mark.parametrize("level", [2.0**10, 2.0**20, 2.0**30])
def test_the_mean_of_the_target_does_not_matter(level):
    for seed in range(10):
        problem = make(seed, "least_squares", "near", categories=True)
        problem.task.target = np.rint(problem.task.target * 8) / 8
        lifted = replace(problem, task=replace(problem.task, target=problem.task.target + level))  # no rounding
        a, b = problem.grow(max_leaf_nodes=5), lifted.grow(max_leaf_nodes=5)
        assert isinstance(a, Stop) == isinstance(b, Stop)
        if isinstance(a, Tree):
            assert np.allclose(a.predict(problem.X) + level, b.predict(problem.X), rtol=1e-15, atol=1e-12)


@pytest.mark.parametrize("level", [0.1, 3.3, 1e3, 1e6, 1e9])
def test_a_constant_target_is_left_alone(level):
    X, w, _, _ = continuous(3)
    stop = Problem(X, Task("least_squares", w, np.full(len(X), level))).grow(max_leaf_nodes=None)
    assert isinstance(stop, Stop)


@every_criterion
def test_turned_columns_turn_the_sides_only(criterion):
    for seed in range(10):
        problem = make(seed, criterion, "near")
        a = problem.grow(max_leaf_nodes=4)
        turned = replace(problem, X=-problem.X)
        b = turned.grow(max_leaf_nodes=4)
        assert isinstance(a, Stop) == isinstance(b, Stop)
        if isinstance(a, Tree):
            assert np.array_equal(a.predict(problem.X), b.predict(turned.X))


@every_criterion
def test_threads(criterion, monkeypatch):
    problem = make(4, criterion, "near", n_most=40)
    rng = np.random.default_rng(1)
    n, d = 6000, 50
    large = Problem(np.round(rng.normal(size=(n, d)), 2), make_task(rng, criterion, n))
    large.max_bins = 30
    assert n * d * 2 >= threads_module.WORTH
    one, four = large.grow(1, max_leaf_nodes=4), large.grow(4, max_leaf_nodes=4)
    assert same_tree(one, four)
    assert np.array_equal(one.votes(large.table), large.votes)
    calls = []
    plain = in_parts.team_of
    monkeypatch.setattr(in_parts, "team_of", lambda size, most=0: (calls.append(size), plain(size, most))[1])
    for seed in range(5):
        problem = make(seed, criterion, "near", categories=True, n_most=40)
        problem.strategy = "general"  # the one whose threads share every sum of every node
        a, b = (problem.grow(n, max_leaf_nodes=None) for n in (1, AtOnce(4)))
        assert same_tree(a, b)
        if isinstance(b, Tree):
            assert np.array_equal(a.votes(Table(problem.X)), b.votes(problem.table))
    assert sum(size - 1 for size in calls) >= 35  # parts that other threads took


# -- exact sums ---------------------------------------------------------------------------------------------------


def channels_of(part):
    """The integers of a follower's one or two channels, or of all of a panel's."""
    if isinstance(part, Panel):
        return part.q
    return [np.abs(part.q), part.q] if part.sided else [part.q]


@every_criterion
@pytest.mark.parametrize("least", [1, 2])
def test_the_sums_of_every_node_are_those_of_its_rows(criterion, least, monkeypatch):
    """What the search sees of a node (half of the nodes get it by subtraction) is what counting its rows gives."""
    seen, made = [], []
    plain = SplitSearch.best

    def spy(self, criterion, slots, total, channels, *args, **kwargs):
        seen.append((slots.copy(), total.copy()))
        made.append(channels)
        return plain(self, criterion, slots, total, channels, *args, **kwargs)

    monkeypatch.setattr(SplitSearch, "best", spy)
    for seed in range(8):
        problem = make(seed, criterion, "wide" if seed % 2 else "small", "real", categories=True, n_most=40)
        problem.strategy = "general"  # the one that can be watched
        seen.clear()
        tree = problem.grow(max_leaf_nodes=None, min_samples_leaf=least)
        if isinstance(tree, Stop):
            continue
        sample = problem.session.rows
        starts = sample.slots.starts
        q = np.concatenate([channels_of(p) for p in made[-1].parts])
        assert np.array_equal(q.sum(axis=1), made[-1].total)
        expected = []
        for rows in rows_of_nodes(tree, problem.X):
            slots = np.zeros((len(q), starts[-1]), np.int64)
            for j, start in enumerate(starts[:-1]):
                for channel, values in zip(slots, q, strict=True):
                    np.add.at(channel, start + sample.codes.column(j)[rows], values[rows])
            expected.append((slots, q[:, rows].sum(axis=1)))
        assert len(seen) == len(expected)  # every node was looked at once
        keys = [sorted((s.tobytes(), t.tobytes()) for s, t in sums) for sums in (seen, expected)]
        assert keys[0] == keys[1]


def test_means_are_right_to_the_last_digits():
    for seed in range(15):
        problem = make(seed, "least_squares", "small", "counts", n_most=40)
        problem.task.target = np.rint(problem.task.target * 1000)
        tree = problem.grow(max_leaf_nodes=None)
        if isinstance(tree, Stop):
            continue
        w, z = problem.weights(), problem.task.target
        reach = rows_of_nodes(tree, problem.X)
        for node in np.flatnonzero(tree.feature < 0):
            W, S = (sum(Fraction(float(v)) for v in a[reach[node]]) for a in (w, w * z))
            assert abs(Fraction(tree.values[node]) - S / W) <= 4 * np.finfo(float).eps * np.abs(z).max()
