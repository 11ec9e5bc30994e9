"""Monotone columns and allowed interactions are kept to exactly: by enumeration, by peers, by every kind of input."""

from __future__ import annotations

import pickle
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.isotonic import isotonic_regression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import boostlab
from boostlab import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    DecisionStump,
    DecisionTree,
    FilterBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    SAMMEClassifier,
    VoterPool,
    WeightBoostClassifier,
)
from boostlab.boosters import REGISTRY, REGRESSORS

LEVELS = (5, 5, 3)  # values of the columns, one more being NaN
DIRECTIONS = {0: 1, 1: -1}
SIZES = [{}, {"max_depth": 3}, {"max_leaf_nodes": 6}]


def table(seed, n=150, missing=0.1, levels=LEVELS):
    """Rows whose labels go against the directions here and there, so that constraints bite."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, k, n) for k in levels]).astype(float)
    y = X[:, 0] - X[:, 1] + 2 * np.sin(3 * X.sum(axis=1)) + 2 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def grid():
    """Every row that there can be, the last column's values first, NaN last."""
    return np.array(list(product(*([*range(k), np.nan] for k in LEVELS))))


def scores(model, X):
    return model.predict(X) if hasattr(model, "baseline_") else model.decision_function(X)


def largest_breach(model, directions, extra=()):
    """By how much a score goes the wrong way, over all pairs of rows that differ in one monotone column."""
    rows = grid()
    F = scores(model, np.column_stack([rows, *(np.full(len(rows), v) for v in extra)]))
    F = F.reshape([k + 1 for k in LEVELS])
    worst = 0.0
    for j, direction in directions.items():
        level = np.moveaxis(F, j, 0)[:-1]  # missing values are free
        worst = max([worst, *(float((direction * (a - b)).max()) for a, b in combinations(level, 2))])
    return worst


def honours(cls):
    """Whether a booster's vote can keep to directions."""
    return cls().get_params() and not any(word in cls.__name__ for word in ("MH", "MR", "M2", "WeightBoost"))


@pytest.mark.parametrize("size", SIZES, ids=["stumps", "depth", "leaves"])
@pytest.mark.filterwarnings("ignore:.*kept no voter")
def test_every_booster_keeps_to_directions(size):
    X, y = table(0)
    free = 0.0
    for name, entry in {**REGISTRY, **REGRESSORS}.items():
        if not honours(entry.cls) or (size and name.startswith("EBBoost")):
            continue
        target = y if name in REGRESSORS else np.where(y > 0, "yes", "no")
        model = entry.cls(n_estimators=6, random_state=0, **size)
        if free <= 0.1:
            free = max(free, largest_breach(clone(model).fit(X, target), DIRECTIONS))
        assert largest_breach(model.set_params(monotone=DIRECTIONS).fit(X, target), DIRECTIONS) == 0.0, name
    assert free > 0.1  # without constraints they go the wrong way


models = st.sampled_from(
    [
        AdaBoostClassifier(),
        AdaBoostClassifier(algorithm="real", max_leaf_nodes=5),
        AdaBoostClassifier(max_depth=4),
        AdaBoostClassifier(max_leaf_nodes=6, resample=True),
        AdaBoostClassifier(DecisionTree(max_leaf_nodes=8, min_samples_leaf=4, ccp_alpha=0.002)),
        SAMMEClassifier(max_depth=3),
        LogitBoostClassifier(),
        LogitBoostClassifier(max_leaf_nodes=8),
        L2BoostRegressor(max_depth=3, learning_rate=0.5),
        AdaBoostClassifier(shapes="isotonic"),
        L2BoostRegressor(shapes="isotonic"),
    ]
)


@pytest.mark.filterwarnings("ignore:.*kept no voter")
@settings(max_examples=25, deadline=None)
@given(model=models, seed=st.integers(0, 10**6), kind=st.sampled_from(["plain", "weights", "counts", "categories"]))
def test_all_pairs_of_rows_are_in_order(model, seed, kind):
    rng = np.random.default_rng(seed)
    X, y = table(seed, n=80, missing=rng.choice([0.0, 0.2]))
    extra = ()
    if kind == "categories":
        X, extra = np.column_stack([X, rng.integers(0, 4, len(X))]), (2.0,)
    weight = {"weights": rng.random(len(X)), "counts": rng.integers(0, 3, len(X))}.get(kind)
    directions = {int(j): int(rng.choice([-1, 1])) for j in rng.permutation(3)[: rng.integers(1, 4)]}
    model = clone(model).set_params(n_estimators=8, monotone=directions, random_state=seed)
    model.set_params(categorical_features=[3] if extra else "from_dtype")
    model.fit(X, y if hasattr(model, "_numeric") and model._numeric else y > 0, weight)
    assert largest_breach(model, directions, extra) == 0.0
    if model.shapes is None:
        F = [*(model.staged_predict if model._numeric else model.staged_decision_function)(X)]
        assert len(F) == model.n_estimators_


def paths(tree, node=0, above=frozenset()):
    """Yield the columns on every way down."""
    if tree.feature[node] < 0:
        yield above
        return
    for child in tree.children[node]:
        yield from paths(tree, child, above | {int(tree.feature[node])})


@pytest.mark.parametrize(
    ("interactions", "together"),
    [
        ([[0, 1]], [{0, 1}, {2}]),
        ([[0, 2], [1, 2]], [{0, 2}, {1, 2}]),
        ([], [{0, 1, 2}]),
        ([[0]], [{0}, {1, 2}]),
        ("no_interactions", [{0}, {1}, {2}]),
        ("pairwise", [{0, 1}, {0, 2}, {1, 2}]),
    ],
)
def test_paths_stay_within_a_group(interactions, together):
    X, y = table(3, n=200)
    model = LogitBoostClassifier(n_estimators=10, max_leaf_nodes=10, interactions=interactions).fit(X, y > 0)
    used = {path for tree in model.estimators_ for path in paths(tree)}
    assert all(any(path <= group for group in together) for path in used)
    assert {frozenset(group) for group in together} & used  # and the groups are used
    F = model.decision_function(grid()).reshape([k + 1 for k in LEVELS])
    for a, b in combinations(range(3), 2):
        if not any({a, b} <= group for group in together):  # the score is a sum of terms of one of them each
            mixed = F - F.take([0], a) - F.take([0], b) + F.take([0], a).take([0], b)
            assert np.abs(mixed).max() < 1e-12 * model._ensemble.bound


def test_three_classes_and_votes_on_every_class_keep_to_interactions():
    X, y = table(4, n=200)
    y = np.digitize(y, [-1.0, 1.5])
    for booster in (SAMMEClassifier, AdaBoostMHClassifier, LogitBoostClassifier, AdaBoostClassifier):
        model = booster(n_estimators=4, max_leaf_nodes=8, interactions=[[0, 1]], multiclass="auto").fit(X, y)
        voters = [v for r in model.estimators_ for v in (r if isinstance(r, tuple) else (r,))]
        assert all(
            path <= {0, 1} or path <= {2} for tree in voters if hasattr(tree, "children") for path in paths(tree)
        )


def test_interactions_grow_scikit_learns_trees():
    X, y = table(5, n=300, missing=0.0)
    limits = dict(max_leaf_nodes=7, learning_rate=0.5)
    ours = L2BoostRegressor(n_estimators=3, interactions=[[0, 2]], **limits).fit(X, y)
    peer = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1, interaction_cst=[[0, 2]], **limits)
    np.testing.assert_allclose(ours.predict(X), peer.fit(X, y).predict(X), atol=1e-5)


def test_monotone_trees_are_lightgbms():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = table(6, n=300, missing=0.0, levels=(12, 12, 12))
    ours = L2BoostRegressor(n_estimators=5, learning_rate=0.5, max_leaf_nodes=7, monotone=DIRECTIONS).fit(X, y)
    exact = dict(min_child_samples=1, min_child_weight=0, min_data_in_bin=1, verbose=-1)
    peer = lightgbm.LGBMRegressor(n_estimators=5, learning_rate=0.5, num_leaves=7, monotone_constraints=[1, -1, 0])
    peer.set_params(**exact).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-5)


def test_a_stump_that_may_not_fall_is_the_best_of_those_that_rise():
    X, y = table(7, missing=0.2)
    y = np.where(y > 0, 1, 0)
    free = AdaBoostClassifier(DecisionStump(polarity="+"), n_estimators=10).fit(X, y)
    told = AdaBoostClassifier(n_estimators=10, monotone={0: 1, 1: 1, 2: 1}).fit(X, y)
    for a, b in zip(free.estimators_, told.estimators_, strict=True):
        if b.threshold == np.inf:
            break  # a cut between values and missing ones is free
        assert (a.feature, a.threshold, a.left, a.right, a.missing) == (
            b.feature,
            b.threshold,
            b.left,
            b.right,
            b.missing,
        )


def test_isotonic_shapes_are_the_closest_monotone_ones():
    X, y = table(8, n=400)
    y = y - 3 * (X[:, 0] == 3)
    free = LogitBoostClassifier(n_estimators=40).fit(X, y > 0)
    made = LogitBoostClassifier(n_estimators=40, monotone={0: 1, 1: -1}, shapes="isotonic").fit(X, y > 0)
    for j, direction in DIRECTIONS.items():
        line = np.full((LEVELS[j] + 1, 3), np.nan)
        line[:-1, j] = range(LEVELS[j])
        before, after = free.decision_function(line), made.decision_function(line)
        weight = np.bincount(X[~np.isnan(X[:, j]), j].astype(int))
        best = isotonic_regression(before[:-1], sample_weight=weight, increasing=direction > 0)
        np.testing.assert_allclose(after[:-1] - after[-1], best - before[-1], atol=1e-9)  # missing values stay
    assert (np.diff(free.decision_function(np.c_[range(5), [[1, 1]] * 5])) < 0).any()  # the free shape falls somewhere
    told = made.contributions(X)
    np.testing.assert_allclose(told.values.sum(axis=1) + told.base_values, made.decision_function(X), atol=1e-9)


def test_names_clones_grids_pickles_and_files_keep_constraints(tmp_path):
    X, y = table(9)
    frame = pd.DataFrame(X, columns=["income", "debt", "kind"]).assign(town=np.where(X[:, 2] == 1, "a", "b"))
    kwargs = dict(n_estimators=5, max_leaf_nodes=5, interactions=[["income", "debt"]])
    model = AdaBoostClassifier(monotone={"income": 1, "debt": -1}, **kwargs).fit(frame, y > 0)
    by_place = AdaBoostClassifier(monotone=DIRECTIONS, **{**kwargs, "interactions": [(0, 1)]}).fit(frame, y > 0)
    F = model.decision_function(frame)
    for other in (by_place, clone(model).fit(frame, y > 0)):
        assert (other.decision_function(frame) == F).all()
    model.save(tmp_path / "model")
    for twin in (boostlab.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert twin.get_params()["monotone"] == {"income": 1, "debt": -1}
        assert twin.interactions == [["income", "debt"]]
        assert (twin.decision_function(frame) == F).all()
    search = GridSearchCV(AdaBoostClassifier(n_estimators=3), {"monotone": [None, {0: 1}, {0: -1}]}, cv=2).fit(X, y > 0)
    assert search.best_params_["monotone"] in (None, {0: 1})
    iso = AdaBoostClassifier(n_estimators=30, monotone=DIRECTIONS, shapes="isotonic").fit(X, y > 0)
    iso.save(tmp_path / "isotonic")
    assert (boostlab.load(tmp_path / "isotonic").decision_function(X) == iso.decision_function(X)).all()


def test_threads_warm_starts_and_calibration_change_nothing():
    X, y = table(10, n=300)
    kwargs = dict(monotone=DIRECTIONS, interactions=[[0, 2]], max_leaf_nodes=6)
    F = AdaBoostClassifier(n_estimators=10, n_jobs=1, **kwargs).fit(X, y > 0).decision_function(X)
    order = np.random.default_rng(0).permutation(len(X))
    two = AdaBoostClassifier(n_estimators=10, n_jobs=2, **kwargs).fit(X[order], y[order] > 0)
    warm = AdaBoostClassifier(n_estimators=4, warm_start=True, **kwargs).fit(X, y > 0).set_params(n_estimators=10)
    assert (two.decision_function(X) == F).all()
    assert (warm.fit(X, y > 0).decision_function(X) == F).all()
    kept = AdaBoostClassifier(n_estimators=5, calibrate="isotonic", monotone=DIRECTIONS).fit(X, y > 0)
    P = kept.predict_proba(grid())[:, 1].reshape([k + 1 for k in LEVELS])
    assert (np.diff(P[:-1], axis=0) >= 0).all()
    assert (np.diff(P[:, :-1], axis=1) <= 0).all()
    early = LogitBoostClassifier(early_stopping=True, monotone=DIRECTIONS, max_depth=2, random_state=0).fit(X, y > 0)
    assert largest_breach(early, DIRECTIONS) == 0.0


def test_the_weights_of_constrained_rounds_can_be_looked_at():
    X, y = table(13, missing=0.0)
    for told in (dict(max_depth=2), dict(), dict(shapes="isotonic")):
        model = AdaBoostClassifier(n_estimators=12, monotone=DIRECTIONS, **told).fit(X, y > 0)
        seen = boostlab.theory.row_weights(model, X, y > 0)
        assert seen.by_round.shape == (12, len(X))
        names = ("alpha", "error")
        twin = AdaBoostClassifier(
            n_estimators=12, **{**told, "shapes": None}, monotone=None if "shapes" in told else DIRECTIONS
        )
        assert all(np.array_equal(model.history_[n][:12], twin.fit(X, y > 0).history_[n]) for n in names)


def test_a_stream_is_kept_to_directions():
    rng = np.random.default_rng(0)

    def chunks():
        for _ in range(40):
            X = rng.integers(0, 5, (500, 3)).astype(float)
            yield X, (X[:, 0] - X[:, 1] + 2 * np.sin(5 * X[:, 0]) + rng.normal(size=500) > 0).astype(int)

    model = FilterBoostClassifier(mode="oracle", n_estimators=5, random_state=0, monotone=DIRECTIONS)
    model.fit_stream(chunks(), classes=[0, 1])
    assert model.n_estimators_ > 1
    assert largest_breach(model, DIRECTIONS) == 0.0


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (WeightBoostClassifier(monotone={0: 1}), "WeightBoostClassifier's vote is not a weighted sum"),
        (WeightBoostClassifier(interactions=[[0]]), "not a weighted sum, so that interactions"),
        (AdaBoostClassifier(VoterPool(), monotone={0: 1}), "the weak learner is VoterPool"),
        (
            AdaBoostClassifier(DecisionTreeClassifier(), interactions=[[0]]),
            "weak learner is DecisionTreeClassifier",
        ),
        (AdaBoostMHClassifier(monotone={0: 1}), "AdaBoostMHClassifier votes on every class"),
        (AdaBoostMHClassifier(form="ovr", monotone={0: 1}), "votes on every class"),
        (AdaBoostClassifier(shapes="isotonic"), "name them: monotone="),
        (AdaBoostClassifier(shapes="isotonic", monotone={0: 1}, max_depth=2), "is for stumps"),
        (AdaBoostClassifier(monotone={3: 1}), "names the column 3, and X has 3"),
        (AdaBoostClassifier(monotone={"age": 1}), "no column of X is called so"),
        (AdaBoostClassifier(monotone={0: 2}), r"to \+1 or -1"),
        (AdaBoostClassifier(monotone=[1, 0, 0]), "a mapping from columns"),
        (AdaBoostClassifier(interactions="all"), "a list of lists of columns"),
        (AdaBoostClassifier(interactions=[0, 1]), "a list of lists of columns"),
        (AdaBoostClassifier(monotone={2: 1}, categorical_features=[2]), "2 holds categories"),
    ],
)
def test_what_cannot_be_kept_to_is_refused_in_one_sentence(model, says):
    X, y = table(11, missing=0.0)
    with pytest.raises(ValueError, match=says):
        model.fit(X, y > 0)


def test_directions_are_for_one_score():
    X, y = table(12)
    for how in ("auto", "ovr", "ovo"):
        with pytest.raises(ValueError, match="monotone is for two classes and for numbers, and y has 3 classes"):
            AdaBoostClassifier(monotone={0: 1}, multiclass=how).fit(X, np.digitize(y, [-1, 1]))
