"""Problems for stumps, and brute force: every cut, every criterion by its definition."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
import pytest

from boostlab.backend import CpuSample, Masses
from boostlab.contract import Stop, Task
from boostlab.data.table import Bins, Table
from boostlab.learners.criteria import CRITERIA
from boostlab.learners.stump import DecisionStump

ALL = [*sorted(CRITERIA), "gini"]  # "labels" by their weighted error, and by their gini index
LABELWISE = "hamming", "factored", "hamming_z"  # a column a label
every_criterion = pytest.mark.parametrize("criterion", ALL)


# -- problems -------------------------------------------------------------------------------------------------------


@dataclass
class Problem:
    """A table, a task on it and the rows' masses."""

    X: np.ndarray
    task: Task
    mass: np.ndarray | None = None
    names_by: str = "error"  # the criterion of stumps that name one of three or more classes

    def take(self, index, mass=None):
        task = replace(self.task, weight=self.task.weight[index], target=self.task.target[index])
        return Problem(self.X[index], task, mass, self.names_by)

    @property
    def criterion(self):
        """What the best stump is best by: stumps that name one of two classes are AdaBoost's."""
        several = self.task.criterion == "labels" and self.task.target.max() > 1
        return "gini" if several and self.names_by == "gini" else self.task.criterion

    def best(self, max_bins="exact", threads=1, polarity="both", bins=None):
        rows = Masses(len(self.X), self.mass)
        bins = Bins.fit(self.X, rows, max_bins) if bins is None else bins
        table = Table.of(self.X, bins, threads)
        learner = DecisionStump(polarity, self.names_by)
        found = learner.begin(CpuSample(table, rows), np.random.default_rng(0)).best(self.task)
        return found if isinstance(found, Stop) else found.voter


def names_by(criterion):
    return "gini" if criterion == "gini" else "error"


def make_task(rng, criterion, n, weights):
    """Random labels or targets of the kind the criterion wants, and weights of one kind."""
    shape = (n, 3) if criterion in LABELWISE else n
    w = {
        "equal": np.ones(shape),
        "small": rng.integers(0, 9, shape).astype(float),  # whole numbers, zero among them
        "some": 10.0 ** -rng.uniform(0, 6, shape),
        "wide": 10.0 ** -rng.uniform(0, 30, shape),
    }[weights]
    if not w.any():
        w += 1.0
    if criterion == "hamming":
        right = np.arange(3) == rng.integers(0, 3, n)[:, None]
        D = np.where(right, 0.0, w)
        weight = np.where(right, D.sum(axis=1, keepdims=True), D)
        return Task(criterion, weight, np.where(right, 1.0, -1.0), {"no": 0.0})
    if criterion in LABELWISE:
        return Task(criterion, w, np.where(rng.random(shape) < 0.4, 1.0, -1.0), {"smoothing": 0.5 / n})
    if criterion in ("labels", "gini"):
        return Task("labels", w, rng.integers(0, 4, n).astype(np.int8))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if criterion == "least_squares":
        return Task(criterion, w, np.round(rng.normal(size=n) * 4, rng.integers(0, 3)))
    params = {
        "edge": {},
        "z": {"smoothing": 0.5 / n},
        "svp": {"variance_penalty": float(rng.choice([0.0, 0.3, 0.5, 1.0, 2.5])), "n": float(n)},
    }[criterion]
    return Task(criterion, w, y, params)


def make(seed, criterion, weights, masses="none"):
    """A small table with ties, constant columns and few distinct values."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 22)), int(rng.integers(1, 4))
    X = rng.integers(0, rng.integers(2, 12), size=(n, d)).astype(float)
    if rng.random() < 0.4:
        X[:, 0] = rng.normal(size=n)
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = 7.0
    if rng.random() < 0.3:
        X[:, -1] = -X[:, 0]
    mass = {"none": None, "counts": rng.integers(1, 5, n).astype(float), "real": rng.uniform(0.1, 3, n)}[masses]
    task = make_task(rng, criterion, n, weights)
    if criterion == "svp":
        task.params["n"] = float(n if mass is None else mass.sum())
    return Problem(X, task, mass, names_by(criterion))


# -- brute force ----------------------------------------------------------------------------------------------------


def cuts_of(X):
    """Every (feature, midpoint) in the order of the tie rule."""
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for low, high in pairwise(values):
            yield j, (low + high) / 2


def cost(problem, below):
    """What the criterion's definition says of the best voter on this split; the lower the better."""
    task, w, t, criterion = problem.task, problem.task.weight, problem.task.target, problem.criterion
    m = np.ones(len(w)) if problem.mass is None else problem.mass
    m = m if task.counts is None else task.counts.astype(float)
    if criterion == "edge":
        h = np.where(below, -1.0, 1.0)
        return -abs(math.fsum(m * w * t * h))
    if criterion == "svp":
        lam, n = task.params["variance_penalty"], task.params["n"]
        agrees = np.where(below, -1.0, 1.0) == t
        W_I, W_J = math.fsum((m * w)[agrees]), math.fsum((m * w)[~agrees])
        S_I, S_J = math.fsum((m * w * w)[agrees]), math.fsum((m * w * w)[~agrees])
        A, B = (1 - lam) * W_I**2 + lam * n * S_I, (1 - lam) * W_J**2 + lam * n * S_J
        return math.sqrt(max(A, 0) * max(B, 0)) + (1 - lam) * W_I * W_J
    if criterion == "factored":  # every choice of a sign a label
        edges = [math.fsum(m * w[:, k] * t[:, k] * np.where(below, -1.0, 1.0)) for k in range(w.shape[1])]
        return -max(math.fsum(v * e for v, e in zip(vs, edges, strict=True)) for vs in product((-1, 1), repeat=3))
    value = 0.0
    for leaf in (below, ~below):
        if criterion in ("z", "hamming_z"):
            for wk, tk in zip(w.reshape(len(w), -1).T, t.reshape(len(t), -1).T, strict=True):
                W = [math.fsum((m * wk)[leaf & (tk == s)]) for s in (1, -1)]
                value += 2 * math.sqrt(W[0]) * math.sqrt(W[1])
        elif criterion == "labels":  # what is wrong, whichever class the leaf names
            value += min(math.fsum((m * w)[leaf & (t != k)]) for k in range(4))
        elif criterion == "gini":  # the leaf's weight times 1 - the sum of its classes' squared shares
            W = [math.fsum((m * w)[leaf & (t == k)]) for k in range(4)]
            value += math.fsum(W) * (1 - math.fsum((v / math.fsum(W)) ** 2 for v in W)) if any(W) else 0.0
        elif criterion == "least_squares":
            mean = leaf_mean(problem, leaf)
            value += math.fsum((m * w * (t - mean) ** 2)[leaf])
        else:  # every choice of plausible labels, by the definition of the pseudo-loss
            value += min(pseudo_loss(problem, leaf, p) for p in product((0.0, 1.0), repeat=w.shape[1]))
    return value


def leaf_mean(problem, leaf):
    w, z = problem.task.weight, problem.task.target
    m = np.ones(len(w)) if problem.mass is None else problem.mass
    m = m if problem.task.counts is None else problem.task.counts.astype(float)
    W = math.fsum((m * w)[leaf])
    return math.fsum((m * w * z)[leaf]) / W if W > 0 else 0.0


def pseudo_loss(problem, leaf, p):
    """(1/2) sum over the leaf's rows i and wrong labels y of D(i, y) (1 - p(c_i) + p(y))."""
    m = np.ones(len(leaf)) if problem.mass is None else problem.mass
    m = m if problem.task.counts is None else problem.task.counts.astype(float)
    terms = []
    for i in np.flatnonzero(leaf):
        right = int(problem.task.target[i].argmax())
        terms += [m[i] * problem.task.weight[i, y] * (1 - p[right] + p[y]) for y in range(len(p)) if y != right]
    return math.fsum(terms) / 2


def scale(problem):
    """The natural unit of the criterion's costs."""
    w, t = problem.task.weight, problem.task.target
    m = np.ones(len(w)) if problem.mass is None else problem.mass
    m = m if w.ndim == 1 else m[:, None]
    if problem.task.criterion == "least_squares":
        return float((m * w * t * t).sum())
    W = float((m * w).sum())
    return W * W if problem.task.criterion == "svp" else W


def below(problem, stump):
    return problem.X[:, stump.feature] <= stump.threshold


def brute(problem):
    return min((cost(problem, problem.X[:, j] <= c) for j, c in cuts_of(problem.X)), default=None)
