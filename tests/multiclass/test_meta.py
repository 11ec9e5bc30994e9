"""PairwiseClassifier and ECOCClassifier, with boosters and with other classifiers."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from boostlab import AdaBoostClassifier, Binned, ECOCClassifier, PairwiseClassifier, VadaBoostClassifier
from boostlab.data.bins import Bins
from boostlab.model_io import ModelFileError, archive, load
from boostlab.reductions import coupling, decoding
from boostlab.reductions.codes import one_vs_one
from checks import check_all

ROUNDS = dict(n_estimators=6, random_state=0, n_jobs=1)
SMALL = AdaBoostClassifier(n_estimators=3, n_jobs=1)
AGGREGATES = ["vote", "coupling", "least_squares", "dag"]


def blobs(n=200, K=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.normal(size=(n, 3)) + 2.5 * np.stack([np.cos(2 * np.pi * y / K), np.sin(2 * np.pi * y / K), 0 * y], 1)
    return X, np.array(["kiwi", "fig", "plum", "pear", "lime"])[y]


X, Y = blobs()


@pytest.mark.parametrize(
    ("estimator", "without"),
    [
        (PairwiseClassifier(SMALL), set()),
        # The table is read as for a booster inside.
        (
            PairwiseClassifier(LogisticRegression(), "coupling"),
            {f"check_estimator_sparse_{kind}" for kind in ("tag", "array", "matrix")},
        ),
        (ECOCClassifier(SMALL, decoding="probability"), set()),
    ],
    ids=["pairs", "pairs of other models", "codes"],
)
def test_check_estimator(estimator, without):
    check_all(estimator, without)


@pytest.mark.parametrize("inner", [VadaBoostClassifier(**ROUNDS), LogisticRegression()], ids=["booster", "logistic"])
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_pairs(inner, aggregate):
    model = PairwiseClassifier(inner, aggregate).fit(X, Y)
    assert model.classes_.tolist() == sorted(set(Y))
    assert len(model.estimators_) == len(model.pairs_) == 10
    assert model.pairs_[1] == ("fig", "lime")
    P = model.predict_proba(X)
    assert np.abs(P.sum(axis=1) - 1).max() < 1e-9
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
    assert model.decision_function(X).shape == (200, 5)
    assert model.score(X, Y) > 0.75
    R = np.stack([m.predict_proba(X)[:, 1] for m in model.estimators_], axis=1)
    n = np.full(10, 80.0)
    if aggregate == "coupling":
        assert np.array_equal(P, coupling.coupled(one_vs_one(5), R, n))
    if aggregate == "least_squares":
        assert np.array_equal(P, decoding.least_squares(one_vs_one(5), R, n))
    one = model.estimators_[model.pairs_.index(("kiwi", "pear"))]
    two = np.isin(Y, ["kiwi", "pear"])
    assert ((one.predict(X[two]) == 1) == (Y[two] == "pear")).mean() > 0.8


@pytest.mark.parametrize("inner", [LogisticRegression(), LinearSVC(), Perceptron()], ids=lambda e: type(e).__name__)
def test_votes_are_scikit_learns(inner):
    ours, theirs = PairwiseClassifier(inner).fit(X, Y), OneVsOneClassifier(inner).fit(X, Y)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 1e-9
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert hasattr(ours, "predict_proba") == hasattr(inner, "predict_proba")


def test_the_order_of_the_dag():
    order = ["plum", "fig", "pear", "lime", "kiwi"]
    model = PairwiseClassifier(LogisticRegression(), "dag", order=order).fit(X, Y)
    rank = model.decision_function(X)
    assert (np.sort(rank, axis=1) == np.arange(5)).all()
    F = np.stack([m.decision_function(X) for m in model.estimators_], axis=1)
    places = [model.classes_.tolist().index(label) for label in order]
    assert np.array_equal(rank, decoding.dag(one_vs_one(5), F, places))
    for wrong in (["plum", "fig"], [*order, "fig"]):
        with pytest.raises(ValueError, match="every class once"):
            clone(model).set_params(order=wrong).fit(X, Y)
    fold = Y != "pear"
    without = clone(model).set_params(order=[label for label in order if label != "pear"]).fit(X[fold], Y[fold])
    assert np.array_equal(model.fit(X[fold], Y[fold]).decision_function(X), without.decision_function(X))


@pytest.mark.parametrize("decoding_", ["loss", "hamming", "probability"])
@pytest.mark.parametrize("code", ["auto", "ovr", "ovo", "exhaustive", "bch", "dense", "sparse"])
def test_codes(code, decoding_):
    model = ECOCClassifier(SMALL, code, decoding=decoding_, random_state=0).fit(X, Y)
    assert len(model.estimators_) == model.code_.shape[1]
    assert len(model.code_) == 5
    P = model.predict_proba(X)
    assert np.abs(P.sum(axis=1) - 1).max() < 1e-9
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
    assert model.score(X, Y) > 0.7
    if decoding_ == "loss":  # one decoding is enough: the code does not know of it
        assert np.array_equal(clone(model).fit(X, Y).code_, model.code_)


def test_a_code_outvotes_wrong_columns():
    """As many columns may be swapped as the distance promises."""
    model = ECOCClassifier(GaussianNB(), "exhaustive", decoding="hamming").fit(X[:40], Y[:40])
    assert model.min_distance_ == 8
    sure = model.classes_[:, None].ravel()
    F = model.code_ * 1.0

    class Row:
        def __init__(self, column, wrong):
            self.answers = -F[:, column] if wrong else F[:, column]

        def decision_function(self, _):
            return self.answers

    for wrong in (set(), {0, 5, 9}, {1, 2, 3}):
        model.estimators_ = [Row(c, c in wrong) for c in range(15)]
        assert (model.predict(np.zeros((5, 3))) == sure).all()


def test_boosters_share_one_table(monkeypatch):
    calls, plain = [], Bins.fit.__func__
    monkeypatch.setattr(Bins, "fit", classmethod(lambda cls, *args: calls.append(1) or plain(cls, *args)))
    weight = np.random.default_rng(0).integers(0, 3, len(Y))
    for model in (PairwiseClassifier(SMALL, "coupling"), ECOCClassifier(SMALL)):
        before = len(calls)
        model.fit(X, Y, weight)
        model.predict_proba(X)
        assert len(calls) == before + 1
        binned = Binned.fit(X, sample_weight=weight)
        twin = clone(model).fit(binned, Y, weight)
        assert np.array_equal(twin.predict_proba(binned), model.predict_proba(X))
        assert len(calls) == before + 2
        loaded = pickle.loads(pickle.dumps(model))
        assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    ours = AdaBoostClassifier(multiclass="ovo", **ROUNDS).fit(X, Y)
    pairs = PairwiseClassifier(AdaBoostClassifier(**ROUNDS)).fit(X, Y)
    assert np.array_equal(ours.decision_function(X), pairs.decision_function(X))
    assert np.array_equal(ours.predict_proba(X), pairs.predict_proba(X))


def test_what_a_table_may_be():
    frame = pd.DataFrame(X, columns=["u", "v", "w"]).assign(word=np.where(X[:, 0] > 0, "east", "west"))
    frame.loc[::7, "u"] = np.nan
    for model in (PairwiseClassifier(SMALL), ECOCClassifier(SMALL)):
        model.fit(frame, Y)
        assert list(model.feature_names_in_) == ["u", "v", "w", "word"]
        assert model.n_features_in_ == 4
        assert model.score(frame, Y) > 0.7
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["v", "u", "w", "word"]])
    plain = PairwiseClassifier(LogisticRegression()).fit(frame[["v", "w"]], Y)
    assert list(plain.feature_names_in_) == ["v", "w"]
    assert (PairwiseClassifier(LogisticRegression()).fit(Binned.fit(X), Y).predict(X) == Y).mean() > 0.7
    assert PairwiseClassifier(make_pipeline(StandardScaler(), SMALL)).fit(X, Y).score(X, Y) > 0.7


def test_rare_classes_and_two_classes():
    rare = np.append(Y, "zucchini")
    table = np.vstack([X, [[9, 9, 9]]])
    for inner in (SMALL, DecisionTreeClassifier(random_state=0), KNeighborsClassifier(1)):
        for model in (PairwiseClassifier(inner, "coupling"), ECOCClassifier(inner)):
            found = model.fit(table, rare).predict(table)
            assert model.classes_[-1] == "zucchini"
            assert inner is SMALL or (found == rare).all()
    two = np.isin(Y, ["fig", "kiwi"])
    for model in (PairwiseClassifier(SMALL), PairwiseClassifier(SMALL, "coupling"), ECOCClassifier(SMALL)):
        model.fit(X[two], Y[two])
        assert model.decision_function(X).shape == (200,)
        assert (model.predict(X) == clone(SMALL).fit(X[two], Y[two]).predict(X)).all()
        assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()


class Undecided(LogisticRegression):
    """A classifier whose probabilities and decisions differ, as Platt's for support vectors do."""

    def predict_proba(self, X):
        return super().predict_proba(X) ** [0.3, 3.0]


def test_two_classes_are_predicted_by_their_probabilities():
    two = np.isin(Y, ["fig", "kiwi"])
    model = PairwiseClassifier(Undecided()).fit(X[two], Y[two])
    inner = model.estimators_[0]
    assert (inner.predict_proba(X).argmax(axis=1) != inner.predict(X)).any()
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()


@pytest.mark.parametrize("inner", [None, AdaBoostClassifier, LinearRegression(), "stump"])
@pytest.mark.parametrize("cls", [PairwiseClassifier, ECOCClassifier])
def test_an_estimator_that_is_no_classifier(cls, inner):
    with pytest.raises(TypeError, match="is not a classifier; give one"):
        cls(inner).fit(X, Y)


def test_in_searches():
    grid = {"aggregate": AGGREGATES, "estimator__n_estimators": [2, 4]}
    search = GridSearchCV(PairwiseClassifier(SMALL), grid, cv=2, error_score="raise").fit(X, Y)
    assert search.best_score_ > 0.6
    assert cross_val_score(ECOCClassifier(SMALL), Binned.fit(X), Y, cv=2, error_score="raise").mean() > 0.6
    model = ECOCClassifier(SMALL, code="dense", n_columns=8, decoding="hamming", random_state=1)
    assert clone(model).get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert clone(model).n_columns == 8


def test_what_is_not_possible_says_so():
    for model, says in (
        (PairwiseClassifier(SMALL, "majority"), "aggregate='majority' is not possible"),
        (PairwiseClassifier(LinearSVC(), "coupling"), "LinearSVC has no predict_proba"),
        (ECOCClassifier(SMALL, "golay"), "code='golay' is not possible"),
        (ECOCClassifier(SMALL, decoding="viterbi"), "decoding='viterbi' is not possible"),
        (ECOCClassifier(SMALL, n_columns=0), "n_columns=0"),
        (ECOCClassifier(SMALL, [[1, -1]]), "one row a class"),
    ):
        with pytest.raises(ValueError, match=says):
            model.fit(X, Y)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        PairwiseClassifier(KNeighborsClassifier()).fit(X, Y, np.ones(len(Y)))
    with pytest.raises(ValueError, match="only one class"):
        PairwiseClassifier(SMALL).fit(X, np.zeros(len(Y)))
    assert not hasattr(PairwiseClassifier(LinearSVC()), "predict_proba")


@pytest.mark.parametrize(
    "model",
    [
        *(PairwiseClassifier(SMALL, a) for a in AGGREGATES),
        PairwiseClassifier(VadaBoostClassifier(**ROUNDS), "dag", order=["plum", "fig", "pear", "lime", "kiwi"]),
        ECOCClassifier(SMALL, "sparse", random_state=1),
        ECOCClassifier(AdaBoostClassifier(max_leaf_nodes=4, **ROUNDS), one_vs_one(5), decoding="probability"),
    ],
)
def test_files(model, tmp_path):
    frame = pd.DataFrame(X, columns=list("pqr")).assign(word=np.where(X[:, 0] > 0, "up", "down"))
    model = clone(model).fit(frame, Y)
    model.save(tmp_path / "model")
    if isinstance(model, ECOCClassifier) and not isinstance(model.code, str):
        model.set_params(code=model.code.tolist())  # which is how it comes back
    again = load(tmp_path / "model")
    assert type(again) is type(model)
    assert str(again.get_params(deep=False)) == str(model.get_params(deep=False))
    assert list(again.feature_names_in_) == list(frame.columns)
    assert vars(again).keys() == vars(model).keys()
    assert np.array_equal(again.decision_function(frame), model.decision_function(frame))
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert (clone(again).fit(frame, Y).predict(frame) == model.predict(frame)).all()


def test_files_that_cannot_be(tmp_path):
    with pytest.raises(ModelFileError, match=r"'LogisticRegression', and only boostlab's boosters.*use joblib"):
        PairwiseClassifier(LogisticRegression()).fit(X, Y).save(tmp_path / "model")
    model = PairwiseClassifier(SMALL).fit(X, Y).set_params(aggregate="dag")
    with pytest.raises(ModelFileError, match="changed since it was fitted"):
        model.save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        PairwiseClassifier(SMALL).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_damaged_files(tmp_path):
    path = tmp_path / "model"
    PairwiseClassifier(SMALL, "dag", order=sorted(set(Y))).fit(X, Y).save(path)
    header, arrays = archive.from_bytes(path.read_bytes())
    swapped = arrays["code"][:, ::-1]

    def refused(header, arrays=arrays):
        path.write_bytes(archive.to_bytes(header, arrays))
        with pytest.raises(ModelFileError) as caught:
            load(path)
        return str(caught.value)

    assert "the code is not that of 'ovo'" in refused(header, {**arrays, "code": swapped})
    assert "order must hold every class" in refused({**header, "params": {**header["params"], "order": ["fig"]}})
    assert "is not possible" in refused({**header, "params": {**header["params"], "aggregate": "x"}})
    assert "the parameters" in refused({**header, "params": {"code": "bch"}})
    assert "not a booster" in refused({**header, "estimator": {"class": "PairwiseClassifier", "params": {}}})
    assert "the estimator is no classifier" in refused(
        {**header, "estimator": {"class": "L2BoostRegressor", "params": {}}}
    )
    assert "missing or unknown" in refused({k: v for k, v in header.items() if k != "columns"})
    assert "differ in number" in refused({**header, "problems": header["problems"][1:]})
