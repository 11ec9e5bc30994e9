"""What is understood of a table: target, classes, categories, and columns that are left out."""

import numpy as np
import pytest

from boostlab.studies import RequestError
from boostlab.tables.columns import Column, Sheet
from boostlab.tables.table import understand

N = 40


def column(name, values):
    if isinstance(values[0], str):
        return Column(name, words=tuple(values))
    return Column(name, np.asarray(values, float))


def sheet(**columns):
    return Sheet([column(name, list(values)) for name, values in columns.items()], N)


X = np.linspace(0.0, 1.0, N)
LABEL = ["yes", "no"] * (N // 2)


def test_numbers_categories_missing_values_and_classes():
    sort = ["b", "a", "", "c"] * 10
    size = np.where(np.arange(N) == 3, np.nan, X)
    table = understand(sheet(size=size, sort=sort, label=LABEL), "t", "label", folds=5)
    np.testing.assert_array_equal(table.X[:, 0], size)
    np.testing.assert_array_equal(table.X[:4, 1], [1.0, 0.0, np.nan, 2.0])
    assert table.categorical_features == [1]
    assert table.classes == ("no", "yes")
    assert table.y[:2].tolist() == [1, 0]
    assert table.facts["Classes"] == "2: no (20, 50 %), yes (20, 50 %)"
    assert table.facts["Columns"] == "2: 1 of numbers, 1 of categories (sort)"
    assert table.facts["Missing"] == "11 cells (14 %) in size, sort"
    assert "Left out" not in table.facts


def test_ids_and_constants_are_left_out_unless_asked_for():
    given = sheet(
        nr=range(1, N + 1),
        count=range(100, 100 + N),
        customer_id=[7 * i**2 for i in range(N)],
        CustomerID=[7 * i**2 for i in range(N)],
        userid=[7 * i**2 for i in range(N)],
        paid=[7 * i**2 for i in range(N)],
        who=[f"person {i}" for i in range(N)],
        same=[1.0] * N,
        nothing=[""] * N,
        part=["train", "test"] * 20,
        square=[7 * i**2 for i in range(N)],
        x=X,
        label=LABEL,
    )
    table = understand(given, "t", "label", folds=5)
    assert table.feature_names == ("paid", "square", "x")
    left_out = table.facts["Left out"]
    assert "nr, customer_id, CustomerID, userid (an id? all its numbers differ)" in left_out
    for said in ("count (an id? it numbers", "who (an id?", "same (constant)"):
        assert said in left_out
    assert "part (says which rows are for testing)" in table.facts["Left out"]
    asked = understand(given, "t", "label", folds=5, keep=["nr", "part"], drop=["x"])
    assert asked.feature_names == ("nr", "paid", "part", "square")
    assert "x (as asked)" in asked.facts["Left out"]
    with pytest.raises(RequestError, match=r"There is no column 'sam'; did you mean 'same'\?"):
        understand(given, "t", "label", folds=5, drop=["sam"])


def test_the_target_is_guessed_where_there_is_no_doubt():
    assert understand(sheet(Class=LABEL, x=X), "t", folds=5).facts["Target"].startswith("Class (assumed from its name")
    assert understand(sheet(x=X, won=LABEL), "t", folds=5).facts["Target"].startswith("won (assumed: the last column")
    with pytest.raises(RequestError, match=r"Which column is to be predicted\? Name it with --target; .* won, x\.$"):
        understand(sheet(won=LABEL, x=X), "t", folds=5)
    with pytest.raises(RequestError, match=r"There is no column 'Won'; did you mean 'won'\?"):
        understand(sheet(won=LABEL, x=X), "t", "Won", folds=5)
    with pytest.raises(RequestError, match=r"There is no column 'zzz'; the columns are won, x\."):
        understand(sheet(won=LABEL, x=X), "t", "zzz", folds=5)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (["yes"] * N, "has only the value 'yes'; there is nothing to learn"),
        ([""] * N, "has no value at all"),
        ([f"{i} of 40" for i in range(N)], "has 40 different values in 40 rows"),
        ([f"word {i % 20}" for i in range(N)], "has 20 different values"),
        (["a"] * 30 + ["b"] * 4 + ["c"] * 6, "fewer rows than the 5 parts"),
    ],
)
def test_targets_that_are_no_classes(values, sentence):
    with pytest.raises(RequestError, match=sentence) as caught:
        understand(sheet(x=X, y=values), "t", "y", folds=5)
    assert "\n" not in str(caught.value)


def test_rare_classes_and_rows_without_a_target_are_left_out_and_said_so():
    table = understand(sheet(x=X, y=["a"] * 20 + ["b"] * 18 + ["", "c"]), "t", "y", folds=5)
    assert (len(table.y), table.classes, np.bincount(table.y).tolist()) == (38, ("a", "b"), [20, 18])
    assert table.facts["Rows"] == "40, of which 38 are used"
    assert table.facts["Rare"].startswith("rows of c (1) are left out")
    assert table.facts["No target"].startswith("1 rows have none")
    np.testing.assert_array_equal(table.X[:, 0], X[:38])


def test_nothing_to_learn_from():
    with pytest.raises(RequestError, match="no column is left to learn from: x \\(constant\\)"):
        understand(sheet(x=[1.0] * N, y=LABEL), "t", "y", folds=5)


def test_the_hash_is_that_of_the_content():
    def table(name="t", x=X, sort="a"):
        return understand(sheet(x=x, s=[sort, "z"] * 20, y=LABEL), name, "y", folds=5)

    assert table().hash == table("other").hash
    assert table().hash != table(x=X + 1).hash
    assert table().definition() == table(x=X + 1).definition() == {"table": [40, 2, 2]}


def test_a_target_by_name():
    def target(**columns):
        return understand(sheet(**columns), "t", folds=5).target

    assert target(outcome=LABEL, Target=LABEL, x=X) == "Target"
    assert target(label=LABEL, x=X, y=LABEL) == "label"
    assert target(x=X, y=X + 1, kind=LABEL) == "kind"  # y is a number: a place and not a class
    assert target(y=LABEL, x=X, other=["a", "b"] * 20) == "y"
    with pytest.raises(RequestError, match="Which column"):
        target(x=X, label=LABEL, outcome=LABEL)


@pytest.mark.parametrize(
    ("rare", "many", "says"),
    [(5, 2995, "no (5, 0.17 %), yes (2,995, 99.8 %)"), (5, 99_995, "no (5, 0.005 %), yes (99,995, 99.995 %)")],
)
def test_shares_are_never_powers_of_ten(rare, many, says):
    label = ["no"] * rare + ["yes"] * many
    size = np.arange(rare + many) / 7
    size[0] = np.nan
    given = Sheet([column("size", size), column("label", label)], rare + many)
    facts = understand(given, "t", "label", folds=5).facts
    assert facts["Classes"] == f"2: {says}"
    assert "e-" not in facts["Missing"]
    assert "e+" not in facts["Missing"]


def test_classes_that_are_large_whole_numbers_keep_their_digits():
    days = [20240115123456.0, 20240115123457.0] * (N // 2)
    assert understand(sheet(x=X, day=days), "t", "day", folds=5).classes == ("20240115123456", "20240115123457")
