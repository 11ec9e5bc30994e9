"""What comes out of a file is what went in, bit for bit."""

from __future__ import annotations

import warnings

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone

import boostlab
from boostlab import AdaBoostClassifier, AdaBoostM2Classifier, DecisionStump, DecisionTree, VoterPool
from boostlab.model_io import load, save
from variants import every


def plain(params):
    """Parameters with learners written out, for comparison."""
    return {k: repr(v) if hasattr(v, "searches") else v for k, v in params.items()}


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()


def assert_equal(old, new, X):
    """Compare everything a fitted model can be asked."""
    assert type(new) is type(old)
    assert plain(new.get_params()) == plain(old.get_params())
    for name in ("classes_", "feature_importances_"):
        assert same(getattr(new, name), getattr(old, name)), name
    assert (new.n_features_in_, new.n_estimators_) == (old.n_features_in_, old.n_estimators_)
    assert new.stop_reason_ == old.stop_reason_
    if isinstance(old.history_, list):  # one a binary problem
        for one, other in zip(old.estimators_, new.estimators_, strict=True):
            assert_equal(one, other, X)
    else:
        assert_same_vote(old, new)
    assert getattr(new, "_columns", None) == getattr(old, "_columns", None)
    labels = old.predict(X)
    for ask in (
        lambda m: m.decision_function(X),
        lambda m: m.predict(X),
        lambda m: m.predict_proba(X),
        lambda m: m.margins(X, labels),
        lambda m: list(m.staged_decision_function(X)),
        lambda m: list(m.staged_predict(X)),
    ):
        assert same(ask(new), ask(old))


def assert_same_vote(old, new):
    assert same(new.estimator_weights_, old.estimator_weights_)
    assert list(new.history_) == list(old.history_)
    assert all(same(new.history_[k], old.history_[k]) for k in old.history_)
    assert [r.facts for r in new._ensemble.rounds] == [r.facts for r in old._ensemble.rounds]
    assert [type(v) for v in new.estimators_] == [type(v) for v in old.estimators_]
    assert list(map(repr, new.estimators_)) == list(map(repr, old.estimators_))


@every
def test_every_booster(make, table, again):
    X, y = table
    model = make(n_estimators=12, random_state=3, n_jobs=2).fit(X, y)
    assert_equal(model, again(model), X)


def test_every_structure(zoo, again):
    for _, model, X in zoo:
        assert_equal(model, again(model), X)


def test_the_number_of_columns_is_checked(table, again):
    X, y = table
    with pytest.raises(ValueError, match="6 features"):
        again(AdaBoostClassifier(n_estimators=2).fit(X, y)).predict(X[:, :5])


def test_the_structures_are_what_they_say(zoo):
    assert any(r.alphas is not None for name, m, _ in zoo if name == "lp" for r in m._ensemble.rounds)


@pytest.mark.parametrize("library", [pandas, polars], ids=["pandas", "polars"])
@pytest.mark.parametrize("depth", [None, 3])
def test_frames(library, depth, frame, again):
    X, y = frame(library)
    old = AdaBoostClassifier(max_depth=depth, n_estimators=10).fit(X, y)
    new = again(old)
    assert_equal(old, new, X)
    assert new.feature_names_in_.tolist() == ["size", "colour", "shape"]
    assert new.feature_names_in_.dtype == object
    unseen = library.DataFrame({"size": [0.1, None], "colour": ["pink", None], "shape": ["a", "zz"]})
    assert same(old.decision_function(unseen), new.decision_function(unseen))
    with pytest.raises(ValueError, match="feature names"):
        new.predict(X[["colour", "size", "shape"]])


@pytest.mark.parametrize(
    "values",
    [["a", "b", "c"], [1, 2, 3], [0.5, 1.5, -0.0], [True, False, True], [-(2**70), 2**70, 5], ["", "\ud800", "\0"]],
    ids=["text", "whole", "real", "truth", "huge", "strange"],
)
def test_categories_of_every_kind(values, again):
    X = np.empty((60, 2), object)
    X[:, 0], X[:, 1] = values * 20, np.arange(60)
    y = (X[:, 0] == values[0]).astype(int)
    old = AdaBoostClassifier(categorical_features=[0], n_estimators=3).fit(X, y)
    new = again(old)
    assert_equal(old, new, X)
    assert [type(v) for v in new._columns.categories[0]] == [type(v) for v in old._columns.categories[0]]


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "a", "ccc"]),
        np.array(["b", "a", "ccc"], object),
        np.array(["b", "a", "c"], "<U30"),
        np.array([3, -1, 7]),
        np.array([3, 1, 7], np.uint8),
        np.array([3, 1, 7], ">i4"),
        np.array([0, 2**64 - 1, 7], np.uint64),
        np.array([0.0, 1.0, 2.0], np.float32),
    ],
    ids=lambda a: f"{a.dtype.str}",
)
def test_labels_of_every_kind(labels, table, again):
    X, _ = table
    y = labels[np.digitize(X[:, 0], [-0.5, 0.5])]
    old = AdaBoostM2Classifier(n_estimators=4).fit(X, y)
    new = again(old)
    assert new.classes_.dtype == old.classes_.dtype.newbyteorder("=")
    assert new.classes_.tolist() == old.classes_.tolist()
    assert new.predict(X).tolist() == old.predict(X).tolist()


@pytest.mark.parametrize("labels", [[False, True], [-1, 1], ["no", "yes"], [-1.0, 1.0]])
def test_two_labels(labels, table, again):
    X, y = table
    old = AdaBoostClassifier(n_estimators=4).fit(X, np.array(labels)[y])
    assert_equal(old, again(old), X)


@pytest.mark.parametrize(
    "params",
    [
        dict(estimator="stump"),
        dict(estimator="tree"),
        dict(estimator=DecisionStump("+")),
        dict(estimator=DecisionTree(max_leaf_nodes=None, max_depth=2, min_samples_leaf=3, ccp_alpha=0.01)),
        dict(estimator=VoterPool(stumps_per_feature=4, complements=False)),
        dict(max_leaf_nodes=5, max_bins=16),
        dict(class_weight={0: 1.5, 1: 0.5}),
        dict(class_weight="balanced", learning_rate=0.1),
        dict(categorical_features=[5]),
        dict(categorical_features=(5,)),
        dict(categorical_features=[False] * 5 + [True]),
        dict(n_estimators=np.int64(5), validation_fraction=np.float32(0.3)),
        dict(tol=float("inf"), random_state=7, resample="systematic", warm_start=True),
        dict(scoring="roc_auc", early_stopping=True, random_state=1),
        dict(early_stopping=True, keep_best=False, random_state=1),
    ],
    ids=str,
)
def test_parameters(params, table, again):
    X, y = table
    old = AdaBoostClassifier(**{"n_estimators": 6, **params}).fit(X, y)
    new = again(old)
    assert_equal(old, new, X)
    assert plain(clone(new).get_params()) == plain(clone(old).get_params())


def test_an_array_as_parameter(table, again):
    X, y = table
    old = AdaBoostClassifier(categorical_features=np.array([5], np.int32), n_estimators=3).fit(X, y)
    new = again(old)
    assert same(new.categorical_features, old.categorical_features)


def test_what_is_not_stored(table, again):
    X, y = table
    old = AdaBoostClassifier(callbacks=[lambda s: None], random_state=np.random.RandomState(0), n_estimators=3)
    new = again(old.fit(X, y))
    assert new.callbacks is None
    assert new.random_state is None
    assert same(new.decision_function(X), old.decision_function(X))


def test_an_early_stopped_model(table, again):
    X, y = table
    old = boostlab.LPBoostClassifier(early_stopping=True, n_iter_no_change=3, random_state=0, tol=1e-3).fit(X, y)
    assert len(old.history_["alpha"]) > old.n_estimators_
    assert_equal(old, again(old), X)


def test_an_empty_ensemble(again):
    X, y = np.zeros((10, 2)), np.arange(10) % 2
    for make in (AdaBoostClassifier, AdaBoostM2Classifier):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old = make().fit(X, y)
        assert old.n_estimators_ == 0
        assert_equal(old, again(old), X)


def test_a_warm_start_begins_anew(table, again):
    X, y = table
    new = again(AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, y))
    new.set_params(n_estimators=9).fit(X, y)
    whole = AdaBoostClassifier(n_estimators=9).fit(X, y)
    assert same(new.decision_function(X), whole.decision_function(X))


def test_decay_and_one_voter_a_class(three_classes, again):
    """No booster does these yet; the format knows them."""
    from boostlab.ensemble.vote import Ensemble, Round

    X, y = three_classes
    model = AdaBoostM2Classifier(n_estimators=6).fit(X, y)
    stumps = AdaBoostClassifier(n_estimators=9).fit(X, y == 1).estimators_
    trees = AdaBoostClassifier(max_depth=2, n_estimators=9).fit(X, y == 1).estimators_
    rounds = [Round((stumps[t], trees[t], stumps[t + 3]), 0.5, 0.9) for t in range(6)]
    model._ensemble = Ensemble(model._ensemble.rule, rounds, 3)
    model.estimators_, model.estimator_weights_ = model._ensemble.voters, model._ensemble.alphas
    new = again(model)
    assert isinstance(new.estimators_[0], tuple)
    for a, b in zip(model.staged_decision_function(X), new.staged_decision_function(X), strict=True):
        assert same(a, b)
    assert same(new.decision_function(X), model.decision_function(X))


def test_the_same_model_gives_the_same_bytes(zoo, tmp_path):
    for _, model, _ in zoo:
        save(model, tmp_path / "a")
        save(load(tmp_path / "a"), tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_numpy_can_open_it(table, tmp_path):
    X, y = table
    model = AdaBoostClassifier(n_estimators=4).fit(X, y)
    save(model, tmp_path / "m.boost")
    with np.load(tmp_path / "m.boost", allow_pickle=False) as arrays:
        assert arrays["round_alpha"].tolist() == model.estimator_weights_.tolist()
