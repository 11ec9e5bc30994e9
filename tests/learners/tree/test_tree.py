"""Trees against brute force: every split of every leaf, every criterion by its definition, and scikit-learn's trees."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boostlab.backend import CpuSample, Masses
from boostlab.backend.cpu import threads as threads_module
from boostlab.backend.cpu.followed_histograms import Panel
from boostlab.contract import Stop, Task
from boostlab.data.table import Bins, Table
from boostlab.learners.search import SplitSearch
from boostlab.learners.tree.fitted import Tree
from boostlab.learners.tree.learner import DecisionTree, TreeSession

CRITERIA = ["edge", "z", "least_squares", "hamming", "hamming_z"]
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)
seeds = st.integers(0, 2**32)
FLOOR = 1e-12  # a gain below this share of the weight is none


# -- problems -----------------------------------------------------------------------------------------------------


@dataclass
class Problem:
    """A table, a task on it and the rows' masses."""

    X: np.ndarray
    task: Task
    mass: np.ndarray | None = None
    n_categories: dict[int, int] = field(default_factory=dict)
    max_bins: int | str = "exact"
    strategy: str | None = None

    def take(self, index, mass=None):
        task = replace(self.task, weight=self.task.weight[index], target=self.task.target[index])
        return replace(self, X=self.X[index], task=task, mass=mass)

    def masses(self):
        """How many examples every row stands for."""
        if self.task.counts is not None:
            return self.task.counts.astype(float)
        return np.ones(len(self.X)) if self.mass is None else self.mass

    def weights(self):
        """What every row (or row and class) weighs, masses included."""
        m = self.masses()
        return self.task.weight * (m if self.task.weight.ndim == 1 else m[:, None])

    def unit(self):
        """The natural unit of the criterion's costs: the weight, or the squares to explain."""
        W, t = self.weights(), self.task.target
        if self.task.criterion == "least_squares":
            return float((W * t * t).sum()) or float(W.sum())
        return float(W.sum(axis=0).max())

    def begin(self, threads=1, **limits):
        rows = Masses(len(self.X), self.mass)
        bins = Bins.fit(self.X, rows, self.max_bins, 1, self.n_categories)
        self.table = Table.of(self.X, bins, threads)
        learner = DecisionTree(**limits)
        if self.strategy is not None:
            return TreeSession(learner, CpuSample(self.table, rows), self.strategy)
        return learner.begin(CpuSample(self.table, rows), np.random.default_rng(0))

    def grow(self, threads=1, **limits):
        self.session = self.begin(threads, **limits)
        found = self.session.best(self.task)
        self.votes = None if isinstance(found, Stop) else found.votes  # on the sample
        return found if isinstance(found, Stop) else found.voter


def make_task(rng, criterion, n, weights="some", drawn=False):
    """Random labels or targets of the kind the criterion wants, and weights of one kind."""
    shape = (n, 3) if criterion.startswith("hamming") else n
    w = {
        "equal": np.ones(shape),
        "small": rng.integers(0, 9, shape).astype(float),  # whole numbers, zero among them
        "some": 10.0 ** -rng.uniform(0, 6, shape),
        "near": rng.uniform(0.5, 1.5, shape),
        "wide": 10.0 ** -rng.uniform(0, 30, shape),
    }[weights]
    w.flat[0] = 1.0
    counts = rng.multinomial(n, np.full(n, 1 / n)).astype(np.int64) if drawn else None
    if criterion == "hamming":
        right = np.arange(3) == rng.integers(0, 3, n)[:, None]
        D = np.where(right, 0.0, w)
        weight = np.where(right, D.sum(axis=1, keepdims=True), D)
        return Task(criterion, weight, np.where(right, 1.0, -1.0), {"no": 0.0}, counts=counts)
    y = np.where(rng.random(shape) < 0.5, 1.0, -1.0)
    if criterion == "least_squares":
        y = np.round(rng.normal(size=n) * 2, rng.integers(0, 3))
    return Task(criterion, w, y, {"smoothing": 0.5 / n} if criterion.endswith("z") else {}, counts=counts)


def make(seed, criterion, weights="some", masses="none", categories=False, drawn=False, n_most=26):
    """A small table with ties, gaps, constant columns, columns of gaps and columns of few distinct values."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, n_most)), int(rng.integers(1, 4))
    X = rng.integers(0, rng.integers(2, 9), size=(n, d)).astype(float)
    if rng.random() < 0.5:
        X[:, 0] = rng.normal(size=n)
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = 7.0
    X[rng.random((n, d)) < rng.choice([0.0, 0.0, 0.1, 0.4])] = np.nan
    if rng.random() < 0.1:
        X[:, rng.integers(d)] = np.nan
    n_categories = {}
    if categories:
        n_categories = {d: 4}
        X = np.column_stack([X, np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 4, n))])
    mass = {"none": None, "counts": rng.integers(1, 5, n).astype(float), "real": rng.uniform(0.1, 3, n)}[masses]
    return Problem(X, make_task(rng, criterion, n, weights, drawn), mass, n_categories)


def some_limits(rng):
    """None, one or both limits on size; sometimes a smallest leaf."""
    limits = {
        "max_leaf_nodes": [None, 2, 3, 5, 8][rng.integers(5)],
        "max_depth": [None, None, 1, 2, 3][rng.integers(5)],
        "min_samples_leaf": [1, 1, 2, 3.5][rng.integers(4)],
    }
    return limits


# -- brute force --------------------------------------------------------------------------------------------------


class Brute:
    """CART without bins or sums: any split of any set of rows, by the criteria's definitions."""

    def __init__(self, problem, cuts=None):
        self.problem, self.w, self.m = problem, problem.weights(), problem.masses()
        self.t, self.criterion = problem.task.target, problem.task.criterion
        self.sides = self._sides(cuts)  # one row a split: which rows are low

    def heuristic(self, least):
        """Whether the best subset of categories need not be a cut of one order of them."""
        return bool(self.problem.n_categories) and (self.criterion.startswith("hamming") or least > 1)

    def slots(self, j):
        x = self.problem.X[:, j]
        return [x == v for v in np.unique(x[~np.isnan(x)])] + ([np.isnan(x)] if np.isnan(x).any() else [])

    def _sides(self, cuts):
        out = [np.zeros(len(self.problem.X), bool)]  # no split at all, so that there is always one
        for j, x in enumerate(self.problem.X.T):
            absent, values = np.isnan(x), np.unique(x[~np.isnan(x)])
            if j in self.problem.n_categories:
                continue
            middle = [a / 2 + b / 2 for a, b in pairwise(values)] if cuts is None else cuts[j]
            for c in middle:
                out += [x <= c, (x <= c) | absent]
            out.append(~absent)
        return np.array(out)

    def impurity(self, sets):
        """What leaves with these rows cost, one a row of truth values."""
        sets = sets.astype(float)
        if self.criterion == "hamming":  # the best of all answers: every class plausible or not
            answers = np.array(list(product([0.0, 1.0], repeat=self.w.shape[1])))
            return -(sets @ (self.w * self.t) @ answers.T).max(axis=1)
        if self.criterion == "least_squares":
            W, S = sets @ self.w, sets @ (self.w * self.t)
            mean = np.divide(S, W, out=np.zeros_like(S), where=W > 0)
            return np.array([k @ (self.w * (self.t - mu) ** 2) for k, mu in zip(sets, mean, strict=True)])
        plus, minus = sets @ (self.w * (self.t > 0)), sets @ (self.w * (self.t < 0))
        if self.criterion.endswith("z"):
            return (2 * np.sqrt(plus) * np.sqrt(minus)).reshape(len(sets), -1).sum(axis=1)
        W = plus + minus
        return W - np.divide(plus**2 + minus**2, W, out=np.zeros_like(W), where=W > 0)  # W (1 - p^2 - q^2): gini

    def rank(self, slots):
        """The mean target of every slot, or what the class that tells most would cost."""
        sums = slots.astype(float) @ (self.w * self.t)
        if self.criterion == "hamming":
            return sums[:, np.abs(sums).sum(axis=0).argmax()]
        W = slots @ self.w
        if self.criterion == "hamming_z":
            label = np.abs(sums).sum(axis=0).argmax()
            sums, W = sums[:, label], W[:, label]
        return np.divide(sums, W, out=np.zeros_like(W), where=W > 0)

    def splits(self, leaf, least):
        """The splits of a leaf, the low rows of each, and their gains (minus infinity where a side is too small)."""
        sides = [self.sides]
        for j in self.problem.n_categories:
            slots = np.array([s & leaf for s in self.slots(j) if (s & leaf).any()])
            if self.heuristic(least):  # cuts of one order only
                order = np.argsort(self.rank(slots), kind="stable")
                sides.append(np.logical_or.accumulate(slots[order], axis=0))
            else:  # every subset of categories, missing values being one more
                subsets = np.array(list(product([False, True], repeat=len(slots))))
                sides.append(subsets @ slots)
        low = np.concatenate(sides) & leaf
        high = leaf & ~low
        gains = self.impurity(leaf[None])[0] - self.impurity(low) - self.impurity(high)
        if least > 1:
            slack = 1e-9 * least
            gains[(low @ self.m < least - slack) | (high @ self.m < least - slack)] = -np.inf
        return low, gains

    def best(self, leaf, least=0.0):
        low, gains = self.splits(leaf, least)
        at = int(np.argmax(gains))
        return low[at], float(gains[at])

    def remaining(self, leaf):
        """What pure leaves in place of this one would gain, or a lower bound; none where gains are no guide."""
        if self.criterion == "hamming":
            return 0.0
        if self.criterion != "least_squares":
            return float(self.impurity(leaf[None])[0])
        rows = leaf & (self.m > 0)
        mean = self.w[rows] @ self.t[rows] / max(self.w[rows].sum(), 1e-300)
        return float((self.problem.task.weight[rows] * (self.t[rows] - mean) ** 2).max())

    def can_part(self, leaf, least):
        """Whether some split has weight on both sides."""
        low, gains = self.splits(leaf, least)
        heavy = self.w.reshape(len(leaf), -1).sum(axis=1)
        sides = np.minimum(low @ heavy, (leaf & ~low) @ heavy)
        return bool((sides[gains > -np.inf] > 1e-9 * heavy.sum()).any())

    def grow(self, max_leaf_nodes=8, max_depth=None, min_samples_leaf=1):
        """The leaves of the greedy tree: the split that gains most is made first."""
        unit = self.problem.unit()
        leaves = [(np.ones(len(self.m), bool), 0)]
        while max_leaf_nodes is None or len(leaves) < max_leaf_nodes:
            offers = [
                (*self.best(leaf, min_samples_leaf), k)
                for k, (leaf, depth) in enumerate(leaves)
                if max_depth is None or depth < max_depth
            ]
            low, gain, k = max(offers, key=lambda o: o[1], default=(None, 0.0, -1))
            if gain <= FLOOR * unit:
                break
            leaf, depth = leaves.pop(k)
            leaves += [(low, depth + 1), (leaf & ~low, depth + 1)]
        return [leaf for leaf, _ in leaves]


def rows_of_nodes(tree, X):
    """Which rows reach each node: walked in numpy, one node at a time."""
    reach = np.zeros((len(tree.feature), len(X)), bool)
    reach[0] = True
    for node in np.flatnonzero(tree.feature >= 0):
        x = X[:, tree.feature[node]].astype(np.float64)
        lows = tree.lows[tree.starts[node] : tree.starts[node + 1]]
        absent = np.isnan(x)
        low = lows[np.where(absent, 0, x).astype(int)] if len(lows) else x <= tree.threshold[node]
        low = np.where(absent, tree.missing_low[node], low)
        reach[tree.children[node, 0]] = reach[node] & low
        reach[tree.children[node, 1]] = reach[node] & ~low
    return reach


def check_greedy(problem, tree, brute, tol, max_leaf_nodes=8, max_depth=None, min_samples_leaf=1):
    """Replay the growth: every split gains as much as any split of any leaf would, and it ends when it must.

    This holds whichever way ties went.
    """
    unit = problem.unit()
    reach = rows_of_nodes(tree, problem.X)
    everybody = reach[0]
    weight = problem.weights().sum() / (2 if brute.criterion == "hamming" else 1)  # D, and D's sums once more
    front, gains = {0: 0}, {}  # front: every node's depth

    def can(node, depth):
        if max_depth is not None and depth >= max_depth:
            return -np.inf
        return brute.best(reach[node], min_samples_leaf)[1]

    offers = {0: can(0, 0)}
    while inner := [n for n in front if tree.feature[n] >= 0]:
        node = max(inner, key=offers.get)
        assert max_leaf_nodes is None or len(front) < max_leaf_nodes
        assert max_depth is None or front[node] < max_depth
        sides = reach[tree.children[node]]
        gain = float(brute.impurity(reach[node][None])[0] - brute.impurity(sides).sum())
        assert gain >= max(offers.values()) - tol * unit  # no other split of any leaf gains more
        if gain <= 0:  # a split without gain: last, and of an impure leaf only
            assert max(offers.values()) <= (FLOOR + tol) * unit
            assert brute.remaining(reach[node]) > 0
            assert (sides @ problem.weights().reshape(len(everybody), -1) > 0).any(axis=1).all()
        if not brute.heuristic(min_samples_leaf):
            assert gain <= offers[node] + tol * unit
        gains[node] = gain / weight
        if min_samples_leaf > 1:
            assert (sides @ problem.masses() >= min_samples_leaf * (1 - 1e-9)).all()
        depth = front.pop(node) + 1
        del offers[node]
        for child in tree.children[node].tolist():
            front[child] = depth
            offers[child] = can(child, depth)
    assert len(front) == max_leaf_nodes or max(offers.values()) <= (FLOOR + tol) * unit
    for node, depth in front.items() if len(front) != max_leaf_nodes else ():
        impure = brute.remaining(reach[node]) > (FLOOR + tol) * unit
        assert depth == max_depth or not impure or not brute.can_part(reach[node], min_samples_leaf)
    assert np.allclose(tree.gains[list(gains)], list(gains.values()), rtol=1e-6, atol=2 * tol * unit / weight)
    leaves = reach[list(front)]
    assert (leaves.sum(axis=0) == everybody).all()  # every row is in one leaf
    assert len(front) == tree.n_leaves
    assert max(front.values()) == tree.depth


def check_values(problem, tree):
    """The leaves vote what the definitions say."""
    w, t, criterion = problem.weights(), problem.task.target, problem.task.criterion
    unit = problem.unit()
    reach = rows_of_nodes(tree, problem.X)
    for node in np.flatnonzero(tree.feature < 0):
        rows, value = reach[node], tree.values[node]
        S = (w * t)[rows].sum(axis=0)
        if criterion == "edge":
            assert value in (-1.0, 1.0)
            assert abs(S) <= 1e-12 * unit or value == np.sign(S)
        elif criterion.endswith("z"):
            s = problem.task.params["smoothing"] * w.sum()
            plus, minus = ((w * side)[rows].sum(axis=0) for side in (t > 0, t < 0))
            assert value == pytest.approx(0.5 * np.log((plus + s) / (minus + s)), abs=1e-9)
        elif criterion == "least_squares":
            assert value * w[rows].sum() == pytest.approx(S, abs=1e-12 * unit)  # the mean
        else:
            assert set(value.tolist()) <= {0.0, 1.0}
            for v, s in zip(value, S, strict=True):
                assert abs(s) <= 1e-12 * unit or v == (s > 0)


def check_votes(problem, tree):
    """All ways to the votes agree, bit for bit."""
    reach = rows_of_nodes(tree, problem.X)
    leaf = np.array([int(np.flatnonzero(r & (tree.feature < 0))[0]) for r in reach.T])
    expected = tree.values[leaf]
    assert np.array_equal(problem.votes, expected)
    assert np.array_equal(tree.votes(problem.table), expected)
    assert np.array_equal(tree.votes(Table(problem.X)), expected)
    assert np.array_equal(tree.predict(problem.X), expected)
    assert np.array_equal(tree.leaf_of(Table(problem.X)), leaf)
    assert tree.bound == np.abs(expected).max()
    other = pickle.loads(pickle.dumps(tree))
    assert np.array_equal(other.votes(problem.table), expected)


def check(problem, limits, tol=1e-9, cuts=None):
    tree = problem.grow(**limits)
    brute = Brute(problem, cuts)
    if isinstance(tree, Stop):
        assert tree.code == "no_edge"
        _, gain = brute.best(np.ones(len(problem.X), bool), limits["min_samples_leaf"])
        assert gain <= (FLOOR + tol) * problem.unit()
        everybody = np.ones(len(problem.X), bool)
        impure = brute.remaining(everybody) > (FLOOR + tol) * problem.unit()
        assert not impure or not brute.can_part(everybody, limits["min_samples_leaf"])
        return
    check_greedy(problem, tree, brute, tol, **limits)
    check_values(problem, tree)
    check_votes(problem, tree)


# -- the greedy tree ----------------------------------------------------------------------------------------------


@every_criterion
@pytest.mark.parametrize("categories", [False, True], ids=["numbers", "categories"])
@pytest.mark.parametrize(
    ("weights", "masses", "drawn"),
    [
        ("equal", "none", False),
        ("small", "counts", False),
        ("some", "real", False),
        ("near", "none", True),
        ("small", "real", False),
    ],
)
@settings(max_examples=8)
@given(seed=seeds)
def test_every_split_is_the_best_of_all_leaves(criterion, categories, weights, masses, drawn, seed):
    problem = make(seed, criterion, weights, masses, categories, drawn)
    check(problem, some_limits(np.random.default_rng(seed)))


@every_criterion
@settings(max_examples=15)
@given(seed=seeds)
def test_weights_over_thirty_magnitudes(criterion, seed):
    problem = make(seed, criterion, "wide", categories=bool(seed % 2))
    tree = problem.grow(max_leaf_nodes=None)
    if isinstance(tree, Stop):
        return
    # The root of a weight known to 1e-16 of all is known to 1e-8 only.
    tol = 1e-6 if criterion.endswith("z") else 1e-11
    check_greedy(problem, tree, Brute(problem), tol, max_leaf_nodes=None)
    check_votes(problem, tree)


@every_criterion
@settings(max_examples=15)
@given(seed=seeds)
def test_few_bins_offer_few_cuts(criterion, seed):
    problem = make(seed, criterion, "near", categories=True)
    problem.max_bins = 3
    bins = Bins.fit(problem.X, Masses(len(problem.X)), 3, 1, problem.n_categories)
    cuts = [bins.of(j) for j in range(bins.n_features)]
    check(problem, some_limits(np.random.default_rng(seed)), cuts=cuts)


@every_criterion
@pytest.mark.parametrize("masses", ["none", "real"])
@settings(max_examples=15)
@given(seed=seeds)
def test_without_ties_the_tree_is_the_only_one(criterion, masses, seed):
    """Weights that are real numbers tell all partitions apart, so that an independent growth finds the same leaves."""
    limits = some_limits(np.random.default_rng(seed))
    exact = not criterion.startswith("hamming") and limits["min_samples_leaf"] == 1
    problem = make(seed, criterion, "near", masses, categories=exact, n_most=40)
    tree, brute = problem.grow(**limits), Brute(problem)
    leaves = brute.grow(**limits)
    if isinstance(tree, Stop):
        assert len(leaves) == 1
        return
    reach = rows_of_nodes(tree, problem.X)[tree.feature < 0]
    assert brute.impurity(reach).sum() == pytest.approx(
        brute.impurity(np.array(leaves)).sum(), abs=1e-9 * problem.unit()
    )
    assert {leaf.tobytes() for leaf in reach} == {leaf.tobytes() for leaf in leaves}


def test_ties_go_to_the_first_feature_then_the_first_cut():
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([-1.0, 1.0, 1.0, -1.0])
    constant = np.full(4, 3.0)
    for columns, feature in (([x, -x], 0), ([constant, x, x], 1), ([constant, constant, -x], 2)):
        tree = Problem(np.stack(columns, axis=1), Task("edge", np.ones(4), y)).grow(max_leaf_nodes=2)
        assert tree.feature.tolist() == [feature, -1, -1]
        assert tree.threshold[0] == columns[feature].min() + 0.5


def test_the_nodes_come_parents_first():
    problem = make(5, "edge", "near", n_most=40)
    tree = problem.grow(max_leaf_nodes=None)
    inner = np.flatnonzero(tree.feature >= 0)
    assert (tree.children[inner] > inner[:, None]).all()
    assert sorted(tree.children[inner].ravel().tolist()) == list(range(1, len(tree.feature)))
    assert (tree.gains[inner] > 0).all()
    assert (tree.gains[tree.feature < 0] == 0).all()


# -- scikit-learn -------------------------------------------------------------------------------------------------

LIMITS = [
    {"max_leaf_nodes": 2},
    {"max_leaf_nodes": 8},
    {"max_leaf_nodes": 8, "max_depth": 3},
    {"max_leaf_nodes": None, "max_depth": 4},
    {"max_leaf_nodes": None},
    {"max_leaf_nodes": None, "min_samples_leaf": 9},
    {"max_leaf_nodes": 6, "min_samples_leaf": 20},
    {"max_leaf_nodes": None, "ccp_alpha": 0.004},
    {"max_leaf_nodes": 30, "max_depth": 6, "min_samples_leaf": 3, "ccp_alpha": 0.002},
]


def continuous(seed, n=240, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)  # what scikit-learn computes with
    w = rng.integers(2**18, 2**21, n) / 2**20  # real enough for no ties; yet sums are exact, for scikit-learn too
    return X, w, X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n), rng


def gains_of(t):
    """What scikit-learn's splits saved, as shares of the weight."""
    cost = t.impurity * t.weighted_n_node_samples / t.weighted_n_node_samples[0]
    inner = t.children_left >= 0
    return cost[inner] - cost[t.children_left[inner]] - cost[t.children_right[inner]]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_labels_as_scikit_learn(limits):
    for seed in range(4):
        X, w, score, _ = continuous(seed)
        y = np.where(score > 0.3, 1.0, -1.0)
        tree = Problem(X, Task("edge", w, y)).grow(**limits)
        twin = DecisionTreeClassifier(criterion="gini", random_state=0, **limits).fit(X, y, w)
        assert tree.n_leaves == twin.get_n_leaves()
        assert tree.depth == twin.get_depth()
        assert np.array_equal(tree.predict(X), twin.predict(X))
        places = [tree.leaf_of(Table(X)), twin.apply(X)]
        assert len(set(zip(*(p.tolist() for p in places), strict=True))) == tree.n_leaves  # the same partition
        assert np.allclose(np.sort(tree.gains[tree.feature >= 0]), np.sort(gains_of(twin.tree_)), atol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_least_squares_as_scikit_learn(limits, scale):
    limits = dict(limits)
    if "ccp_alpha" in limits:
        limits["ccp_alpha"] *= 4 * scale**2  # a squared error
    for seed in range(3):
        X, w, z, _ = continuous(seed)
        tree = Problem(X, Task("least_squares", w, z * scale)).grow(**limits)
        twin = DecisionTreeRegressor(random_state=0, **limits).fit(X, z * scale, w)
        assert tree.n_leaves == twin.get_n_leaves()
        assert np.allclose(tree.predict(X), twin.predict(X), rtol=1e-9, atol=1e-9 * scale)


# -- limits -------------------------------------------------------------------------------------------------------


def test_without_limits_the_tree_grows_to_purity():
    X, w, score, rng = continuous(7)
    y = np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)
    tree = Problem(X, Task("edge", w, y)).grow(max_leaf_nodes=None)
    assert np.array_equal(tree.predict(X), y)
    z = np.round(score * 3)
    tree = Problem(X, Task("least_squares", w, z)).grow(max_leaf_nodes=None)
    assert np.allclose(tree.predict(X), z, atol=1e-12)


def test_limits_hold_alone_and_together():
    X, w, score, _ = continuous(8)
    problem = Problem(X, Task("edge", w, np.where(score > 0, 1.0, -1.0)))
    sizes = {}
    for leaves in (None, 2, 5, 11):
        for depth in (None, 1, 2, 3, 5):
            tree = problem.grow(max_leaf_nodes=leaves, max_depth=depth)
            assert leaves is None or tree.n_leaves <= leaves
            assert depth is None or tree.depth <= depth
            sizes[leaves, depth] = tree.n_leaves
    assert [sizes[n, None] for n in (2, 5, 11)] == [2, 5, 11]  # the data have more to give
    assert [sizes[None, k] for k in (1, 2, 3)] == [2, 4, 8]
    assert sizes[11, 2] == 4
    assert sizes[5, 3] == 5
    assert sizes[None, None] > 20


@every_criterion
@settings(max_examples=15)
@given(seed=seeds)
def test_smallest_leaf_counts_examples(criterion, seed):
    """Mass k is k examples: neither the task's weights nor the number of rows matter."""
    problem = make(seed, criterion, "some", "counts", n_most=40)
    for least in (2, 4.5, 7):
        tree = problem.grow(max_leaf_nodes=None, min_samples_leaf=least)
        if isinstance(tree, Tree):
            leaves = rows_of_nodes(tree, problem.X)[tree.feature < 0]
            assert (leaves @ problem.mass >= least).all()
    more = problem.grow(max_leaf_nodes=None, min_samples_leaf=problem.mass.sum() / 2 + 1)
    assert isinstance(more, Stop)


def test_smallest_leaf_of_a_draw_counts_what_was_drawn():
    x, y = np.arange(6.0), np.array([1.0, -1, -1, 1, 1, 1])
    task = Task("edge", np.ones(6), y, counts=np.array([1, 0, 5, 0, 3, 0]))
    assert Problem(x[:, None], task).grow(min_samples_leaf=1).n_leaves == 3
    tree = Problem(x[:, None], task).grow(min_samples_leaf=3)
    assert (tree.n_leaves, tree.threshold[0]) == (2, 2.5)
    assert Problem(x[:, None], task).grow(min_samples_leaf=4).code == "no_edge"


def test_smallest_leaf_of_just_this_size_is_allowed():
    y = np.repeat([-1.0, 1.0], 5)
    for mass in (None, np.full(10, 3.0), np.full(10, 0.5)):
        least = 5 if mass is None else 5 * mass[0]
        problem = Problem(np.arange(10.0)[:, None], Task("edge", np.ones(10), y), mass)
        assert problem.grow(min_samples_leaf=least).n_leaves == 2
        assert isinstance(problem.grow(min_samples_leaf=least * 1.001), Stop)


@every_criterion
@settings(max_examples=12)
@given(seed=seeds)
def test_pruning_leaves_a_consistent_tree(criterion, seed):
    rng = np.random.default_rng(seed)
    problem = make(seed, criterion, "near", categories=True, n_most=40)
    full = problem.grow(max_leaf_nodes=None)
    if isinstance(full, Stop):
        return
    sizes = [full.n_leaves]
    for alpha in np.sort(rng.uniform(0, full.gains.max() * 1.01, 4)):
        tree = problem.grow(max_leaf_nodes=None, ccp_alpha=float(alpha))
        if isinstance(tree, Stop):
            sizes.append(1)
            continue
        sizes.append(tree.n_leaves)
        check_votes(problem, tree)  # training rows and leaves match
        check_values(problem, tree)
        # What is left is part of the full tree, and saves more than alpha a leaf, at and below every split.
        reach, all_ = rows_of_nodes(tree, problem.X), rows_of_nodes(full, problem.X)
        assert {r.tobytes() for r in reach} <= {r.tobytes() for r in all_}
        below, splits = tree.gains.copy(), (tree.feature >= 0).astype(int)
        for node in np.flatnonzero(tree.feature >= 0)[::-1]:
            below[node] += below[tree.children[node]].sum()
            splits[node] += splits[tree.children[node]].sum()
            assert below[node] > alpha * splits[node] * (1 - 1e-9)
    assert sizes == sorted(sizes, reverse=True)
    assert isinstance(problem.grow(max_leaf_nodes=None, ccp_alpha=1e9), Stop)


def test_nothing_gains():
    xor = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([-1.0, 1, 1, -1])
    for X, target in (
        (np.full((4, 2), 3.0), y),
        (np.full((4, 1), np.nan), y),
        (xor, np.ones(4)),
    ):
        for criterion in ("edge", "z", "least_squares"):
            stop = Problem(X, Task(criterion, np.ones(4), target, {"smoothing": 0.1})).grow()
            assert isinstance(stop, Stop)
            assert stop.code == "no_edge"


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1 is not possible; it must be a whole number of at least 2"),
        ({"max_depth": 0}, "max_depth=0 is not possible; it must be a whole number of at least 1"),
        ({"max_depth": "deep"}, "max_depth='deep' is not possible"),
        ({"max_depth": True}, "max_depth=True is not possible"),
        ({"max_depth": 1.5}, "max_depth=1.5 is not possible"),
        ({"max_leaf_nodes": 2.5}, "max_leaf_nodes=2.5 is not possible"),
        ({"min_samples_leaf": -1}, "min_samples_leaf=-1 is not possible; it must be a number of at least 0"),
        ({"min_samples_leaf": None}, "min_samples_leaf=None is not possible"),
        ({"ccp_alpha": -0.5}, "ccp_alpha=-0.5 is not possible; it must be a number of at least 0"),
        ({"ccp_alpha": float("nan")}, "ccp_alpha=nan is not possible"),
        ({"ccp_alpha": None}, "ccp_alpha=None is not possible"),
    ],
    ids=str,
)
def test_wrong_limits_are_named(limits, sentence):
    with pytest.raises(ValueError, match="DecisionTree: ") as raised:
        make(0, "edge").begin(**limits)
    assert sentence in str(raised.value)
    assert str(raised.value).endswith(".")


def test_numpy_numbers_are_limits_too():
    problem = make(3, "edge", "near", n_most=40)
    plain = problem.grow(max_leaf_nodes=4, max_depth=3, min_samples_leaf=2, ccp_alpha=0.001)
    other = problem.grow(
        max_leaf_nodes=np.int64(4), max_depth=np.int32(3), min_samples_leaf=np.float32(2), ccp_alpha=np.float64(0.001)
    )
    assert same_tree(plain, other)


def test_the_learner_is_a_scikit_learn_object():
    learner = DecisionTree(max_depth=3, ccp_alpha=0.1)
    assert clone(learner).get_params() == learner.get_params()
    limits = {"max_leaf_nodes": 8, "max_depth": 3, "min_samples_leaf": 1, "min_samples_split": 2, "ccp_alpha": 0.1}
    assert learner.get_params() == limits
    assert learner.searches() == {*CRITERIA, "labels", "factored"}
    assert learner.uses_bins


# -- what must not matter -----------------------------------------------------------------------------------------


def bits(tree, but=()):
    names = ["feature", "threshold", "missing_low", "children", "starts", "lows", "values", "gains"]
    return {n: (getattr(tree, n).dtype.str, getattr(tree, n).tobytes()) for n in names if n not in but}


def same_tree(a, b, but=()):
    """Bit for bit."""
    if isinstance(a, Stop) or isinstance(b, Stop):
        return a == b
    return bits(a, but) == bits(b, but)


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
    plain = threads_module.ThreadPoolExecutor.submit
    monkeypatch.setattr(threads_module.ThreadPoolExecutor, "submit", lambda *a: (calls.append(1), plain(*a))[1])
    monkeypatch.setattr(threads_module, "WORTH", 1)  # now every sum of every node
    for seed in range(5):
        problem = make(seed, criterion, "near", categories=True, n_most=40)
        a, b = problem.grow(1, max_leaf_nodes=None), problem.grow(4, max_leaf_nodes=None)
        assert same_tree(a, b)
        if isinstance(b, Tree):
            assert np.array_equal(a.votes(Table(problem.X)), b.votes(problem.table))
    assert len(calls) > 40


# -- exact sums ---------------------------------------------------------------------------------------------------


def channels_of(part):
    """The integers of a follower's one or two channels, or of all of a panel's."""
    if isinstance(part, Panel):
        return part.q.T
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


# -- missing values and categories --------------------------------------------------------------------------------


def test_missing_values_go_where_they_help():
    x = np.array([0.0, 1, 2, 3, np.nan, np.nan])
    for side in (-1.0, 1.0):
        y = np.array([-1.0, -1, 1, 1, side, side])
        tree = Problem(x[:, None], Task("edge", np.ones(6), y)).grow()
        assert tree.n_leaves == 2
        assert bool(tree.missing_low[0]) == (side < 0)
        assert np.array_equal(tree.predict(x[:, None]), y)


def test_missing_against_present_deep_in_the_tree():
    rng = np.random.default_rng(0)
    a, b = np.arange(40) % 2 * 1.0, np.where(np.arange(40) < 20, np.nan, rng.normal(size=40))
    y = np.where((a == 1) & np.isnan(b), 1.0, -1.0)
    tree = Problem(np.stack([a, b], axis=1), Task("edge", np.ones(40), y)).grow()
    assert np.array_equal(tree.predict(np.stack([a, b], axis=1)), y)
    assert tree.predict([[1.0, 1e300], [1.0, np.nan], [0.0, np.nan]]).tolist() == [-1.0, 1.0, -1.0]


def test_gaps_where_training_had_none_go_with_the_heavier_side():
    x, y = np.arange(5.0)[:, None], np.array([-1.0, 1, 1, 1, 1])
    assert Problem(x, Task("edge", np.ones(5), y)).grow().predict([[np.nan]]).tolist() == [1.0]
    mass = np.array([9.0, 1, 1, 1, 1])
    assert Problem(x, Task("edge", np.ones(5), y), mass).grow().predict([[np.nan]]).tolist() == [-1.0]


def test_a_category_split_is_one_split():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 300, 2000).astype(float)
    good = rng.choice([-1.0, 1.0], 300)
    y = good[x.astype(int)]
    problem = Problem(x[:, None], Task("edge", rng.uniform(0.5, 1, 2000), y), None, {0: 300})
    tree = problem.grow()
    assert problem.table.codes.cells.dtype == np.uint16
    assert (tree.n_leaves, tree.depth) == (2, 1)
    assert np.array_equal(tree.votes(problem.table), y)
    assert len(tree.lows) == tree.starts[-1] == 300


def test_a_tree_can_be_copied():
    tree = make(9, "hamming", "near", categories=True, n_most=40).grow()
    for other in (copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert same_tree(tree, other)
