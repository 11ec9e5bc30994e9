"""Tables that come in batches give the models of the whole table, to the bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from boostlab import AdaBoostClassifier, Binned, LogitBoostClassifier, SAMMEClassifier


def shop(n=400, seed=0):
    rng = np.random.default_rng(seed)
    cities = rng.choice(["Rome", "Oslo", "Wien"], n)
    frame = pd.DataFrame({"size": rng.normal(size=n), "city": cities, "age": rng.integers(0, 9, n)})
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "city"] = None
    like = frame["size"].fillna(0) + (frame["city"] == "Rome") + rng.normal(size=n)
    frame["sold"] = np.where(like > 0.5, "yes", "no")
    frame["w"] = rng.integers(0, 3, n)
    return frame


def in_parts(frame, sizes):
    ends = [0, *np.cumsum(sizes), len(frame)]
    return [frame.iloc[a:b] for a, b in pairwise(ends) if b > a]


MODELS = [
    AdaBoostClassifier(n_estimators=20),
    LogitBoostClassifier(n_estimators=10, max_leaf_nodes=5, early_stopping=True, random_state=0),
    AdaBoostClassifier(n_estimators=5, resample=True, random_state=0),
]


@pytest.mark.parametrize("sizes", [[400], [1, 70, 200], [399]])
@pytest.mark.parametrize("model", MODELS)
def test_models_of_the_whole_table(model, sizes):
    frame = shop()
    X, y, w = frame[["size", "city", "age"]], frame["sold"].to_numpy(), frame["w"].to_numpy()
    table = Binned.from_batches(in_parts(frame, sizes), target="sold", weight="w", max_bins=50)
    np.testing.assert_array_equal(table.target, y)
    np.testing.assert_array_equal(table.sample_weight, w)
    whole = Binned.fit(X, max_bins=50, sample_weight=w)
    np.testing.assert_array_equal(table.bins.points, whole.bins.points)
    model.fit(table, table.target, table.sample_weight)
    voters, of_numbers, of_codes = repr(model.estimators_), model.decision_function(X), model.decision_function(table)
    model.fit(whole, y, w)
    assert voters == repr(model.estimators_)
    np.testing.assert_array_equal(of_numbers, model.decision_function(X))
    np.testing.assert_array_equal(of_codes, of_numbers)


def test_a_generator_arrays_and_a_folder(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 11)), rng.integers(0, 3, 300)
    X[::7, 3] = np.nan
    made = Binned.from_batches(((X[i : i + 37], y[i : i + 37]) for i in range(0, 300, 37)), cache=tmp_path / "codes")
    assert (tmp_path / "codes" / "codes.npy").exists()
    some, whole = made.take(np.arange(0, 300, 2)), Binned.fit(X)
    for one, two, labels in ((made, whole, y), (some, whole[::2], y[::2])):
        models = [SAMMEClassifier(n_estimators=6).fit(table, labels) for table in (one, two)]
        assert repr(models[0].estimators_) == repr(models[1].estimators_)


def test_what_is_wrong_is_said_with_its_batch():
    parts = in_parts(shop(), [100, 100])
    with pytest.raises(ValueError, match="In batch 1: the columns are age"):
        Binned.from_batches([parts[0], parts[1][["age", "city", "sold"]]], target="sold")
    with pytest.raises(ValueError, match="In batch 1: Column 'size' holds text or categories, and held numbers before"):
        Binned.from_batches([parts[0], parts[1].assign(size="large")], target="sold")
    with pytest.raises(ValueError, match="there is no column 'gold'"):
        Binned.from_batches(parts, target="gold")
    with pytest.raises(ValueError, match="no rows"):
        Binned.from_batches([])
    with pytest.raises(TypeError, match="int is none of these"):
        Binned.from_batches(3)
    with pytest.raises(ValueError, match="In batch 1"):
        Binned.from_batches([np.zeros((3, 2)), np.full((3, 2), np.inf)])
    passes = iter([parts[:2], parts])
    with pytest.raises(ValueError, match="batch 2 changed while it was read"):
        Binned.from_batches(lambda: iter(next(passes)), target="sold")


def test_parquet_files(tmp_path):
    frame = shop()
    for number, part in enumerate(in_parts(frame, [150])):
        part.to_parquet(tmp_path / f"part-{number}.parquet", row_group_size=40)
    table = Binned.from_parquet(tmp_path / "part-*.parquet", target="sold", columns=["size", "city"], batch_rows=33)
    whole = Binned.fit(frame[["size", "city"]])
    np.testing.assert_array_equal(table.bins.points, whole.bins.points)
    models = [AdaBoostClassifier(n_estimators=9).fit(t, frame["sold"]) for t in (table, whole)]
    assert repr(models[0].estimators_) == repr(models[1].estimators_)
    assert models[0].score(frame[["size", "city"]], frame["sold"]) == models[1].score(whole, frame["sold"])
    (tmp_path / "part-1.parquet").write_bytes((tmp_path / "part-1.parquet").read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"part-1.parquet: it cannot be read as Parquet"):
        Binned.from_parquet(tmp_path / "part-*.parquet", target="sold")
    with pytest.raises(ValueError, match="There is no file"):
        Binned.from_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="No file is named like"):
        Binned.from_parquet(str(tmp_path / "x*.parquet"))
    with pytest.raises(ValueError, match=r"part-0.parquet, rows 0 to \d+: there is no column 'gold'"):
        Binned.from_parquet(tmp_path / "part-0.parquet", target="gold")
