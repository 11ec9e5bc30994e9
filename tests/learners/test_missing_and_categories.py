"""Missing values and categories against exhaustive search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from boostlab.backend import CpuSample, Masses
from boostlab.contract import Stop, Task
from boostlab.data.table import Bins, Table
from boostlab.learners.fitted_stump import CategoryStump, Stump
from boostlab.learners.stump import DecisionStump

PARAMS = {
    "svp": {"variance_penalty": 0.4},
    "z": {"smoothing": 0.01},
    "hamming": {"no": 0.0},
    "hamming_z": {"smoothing": 0.01},
}
LABELWISE = ["hamming", "factored", "hamming_z"]
CRITERIA = ["edge", "svp", "z", "least_squares", *LABELWISE]


def problem(seed, criterion, n=14, categorical=False):
    """A small table: column 0 numeric with ties and NaN, column 1 the same or categories with NaN."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 2)).astype(float)
    X[rng.random((n, 2)) < 0.25] = np.nan
    weight, y = rng.exponential(size=n) ** 2, rng.choice([-1.0, 1.0], n)
    if criterion == "least_squares":
        y = rng.normal(size=n)
    if criterion in LABELWISE:
        codes = rng.integers(0, 3, n)
        D = np.where(np.eye(3, dtype=bool)[codes], 0.0, rng.exponential(size=(n, 3)))
        right = np.eye(3, dtype=bool)[codes]
        weight, y = np.where(right, D.sum(axis=1, keepdims=True), D), np.where(right, 1.0, -1.0)
    task = Task(criterion, weight, y, {**PARAMS.get(criterion, {}), "n": float(n)})
    n_categories = {1: 4} if categorical else {}
    return X, task, n_categories


def cost(task, low):
    """The criterion of the stump whose left leaf holds the rows `low`, from its definition."""
    w, y = task.weight, task.target
    if task.criterion == "edge":
        return -abs((w * y)[~low].sum() - (w * y)[low].sum())
    if task.criterion == "svp":
        lam, n = task.params["variance_penalty"], task.params["n"]
        right = np.where(low, -1.0, 1.0) == y
        A, B = ((1 - lam) * w[s].sum() ** 2 + lam * n * (w[s] ** 2).sum() for s in (right, ~right))
        return np.sqrt(A * B) + (1 - lam) * w[right].sum() * w[~right].sum()
    if task.criterion == "z":
        return sum(2 * np.sqrt(w[s & (y > 0)].sum() * w[s & (y < 0)].sum()) for s in (low, ~low))
    if task.criterion == "least_squares":
        return sum((w[s] * (y[s] - np.average(y[s], weights=w[s])) ** 2).sum() for s in (low, ~low) if s.any())
    if task.criterion == "factored":
        return -np.abs((w * y)[~low].sum(axis=0) - (w * y)[low].sum(axis=0)).sum()
    if task.criterion == "hamming_z":
        plus, minus = w * (y > 0), w * (y < 0)
        return sum(2 * np.sqrt(plus[s].sum(axis=0) * minus[s].sum(axis=0)).sum() for s in (low, ~low))
    return -sum(np.maximum((w * y)[s].sum(axis=0), 0).sum() for s in (low, ~low))


def splits(X, n_categories):
    """Every way a stump may part the rows: (feature, which rows are low)."""
    for j, x in enumerate(X.T):
        absent = np.isnan(x)
        values = np.unique(x[~absent])
        if j in n_categories:
            slots = [x == v for v in values] + ([absent] if absent.any() else [])
            for sides in product([True, False], repeat=len(slots)):
                if len(set(sides)) == 2:
                    yield j, np.any([s for s, low in zip(slots, sides, strict=True) if low], axis=0)
            continue
        for v in values[:-1]:
            yield j, x <= v
            if absent.any():
                yield j, (x <= v) | absent
        if absent.any() and len(values):
            yield j, ~absent


def search(X, task, n_categories, mass=None):
    rows = Masses(len(X), mass)
    bins = Bins.fit(X, rows, "exact", 1, n_categories)
    table = Table.of(X, bins)
    found = DecisionStump().begin(CpuSample(table, rows), np.random.default_rng(0)).best(task)
    return found if isinstance(found, Stop) else found.voter, table


# Under svp and for labels subsets of categories are searched in one order only; the next test bounds what that loses.
EXACT = [*((c, False) for c in CRITERIA), *((c, True) for c in ("edge", "z", "least_squares"))]


@pytest.mark.parametrize(("criterion", "categorical"), EXACT)
def test_best_split_is_the_exhaustive_one(criterion, categorical):
    for seed in range(50):
        X, task, n_categories = problem(seed, criterion, categorical=categorical)
        best = min(cost(task, low) for _, low in splits(X, n_categories))
        stump, table = search(X, task, n_categories)
        h = stump.votes(table)
        low = (h == h[0]).reshape(len(h), -1).all(axis=1)
        assert cost(task, low) == pytest.approx(best, rel=1e-9, abs=1e-12), seed
        assert np.array_equal(stump.predict(X), h, equal_nan=True)


@pytest.mark.parametrize("criterion", ["svp", *LABELWISE])
def test_subsets_under_other_criteria_are_never_worse_than_one_category_against_the_rest(criterion):
    for seed in range(60):
        X, task, _ = problem(seed, criterion, categorical=True)
        X = X[:, 1:]
        stump, table = search(X, task, {0: 4})
        h = stump.votes(table)
        low = (h == h[0]).reshape(len(h), -1).all(axis=1)
        all_costs = sorted(cost(task, s) for _, s in splits(X, {0: 4}))
        assert cost(task, low) <= all_costs[len(all_costs) // 2] + 1e-12  # in the better half of all subsets


def test_every_category_takes_its_own_sign_and_no_stump_is_constant():
    X = np.array([0, 0, 1, 1, 2, 2, np.nan])[:, None]
    y = np.array([1, 1, -1, -1, 1, 1, -1.0])
    stump, _ = search(X, Task("edge", np.ones(7), y), {0: 3})
    assert isinstance(stump, CategoryStump)
    assert stump.leaves.tolist() == [1.0, -1.0, 1.0, -1.0]
    agree, _ = search(X, Task("edge", np.array([1, 1, 1, 2, 3, 3, 1.5]), np.ones(7)), {0: 3})
    assert agree.leaves.tolist() == [1.0, 1.0, 1.0, -1.0]  # all want +1: the lightest, missing, gives way


def test_unseen_values_go_with_the_heavier_side():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, 1.0, 1.0])
    stump, _ = search(X, Task("edge", np.ones(3), y), {})
    assert isinstance(stump, Stump)
    assert stump.predict([[np.nan]]).tolist() == [1.0]
    stump, _ = search(X, Task("edge", np.ones(3), y), {}, mass=np.array([5.0, 1.0, 1.0]))
    assert stump.predict([[np.nan]]).tolist() == [-1.0]
    # A category that exists but has no row behaves as missing; no value is missing, so it goes with the heavier side.
    category, _ = search(np.array([[0.0], [2.0], [2.0]]), Task("edge", np.ones(3), y), {0: 4})
    assert category.leaves.tolist() == [-1.0, 1.0, 1.0, 1.0, 1.0]


def test_missing_against_present_is_a_cut():
    X, y = np.array([[1.0], [1.0], [np.nan], [np.nan]]), np.array([1.0, 1.0, -1.0, -1.0])
    stump, table = search(X, Task("edge", np.ones(4), y), {})
    assert stump.threshold == np.inf
    assert stump.votes(table).tolist() == y.tolist() == stump.predict(X).tolist()
    assert isinstance(search(X[:2], Task("edge", np.ones(2), y[:2]), {})[0], Stop)
    assert isinstance(search(X[2:], Task("edge", np.ones(2), y[2:]), {})[0], Stop)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_masses_threads_and_row_order(criterion):
    for seed in range(20):
        X, task, n_categories = problem(seed, criterion, categorical=True)
        counts = np.random.default_rng(seed).integers(1, 4, len(X))
        copies = np.repeat(np.arange(len(X)), counts)
        one, _ = search(X, task, n_categories, mass=counts.astype(float))
        again = Task(criterion, task.weight[copies], task.target[copies], task.params)
        two, _ = search(X[copies], again, n_categories)
        assert repr(one) == repr(two)


def test_many_categories():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3000, size=(20_000, 1)).astype(float)
    good = rng.choice([-1.0, 1.0], 3000)
    y = good[X[:, 0].astype(int)]
    stump, table = search(X, Task("edge", np.ones(len(y)), y), {0: 3000})
    assert table.codes.cells.dtype == np.uint16
    assert np.array_equal(stump.votes(table), y)
