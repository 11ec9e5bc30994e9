"""A sparse table is its dense twin, bit for bit: models, scores, stages, files."""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier

from boostlab import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    DecisionTree,
    EBBoostClassifier,
    LogitBoostClassifier,
    LPBoostClassifier,
    QuadBoostClassifier,
    VoterPool,
)
from boostlab.backend.cpu.threads import AtOnce
from fitted import answers, assert_same
from tables import sparse_numbers, stored
from variants import every

ROUNDS = dict(n_estimators=8, random_state=0)
X, Y = sparse_numbers()
S = stored(X)
REAL = np.random.default_rng(1).uniform(0.1, 3, len(Y))
COUNTS = np.random.default_rng(2).integers(0, 5, len(Y))  # rows of weight zero too


def twins(make, fit=None, data=(X, S), y=Y):
    """The model of the dense table and that of the sparse one; `fit` makes keywords from a form of the table."""
    return [make().fit(Z, y, **(fit(Z) if fit else {})) for Z in data]


# -- every booster ------------------------------------------------------------------------------------------------


@every
def test_every_booster(make):
    assert_same(*twins(lambda: make(**ROUNDS)), X, S)


@every
def test_every_booster_with_weights_and_a_held_out_part(make):
    make = partial(
        make, early_stopping=True, n_iter_no_change=3, validation_fraction=0.2, n_estimators=5, random_state=0
    )
    for weights in (REAL, COUNTS):
        assert_same(*twins(make, lambda Z, w=weights: {"sample_weight": w}), X, S)


def test_three_classes():
    y = np.digitize(np.nan_to_num(X[:, 0]) + X[:, 2], [0.0, 0.4])
    for params in ({}, {"resample": True}, {"max_depth": 2}, {"max_leaf_nodes": 5}):
        assert_same(*twins(lambda p=params: AdaBoostM2Classifier(**ROUNDS, **p), y=y), X, S)


# -- settings -----------------------------------------------------------------------------------------------------

BOOSTERS = [AdaBoostClassifier, LogitBoostClassifier, EBBoostClassifier]


@pytest.mark.parametrize(
    "params",
    [
        {"max_bins": 2},
        {"max_bins": 5},
        {"max_bins": "exact"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1, 1: 3}},
        {"resample": True},
        {"resample": "systematic"},
        {"early_stopping": True, "scoring": "log_loss", "n_iter_no_change": 2},
        {"early_stopping": True, "scoring": "roc_auc", "keep_best": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("make", BOOSTERS)
def test_settings(make, params):
    assert_same(*twins(lambda: make(**ROUNDS, **params)), X, S)


@pytest.mark.parametrize(
    "tree",
    [
        DecisionTree(),
        DecisionTree(max_leaf_nodes=None),
        DecisionTree(max_depth=3, min_samples_leaf=9),
        DecisionTree(max_leaf_nodes=12, ccp_alpha=0.02),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [AdaBoostClassifier, LogitBoostClassifier, partial(AdaBoostClassifier, resample=True)])
def test_trees(make, tree):
    assert_same(*twins(lambda: make(tree, **ROUNDS), lambda Z: {"sample_weight": REAL}), X, S)


def test_pools():
    for pool in (VoterPool(), VoterPool(stumps_per_feature=3, complements=False)):
        for make in (QuadBoostClassifier, LPBoostClassifier, AdaBoostClassifier):
            assert_same(*twins(lambda m=make, p=pool: m(p, **ROUNDS)), X, S)


def test_a_pool_of_functions_is_given_the_matrix():
    functions = [lambda Z, j=j: np.where(Z[:, [j]].toarray()[:, 0] > 0.2, 1.0, -1.0) for j in range(3)]
    dense = [lambda Z, j=j: np.where(Z[:, j] > 0.2, 1.0, -1.0) for j in range(3)]
    one = QuadBoostClassifier(VoterPool(functions), **ROUNDS).fit(S, Y)
    assert answers(one, S) == answers(QuadBoostClassifier(VoterPool(dense), **ROUNDS).fit(X, Y), X)


@pytest.mark.parametrize("forms", [(X, S), (S, X)], ids=["dense then sparse", "sparse then dense"])
@pytest.mark.parametrize("make", [AdaBoostClassifier, partial(LogitBoostClassifier, max_depth=2, resample=True)])
def test_a_warm_start_may_change_the_form(make, forms):
    model = make(n_estimators=3, random_state=0, warm_start=True).fit(forms[0], Y, REAL)
    model.set_params(n_estimators=8).fit(forms[1], Y, REAL)
    assert_same(model, make(**ROUNDS, warm_start=True).fit(X, Y, REAL), X, S)
    changed = X.copy()
    changed[3, 3] = 1.5
    with pytest.raises(ValueError, match="the data changed"):
        model.set_params(n_estimators=9).fit(changed if forms[1] is X else stored(changed), Y, REAL)


def test_validation_sets_of_either_form():
    for train in (X, S):
        models = [
            AdaBoostClassifier(early_stopping=True, **ROUNDS).fit(
                train[:100], Y[:100], X_val=held[100:], y_val=Y[100:], sample_weight_val=REAL[100:]
            )
            for held in (X, S)
        ]
        assert_same(*models, X, S)
        assert "validation_score" in models[0].history_


def test_threads_change_nothing():
    for make in (AdaBoostClassifier, partial(LogitBoostClassifier, max_depth=3), partial(EBBoostClassifier)):
        one, four = (make(n_jobs=k, **ROUNDS).fit(S, Y, REAL) for k in (1, AtOnce(4)))
        assert_same(one, four, X, S)


# -- the forms of a sparse matrix ---------------------------------------------------------------------------------


@cache
def stumps():
    return AdaBoostClassifier(**ROUNDS).fit(X, Y)


@cache
def trees():
    return LogitBoostClassifier(max_depth=3, **ROUNDS).fit(X, Y)


def check_form(Z):
    assert_same(stumps(), AdaBoostClassifier(**ROUNDS).fit(Z, Y), X, Z)
    assert_same(trees(), LogitBoostClassifier(max_depth=3, **ROUNDS).fit(Z, Y), X, Z)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_every_format(kind, form):
    check_form(kind(S).asformat(form))


def test_wide_indices():
    Z = sparse.csr_array(S)
    Z.indices, Z.indptr = Z.indices.astype(np.int64), Z.indptr.astype(np.int64)
    check_form(Z)
    assert Z.indices.dtype == np.int64


def test_read_only_parts():
    Z = S.copy()
    for array in (Z.data, Z.indices, Z.indptr):
        array.setflags(write=False)
    check_form(Z)


def test_duplicates_and_unsorted_indices_stay_as_the_caller_has_them():
    half = S.copy()
    half.data = half.data / 2
    for parts in ((half, half), (half[:, ::-1], half[:, ::-1])):
        data = np.concatenate([parts[0].data, parts[1].data])
        i, j = (np.concatenate([p.tocoo().coords[k] for p in parts]) for k in (0, 1))
        j = X.shape[1] - 1 - j if parts[0] is not half else j
        order = np.argsort(i, kind="stable")
        indptr = np.searchsorted(i[order], np.arange(len(X) + 1))
        Z = sparse.csr_array((data[order], j[order], indptr), shape=X.shape)
        assert not Z.has_canonical_format
        before = Z.copy()
        check_form(Z)
        for array, old in zip((Z.data, Z.indices, Z.indptr), (before.data, before.indices, before.indptr), strict=True):
            assert np.array_equal(array, old, equal_nan=True)
        assert Z.nnz == 2 * S.nnz


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u2", "f4", "?"])
def test_numbers_of_other_types(dtype):
    whole = np.abs(np.nan_to_num(np.round(2 * X))).astype(dtype)
    for make in (AdaBoostClassifier, partial(LogitBoostClassifier, max_depth=3)):
        forms = whole.astype(float), sparse.csr_array(whole), sparse.csc_array(whole)
        models = twins(lambda m=make: m(**ROUNDS), data=forms)
        assert_same(models[0], models[1], *forms)
        assert_same(models[0], models[2], *forms)


def test_float32_is_not_rounded_anywhere():
    narrow = X.astype(np.float32)
    forms = narrow.astype(float), narrow, stored(narrow)
    for make in (
        AdaBoostClassifier,
        partial(LogitBoostClassifier, max_depth=3),
        partial(AdaBoostClassifier, max_bins=4),
    ):
        models = twins(lambda m=make: m(**ROUNDS), data=forms)
        assert_same(models[0], models[1], *forms)
        assert_same(models[0], models[2], *forms)


# -- any table ----------------------------------------------------------------------------------------------------

MAKES = [
    partial(AdaBoostClassifier, max_bins=3),
    partial(AdaBoostClassifier, resample=True),
    partial(AdaBoostClassifier, algorithm="real"),
    partial(LogitBoostClassifier, max_leaf_nodes=4),
    EBBoostClassifier,
    partial(QuadBoostClassifier, VoterPool(stumps_per_feature=2)),
]
SPICE = [0.0, 0.0, 0.0, -0.0, 1.0, -1.0, 2.0, np.nan, 1e308, -1e308, 5e-324, -5e-324, 0.1, 2**53 + 1.0]


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), k=st.integers(0, len(MAKES) - 1))
def test_any_table(seed, k):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 15)), int(rng.integers(1, 5))
    dense = rng.choice(SPICE, (n, d))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    weights = [None, rng.integers(1, 4, n), rng.choice([0.3, 1e-25, 1e9], n)][rng.integers(3)]
    forms = dense, stored(dense, seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*kept no voter")
        try:
            one = MAKES[k](n_estimators=4, random_state=0).fit(forms[0], y, weights)
        except ValueError as error:  # an empty pool, say
            with pytest.raises(ValueError, match=str(error)[:20]):
                MAKES[k](n_estimators=4, random_state=0).fit(forms[1], y, weights)
            return
        two = MAKES[k](n_estimators=4, random_state=0).fit(forms[1], y, weights)
    new = rng.choice(SPICE, (6, d))
    assert_same(one, two, *forms)
    assert_same(one, two, new, stored(new, seed))


def test_empty_rows_columns_and_matrices():
    assert (np.diff(S.indptr) == 0).any()
    assert (np.diff(sparse.csc_array(X).indptr) == 0).any()
    empty = sparse.csr_array((4, X.shape[1]))
    assert answers(stumps(), empty) == answers(stumps(), np.zeros((4, X.shape[1])))
    assert answers(trees(), empty) == answers(trees(), np.zeros((4, X.shape[1])))
    with pytest.warns(UserWarning, match="every column is constant"):
        AdaBoostClassifier().fit(sparse.csr_array((6, 3)), [0, 1] * 3)


# -- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [[0], [True] + [False] * 6, ["a"]])
def test_categories_are_refused(wanted):
    with pytest.raises(
        ValueError, match=r"^A sparse table has no categorical columns: give a frame or a dense array, "
    ):
        AdaBoostClassifier(categorical_features=wanted).fit(S, Y)


def test_a_model_with_categories_refuses_a_sparse_table():
    whole = np.abs(np.nan_to_num(np.round(X)))
    model = AdaBoostClassifier(categorical_features=[1], **ROUNDS).fit(whole, Y)
    with pytest.raises(ValueError, match="A sparse table has no categorical columns"):
        model.predict(sparse.csr_array(whole))
    tree = AdaBoostClassifier(max_depth=3, categorical_features=[1], **ROUNDS).fit(whole, Y).estimators_[0]
    assert len(tree.lows)
    with pytest.raises(ValueError, match="splits categories, which a sparse table does not have"):
        tree.predict(sparse.csr_array(whole))


def test_infinity_and_other_widths_are_refused():
    Z = S.copy()
    Z.data[7] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        AdaBoostClassifier().fit(Z, Y)
    with pytest.raises(ValueError, match="7 features"):
        stumps().predict(S[:, :6])


# -- scikit-learn's learners --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "learner"),
    [
        (AdaBoostClassifier, DecisionTreeClassifier(max_depth=2)),
        (AdaBoostClassifier, BernoulliNB()),
        (AdaBoostClassifier, LogisticRegression()),
        (LogitBoostClassifier, Ridge(solver="lsqr")),
        (AdaBoostClassifier, make_pipeline(MaxAbsScaler(), BernoulliNB())),
    ],
    ids=lambda v: type(v).__name__,
)
def test_learners_that_take_sparse_tables(make, learner):
    numbers, y = sparse_numbers(missing=False)
    forms = numbers, stored(numbers)
    one, two = twins(lambda: make(learner, n_estimators=4, random_state=0), data=forms, y=y)
    assert np.allclose(one.decision_function(numbers), two.decision_function(forms[1]), atol=1e-6)
    assert two.score(forms[1], y) > 0.7


def test_learners_without_weights_are_given_drawn_rows():
    numbers, y = sparse_numbers(missing=False)
    model = AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=4, random_state=0).fit(stored(numbers), y)
    assert model.n_estimators_ == 4
    assert model.score(stored(numbers), y) > 0.8


# -- frames -------------------------------------------------------------------------------------------------------

NAMES = list("abcdefg")


def test_sparse_frames_are_sparse_tables(monkeypatch):
    seen = []
    monkeypatch.setattr("boostlab.data.input_tables.by_rows", lambda Z: seen.append(Z) or Z)
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(S), columns=NAMES)
    model = AdaBoostClassifier(**ROUNDS).fit(frame, Y)
    assert len(seen) == 1
    assert model.feature_names_in_.tolist() == NAMES
    assert_same(model, AdaBoostClassifier(**ROUNDS).fit(pd.DataFrame(X, columns=NAMES), Y), frame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[NAMES[::-1]])


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (pd.SparseDtype(float), X),  # rests on NaN
        (pd.SparseDtype(float, 1.0), X),
        (pd.SparseDtype(int, 0), np.nan_to_num(np.round(X))),
        (pd.SparseDtype(bool, False), np.nan_to_num(X) > 0),
        (pd.SparseDtype(np.float32, 0), np.nan_to_num(np.round(X))),
    ],
    ids=str,
)
def test_sparse_frames_of_any_kind(dtype, values):
    plain = pd.DataFrame(values, columns=NAMES)
    packed = plain.astype(dtype)
    mixed = packed.assign(c=plain["c"])
    model = AdaBoostClassifier(**ROUNDS).fit(plain.astype(float), Y)
    for frame in (packed, mixed):
        assert_same(model, AdaBoostClassifier(**ROUNDS).fit(frame, Y), plain.astype(float), packed, mixed)


def test_sparse_columns_beside_categories():
    plain = pd.DataFrame(X, columns=NAMES).assign(word=np.where(Y > 0, "x", "y"))
    packed = plain.astype({name: pd.SparseDtype(float, 0.0) for name in NAMES[:4]})
    one, two = (AdaBoostClassifier(**ROUNDS).fit(frame, Y) for frame in (plain, packed))
    assert_same(one, two, plain, packed)
