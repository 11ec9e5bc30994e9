"""The comparison from Python: fair splits, honest noise, and failures that are reported instead of raised."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from boostlab import AdaBoostClassifier
from boostlab.boosters import REGISTRY
from boostlab.boosters.registry import Entry
from boostlab.datasets import three_gaussians, twonorm
from boostlab.studies import RequestError, compare

X, Y = twonorm(120, random_state=0)
PAIR = ["AdaBoost", "MadaBoost"]
FAST = {"folds": 3, "rounds": 3, "with_peers": False}


@pytest.fixture
def booster(monkeypatch):
    """Register a booster for one test."""

    def register(cls, name):
        made = dataclass(eq=False, repr=False)(cls)
        monkeypatch.setitem(REGISTRY, name, Entry(made, "unpublished", "testing"))

    return register


def errors(result, level=0):
    return {one.name: one.error for one in result.rankings[level].standings}


def test_every_cell_is_there_and_the_ranking_is_their_mean():
    result = compare(X, Y, PAIR, folds=3, repeats=2, rounds=3, noise=[0.0, 0.2], with_peers=False)
    done = result.ran.results.rows()
    assert len(done) == result.ran.planned == 2 * 3 * 2 * 2
    assert not result.ran.interrupted
    for ranking, block in zip(result.rankings, ("labels as they are", "20 % flipped"), strict=True):
        assert (ranking.splits, ranking.fair) == (6, True)
        for one in ranking.standings:
            own = [d.number("test_error") for d in done if (d.block, d.method) == (block, one.name)]
            assert len(own) == one.splits == 6
            assert one.error == pytest.approx(np.mean(own))
            assert one.low < one.error < one.high
        assert [one.error for one in ranking.standings] == sorted(one.error for one in ranking.standings)
    assert str(result) == "\n".join(result.advice.sentences)
    assert len(result.advice.sentences) == 3  # the booster, its rivals, and the study of such tables
    assert "In our study of 12 sets of this kind" in result.advice.sentences[-1]


def test_the_seed_decides():
    def found(**more):
        return errors(compare(X, Y, PAIR, **FAST, noise=0.2, **more))

    assert found() == found(random_state=0, n_jobs=1)
    assert found() != found(random_state=1)


def test_a_store_is_gone_on_with(tmp_path):
    path = tmp_path / "cells.sqlite"
    first = compare(X, Y, PAIR, **FAST, store=path)
    again = compare(X, Y, PAIR, **FAST, store=path)
    more = compare(X, Y, PAIR, **FAST, store=path, repeats=2)
    other = compare(X + 1, Y, PAIR, **FAST, store=path)
    assert [r.ran.computed for r in (first, again, more, other)] == [6, 0, 6, 6]
    assert errors(first) == errors(again)


def test_frames_with_categories_and_sparse_tables():
    frame = pd.DataFrame({"size": X[:, 0], "sort": np.where(X[:, 1] > 0, "high", "low"), "gap": X[:, 2]})
    frame.loc[::7, "gap"] = np.nan
    labels = np.where(Y > 0, "yes", "no")
    found = compare(frame, labels, ["AdaBoost"], **FAST)
    assert found.rankings[0].standings[0].error < 0.5
    dense = compare(X.round(), Y, ["AdaBoost"], **FAST)
    assert errors(compare(sparse.csr_array(X.round()), Y, ["AdaBoost"], **FAST)) == errors(dense)


def test_a_booster_of_ones_own_and_one_that_fails(booster):
    class Broken(AdaBoostClassifier):
        def fit(self, X, y):
            raise ArithmeticError("the abacus is jammed\nand more")

    booster(Broken, "BrokenClassifier")
    result = compare(X, Y, ["Broken", "AdaBoost"], **FAST)
    first, last = result.rankings[0].standings
    assert (first.name, first.ranked) == ("AdaBoost", True)
    assert (last.name, last.ranked, last.failed, last.splits) == ("Broken", False, 3, 3)
    assert last.failure.startswith("ArithmeticError: the abacus is jammed (")
    assert result.rankings[0].places() == {"AdaBoost": 1}
    nothing_ran = compare(X, Y, ["Broken"], **FAST)
    assert nothing_ran.advice.pick is None
    assert "nothing to recommend" in str(nothing_ran)


@pytest.mark.parametrize("where", ["fit", "engine"])
def test_ctrl_c_returns_what_is_there(where, booster):
    fits = []

    def interrupt(*_):
        raise KeyboardInterrupt

    class Patient(AdaBoostClassifier):
        def fit(self, X, y):
            fits.extend([len(y)] * (len(y) != 40))  # without the warm-up, on 40 rows
            if len(fits) == 15 and where == "fit":
                interrupt()
            if len(fits) == 15 and where == "engine":  # the engine ends the fit itself and keeps its rounds
                self.callbacks = interrupt
            return super().fit(X, y)

    booster(Patient, "PatientClassifier")
    result = compare(X, Y, ["Patient"], **FAST)
    # Cells of four candidates, each on three inner parts, and an outer fit: the fifteenth fit is in the second cell.
    assert result.ran.interrupted
    assert len(result.ran.results.rows()) == 1
    assert result.rankings[0].standings[0].splits == 1


def test_a_budget_of_nothing_computes_nothing():
    result = compare(X, Y, PAIR, **FAST, budget=0.0)
    assert result.ran.results.rows() == []
    assert result.ran.ended == "its time was over"


def test_a_booster_of_two_classes_is_left_out_of_three(booster):
    class Binary(AdaBoostClassifier):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.classifier_tags.multi_class = False
            return tags

    booster(Binary, "BinaryClassifier")
    X3, y3 = three_gaussians(90, random_state=0)
    result = compare(X3, y3, ["AdaBoost.M2", "Binary"], **FAST)
    assert result.left_out == {"Binary": "it takes two classes, and these data have 3"}
    assert [one.name for one in result.rankings[0].standings] == ["AdaBoostM2"]
    with pytest.raises(RequestError, match="None of the boosters asked for takes 3 classes; try SAMME"):
        compare(X3, y3, ["Binary"], **FAST)


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"boosters": ["AdaBost"]}, r"There is no booster 'AdaBost'; did you mean AdaBoost\?"),
        ({"boosters": ["brownbooster"]}, r"did you mean BrownBoost\?"),
        ({"boosters": ["zzz"]}, "There is no booster 'zzz'; choose from .*LogitBoost"),
        ({"boosters": "AdaBoost"}, "give a list of names"),
        ({"boosters": []}, "No booster was named"),
        ({"folds": 1}, "folds=1 is not possible"),
        ({"folds": 100}, "every part needs a row of every class"),
        ({"repeats": 0}, "repeats=0 is not possible"),
        ({"rounds": 0}, "rounds=0 is not possible"),
        ({"noise": 0.5}, "noise=0.5 is not possible"),
        ({"noise": [0.0, -0.1]}, "noise=-0.1 is not possible"),
        ({"noise": []}, "at least one level"),
        ({"random_state": -1}, "The seed -1 is not possible"),
        ({"budget": "soon"}, "The budget 'soon' is not a time; write it as 90s, 5m or 1h30m."),
        ({"metric": "roc_acu"}, r"There is no metric 'roc_acu'; did you mean roc_auc\?"),
        ({"metric": "squared_error", "noise": 0.1}, "Labels can be flipped"),
        ({"target": "y"}, "target names a column of X and y is one by itself"),
        ({"boosters": ["XGBoost"]}, "XGBoost is a yardstick and no booster of boostlab"),
        ({"budget": -1}, "budget=-1 is not possible"),
    ],
)
def test_impossible_requests_are_one_sentence(request_, sentence):
    with pytest.raises(RequestError, match=sentence) as caught:
        compare(X, Y, **request_)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_labels_must_be_classes():
    with pytest.raises(RequestError, match="nothing to learn"):
        compare(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="continuous"):
        compare(X, X[:, 0])


def test_the_first_cell_is_finished_whatever_the_budget():
    X, y = twonorm(2000, random_state=0)
    result = compare(X, y, ["AdaBoost"], folds=2, repeats=50, rounds=60, with_peers=False, budget=0.3)
    assert result.ran.ended == "its time was over"
    assert 1 <= len(result.ran.results.rows()) < 100


def test_of_a_large_table_some_rows_are_compared_and_all_are_fitted():
    X, y = twonorm(900, random_state=0)
    y = np.where(np.arange(900) < 30, "rare", np.where(y == 1, "yes", "no"))
    result = compare(X, y, ["SAMME"], folds=2, rounds=2, with_peers=False, max_rows=200)
    table, whole, rows = result.plan.table, result.plan.whole, result.plan.rows
    assert whole.X.shape[0] == 900
    assert 200 <= len(rows) <= 240
    np.testing.assert_array_equal(table.labels(), y[rows])
    assert (table.labels() == "rare").sum() == 30  # all of them
    np.testing.assert_array_equal(table.X, X[rows])
    model = result.best_estimator_
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    with pytest.raises(RequestError, match="max_rows=5 is not possible"):
        compare(X, y, max_rows=5)
