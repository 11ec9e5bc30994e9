"""Every booster tells three or more classes apart through binary problems that share one table."""

from __future__ import annotations

import copy
import os
import pickle
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.multiclass import _ovr_decision_function

import boostlab
from boostlab import (
    AdaBoostClassifier,
    Binned,
    DecisionTree,
    LogitBoostClassifier,
    Stop,
    VadaBoostClassifier,
    VoterPool,
)
from boostlab.boosters import REGISTRY
from boostlab.comparison.request import able
from boostlab.data.bins import Bins
from boostlab.model_io import load
from boostlab.reductions.reduced import Reduced
from fitted import answers
from variants import PROGRAMS, every

ROUNDS = dict(n_estimators=6, random_state=0, n_jobs=1)
FORMS = pytest.mark.parametrize("form", ["ovr", "ovo", "ecoc"])


def four_classes(n=240, seed=0, values=9):
    """Four overlapping classes on a grid of few values, so that every pair of classes has all of them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    X = np.round(rng.normal(size=(n, 4)) + 1.5 * np.stack([y // 2, y % 2, y == 2, 0 * y], axis=1))
    return np.clip(X, -values // 2, values // 2), np.array(["d", "a", "c", "b"])[y]


X, Y = four_classes()


@pytest.fixture
def fits(monkeypatch):
    """How often columns were cut into bins."""
    calls = []
    plain = Bins.fit.__func__
    monkeypatch.setattr(Bins, "fit", classmethod(lambda cls, *args: calls.append(1) or plain(cls, *args)))
    return calls


# -- every booster ----------------------------------------------------------------------------------------------------


@every
@FORMS
def test_every_booster_takes_every_form(make, form):
    if form != "ovr" and isinstance(make, partial):
        pytest.skip("variants are given the same binary problems as their booster")
    X, Y = four_classes(120)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make(multiclass=form, **{**ROUNDS, "n_estimators": 4}).fit(X, Y)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    L = {"ovr": 4, "ovo": 6, "ecoc": 7}[form]
    assert len(model.estimators_) == len(model.history_) == len(model.estimator_weights_) == L
    for one, told, alphas in zip(model.estimators_, model.history_, model.estimator_weights_, strict=True):
        assert type(one) is type(model)
        assert one.classes_.tolist() == [0, 1]
        assert told is one.history_
        assert alphas is one.estimator_weights_
    assert model.n_estimators_ == max(one.n_estimators_ for one in model.estimators_)
    assert f"of {L} binary problems" in model.stop_reason_
    D, P = model.decision_function(X), model.predict_proba(X)
    assert D.shape == P.shape == (120, 4)
    assert (model.classes_[D.argmax(axis=1)] == model.predict(X)).all()
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
    assert np.abs(P.sum(axis=1) - 1).max() < 1e-9
    if type(model).__name__ in PROGRAMS:  # these need more rounds
        assert model.score(X, Y) > 0.24
    elif model.score(X, Y) <= 0.45:  # so may one that takes small steps
        assert make(multiclass=form, **{**ROUNDS, "n_estimators": 40}).fit(X, Y).score(X, Y) > 0.45
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_estimators_
    assert np.abs(stages[-1] - D).max() < 1e-9
    assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
    assert np.abs(list(model.staged_predict_proba(X))[-1] - P).max() < 1e-6
    margins = model.margins(X, Y)
    assert (np.abs(margins) <= 1).all()
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_auto_is_the_own_form_or_one_against_the_rest():
    for name, entry in REGISTRY.items():
        model = entry.cls(**ROUNDS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, Y)
        assert isinstance(model._ensemble, Reduced) != model._own_form, name
        if not model._own_form:
            assert len(model.estimators_) == 4
        assert get_tags(model).classifier_tags.multi_class
    assert able(list(REGISTRY), 26) == (list(REGISTRY), {})
    real = AdaBoostClassifier(algorithm="real", **ROUNDS).fit(X, Y)  # Real AdaBoost has no form of its own
    assert len(real.estimators_) == 4
    two = X[Y < "c"], Y[Y < "c"]
    for form in ("auto", "ovo", "ecoc"):  # two classes are two classes
        model = AdaBoostClassifier(multiclass=form, **ROUNDS).fit(*two)
        assert answers(model, X) == answers(AdaBoostClassifier(**ROUNDS).fit(*two), X)


# -- against scikit-learn's --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [AdaBoostClassifier, VadaBoostClassifier, LogitBoostClassifier])
def test_one_against_the_rest_is_scikit_learns(cls):
    model = cls(multiclass="ovr", **ROUNDS).fit(X, Y)
    other = OneVsRestClassifier(cls(**ROUNDS)).fit(X, Y)
    assert np.array_equal(model.decision_function(X), other.decision_function(X))
    assert (model.predict(X) == other.predict(X)).all()
    assert np.abs(np.sort(model.predict_proba(X)) - np.sort(other.predict_proba(X))).max() < 1e-12


@pytest.mark.parametrize("cls", [AdaBoostClassifier, VadaBoostClassifier, LogitBoostClassifier])
def test_all_pairs_are_scikit_learns(cls):
    model = cls(multiclass="ovo", **ROUNDS).fit(X, Y)
    other = OneVsOneClassifier(cls(**ROUNDS)).fit(X, Y)
    assert np.abs(model.decision_function(X) - other.decision_function(X)).max() < 1e-9
    assert (model.predict(X) == other.predict(X)).all()


def test_pairs_are_slices_of_one_binned_table():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(300, 3))
    y = np.digitize(dense @ [1, 1, 0], [-0.7, 0.7])
    binned = Binned.fit(dense, max_bins=15)
    model = AdaBoostClassifier(multiclass="ovo", max_bins=15, **ROUNDS).fit(dense, y)
    F = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero((y == i) | (y == j))
        F.append(AdaBoostClassifier(**ROUNDS).fit(binned.take(rows), y[rows]).decision_function(dense))
    F = np.stack(F, axis=1)
    assert np.array_equal(model.decision_function(dense), _ovr_decision_function(F > 0, F, 3))


# -- one table --------------------------------------------------------------------------------------------------------


@FORMS
def test_nothing_is_binned_twice(form, fits):
    model = VadaBoostClassifier(multiclass=form, early_stopping=True, **ROUNDS)
    for leaves in (None, 4):
        model.set_params(max_leaf_nodes=leaves).fit(X, Y, X_val=X[:40], y_val=Y[:40])
        model.predict(X)
        list(model.staged_predict(X))
    assert len(fits) == 2
    binned = Binned.fit(X)
    other = VadaBoostClassifier(multiclass=form, max_leaf_nodes=4, early_stopping=True, **ROUNDS)
    other.fit(binned, Y, X_val=binned.take(np.arange(40)), y_val=Y[:40])
    assert answers(other, binned) == answers(model, X)
    assert len(fits) == 3
    assert model._table(binned).codes is None
    assert other._table(binned).codes is not None


@FORMS
def test_all_kinds_of_tables_and_learners(form):
    make = partial(AdaBoostClassifier, multiclass=form, **ROUNDS)
    model = make().fit(X, Y)
    S = sparse.csr_array(X)
    assert answers(make().fit(S, Y), S) == answers(model, X)
    frame = pd.DataFrame(X, columns=list("pqrs")).assign(word=np.char.add("w", (X[:, 0] > 0).astype(str)))
    frame.loc[::9, "p"] = np.nan
    named = make(max_leaf_nodes=4).fit(frame, Y)
    assert named.score(frame, Y) > 0.6
    assert list(named.feature_names_in_) == ["p", "q", "r", "s", "word"]
    assert list(named.estimators_[0].feature_names_in_) == ["p", "q", "r", "s", "word"]
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame[["q", "p", "r", "s", "word"]])
    for learner in (GaussianNB(), VoterPool(), DecisionTree(max_depth=2)):
        assert make(learner).fit(X, Y).score(X, Y) > 0.5


# -- weights, rare classes, stopping ----------------------------------------------------------------------------------


@FORMS
def test_weights_are_copies(form):
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    copies = np.repeat(np.arange(len(Y)), weight)
    make = partial(AdaBoostClassifier, multiclass=form, **ROUNDS)
    assert answers(make().fit(X, Y, weight), X) == answers(make().fit(X[copies], Y[copies]), X)
    heavy = make(class_weight={"a": 50, "b": 1, "c": 1, "d": 1}).fit(X, Y).predict(X)
    assert (heavy == "a").sum() > (make().fit(X, Y).predict(X) == "a").sum()
    gone = make().fit(X, Y, (Y != "c").astype(float))  # a class of weight zero is none
    assert gone.classes_.tolist() == ["a", "b", "d"]


@FORMS
def test_a_class_with_one_example(form):
    rare = np.append(Y, ["z", "y"])
    table = np.vstack([X, [[9, 9, 9, 9], [-9, 9, -9, 9]]])
    for stopping in (False, True):
        model = AdaBoostClassifier(multiclass=form, early_stopping=stopping, max_leaf_nodes=4, **ROUNDS)
        model.fit(table, rare)
        assert model.predict(table).shape == rare.shape
        assert len(model.classes_) == 6
    scores = cross_val_score(model, table, rare, cv=KFold(3, shuffle=True, random_state=0), error_score="raise")
    assert np.isfinite(scores).all()  # folds without the class


@FORMS
def test_early_stopping(form):
    far, truth = four_classes(80, seed=1)
    model = AdaBoostClassifier(multiclass=form, early_stopping=True, n_iter_no_change=2, n_estimators=60, n_jobs=1)
    model.fit(X, Y, X_val=far, y_val=truth)
    assert "patience" in model.stop_reason_
    assert all("validation_score" in told for told in model.history_)
    some = truth != "b"  # a pair or side may have no validation rows at all
    model.fit(X, Y, X_val=far[some], y_val=truth[some])
    assert model.predict(X).shape == Y.shape
    model.fit(X, Y)
    assert model.n_estimators_ < 60


def test_problems_without_voters_say_which_side_is_larger():
    flat = np.zeros((10, 1))
    y = np.array([0] * 2 + [1] * 5 + [2] * 3)
    for form in ("ovr", "ovo", "ecoc"):
        with pytest.warns(ConvergenceWarning, match=r"kept no voter in (\d) of \1 binary problems") as caught:
            model = AdaBoostClassifier(multiclass=form).fit(flat, y)
        assert len(caught) == 1
        assert model.n_estimators_ == 0
        assert set(model.predict(flat)) == {1}
        assert model.predict_proba(flat)[0] == pytest.approx([0.2, 0.5, 0.3], abs=1e-6)
        assert list(model.staged_predict(flat)) == []
        assert (model.feature_importances_ == 0).all()


@FORMS
def test_warm_start_equals_one_long_fit(form):
    for again in (lambda m: m, copy.deepcopy):
        model = AdaBoostClassifier(multiclass=form, warm_start=True, random_state=0, n_estimators=2).fit(X, Y)
        model = again(model.set_params(n_estimators=4).fit(X, Y)).set_params(n_estimators=6).fit(X, Y)
        assert answers(model, X) == answers(AdaBoostClassifier(multiclass=form, **ROUNDS).fit(X, Y), X)
    before = answers(model, X)
    with pytest.raises(ValueError, match="may only grow"):
        model.set_params(n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="the data changed"):
        model.set_params(n_estimators=8).fit(X[::-1], Y)
    assert answers(model, X) == before
    random = AdaBoostClassifier(multiclass=form, warm_start=True, resample=True, n_estimators=2).fit(X, Y)
    assert random.set_params(n_estimators=5).fit(X, Y).n_estimators_ == 5


def test_an_interrupt_leaves_the_last_model():
    model = AdaBoostClassifier(multiclass="ovr", **ROUNDS).fit(X, Y)
    before, seen = answers(model, X), []

    def interrupt(state):
        seen.append(state)
        if len(seen) == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=interrupt).fit(X, Y)
    assert len(seen) == 8
    assert answers(model, X) == before
    model.set_params(callbacks=lambda state: Stop("callback", "enough") if state.t == 3 else None).fit(X, Y)
    assert model.stop_reason_ == "callback: in 4 of 4 binary problems"
    assert model.n_estimators_ == 3


# -- parameters, files, theory ----------------------------------------------------------------------------------------


def test_what_the_data_decide_is_a_list():
    model = VadaBoostClassifier(variance_penalty="validation", multiclass="ovr", **ROUNDS).fit(X, Y)
    assert len(model.variance_penalty_) == len(model.variance_penalty_curve_) == 4
    assert model.variance_penalty_ == [one.variance_penalty_ for one in model.estimators_]


@pytest.fixture
def through_a_file(tmp_path):
    def again(model):
        model.save(tmp_path / "four.boost")
        return load(tmp_path / "four.boost")

    return again


def assert_twins(model, twin, table):
    """They are the same, and so are their binary boosters."""
    assert answers(twin, table) == answers(model, table)
    assert twin.get_params() == model.get_params()
    for name in ("classes_", "stop_reason_", "n_estimators_", "n_features_in_", "feature_importances_"):
        assert np.array_equal(getattr(twin, name), getattr(model, name)), name
    for old, new in zip(model.history_, twin.history_, strict=True):
        assert old.keys() == new.keys()
        assert all(np.array_equal(old[k], new[k], equal_nan=True) for k in old)
    for old, new in zip(model.estimators_, twin.estimators_, strict=True):
        assert np.array_equal(old.decision_function(table), new.decision_function(table))
    assert getattr(twin, "variance_penalty_", None) == getattr(model, "variance_penalty_", None)


@FORMS
def test_copies_and_files(form, through_a_file):
    frame = pd.DataFrame(X, columns=list("pqrs")).assign(word=np.char.add("w", (X[:, 0] > 0).astype(str)))
    model = AdaBoostClassifier(multiclass=form, max_leaf_nodes=4, **ROUNDS).fit(frame, Y)
    for again in (through_a_file, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))):
        assert_twins(model, again(model), frame)


def test_files_of_other_boosters(through_a_file):
    for model in (
        VadaBoostClassifier(variance_penalty="validation", early_stopping=True, multiclass="ovr", **ROUNDS),
        boostlab.LPBoostClassifier(nu=0.3, **ROUNDS),
        boostlab.AdaBoostM2Classifier(multiclass="ovr", **ROUNDS),
    ):
        assert_twins(model.fit(X, Y), through_a_file(model), X)


def test_a_file_of_no_voters_and_of_changed_parameters(tmp_path):
    with pytest.warns(ConvergenceWarning):
        model = AdaBoostClassifier(multiclass="ovo").fit(np.zeros((6, 1)), [0, 1, 2, 2, 1, 1])
    model.save(tmp_path / "none.boost")
    assert set(load(tmp_path / "none.boost").predict([[0.0]])) == {1}
    model = AdaBoostClassifier(multiclass="ovr", **ROUNDS).fit(X, Y)
    with pytest.raises(boostlab.model_io.ModelFileError, match="parameters changed"):
        model.set_params(learning_rate=0.5).save(tmp_path / "changed.boost")


def test_in_pipelines_and_searches():
    pipe = make_pipeline(StandardScaler(), VadaBoostClassifier(**ROUNDS))
    grid = {"vadaboostclassifier__multiclass": ["auto", "ovo", "ecoc"]}
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, Y)
    assert search.best_score_ > 0.5
    with pytest.raises(ValueError, match="multiclass='ova' is not possible"):
        AdaBoostClassifier(multiclass="ova").fit(X, Y)


def test_what_needs_one_vote_says_so():
    model = boostlab.RLPBoostClassifier(**ROUNDS).fit(X, Y)
    with pytest.raises(ValueError, match="theory is about one vote"):
        model.certificate(X, Y)
    with pytest.raises(ValueError, match="A path is of one binary problem"):
        model.path(X, Y, [0.2])
    one = model.estimators_[0]
    assert one.certificate(X, (Y == "a").astype(int), draws=5) is not None


# -- 26 classes -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not os.environ.get("BOOSTLAB_DATA"), reason="set BOOSTLAB_DATA to the folder of benchmark tables")
@FORMS
def test_letter(form, fits):
    table = pd.read_csv(Path(os.environ["BOOSTLAB_DATA"], "letter.csv.gz"))
    *columns, target = table.columns
    train, test = table.iloc[:1000], table.iloc[-500:]
    model = AdaBoostClassifier(multiclass=form, n_estimators=10, max_leaf_nodes=8, n_jobs=1, random_state=0)
    model.fit(train[columns], train[target])
    assert len(fits) == 1
    assert len(model.estimators_) == {"ovr": 26, "ovo": 325, "ecoc": 63}[form]
    assert "".join(model.classes_) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert model.score(test[columns], test[target]) > 0.45


@FORMS
@pytest.mark.parametrize("heavy", [0, 2])
def test_silent_votes_have_finite_scores_whatever_the_weights(form, heavy, tmp_path):
    """No column tells anything, and beside one class the others have no share that a float can hold."""
    X, y = np.zeros((9, 1)), np.repeat([0, 1, 2], 3)
    weight = np.where(y == heavy, 1e40, 1.0)
    with pytest.warns(ConvergenceWarning, match="kept no voter"):
        model = AdaBoostClassifier(multiclass=form).fit(X, y, weight)
    F = model.decision_function(X)
    assert np.isfinite(F).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.predict(X) == heavy).all()
    model.save(tmp_path / "model.boost")
    assert np.array_equal(load(tmp_path / "model.boost").decision_function(X), F)
