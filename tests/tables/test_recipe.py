"""The recipe of a table: the same cells give the same numbers, whatever lies around them."""

import json
import re

import numpy as np
import pytest

import boostlab
from boostlab import datasets
from boostlab.studies import RequestError
from boostlab.tables.columns import RawSheet
from boostlab.tables.files import batches, read_raw
from boostlab.tables.leakage import leaks
from boostlab.tables.model import load_model, raw_sheet, save_model, table_model
from boostlab.tables.recipe import Recipe
from boostlab.tables.table import understand

N = 60


def ugly_rows():
    """Return the columns of an export as people get them."""
    rng = np.random.default_rng(0)
    words = ["parcel came late", "lovely box and fast", "broken on arrival, sad", "fast and good value"]
    columns = {
        "order no": [f"A-{i:04d}" for i in range(N)],
        "price": [f"${1000 * x:,.2f}" for x in rng.random(N)],
        "discount": [f"{x} %" if x else "" for x in rng.integers(0, 60, N)],
        "sent": [f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024" for i in range(N)],
        "member": [["Yes", "no", "NO"][i % 3] for i in range(N)],
        "city": [["Bern", "Oslo", "Köln"][i % 3] for i in range(N)],
        "note": [f"{words[i % 4]} {i}" for i in range(N)],
        "same": ["1"] * N,
        "bought": ["yes" if x > 0.5 else "no" for x in rng.random(N)],
    }
    return columns


def learnt():
    columns = ugly_rows()
    return understand(RawSheet(list(columns), list(columns.values()), N).sheet(), "t", "bought", folds=2)


def test_every_kind_of_column_is_understood_and_said():
    table = learnt()
    assert {one.name: one.kind for one in table.recipe.columns} == {
        "price": "number",
        "discount": "number",
        "sent": "date",
        "member": "boolean",
        "city": "category",
        "note": "text",
    }
    assert table.facts["Read as numbers"] == "price in $, discount in %"
    assert table.facts["Dates"] == "become days since 1970, month, weekday"
    assert "--text no" in table.facts["Text"]
    assert table.facts["Left out"].startswith("order no (an id? nearly all words differ); same (constant)")
    assert "note: has 'fast'" in table.feature_names
    assert table.X.shape == (N, len(table.feature_names))
    without = understand(raw_sheet(ugly_rows()).sheet(), "t", "bought", folds=2, text=False)
    assert "note (text; --text yes uses its length and words)" in without.facts["Left out"]


def test_a_shuffled_extended_reencoded_file_gives_the_same_numbers(tmp_path):
    table, columns = learnt(), ugly_rows()
    columns["city"][5] = "Rome"  # never seen: missing
    order = np.random.default_rng(1).permutation(N)
    names = ["extra", *reversed(list(columns))]
    columns["extra"] = ["ä;x"] * N
    lines = [";".join(f'"{columns[name][i]}"' for name in names) for i in order]
    path = tmp_path / "new.csv"
    path.write_bytes("\n".join([";".join(names), *lines]).encode("utf-16"))
    expected = table.X.copy()
    expected[5, table.feature_names.index("city")] = np.nan
    np.testing.assert_array_equal(table.recipe.matrix(read_raw(path)), expected[order])
    parts = [table.recipe.matrix(raw) for raw in batches(path, size=7)]
    assert [len(part) for part in parts] == [7] * 8 + [4]
    np.testing.assert_array_equal(np.concatenate(parts), expected[order])


def test_frames_and_excel_give_the_same_numbers(tmp_path):
    pandas = pytest.importorskip("pandas")
    table, frame = learnt(), pandas.DataFrame(ugly_rows())
    np.testing.assert_array_equal(table.recipe.matrix(raw_sheet(frame)), table.X)
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [list(frame), *frame.itertuples(index=False)]:
        book.active.append(list(row))
    book.save(tmp_path / "t.xlsx")
    np.testing.assert_array_equal(table.recipe.matrix(read_raw(tmp_path / "t.xlsx")), table.X)


def test_a_recipe_is_plain_data():
    recipe = learnt().recipe
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    for damage in ({}, {"columns": 3}, {**recipe.to_json(), "columns": [{"name": "x"}]}, [1]):
        with pytest.raises(ValueError, match="damaged"):
            Recipe.from_json(damage)


def test_a_model_file_carries_the_recipe_and_runs_no_code(tmp_path):
    table, path = learnt(), tmp_path / "m.boost"
    booster = boostlab.AdaBoostClassifier(n_estimators=5, categorical_features=table.categorical_features)
    model = table_model(table.recipe, booster.fit(table.X, table.labels()))
    save_model(model, path, {"rows": N})
    again, facts = load_model(path)
    assert facts == {"rows": N}
    raw = raw_sheet(ugly_rows())
    np.testing.assert_array_equal(again.predict_proba(raw), model.predict_proba(raw))
    assert again["recipe"].recipe == table.recipe
    np.testing.assert_array_equal(boostlab.load(path).predict(table.X), booster.predict(table.X))
    content = path.read_bytes()
    for damaged in (content[:40], content.replace(b'"kind": "date"', b'"kind": "fate"'), content[:-100]):
        path.write_bytes(damaged)
        with pytest.raises(RequestError, match=r"^[^\n]* is damaged \([^\n]*\); fit the model again\.$"):
            load_model(path)
    booster.save(path)
    with pytest.raises(RequestError, match="holds no recipe of a table"):
        load_model(path)


def test_missing_columns_are_named():
    columns = ugly_rows()
    del columns["price"]
    with pytest.raises(RequestError, match=r"new.csv lacks 1 of the 6 columns that the model takes: price; give"):
        learnt().recipe.matrix(raw_sheet(columns), "new.csv")


def test_leakage_is_warned_of():
    columns = ugly_rows()
    columns["refund"] = ["0" if word == "yes" else f"{50 + i}.5" for i, word in enumerate(columns["bought"])]
    table = understand(raw_sheet(columns).sheet(), "t", "bought", folds=2)
    assert [text.split(":")[0] for text in table.warnings] == ["'refund' alone predicts 100 % of the rows"]
    assert "--drop" in table.warnings[0]
    assert learnt().warnings == []
    numbers = {"x": list(range(60)), "noise": [i * 7 % 60 for i in range(60)], "y": [3.0 * i + 0.5 for i in range(60)]}
    numeric = understand(raw_sheet(numbers).sheet(), "t", "y", folds=2, keep=["x", "noise"])
    assert [text.split()[0] for text in numeric.warnings] == ["'x'"]


def test_a_column_that_nearly_says_the_target_is_warned_of():
    """By its order of the rows, and only where the others together say much less."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    weak = y + rng.normal(0, 1.5, 600)
    late = np.where(rng.random(600) < 0.97, y * 2 - 1, 0) + rng.normal(0, 0.3, 600)  # wrong on 1 to 2 % of the rows
    alone = leaks(np.column_stack([weak, late]), y, [], False)
    assert list(alone) == [1]
    assert re.fullmatch(r"alone has an AUC of 0.9\d\d, all others together 0.[67]\d\d", alone[1])
    strong = np.where(rng.random(600) < 0.97, y * 2 - 1, 0) + rng.normal(0, 0.3, 600)
    assert leaks(np.column_stack([strong, late]), y, [], False) == {}  # one of two that are as good
    price = rng.normal(size=600)
    numbers = leaks(np.column_stack([weak, price + rng.normal(0, 0.15, 600)]), price, [], True)
    assert list(numbers) == [1]
    assert re.fullmatch(r"alone explains 9\d % of the variance, all others together 0 %", numbers[1])


@pytest.mark.parametrize("name", ["german", "wine", "mushrooms", "spambase", "segmentation"])
def test_no_leak_is_seen_in_real_tables(name):
    """The odour of mushrooms tells 98 % of them, but the other columns tell all of them, too."""
    if datasets.where(name) is None:
        pytest.skip(f"{name} is not at hand")
    data = datasets.load(name)
    y = np.unique(data.y, return_inverse=True)[1]
    rows = np.arange(len(y))[:: 1 + len(y) // 3000]
    X = np.asarray(data.X, float)[rows]
    assert leaks(X, y[rows], list(data.categorical_features or []), False) == {}


def test_many_values_are_a_number_to_predict():
    numbers = {"x": [i % 7 for i in range(60)], "price": [f"{100 * i + 5:,}" for i in range(60)]}
    table = understand(raw_sheet(numbers).sheet(), "t", "price", folds=2)
    assert table.is_numeric
    assert table.facts["Numbers"] == "from 5 to 5,905, half of them below 2,955"
    few = {"x": [i % 7 for i in range(60)], "stars": [i % 5 for i in range(60)]}
    assert not understand(raw_sheet(few).sheet(), "t", "stars", folds=2).is_numeric
    assert understand(raw_sheet(few).sheet(), "t", "stars", folds=2, numeric=True).is_numeric


def test_a_recipe_names_the_values_of_booleans():
    """The matrix holds 0 and 1; a row that is explained says no and yes."""
    recipe = learnt().recipe
    named = dict(zip(recipe.feature_names, recipe.value_names, strict=True))
    assert named["member"] == ("no", "yes")
    assert named["price"] is None
    assert "Oslo" in named["city"]
