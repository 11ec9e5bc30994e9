"""The published tables: all there, and what the papers say of them holds in them."""

from collections import Counter

import pytest

from boostlab_reproductions.problems import ARBOOST, EBBOOST, QUADBOOST, VADABOOST
from boostlab_reproductions.published import published, tables


def rows(name, key="dataset"):
    return list(dict.fromkeys(row[key] for row in published(name)))


@pytest.mark.parametrize(
    ("name", "problems"),
    [
        ("vadaboost_table1_stump", VADABOOST),
        ("vadaboost_table2_cart", VADABOOST),
        ("quadboost_table1", QUADBOOST),
        ("arboost_table1_datasets", ARBOOST),
    ],
)
def test_every_row_has_its_problem_in_the_same_order(name, problems):
    assert [problem.row for problem in problems] == rows(name)


def test_the_slides_have_the_same_problems_under_other_names():
    for name in ("ebboost_results", "ebboost_margins"):
        assert {problem.row for problem in EBBOOST} == set(rows(name))
    assert [problem.definition() for problem in EBBOOST] == [problem.definition() for problem in VADABOOST]


@pytest.mark.parametrize(
    ("name", "algorithms", "counts"),
    [
        ("vadaboost_table1_stump", 5, {"EBBoost": 10, "RQP-Boost": 6, "VadaBoost": 2}),
        ("ebboost_results", 5, {"EBBoost": 10, "ABR": 6, "RQP-Boost": 2, "RLP-Boost": 1}),
    ],
)
def test_row_minima(name, algorithms, counts):
    table = published(name)
    assert len(table) == 18 * algorithms
    least = {d: min(r["mean"] for r in table if r["dataset"] == d) for d in rows(name)}
    best = Counter(r["algorithm"] for r in table if r["mean"] == least[r["dataset"]])
    assert best == counts
    assert best == Counter(r["algorithm"] for r in table if r["is_row_minimum"])


def test_vadaboost_with_trees_is_best_on_sixteen():
    table = published("vadaboost_table2_cart")
    assert sum(r["is_row_minimum"] for r in table if r["algorithm"] == "VadaBoost") == 16


def test_sizes_of_arboosts_problems():
    for problem, row in zip(ARBOOST, published("arboost_table1_datasets"), strict=True):
        assert row["train"] + row["test"] == row["examples"]
        assert problem.official or problem.n_train == row["train"], problem.name


def test_a_reader_cannot_change_the_table():
    published("quadboost_table1")[0]["test_risk"] = 0.0
    assert published("quadboost_table1")[0]["test_risk"] == 0.145


def test_all_are_readable():
    assert len(tables()) == 12
    for name in tables():
        assert all(None not in row and None not in row.values() for row in published(name)), name


def test_a_wrong_name_has_a_neighbour():
    with pytest.raises(ValueError, match="did you mean 'quadboost_table1'"):
        published("quadbost_table1")
