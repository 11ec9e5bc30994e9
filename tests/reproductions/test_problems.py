"""Problems: every step of a recipe on a table small enough to see, and the papers' tables on the real data."""

import json
import os
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from boostlab import datasets
from boostlab_reproductions import problems as tables
from boostlab_reproductions.problems import (
    ARBOOST,
    ATLAS_SEVERAL,
    ATLAS_TWO,
    CC18,
    NOISE,
    OPENML_TASKS,
    QUADBOOST,
    TEXTBOOK,
    VADABOOST,
    PaperProblem,
    openml_folds,
    problem,
)
from boostlab_reproductions.problems.openml import openml_sum
from boostlab_reproductions.published import published

NAN = np.nan
#            size  sort  code
X = np.array([[1.0, 0, 3], [NAN, 1, 1], [2.0, 2, 3], [4.0, NAN, 2], [5.0, 1, 2], [6.0, 2, 1]])
Y = np.array([1, 2, 3, 1, 2, 3])
TEST = np.array([False, False, False, False, True, True])
TOY = datasets.Dataset(
    "toy", X, Y, ("size", "sort", "code"), {"sort": ("a", "b", "c")}, TEST, "hash", "here", "free", ""
)


@pytest.fixture
def toy(monkeypatch):
    """A recipe for the table above."""
    monkeypatch.setattr(datasets, "load", lambda name: TOY)
    problem._data.cache_clear()
    yield PaperProblem("toy", "toy")
    problem._data.cache_clear()


def test_as_it_is(toy):
    data = toy.data()
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == [0, 1, 2, 0, 1, 2]
    assert data.classes == ("1", "2", "3")
    assert data.categorical_features == [1]
    assert data.test_rows is None, "the official split is for those who ask"
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 0


@pytest.mark.parametrize(
    ("settings", "y", "classes"),
    [
        ({"positive": (2,)}, [-1, 1, -1, -1, 1, -1], ("1, 3", "2")),
        ({"positive": (3, 1)}, [1, -1, 1, 1, -1, 1], ("2", "3, 1")),
        ({"positive": (2,), "negative": (3,)}, [1, -1, 1, -1], ("3", "2")),
        ({"at_least": 2}, [-1, 1, 1, -1, 1, 1], ("< 2", ">= 2")),
    ],
)
def test_two_classes(toy, settings, y, classes):
    data = replace(toy, **settings).data()
    assert data.y.tolist() == y
    assert data.classes == classes


def test_rows(toy):
    assert replace(toy, keep=(("sort", "c"),)).data().X[:, 0].tolist() == [2, 6]
    assert replace(toy, part="test").data().X[:, 0].tolist() == [5, 6]
    assert replace(toy, part="train", missing="complete").data().X[:, 0].tolist() == [1, 2]
    assert replace(toy, official=True).data().test_rows.tolist() == TEST.tolist()
    complete = replace(toy, missing="complete", drop=("size",)).data()
    assert complete.X[:, 1].tolist() == [3, 1, 3, 2, 1], "only the columns that are left count"


def test_a_cap_is_one_draw_in_the_order_of_the_table(toy):
    small = toy.capped(4).data()
    assert len(small.y) == 4
    places = [next(i for i, row in enumerate(X) if np.array_equal(row, kept, equal_nan=True)) for kept in small.X]
    assert places == sorted(set(places))
    assert small.hash == toy.capped(4).data().hash
    draws = {toy.capped(4, seed).data().hash for seed in range(10)}
    assert len(draws) > 1
    assert toy.capped(6).data().hash == toy.data().hash
    assert toy.capped(3).capped(5).cap == 3


def test_the_cap_is_drawn_from_what_the_other_steps_leave(toy):
    data = replace(toy, positive=(2,), negative=(3,), cap=4).data()
    assert len(data.y) == 4


def test_encodings(toy):
    one_hot = replace(toy, encoding="one-hot").data()
    np.testing.assert_array_equal(
        one_hot.X[:, 1:4], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [NAN, NAN, NAN], [0, 1, 0], [0, 0, 1]]
    )
    assert one_hot.feature_names == ("size", "sort=a", "sort=b", "sort=c", "code")
    assert one_hot.categorical_features == []
    with_missing = replace(toy, encoding="one-hot", missing="category").data()
    assert with_missing.X[3, 1:5].tolist() == [0, 0, 0, 1]
    assert not np.isnan(with_missing.X[:, 1:5]).any()
    integers = replace(toy, encoding="integers").data()
    np.testing.assert_array_equal(integers.X, X)
    assert integers.categorical_features == []
    assert replace(toy, missing="category").data().X[3, 1] == 3


def test_two_words_are_one_column(toy):
    data = replace(toy, encoding="one-hot", nominal=("code",), keep=(("code", "3"),)).data()
    assert data.feature_names[-3:] == ("code=1", "code=2", "code=3"), "words are those of the whole table"
    halves = replace(TOY, X=X[:, :1] > 3, feature_names=("big",), categories={"big": ("no", "yes")})
    made = problem.encoded(problem.NamedColumns(halves.X.astype(float), ["big"], halves.categories), "one-hot")
    assert made.names == ["big=yes"]


def test_numbers_that_mean_categories_and_orders(toy):
    data = replace(toy, nominal=("code",), orders=(("sort", ("c", "a", "b")),)).data()
    assert data.X[:, 2].tolist() == [2, 0, 2, 1, 1, 0]
    assert data.categorical_features == [1, 2]
    np.testing.assert_array_equal(data.X[:, 1], [1, 2, 0, NAN, 2, 0])


@pytest.mark.parametrize("encoding", ["native", "one-hot", "integers"])
def test_filling_looks_at_training_rows_only(toy, encoding):
    data = replace(toy, encoding=encoding, missing="fill").data()
    train = np.array([0, 1, 4])
    X = data.filled(train)
    assert X[1, 0] == 3.0, "the mean of 1 and 5"
    filled_in = X[3, 1:-1].tolist()
    assert filled_in == ([0, 1, 0] if encoding == "one-hot" else [1]), "b, twice among them"
    seen = ~np.isnan(data.X)
    np.testing.assert_array_equal(X[seen], data.X[seen])
    changed = data.X.copy()
    changed[[2, 5], 0] = 1000.0
    np.testing.assert_array_equal(problem.filled(changed, train, data.groups)[1], X[1])


def test_nothing_seen_is_filled_with_zero():
    assert problem.filled(np.array([[NAN], [1.0]]), np.array([0]), np.array([-1])).tolist() == [[0.0], [1.0]]


def test_generators_and_stacks(monkeypatch, toy):
    made = PaperProblem("made", "chi2_spheres", made=(50, 3)).data()
    expected, y = datasets.chi2_spheres(50, random_state=3)
    np.testing.assert_array_equal(made.X, expected)
    assert made.y.tolist() == y.tolist()
    assert replace(toy, also=("toy",)).data().X.shape == (12, 3)


@pytest.mark.parametrize("settings", [{"official": True}, {"part": "test"}])
def test_the_official_split_must_be_there(toy, monkeypatch, settings):
    monkeypatch.setattr(datasets, "load", lambda name: replace(TOY, test_rows=None))
    with pytest.raises(datasets.DatasetError, match=r"needs the official split of 'vowel'.*put vowel.csv.gz into"):
        PaperProblem("toy", "vowel", **settings).data()


def test_wrong_recipes_are_sentences(toy):
    with pytest.raises(ValueError, match="has no label 9"):
        replace(toy, positive=(9,)).data()
    with pytest.raises(ValueError, match="There is no column 'colour'"):
        replace(toy, drop=("colour",)).data()
    with pytest.raises(ValueError, match="has the words"):
        replace(toy, orders=(("sort", ("a", "b")),)).data()


# -- definitions and hashes ------------------------------------------------------------------------------------------

ALL = [*VADABOOST, *QUADBOOST, *ARBOOST, *TEXTBOOK, *NOISE, tables.SPHERES, tables.RINGNORM_SMALL]


def test_definitions_are_json_and_hold_what_matters():
    assert PaperProblem("x", "wine", positive=(2,), reading="words").definition() == {
        "name": "x",
        "source": "wine",
        "positive": [2],
    }
    for one in ALL:
        assert json.loads(json.dumps(one.definition())) == one.definition()


@pytest.mark.parametrize(
    "change",
    [
        {"positive": (2,)},
        {"drop": ("code",)},
        {"encoding": "one-hot"},
        {"encoding": "integers"},
        {"missing": "complete"},
        {"missing": "category"},
        {"part": "train"},
        {"official": True},
        {"nominal": ("code",)},
        {"cap": 5},
    ],
)
def test_what_changes_the_data_changes_definition_and_hash(toy, change):
    other = replace(toy, **change)
    assert other.definition() != toy.definition()
    assert other.data().hash != toy.data().hash


def test_words_about_a_problem_change_neither(toy):
    other = replace(toy, reading="Said in other words.", printed_as="TOY", n_train=4, exact=False)
    assert other.definition() == toy.definition()
    assert other.data().hash == toy.data().hash


def test_every_problem_has_a_reading_and_its_own_name():
    for table, n in ((VADABOOST, 18), (QUADBOOST, 25), (ARBOOST, 12), (TEXTBOOK, 46), (NOISE, 12)):
        assert len(table) == n
        assert len({one.name for one in table}) == n
        for one in table:
            assert one.reading.endswith("."), one.name
            assert one.made or one.source in datasets.names()


def test_openmls_folds_part_the_rows_and_are_stratified():
    y = np.repeat(["a", "b", "c"], [50, 37, 8])
    folds = openml_folds(y)
    assert sorted(row for fold in folds for row in fold) == list(range(95))
    assert [len(fold) for fold in folds] == [10] * 5 + [9] * 5
    for label, (few, many) in {"a": (5, 5), "b": (3, 4), "c": (0, 1)}.items():
        assert {int((y[fold] == label).sum()) for fold in folds} <= {few, many}
    assert openml_folds(np.repeat([2, 1, 0], [50, 37, 8])) == folds, "the labels' names do not matter"


# -- the real data ---------------------------------------------------------------------------------------------------

real = pytest.mark.skipif(not os.environ.get("BOOSTLAB_DATA"), reason="BOOSTLAB_DATA names no folder with the data")

SIZES = {  # rows, columns, and how many are +1, as the papers' sources say
    "a5a": (6414, 123, 1569),
    "abalone": (4177, 10, 2081),
    "image": (2310, 18, 1320),
    "mushrooms": (8124, 112, 3916),
    "musk": (5000, 166, 764),
    "mnist38": (5000, 784, 2500),
    "splice": (3175, 60, 1527),
    "w4a (surrogate)": (7366, 300, 197),
    "waveform": (5000, 21, 1647),
    "wine": (4898, 11, 3258),
    "wisc": (683, 9, 239),
}


@real
@pytest.mark.parametrize("one", [p for p in VADABOOST if p.name in SIZES], ids=lambda p: p.name)
def test_vadaboosts_sizes(one):
    data = one.data()
    assert (*data.X.shape, int((data.y == 1).sum())) == SIZES[one.name]
    assert set(np.unique(data.y)) == {-1, 1}


@real
def test_folds_are_openmls():
    """OpenML's own sums of the files of folds: one row in another order, and all are others."""
    sets = {one.name: one for one in (*ATLAS_TWO, *ATLAS_SEVERAL)}
    assert OPENML_TASKS.keys() <= set(CC18) <= sets.keys()
    for name, task in OPENML_TASKS.items():
        assert openml_sum(task.data, openml_folds(sets[name].data().y)) == task.md5, name


@real
def test_quadboosts_risks_are_whole_numbers_of_test_examples():
    """Half the rows for training, or 500 of more than 1000: every printed risk is then a count over the others."""
    misfits = set()
    printed = published("quadboost_table1")
    for one in QUADBOOST:
        n = len(one.data().y)
        n_test = n - (500 if n > 1000 else -(-n // 2))
        for row in printed:
            risk = row["test_risk"]
            if row["dataset"] == one.row and round(round(risk * n_test) / n_test, 3) != risk:
                misfits.add(one.name)
    assert misfits == set()


@real
@pytest.mark.parametrize("one", ARBOOST, ids=lambda p: p.name)
def test_arboosts_sizes(one):
    row = next(r for r in published("arboost_table1_datasets") if r["dataset"] == one.row)
    data = one.data()
    assert len(data.y) == row["examples"]
    train = one.n_train if data.test_rows is None else int((~data.test_rows).sum())
    assert train == row["train"]
    assert len(data.classes) == row["classes_as_printed"] - (one.name == "satimage"), "one class of satimage is empty"


@real
def test_the_noise_study_has_two_classes_everywhere():
    for one in NOISE:
        data = one.data()
        assert set(np.unique(data.y)) == {-1, 1}
        assert 270 <= len(data.y) <= 2000


@real
def test_every_named_set_is_there():
    for name in datasets.names():
        found, known = datasets.load(name, download=False), datasets.facts(name)
        assert found.X.shape == (known.rows, known.features)
        assert Counter(map(str, found.y.tolist())) == known.class_counts
        if known.train_rows is not None:
            assert int((~found.test_rows).sum()) == known.train_rows
