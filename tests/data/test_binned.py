"""A table binned once is the table itself, bit for bit, and is never binned again."""

from __future__ import annotations

import copy
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from boostlab import (
    AdaBoostClassifier,
    Binned,
    FilterBoostClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    RLPBoostClassifier,
    VoterPool,
)
from boostlab.data.bins import Bins
from fitted import answers, assert_same
from tables import noisy_table, sparse_numbers, stored
from variants import every

X, Y = noisy_table(200)
ROUNDS = dict(n_estimators=6, random_state=0, n_jobs=1)


@pytest.fixture
def fits(monkeypatch):
    """How often columns were cut into bins."""
    calls = []
    plain = Bins.fit.__func__
    monkeypatch.setattr(Bins, "fit", classmethod(lambda cls, *args: calls.append(1) or plain(cls, *args)))
    return calls


def frame(n=200, seed=0):
    """Numbers with holes, text, categories."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=n)
    text = rng.choice(["a", "b", "c"], n)
    y = np.where(numbers + (text == "a") > 0.3, "yes", "no")
    numbers[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame({"x": numbers, "t": text, "k": pd.Categorical(rng.choice(["u", "v"], n))}), y


@every
def test_every_booster_trains_the_same_model_and_bins_nothing(make, fits):
    binned = Binned.fit(X)
    assert len(fits) == 1
    model = make(**ROUNDS).fit(binned, Y)
    asked = answers(model, binned)
    assert len(fits) == 1
    plain = make(**ROUNDS).fit(X, Y)
    assert_same(model, plain, X, binned, Binned.fit(X, max_bins=7))
    assert asked == answers(plain, X)


@pytest.mark.parametrize("leaves", [None, 4])
def test_frames_and_sparse_tables(leaves, fits):
    make = partial(AdaBoostClassifier, max_leaf_nodes=leaves, **ROUNDS)
    table, y = frame()
    S, ys = stored(sparse_numbers()[0]), sparse_numbers()[1]
    for data, labels in ((table, y), (S, ys), (X.astype(np.float32), Y), (X.tolist(), Y)):
        binned = Binned.fit(data)
        before = len(fits)
        model = make().fit(binned, labels)
        assert len(fits) == before
        assert_same(model, make().fit(data, labels), *((data,) if hasattr(data, "shape") else ()), binned)
        assert model.n_features_in_ == binned.shape[1] == np.asarray(binned.numbers[:1].shape)[1]
    assert list(make().fit(Binned.fit(table), y).feature_names_in_) == ["x", "t", "k"]
    assert not hasattr(make().fit(table, y).fit(Binned.fit(X), Y), "feature_names_in_")


def test_taken_rows_keep_the_bins(fits):
    """Training on some rows is training on all of them with weight zero elsewhere, bins aside."""
    table, y = frame()
    for data, labels in ((X, Y), (table, y), (stored(X), Y)):
        binned = Binned.fit(data, max_bins=12)
        rows = np.random.default_rng(0).permutation(200)[:120]
        part = binned.take(rows)
        assert part.shape == (len(part), binned.shape[1]) == (120, binned.shape[1])
        assert part.bins is binned.bins
        weight = np.zeros(200)
        weight[rows] = 1
        one = AdaBoostClassifier(**ROUNDS).fit(part, labels[rows])
        two = AdaBoostClassifier(**ROUNDS).fit(binned, labels, weight)
        assert_same(one, two, binned)
        assert answers(one, part.take(np.arange(5))) == answers(two, binned.take(rows[:5]))
        chosen = np.isin(np.arange(200), rows)
        assert_same(two, AdaBoostClassifier(**ROUNDS).fit(binned[chosen], labels[chosen]), binned)
    assert len(fits) == 3
    dense = Binned.fit(X).take(np.arange(3))
    assert np.shares_memory(dense.table.X.X, X)  # no copy of the numbers
    assert np.array_equal(np.asarray(dense), X[:3])


def test_weights_of_the_quantiles():
    weight = np.random.default_rng(3).integers(0, 4, len(Y))
    binned = Binned.fit(X, max_bins=9, sample_weight=weight)
    one = AdaBoostClassifier(**ROUNDS).fit(binned, Y, weight)
    two = AdaBoostClassifier(max_bins=9, **ROUNDS).fit(X, Y, weight)
    assert [r.voter for r in one._ensemble.rounds] == [r.voter for r in two._ensemble.rounds]


def test_validation_rows_and_other_tables(fits):
    table, y = frame()
    other, z = frame(60, seed=1)
    binned = Binned.fit(table)
    like = binned.like(other)
    assert like.bins is binned.bins
    make = partial(AdaBoostClassifier, early_stopping=True, n_iter_no_change=2, **ROUNDS)
    one = make().fit(binned, y, X_val=like, y_val=z)
    two = make().fit(table, y, X_val=other, y_val=z)
    assert_same(one, two, other, like)
    assert_same(make().fit(binned, y, X_val=other, y_val=z), two, like)
    assert len(fits) == 2  # the second is the plain table's
    assert one.score(like, z) == two.score(other, z)
    make().fit(binned, y)  # holds rows out of the Binned
    assert len(fits) == 2


@every
def test_rows_held_out_have_a_say_in_the_bins_of_array_and_binned_alike(make):
    """Most rows have values of their own, so bins of the training rows alone would be others."""
    model, plain = (make(early_stopping=True, **ROUNDS).fit(Z, Y) for Z in (Binned.fit(X), X))
    assert_same(model, plain, X)


def test_rows_held_out_of_other_tables():
    weight = np.random.default_rng(3).integers(1, 4, len(Y))
    S, ys = stored(sparse_numbers()[0]), sparse_numbers()[1]
    table, labels = frame()
    make = partial(LogitBoostClassifier, early_stopping=True, **ROUNDS)
    assert_same(make().fit(Binned.fit(S), ys), make().fit(S, ys), S)
    assert_same(make().fit(Binned.fit(table), labels), make().fit(table, labels), table)
    binned = Binned.fit(X, max_bins=9, sample_weight=weight)
    one, two = make().fit(binned, Y, weight), make(max_bins=9).fit(X, Y, weight)
    assert answers(one, X) == answers(two, X)
    y = X[:, 0] + X[:, 1] ** 2
    one, two = (L2BoostRegressor(early_stopping=True, **ROUNDS).fit(Z, y) for Z in (X, Binned.fit(X)))
    assert np.array_equal(list(one.staged_predict(X)), list(two.staged_predict(X)))


def test_learners_without_bins_read_the_numbers():
    for learner in (DecisionTreeClassifier(max_depth=2, random_state=0), VoterPool()):
        one, two = (AdaBoostClassifier(learner, **ROUNDS).fit(Z, Y) for Z in (X, Binned.fit(X)))
        assert answers(one, X) == answers(two, Binned.fit(X))


def test_numbers_to_predict():
    y = X[:, 0] + X[:, 1] ** 2
    one, two = (L2BoostRegressor(**ROUNDS).fit(Z, y) for Z in (X, Binned.fit(X)))
    assert np.array_equal(one.predict(X), two.predict(Binned.fit(X)))
    assert np.array_equal(list(one.staged_predict(X)), list(two.staged_predict(Binned.fit(X))))


def test_stages_read_the_codes(monkeypatch):
    """A voter's column is looked up by codes where the model was trained on them, and only there."""
    binned = Binned.fit(X)
    model = AdaBoostClassifier(**ROUNDS).fit(binned, Y)
    stages = list(model.staged_decision_function(X))
    assert model._table(binned).codes is not None
    for other in (Binned.fit(X), Binned.fit(X, max_bins=5)):
        assert model._table(other).codes is None
        assert np.array_equal(list(model.staged_decision_function(other)), stages)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(list(twin.staged_decision_function(binned)), stages)
    monkeypatch.setattr("boostlab.data.table.column", None)  # reading a column of numbers
    assert np.array_equal(list(model.staged_decision_function(binned)), stages)


def test_a_path_of_programs_and_warm_starts():
    binned = Binned.fit(X)
    one = RLPBoostClassifier(**ROUNDS)
    plain, coded = (one.fit(Z, Y).path(Z, Y, [0.2, 0.3]) for Z in (X, binned))
    assert [m.decision_function(X).tolist() for m in plain] == [m.decision_function(X).tolist() for m in coded]
    grown = AdaBoostClassifier(warm_start=True, random_state=0, n_estimators=3).fit(binned, Y)
    grown.set_params(n_estimators=6, warm_start=True).fit(binned, Y)
    assert answers(grown, X) == answers(AdaBoostClassifier(**ROUNDS).fit(X, Y), X)
    assert np.shares_memory(binned.table.X, X)


def test_scikit_learn_splits_it(fits):
    binned = Binned.fit(X)
    scores = cross_val_score(AdaBoostClassifier(**ROUNDS), binned, Y, cv=3, error_score="raise")
    assert scores.mean() > 0.6
    search = GridSearchCV(AdaBoostClassifier(**ROUNDS), {"n_estimators": [2, 4]}, cv=3, error_score="raise")
    assert search.fit(binned, Y).best_estimator_.n_estimators in (2, 4)
    assert len(fits) == 1
    twin = pickle.loads(pickle.dumps(binned))
    assert answers(AdaBoostClassifier(**ROUNDS).fit(twin, Y), twin) == answers(
        AdaBoostClassifier(**ROUNDS).fit(X, Y), X
    )


def test_sparse_codes_have_one_reader_each():
    """Two trainings at once on one sparse Binned do not write to the same place."""
    S, y = stored(sparse_numbers()[0]), sparse_numbers()[1]
    binned = Binned.fit(S)
    a, b = (AdaBoostClassifier(warm_start=True, n_estimators=1, random_state=0) for _ in range(2))
    for t in (2, 4, 6):
        a.set_params(n_estimators=t).fit(binned, y)
        b.set_params(n_estimators=t).fit(binned, 1 - y)
    plain = AdaBoostClassifier(n_estimators=6, random_state=0)
    assert answers(a, S) == answers(plain.fit(S, y), S)


def test_what_does_not_fit_together_says_so():
    table, y = frame()
    binned = Binned.fit(table, max_bins=16)
    assert AdaBoostClassifier(max_bins=16, **ROUNDS).fit(binned, y).n_estimators_ == 6
    with pytest.raises(ValueError, match="max_bins=8, and the Binned was made with max_bins=16"):
        AdaBoostClassifier(max_bins=8).fit(binned, y)
    with pytest.raises(ValueError, match="categorical_features"):
        AdaBoostClassifier(categorical_features=["t"]).fit(binned, y)
    with pytest.raises(ValueError, match="is not possible"):
        Binned.fit(X, max_bins=1)
    with pytest.raises(ValueError, match="binned already"):
        Binned.fit(binned)
    model = AdaBoostClassifier(**ROUNDS).fit(binned, y)
    with pytest.raises(ValueError, match="expecting 3 features as input; give the columns of fit"):
        model.predict(Binned.fit(X))
    for changed in (table.rename(columns={"x": "z"}), table.assign(t=table["t"].str.upper())):
        with pytest.raises(ValueError, match="other column names or categories"):
            model.predict(Binned.fit(changed))
    with pytest.raises(ValueError, match="feature names"):
        binned.like(table[["t", "x", "k"]])
    with pytest.raises(ValueError, match="one label a row"):
        model.fit(binned, y[:-1])
    with pytest.raises(ValueError, match="one weight a row"):
        model.fit(binned, y, [1.0])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(binned.take([]))
    with pytest.raises(IndexError, match="columns stay"):
        binned[:, 0]
    with pytest.raises(ValueError, match="plain tables"):
        FilterBoostClassifier(mode="oracle").fit_stream([(Binned.fit(X), Y)])
    with pytest.raises(ValueError, match="contains infinity"):
        Binned.fit([[np.inf], [1.0]])
    assert sparse.issparse(Binned.fit(stored(X)).numbers)
    assert repr(binned) == "Binned(200 rows, 3 columns, max_bins=16)"
