"""Every strategy grows the trees of `general`, to the bit, by any number of threads and in any order of the rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab import DecisionTree
from boostlab.backend import CpuSample, Masses
from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.threads import AtOnce
from boostlab.backend.cpu.trees.best_first import BestFirst
from boostlab.backend.cpu.trees.small_best_first import SmallBestFirst
from boostlab.contract import Stop, Task
from boostlab.data.table import Table
from boostlab.learners.tree.fitted import FIELDS, Tree
from boostlab.learners.tree.learner import GROWS_BY, TreeSession
from tables import class_numbers

CRITERIA = ["edge", "z", "least_squares", "labels"]
LIMITS = (
    *({"max_leaf_nodes": None, "max_depth": 3}, {"max_leaf_nodes": 5}, {"max_leaf_nodes": 4, "max_depth": 2}, {}),
    *({"max_leaf_nodes": 16}, {"max_leaf_nodes": 21, "max_depth": 5}),
)


def table_of(rng, n, d, missing=0.0, categories=0.0):
    """Return a table of few or many distinct values, with missing values and columns of categories, and masses."""
    X = rng.choice([rng.normal(size=(n, d)), rng.integers(0, 3, (n, d)).astype(float)][int(rng.integers(2))], n)
    X[rng.random((n, d)) < missing] = np.nan
    sizes = {j: 4 for j in range(d) if rng.random() < categories}
    for j in sizes:
        X[:, j] = rng.choice([0.0, 1.0, 3.0, np.nan], n)
    return X, sizes, [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][int(rng.integers(3))]


def target_of(rng, criterion, n):
    if criterion == "least_squares":
        return np.round(rng.normal(size=n), int(rng.integers(0, 3))) + rng.choice([0.0, 100.0])
    if criterion == "labels":
        y = rng.integers(0, 4, n)
        y[0] = 3
        return class_numbers(y)
    return rng.choice([-1, 1], n).astype(np.int8)


def same(found, wanted, votes):
    """Both trees, or both reasons why there is none."""
    if isinstance(wanted, Stop) or isinstance(found, Stop):
        assert found == wanted
        return
    for name in FIELDS:
        mine, other = getattr(found, name), getattr(wanted, name)
        assert mine.dtype == other.dtype, name
        np.testing.assert_array_equal(mine, other, err_msg=name)
    assert votes[0].dtype == votes[1].dtype
    np.testing.assert_array_equal(*votes)


def grow(session, task, table):
    found = session.best(task)
    return (found, None, None) if isinstance(found, Stop) else (found.voter, found.votes, found.sums)


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=24, deadline=None)
@given(size=st.sampled_from([1, 2, 4]), seed=st.integers(0, 2**32), limits=st.sampled_from(LIMITS))
def test_best_first_grows_the_trees_of_general(criterion, size, seed, limits):
    """Over some rounds whose weights change in part, all, and in scale; of rows that are drawn or not."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 90)), int(rng.integers(1, 20))
    X, sizes, mass = table_of(rng, n, d, rng.choice([0.0, 0.2]), 0.0 if criterion == "labels" else rng.choice([0, 0.4]))
    rows = Masses(n, mass)
    table = Table.fit(X, rows, rng.choice(["exact", "255"]) if n > 300 else 255, 1, sizes)
    table.codes = DenseCodes(table.codes.cells, table.codes.starts, by_rows=bool(rng.integers(2)))
    weight, target = rng.random(n) ** 3 * (seed % 3 > 0) + 0.01, target_of(rng, criterion, n)
    kind = SmallBestFirst if seed % 2 else BestFirst
    fast, slow = (TreeSession(DecisionTree(**limits), CpuSample(table, rows), name) for name in (kind.name, "general"))
    fast.growers[kind] = kind(fast.learner, fast.rows, team=size)
    grow_some_rounds(rng, fast, slow, criterion, weight, target, X, table)


def grow_some_rounds(rng, fast, slow, criterion, weight, target, X, table):
    n = len(target)
    for factor in (1.0, 3.0, 1e6, 1e-9):
        counts = rng.integers(0, 3, n).astype(np.int32) if rng.random() < 0.2 else None
        if counts is not None:
            counts[0] = 1
        asked = [Task(criterion, weight.copy(), target, {"smoothing": 0.01}, counts=counts) for _ in range(2)]
        (found, votes, sums), (wanted, same_votes, same_sums) = (
            grow(session, task, table) for session, task in zip((fast, slow), asked, strict=True)
        )
        same(found, wanted, (votes, same_votes))
        assert sums == same_sums
        if isinstance(found, Tree):
            np.testing.assert_array_equal(votes, found.votes(Table(X)))
        weight = np.where(rng.random(n) < 0.4, weight * factor, weight)


def sparse_table_of(rng, n, d):
    """A table with empty and full rows and columns, missing values, explicit zeros, and zeros of every code."""
    X = rng.choice([rng.normal(size=(n, d)), rng.integers(-2, 3, (n, d)).astype(float)][int(rng.integers(2))], n)
    X[rng.random((n, d)) < rng.choice([0.0, 0.2])] = np.nan
    X = np.where(rng.random((n, d)) < rng.choice([0.0, 0.05, 0.4, 1.0], d), X, 0.0)
    X[rng.random(n) < 0.1] = 0.0
    X[:, rng.random(d) < 0.2] += rng.choice([-3.0, 3.0])
    stored = scipy.sparse.csr_array(np.where(X == 0.0, np.where(rng.random((n, d)) < 0.1, 9.0, 0.0), X))
    stored.data[stored.data == 9.0] = 0.0
    return X, stored, [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][int(rng.integers(3))]


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=24, deadline=None)
@given(size=st.sampled_from([1, 2, 4]), seed=st.integers(0, 2**32), limits=st.sampled_from(LIMITS))
def test_best_first_grows_the_trees_of_general_on_sparse_tables(criterion, size, seed, limits):
    """Over such rounds; on very few rows, too, and on none that has a cell."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([1, 2, 30, 90])) + (criterion == "labels"), int(rng.integers(1, 20))
    X, stored, mass = sparse_table_of(rng, n, d)
    rows = Masses(n, mass)
    table = Table.fit(stored, rows, int(rng.choice([4, 255])), 1)
    weight, target = rng.random(n) ** 3 * (seed % 3 > 0) + 0.01, target_of(rng, criterion, n)
    fast, slow = (TreeSession(DecisionTree(**limits), CpuSample(table, rows), name) for name in (None, "general"))
    fast.growers[BestFirst] = BestFirst(fast.learner, fast.rows, team=size)
    grow_some_rounds(rng, fast, slow, criterion, weight, target, X, table)
    assert list(fast.growers) == [BestFirst]
    assert not table.codes.dense


@pytest.mark.parametrize("criterion", CRITERIA)
def test_large_sparse_tables_are_shared_by_threads(criterion):
    """Rows enough for more than a block a thread, and for histograms that follow the rows that changed."""
    rng = np.random.default_rng(2)
    n, d = 6000, 40
    X = np.where(rng.random((n, d)) < 0.15, rng.integers(1, 5, (n, d)), 0.0)
    weight, target, rows = rng.random(n) + 0.1, target_of(rng, criterion, n), Masses(n)
    asked = [(1, "general"), (1, None), (AtOnce(2), None), (AtOnce(4), None)]
    tables = [Table.fit(scipy.sparse.csr_array(X), rows, 255, threads) for threads, _ in asked]
    sessions = [
        TreeSession(DecisionTree(), CpuSample(table, rows), name)
        for table, (_, name) in zip(tables, asked, strict=True)
    ]
    for factor in (1.0, 1.5, 0.3):
        task = Task(criterion, weight, target, {"smoothing": 0.01})
        (wanted, same_votes, same_sums), *found = (
            grow(*each) for each in zip(sessions, [task] * 4, tables, strict=True)
        )
        for tree, votes, sums in found:
            same(tree, wanted, (votes, same_votes))
            assert sums == same_sums
        weight = np.where(rng.random(n) < 0.3, weight * factor, weight)
    assert [session.growers[BestFirst].team for session in sessions[1:]] == [1, 2, 4]


def test_several_trees_on_a_sparse_table_grow_together():
    """Those of a round's tasks, by all threads in one call: each is the one that grows alone."""
    rng, n = np.random.default_rng(3), 500
    X = np.where(rng.random((n, 12)) < 0.2, rng.normal(size=(n, 12)), 0.0)
    table, weights, targets = (
        Table.fit(scipy.sparse.csr_array(X), Masses(n), 255, AtOnce(2)),
        rng.random((3, n)),
        rng.normal(size=(3, n)),
    )
    tasks = [Task("least_squares", w, t) for w, t in zip(weights, targets, strict=True)]
    together, alone = (
        TreeSession(DecisionTree(), CpuSample(table, Masses(n)), name) for name in ("best_first", "general")
    )
    found = together.best_each(tasks)
    for one, task in zip(found, tasks, strict=True):
        tree, votes, _ = grow(alone, task, table)
        same(one.voter, tree, (one.votes, votes))


def test_wide_sparse_tables_are_left_to_general():
    """Histograms of all leaves would take more memory than the table does."""
    n, d = 40, 100_000
    cells = scipy.sparse.random_array((n, d), density=0.05, rng=0, format="csr")
    sample, task = (
        CpuSample(Table.fit(cells, Masses(n), 255, 1), Masses(n)),
        Task("edge", np.ones(n), np.arange(n) % 2 * 2.0 - 1),
    )
    for leaves, serves in ((4, True), (31, False)):
        assert BestFirst.serves(DecisionTree(max_leaf_nodes=leaves), sample, GROWS_BY["edge"], task) == serves


@pytest.mark.parametrize(
    ("max_bins", "criterion"),
    # Two-byte codes: pairs of sums and sums of classes are added up by kernels of their own, whatever the criterion,
    # each of which compiles trees of its own for seven seconds.
    [*((255, name) for name in CRITERIA), *((400, name) for name in ("edge", "labels"))],
)
def test_large_tables_are_shared_by_threads(criterion, max_bins):
    """Rows enough for histograms that follow the rows that changed; one- and two-byte codes."""
    rng = np.random.default_rng(1)
    n, d = 4200, 25
    X, target = rng.normal(size=(n, d)), target_of(rng, criterion, n)
    X[rng.random((n, d)) < 0.01] = np.nan
    weight, rows = rng.random(n) + 0.1, Masses(n)
    sessions = [(1, "general"), (1, "best_first"), (AtOnce(2), None), (AtOnce(4), None)]
    tables = {threads: Table.fit(X, rows, max_bins, threads) for threads in (1, AtOnce(2), AtOnce(4))}
    for threads in (1, AtOnce(2)):  # nodes of more rows than a block, whose words lie side by side
        codes = tables[threads].codes
        tables[threads].codes = DenseCodes(codes.cells, codes.starts, threads, by_rows=True)
    made = [TreeSession(DecisionTree(), CpuSample(tables[threads], rows), name) for threads, name in sessions]
    for factor in (1.0, 1.5, 0.3):
        found = []
        for session, (threads, _) in zip(made, sessions, strict=True):
            task = Task(criterion, weight, target, {"smoothing": 0.01})
            found.append(grow(session, task, tables[threads]))
        for tree, votes, sums in found[1:]:
            same(tree, found[0][0], (votes, found[0][1]))
            assert sums == found[0][2]
        weight = np.where(rng.random(n) < 0.3, weight * factor, weight)
    assert [made[k].growers[BestFirst].team for k in (1, 2, 3)] == [1, 2, 4]


@pytest.mark.parametrize(
    ("what", "limits", "serves"),
    [
        ("plain", {}, True),
        ("missing", {}, True),
        ("categories", {}, True),
        ("two bytes", {}, True),
        ("plain", {"max_leaf_nodes": None, "max_depth": 4}, True),
        ("plain", {"min_samples_leaf": 5}, False),
        ("plain", {"min_samples_split": 5}, False),
        ("plain", {"ccp_alpha": 0.1}, False),
        ("sparse", {}, True),
        ("light rows", {}, False),
    ],
)
def test_whom_best_first_serves(what, limits, serves):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    if what == "missing":
        X[7, 3] = np.nan
    categories = {1: 3} if what == "categories" else {}
    X[:, list(categories)] = rng.integers(0, 3, (600, len(categories)))
    mass = np.where(np.arange(600) == 3, 1e-25, 1.0) if what == "light rows" else None
    X[3, 0] = np.nan if what == "light rows" else 0.0
    rows = Masses(600, mass)
    data = scipy.sparse.csr_matrix(np.where(X > 0, X, 0.0)) if what == "sparse" else X
    sample = CpuSample(Table.fit(data, rows, "exact" if what == "two bytes" else 255, 1, categories), rows)
    for criterion in ("edge", "z", "least_squares"):
        task = Task(criterion, np.ones(600), rng.choice([-1.0, 1.0], 600))
        assert BestFirst.serves(DecisionTree(**limits), sample, GROWS_BY[criterion], task) == serves
    hamming = Task("hamming", np.ones((600, 3)), np.ones((600, 3)))
    assert not BestFirst.serves(DecisionTree(**limits), sample, GROWS_BY["hamming"], hamming)


@pytest.mark.parametrize(
    ("values", "limits", "name"),
    [
        ("many", {"max_leaf_nodes": None}, "presorted"),
        ("few", {"max_leaf_nodes": None}, "full"),
        ("many", {"max_leaf_nodes": None, "max_depth": 6}, "presorted"),
        ("many", {"max_leaf_nodes": None, "max_depth": 3}, "best_first_small"),
        ("many", {"max_leaf_nodes": None, "max_depth": 3, "min_samples_split": 5}, "presorted"),
        ("few", {"max_leaf_nodes": None, "max_depth": 3, "min_samples_split": 5}, "full"),
        ("many", {"max_leaf_nodes": 4}, "best_first_small"),
        ("many", {"max_leaf_nodes": None, "min_samples_leaf": 5}, "general"),
    ],
)
def test_of_those_that_serve_the_preferred_one_is_taken(values, limits, name):
    """Lists are short where codes are many; where leaves have many rows, growth by depth is faster leaf by leaf."""
    rng, n = np.random.default_rng(0), 600
    X, rows = rng.normal(size=(n, 3)) if values == "many" else rng.integers(0, 2, (n, 3)).astype(float), Masses(n)
    session = TreeSession(DecisionTree(**limits), CpuSample(Table.fit(X, rows, 255, 1), rows))
    session.best(Task("edge", rng.random(n), rng.choice([-1.0, 1.0], n)))
    assert [s.name for s in session.growers] == [name]


def test_one_can_be_named():
    X, rows = np.random.default_rng(0).normal(size=(50, 3)), Masses(50)
    table, task = Table.fit(X, rows, 255, 1), Task("least_squares", np.ones(50), X[:, 0])
    known = TreeSession(DecisionTree(), CpuSample(table, rows)).candidates
    assert [s.name for s in known] == ["presorted", "full", "best_first_small", "best_first", "general"]
    with pytest.raises(ValueError, match="full does not serve this task"):
        TreeSession(DecisionTree(), CpuSample(table, rows), "full").best(task)
    for name in ("best_first_small", "best_first", "general", None):
        session = TreeSession(DecisionTree(), CpuSample(table, rows), name)
        session.best(task)
        assert [s.name for s in session.growers] == [name or "best_first_small"]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_rows_without_weight_grow_no_tree(criterion):
    """Without a division by their sum, which would warn; the warnings of tests are errors."""
    rng, rows = np.random.default_rng(0), Masses(40)
    table = Table.fit(rng.normal(size=(40, 3)), rows, 255, 1)
    task = Task(criterion, np.zeros(40), target_of(rng, criterion, 40), {"smoothing": 0.01})
    for name in ("general", "best_first", "best_first_small"):
        found = TreeSession(DecisionTree(), CpuSample(table, rows), name).best(task)
        assert isinstance(found, Stop)
