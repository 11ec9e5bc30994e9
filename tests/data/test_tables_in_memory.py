"""Arrays of every numeric type and layout give the model of their floats, without a copy; sparse ones stay small."""

from __future__ import annotations

import gc
import time
import tracemalloc
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from boostlab import (
    AdaBoostClassifier,
    GentleBoostClassifier,
    L2BoostClassifier,
    LogitBoostClassifier,
    QuadBoostClassifier,
    VadaBoostClassifier,
    VoterPool,
)
from boostlab.backend.cpu import threads
from boostlab.data.matrix import BLOCK, float_type
from fitted import answers, assert_same
from tables import DTYPES, noisy_table

ROUNDS = dict(n_estimators=4, random_state=0)
MAKES = [
    partial(AdaBoostClassifier, resample=True, early_stopping=True),
    partial(LogitBoostClassifier, max_depth=3),
    partial(AdaBoostClassifier, max_bins=5),
]


def whole_numbers(n=200, seed=0):
    """A problem in whole numbers from 0 to 100, which every type but bool can hold."""
    X, y = noisy_table(n, seed=seed)
    return np.clip(np.round(20 * X + 50), 0, 100), y


# -- types and layouts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*DTYPES, "longdouble"])
def test_every_type(dtype):
    X, y = whole_numbers()
    typed = (X > 50 if dtype == "?" else X).astype(dtype)
    floats = typed.astype(np.float64)
    for make in MAKES:
        one, two = (make(**ROUNDS).fit(Z, y) for Z in (floats, typed))
        assert_same(one, two, floats, typed, np.asfortranarray(typed))


@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "?", ">f8"])
def test_learners_from_outside_see_floats(dtype):
    X, y = whole_numbers()
    typed = (X > 50 if dtype == "?" else X).astype(dtype)
    floats = typed.astype(np.float64)
    differences = [lambda Z, j=j: np.where(Z[:, j] - Z[:, j + 1] > 0.3, 1.0, -1.0) for j in range(4)]
    for make in (
        partial(AdaBoostClassifier, GaussianNB()),
        partial(QuadBoostClassifier, VoterPool(differences)),
        partial(QuadBoostClassifier, VoterPool(stumps_per_feature=2)),
    ):
        one, two = (make(**ROUNDS).fit(Z, y) for Z in (floats, typed))
        asked = [answers(model, Z) for model in (one, two) for Z in (floats, typed)]
        assert all(a == asked[0] for a in asked)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
@pytest.mark.parametrize("layout", ["F", "rows", "columns", "both", "reversed", "read-only", "misaligned"])
def test_every_layout(layout, dtype):
    X, y = whole_numbers()
    X = X.astype(dtype)
    if layout == "misaligned":
        memory = np.zeros(X.nbytes + 1, np.uint8)
        laid = memory[1:].view(dtype).reshape(X.shape)
        laid[:] = X
        assert not laid.flags.aligned
    elif layout == "read-only":
        laid = X.copy()
        laid.setflags(write=False)
    else:
        laid = {
            "F": np.asfortranarray(X),
            "rows": np.repeat(X, 3, axis=0)[::3],
            "columns": np.repeat(X, 2, axis=1)[:, 1::2],
            "both": np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
            "reversed": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        }[layout]
    before = laid.copy()
    for make in MAKES:
        one, two = (make(**ROUNDS).fit(Z, y) for Z in (np.ascontiguousarray(X, dtype=np.float64), laid))
        assert_same(one, two, X, laid)
    assert np.array_equal(laid, before)


def test_numbers_beyond_float32_keep_their_order():
    X = (2**30 + np.arange(60, dtype=np.int32))[:, None]  # float32 would see four different numbers
    y = np.arange(60) % 7 < 3
    for typed in (X, X.astype(np.int64), X.astype(np.uint32), X.astype(">i4"), X.astype(float)):
        model = AdaBoostClassifier(max_depth=20).fit(typed, y)
        assert model.score(typed, y) == 1.0
        assert answers(model, typed) == answers(model, X.astype(float))


def test_float16_may_hold_missing_values():
    X, y = whole_numbers()
    X[::9, 0] = np.nan
    one, two = (LogitBoostClassifier(**ROUNDS).fit(Z, y) for Z in (X, X.astype(np.float16)))
    assert_same(one, two, X, X.astype(np.float16))


# -- memory -------------------------------------------------------------------------------------------------------


@contextmanager
def peak():
    """How many bytes were held at most, beyond those before."""
    tracemalloc.start()
    held = [0]
    yield held
    held[0] = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("form", "params"),
    [
        *((form, {"warm_start": True}) for form in ("i2", "u1", "F", "read-only", "big-endian")),
        *((form, {"max_depth": 3}) for form in ("i2", "F")),
    ],
    ids=str,
)
def test_fit_and_predict_hold_no_copy_of_the_table(form, params):
    n, d = 40_000, 50
    X = np.random.default_rng(0).integers(0, 200, (n, d))
    y = X[:, 0] + X[:, 1] > 190
    X = {
        "i2": X.astype(np.int16),
        "u1": X.astype(np.uint8),
        "F": np.asfortranarray(X.astype(np.float64)),
        "read-only": X.astype(np.float64),
        "big-endian": X.astype(">f8"),
    }[form]
    X.setflags(write=form != "read-only")
    model = AdaBoostClassifier(n_estimators=4, n_jobs=1, **params)
    clone(model).fit(X, y).predict(X)  # compiles
    floats = np.dtype(float_type(X)).itemsize  # the smallest copy as floats would take n * d times as much
    blocks = 2 * BLOCK * d * floats
    with peak() as held:
        model.fit(X, y)
    # A byte a cell, columns in groups of eight; five numbers a row; two sums a slot for each leaf, whatever n is.
    histograms = 2 ** params.get("max_depth", 0) * 2 * 8 * 201 * d
    assert held[0] < 1.3 * n * d + 40 * n + blocks + histograms + 5e5 < 8 * n * d
    with peak() as held:
        model.predict(X)
    assert held[0] < 40 * n + blocks + 2e5 < n * d * floats


@pytest.mark.parametrize(
    ("make", "weights"),
    [
        *((AdaBoostClassifier, weights) for weights in (None, "counts", "real")),
        *((partial(AdaBoostClassifier, max_leaf_nodes=8), weights) for weights in (None, "real")),
        (partial(AdaBoostClassifier, early_stopping=True, n_iter_no_change=99), None),
        (partial(AdaBoostClassifier, early_stopping=True, n_iter_no_change=99), "real"),
        (VadaBoostClassifier, "counts"),
    ],
)
def test_forty_bytes_a_row(make, weights):
    """At most 1.3 bytes a cell and 40 bytes a row above the input; weights may be held once more, or twice where rows
    are held out (docs/speed.md), whose values are sorted with the others': 2 bytes a row more."""
    n, d = 50_000, 8
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(np.float32)
    y = X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(n) > 1
    weight = {None: None, "counts": rng.integers(1, 4, n).astype(float), "real": rng.random(n) + 0.1}[weights]
    model = make(n_estimators=4, random_state=0, n_jobs=1)
    clone(model).fit(X, y, weight)  # compiles
    with peak() as held:
        model.fit(X, y, weight)
    a_row = {None: 40, "counts": 48, "real": 56 if model.early_stopping else 48}[weights] + 2 * model.early_stopping
    histograms = 12 * 8 * 257 * d  # of a tree's leaves, or of threads; less than a byte a row
    assert held[0] < 1.3 * n * d + a_row * n + histograms + 2e5


@pytest.mark.parametrize(
    ("make", "a_row"),
    [
        (LogitBoostClassifier, 40),
        (GentleBoostClassifier, 40),
        (L2BoostClassifier, 40),
        (partial(LogitBoostClassifier, max_leaf_nodes=8), 50),
        (partial(GentleBoostClassifier, max_leaf_nodes=8), 50),
    ],
)
def test_real_votes_take_forty_bytes_a_row_and_trees_ten_more(make, a_row):
    """Scores, weights, targets and two channels of integers are all of them; a tree's rows are 8 more.  Integers are
    let go before the votes are made, or are where these are written; nothing of the last round is held beside the next
    one's."""
    n, d = 100_000, 8
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(np.float32)
    y = X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(n) > 1
    model = make(n_estimators=4, n_jobs=1)
    clone(model).fit(X, y)  # compiles
    with peak() as held:
        model.fit(X, y)
    assert held[0] < 1.3 * n * d + a_row * n + 2 * 12 * 8 * 257 * d + 2e5


@pytest.mark.parametrize("make", [AdaBoostClassifier, LogitBoostClassifier])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_threads_take_the_memory_of_one_but_for_sums_of_their_own(make, weighted, monkeypatch):
    """Columns are copied, and their values put in order, in the same space by eight threads as by one."""
    monkeypatch.setattr(threads, "_count_cores", lambda allowed, limit: 8)
    n, d = 100_000, 16
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X[:, ::2] = np.round(10 * X[:, ::2])  # of few values, which are put in order all
    y = X[:, 1] + X[:, 3] ** 2 + rng.standard_normal(n) > 1
    weight = rng.random(n) + 0.1 if weighted else None
    model = make(n_estimators=2, n_jobs=8)
    clone(model).fit(X, y, weight)  # compiles
    with peak() as held:
        model.fit(X, y, weight)
    # A thread's counts of cells, or histogram, prepared calls and block of values: 0.2 MB, and as much of a group.
    assert held[0] < 1.3 * n * d + (48 if weighted else 40) * n + 10 * 0.2e6


# -- sparse tables cost what they hold ----------------------------------------------------------------------------


def words(n=2_000, d=200_000, k=20, seed=0):
    """A bag of words: k of d columns in every row, and five words that only one class uses."""
    rng = np.random.default_rng(seed)
    j = rng.integers(5, d, (n, k))
    y = rng.integers(0, 2, n)
    j[y == 1, 0] = rng.integers(0, 5, (y == 1).sum())
    counts = rng.integers(1, 4, (n, k)).astype(float)
    return sparse.csr_array((counts.ravel(), j.ravel(), np.arange(0, n * k + 1, k)), shape=(n, d)), y


@pytest.mark.parametrize(
    "params",
    [
        dict(n_estimators=10),
        dict(n_estimators=2, max_depth=2),
        dict(n_estimators=5, early_stopping=True),
        dict(n_estimators=5, resample=True),
    ],
    ids=str,
)
def test_a_wide_table_costs_what_it_holds(params):
    X, y = words()
    few = X[:60]
    AdaBoostClassifier(random_state=0, **params).fit(few, y[:60]).predict(few)  # compiles
    start = time.perf_counter()
    with peak() as held:
        model = AdaBoostClassifier(random_state=0, **params).fit(X, y)
        labels = model.predict(X)
        stages = list(model.staged_predict(X))
    assert time.perf_counter() - start < 20  # about one; a dense table would take minutes, if it fitted at all
    # 40,000 cells and some 500,000 slots of a histogram in 8 bytes each: several of these, against 3,200 MB as floats.
    assert held[0] < 100e6
    assert np.array_equal(stages[-1], labels)
    assert (labels == y).mean() > 0.65


@pytest.mark.parametrize(
    ("booster", "n"),
    [
        (AdaBoostClassifier(n_estimators=3, n_jobs=1), 2_000),
        (AdaBoostClassifier(n_estimators=3, n_jobs=1), 60_000),
        (AdaBoostClassifier(algorithm="real", n_estimators=3, n_jobs=1), 2_000),
        (AdaBoostClassifier(n_estimators=3, max_leaf_nodes=4, n_jobs=1), 60_000),
    ],
    ids=["many rounds in one call", "the same, large", "small table", "large trees"],
)
def test_a_fit_leaves_nothing_to_the_garbage_collector(booster, n):
    """What a training holds (codes, histograms, weights) is gone when fit returns: nothing refers to it in a circle."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 10)), rng.integers(0, 2, n)
    clone(booster).fit(X, y)  # compiles
    gc.disable()
    tracemalloc.start()
    try:
        clone(booster).fit(X, y)
        assert tracemalloc.get_traced_memory()[0] < 40_000  # the model; codes alone would be more
    finally:
        tracemalloc.stop()
        gc.enable()
