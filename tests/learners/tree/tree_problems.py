"""Problems for trees, and brute force: every split of every leaf, every criterion by its definition."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import strategies as st

from boostlab.backend import CpuSample, Masses
from boostlab.contract import Stop, Task
from boostlab.data.table import Bins, Table
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
    counts = rng.multinomial(n, np.full(n, 1 / n)).astype(np.int32) if drawn else None
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
    all_rows = reach[0]
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
            assert (sides @ problem.weights().reshape(len(all_rows), -1) > 0).any(axis=1).all()
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
    assert (leaves.sum(axis=0) == all_rows).all()  # every row is in one leaf
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
        all_rows = np.ones(len(problem.X), bool)
        impure = brute.remaining(all_rows) > (FLOOR + tol) * problem.unit()
        assert not impure or not brute.can_part(all_rows, limits["min_samples_leaf"])
        return
    check_greedy(problem, tree, brute, tol, **limits)
    check_values(problem, tree)
    check_votes(problem, tree)


def continuous(seed, n=240, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)  # what scikit-learn computes with
    w = rng.integers(2**18, 2**21, n) / 2**20  # real enough for no ties; yet sums are exact, for scikit-learn too
    return X, w, X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n), rng


def bits(tree, but=()):
    names = ["feature", "threshold", "missing_low", "children", "starts", "lows", "values", "gains"]
    return {n: (getattr(tree, n).dtype.str, getattr(tree, n).tobytes()) for n in names if n not in but}


def same_tree(a, b, but=()):
    """Bit for bit."""
    if isinstance(a, Stop) or isinstance(b, Stop):
        return a == b
    return bits(a, but) == bits(b, but)
