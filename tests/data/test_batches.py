"""Tables that come in batches give the models of the whole table, to the bit."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.tree import DecisionTreeClassifier

from boostlab import AdaBoostClassifier, Binned, LogitBoostClassifier, SAMMEClassifier
from boostlab.data import batches, code_cache, coding, table_search


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


def test_what_is_no_batch_is_refused_in_one_sentence(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    for given, sentence in [
        (str(tmp_path / "t.parquet"), r"t\.parquet is a path; Binned\.from_parquet reads Parquet files"),
        (tmp_path / "t.csv", r"t\.csv is a path"),
        ([y, y], "In batch 0: batches are tables of rows and columns, or tuples"),
        ((X, y), "In batch 1: batches are tables of rows and columns, or tuples"),
        ([(X, y, y, y)], "In batch 0: a tuple holds X, labels and weights, and this one has 4 members"),
        ([(X, y, y - 1.0)], "In batch 0: every weight must be a finite number of at least 0"),
        ([(X, y, y * np.nan)], "In batch 0: every weight must be a finite number of at least 0"),
        ([(X, y, y * 0)], "All weights are zero"),
        ([(X, y), (X, y.astype(str))], "In batch 1: labels are text here and numbers elsewhere"),
        ([X * 1j], "In batch 0: Complex data not supported; give real numbers"),
        ([X, np.where(X > 5, np.inf, X)], r"In batch 1: Input X contains infinity .*\(first in column 0\); put NaN"),
    ]:
        with pytest.raises((ValueError, TypeError), match=sentence) as caught:
            Binned.from_batches(given)
        assert "\n" not in str(caught.value)
    pytest.importorskip("pyarrow")
    shop().to_parquet(tmp_path / "t.parquet")
    for options, sentence in [
        ({"columns": "size"}, "columns='size' is one name; give a list"),
        ({"columns": ["size", "colour"]}, r"t\.parquet: there is no column 'colour'; the columns are size, city"),
        ({"batch_rows": 0}, "batch_rows=0 is not possible; give a whole number of at least 1"),
    ]:
        with pytest.raises((ValueError, TypeError), match=sentence):
            Binned.from_parquet(tmp_path / "t.parquet", target="sold", **options)


def test_other_rows_are_read_by_the_bins_of_the_training_table(tmp_path):
    """Codes of other bins do not tell on which side of a model's cuts a row is."""
    frame, other = shop(900), shop(500, seed=1)
    other.loc[7, "city"] = "Bern"  # a new category is a missing one, as in a plain table
    names = ["size", "city", "age"]
    train = Binned.from_batches(in_parts(frame, [500]), target="sold", weight="w", max_bins=20)
    rest = Binned.from_batches(in_parts(other, [200]), target="sold", weight="w", like=train, cache=tmp_path / "c")
    np.testing.assert_array_equal(rest.target, other["sold"])
    assert rest.bins is train.bins
    model = AdaBoostClassifier(n_estimators=30, early_stopping=True, n_iter_no_change=9)
    given = train, train.target, train.sample_weight
    model.fit(*given, X_val=rest, y_val=rest.target, sample_weight_val=rest.sample_weight)
    np.testing.assert_array_equal(model.decision_function(rest), model.decision_function(other[names]))
    told = model.history_["validation_score"].tolist(), repr(model.estimators_)
    model.fit(*given, X_val=other[names], y_val=other["sold"], sample_weight_val=other["w"])
    assert (model.history_["validation_score"].tolist(), repr(model.estimators_)) == told
    own = Binned.from_batches(in_parts(shop(500, seed=2), [200]), target="sold", weight="w", max_bins=20)
    with pytest.raises(ValueError, match="the cuts of its bins are not those of the training table; read it by"):
        model.fit(*given, X_val=own, y_val=own.target)
    for fitted in (model, LogitBoostClassifier(n_estimators=3, max_leaf_nodes=4).fit(*given)):
        with pytest.raises(ValueError, match="the cuts of its bins are not those of the training table; read it by"):
            fitted.predict(own)
        same = Binned.from_batches(in_parts(frame, [100]), target="sold", weight="w", max_bins=20)
        np.testing.assert_array_equal(fitted.predict(same), fitted.predict(frame[names]))  # the same cuts


def test_learners_that_look_at_numbers_are_refused():
    frame = shop()
    table = Binned.from_batches([frame.drop(columns="city")], target="sold", weight="w", max_bins=20)
    with pytest.raises(TypeError, match=r"^DecisionTreeClassifier looks at numbers, .* holds bin codes"):
        AdaBoostClassifier(DecisionTreeClassifier()).fit(table, table.target)
    with pytest.raises(TypeError, match="holds bin codes"):
        np.asarray(table)
    numbers = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=2).fit(frame[["size", "age"]], frame["sold"])
    with pytest.raises(ValueError, match="not those of the training table"):
        numbers.predict(table)


def test_parquet_files(tmp_path):
    frame = shop()
    for number, part in enumerate(in_parts(frame, [150])):
        part.to_parquet(tmp_path / f"part-{number}.parquet", row_group_size=40)
    table = Binned.from_parquet(tmp_path / "part-*.parquet", target="sold", columns=["size", "city"], batch_rows=33)
    assert len(Binned.from_parquet(tmp_path, target="sold")) == len(frame)  # all in a folder
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


def test_lazy_frames_arrow_and_sparse_batches(tmp_path):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = shop()
    frame.to_parquet(tmp_path / "t.parquet")
    whole = Binned.fit(frame.drop(columns=["sold", "w"]))
    arrow = pa.Table.from_pandas(frame.drop(columns="w"))
    lazy = pl.scan_parquet(tmp_path / "t.parquet").drop("w")
    dataset = pytest.importorskip("pyarrow.dataset").dataset(arrow)
    several = [
        lazy,
        dataset,
        dataset.scanner(batch_size=80),
        [*dataset.get_fragments()],
        arrow.to_batches()[0],
        arrow,
        arrow.to_reader(70),
        arrow.to_batches(70),
        lambda: iter(arrow.to_batches(33)),
        frame,
    ]
    with pytest.raises(TypeError, match=r"give Binned.from_batches this InMemoryDataset\.$"):
        Binned.from_parquet(dataset)
    for given in several:
        weight = "w" if given is frame else None
        made = Binned.from_batches(given, target="sold", weight=weight)
        np.testing.assert_array_equal(made.target, frame["sold"])
        if weight is None:
            np.testing.assert_array_equal(made.bins.points, whole.bins.points)
            models = [AdaBoostClassifier(n_estimators=5).fit(t, frame["sold"]) for t in (made, whole)]
            assert repr(models[0].estimators_) == repr(models[1].estimators_)
    model = AdaBoostClassifier(n_estimators=5).fit(whole, frame["sold"])
    plain = model.predict(frame.drop(columns=["sold", "w"]))
    for batch in (arrow.drop(["sold"]), arrow.drop(["sold"]).to_batches()[0]):  # with its columns' names
        np.testing.assert_array_equal(model.predict(batch), plain)
    with pytest.raises(TypeError, match=r"X is a lazy frame; call X\.collect"):
        model.predict(lazy)
    X = csr_array(np.where(np.random.default_rng(0).random((300, 6)) < 0.8, 0, np.arange(1800).reshape(300, 6) % 17))
    y = np.asarray(X.sum(axis=1) > 14).ravel()
    made, whole = Binned.from_batches([(X[:100], y[:100]), (X[100:], y[100:])]), Binned.fit(X)
    models = [AdaBoostClassifier(n_estimators=9, early_stopping=True, random_state=0).fit(t, y) for t in (made, whole)]
    assert repr(models[0].estimators_) == repr(models[1].estimators_)


def test_long_lazy_frames_and_datasets_are_read_in_several_batches():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    n = batches.SLICE + 5000
    arrow = pa.table({"x": rng.normal(size=n).round(1), "sold": rng.random(n) < 0.5})
    whole = Binned.fit(arrow.drop(["sold"]).to_pandas())
    dataset = pytest.importorskip("pyarrow.dataset").dataset(arrow)
    for given in (pl.from_arrow(arrow).lazy(), dataset, [*dataset.get_fragments()]):
        made = Binned.from_batches(given, target="sold")
        np.testing.assert_array_equal(made.target, arrow["sold"].to_numpy(), err_msg=type(given).__name__)
        np.testing.assert_array_equal(made.bins.points, whole.bins.points, err_msg=type(given).__name__)


def test_memory_grows_by_less_than_a_tenth_of_the_file(tmp_path, monkeypatch):
    """So that a file ten times the memory is read and fitted, its codes in a folder (benchmarks/larger_than_memory)."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng, usual, sizes, peaks = np.random.default_rng(0), pa.default_memory_pool(), [], []
    monkeypatch.setattr(table_search, "free_memory", lambda: 1 << 24)
    schema = pa.schema([*((f"x{j}", pa.float64()) for j in range(100)), ("y", pa.bool_())])
    for n in (3000, 6000, 18_000):  # the first loads what is needed
        file = tmp_path / f"{n}.parquet"
        with parquet.ParquetWriter(file, schema, use_dictionary=False, compression="none") as out:
            for _ in range(n // 3000):
                X = rng.normal(size=(3000, 100))
                out.write_table(pa.table([*X.T, X[:, 0] + X[:, 1] > 0], schema=schema))
        counted = pa.proxy_memory_pool(usual)
        pa.set_memory_pool(counted)
        if sizes:
            tracemalloc.start()
        options = dict(target="y", max_bins=8, cache=tmp_path / f"codes-{n}", batch_rows=3000, n_jobs=1)
        table = Binned.from_parquet(file, **options)
        AdaBoostClassifier(n_estimators=3, n_jobs=1).fit(table, table.target)
        peaks.append(tracemalloc.get_traced_memory()[1] + counted.max_memory())  # the first is of no use
        tracemalloc.stop()
        pa.set_memory_pool(usual)
        sizes.append(file.stat().st_size)
    assert peaks[2] - peaks[1] < (sizes[2] - sizes[1]) / 10


def test_a_file_is_never_whole_in_memory(tmp_path):
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40_000, 5)), columns=list("abcde"))
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=1000)
    size, most = (tmp_path / "t.parquet").stat().st_size, 0
    for _ in batches.parquet_batches(tmp_path / "t.parquet", None, None, None, 1000):
        most = max(most, pa.total_allocated_bytes())
    assert most < size / 5


KILLED = """
import os, signal, sys
from boostlab import Binned
from boostlab.data import code_cache
note = code_cache.CodeCache.note
def once(self, rows):
    note(self, rows)
    if rows >= 200:
        os.kill(os.getpid(), signal.SIGKILL)
code_cache.CodeCache.note = once
Binned.from_parquet(sys.argv[1], target="sold", weight="w", batch_rows=50, cache=sys.argv[2])
"""


def test_a_killed_run_is_gone_on_with(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    frame, file, folder = shop(), tmp_path / "t.parquet", tmp_path / "codes"
    frame.to_parquet(file, row_group_size=100)
    done = subprocess.run([sys.executable, "-c", KILLED, str(file), str(folder)], timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert {f.name for f in folder.iterdir()} == set(code_cache.FILES)
    searched, coded = [], []
    cuts, keys = coding.cuts_of_blocks, coding.row_keys
    monkeypatch.setattr(coding, "cuts_of_blocks", lambda *a: searched.append(1) or cuts(*a))
    monkeypatch.setattr(coding, "row_keys", lambda X, t: coded.append(len(X)) or keys(X, t))
    whole = Binned.fit(frame[["size", "city", "age"]], sample_weight=frame["w"])
    expected = repr(LogitBoostClassifier(n_estimators=5).fit(whole, frame["sold"], frame["w"]).estimators_)

    def again():
        searched.clear()
        coded.clear()
        table = Binned.from_parquet(file, target="sold", weight="w", batch_rows=50, cache=folder)
        fitted = LogitBoostClassifier(n_estimators=5).fit(table, table.target, table.sample_weight)
        assert repr(fitted.estimators_) == expected
        return len(searched), sum(coded)

    assert again() == (0, 200)  # the cuts and half of the codes were there
    assert again() == (0, 0)
    frame.to_parquet(file, row_group_size=90)  # another file: from the start
    assert again() == (1, 400)
    (folder / code_cache.CUTS).write_bytes(b"damaged")
    assert again() == (1, 400)


def test_what_fails_half_way_leaves_nothing(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="In batch 1"):
        Binned.from_batches([np.zeros((3, 2)), np.full((3, 2), np.inf)], cache=tmp_path / "a")
    turns = []

    def failing():
        turns.append(1)
        yield np.arange(6.0).reshape(3, 2)
        if len(turns) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Binned.from_batches(failing, cache=tmp_path / "b")
    assert not any((tmp_path / "b").iterdir())
    left, kept = tmp_path / f"{batches._SPOOL}999999999-x", tmp_path / f"{batches._SPOOL}{os.getpid()}-x"
    left.mkdir()
    kept.mkdir()
    monkeypatch.setattr(batches.tempfile, "tempdir", str(tmp_path))
    Binned.from_batches(np.eye(3)[:i] for i in (2, 3))
    assert kept.exists()
    assert not left.exists()


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    """It is found out before codes are written to mapped files, where it would end the process."""
    asked = []

    def full(descriptor, start, size):
        asked.append((start, size, os.fstat(descriptor).st_size))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    said = r"The codes cannot be kept in .* \(no space left on device\); name a folder with 0\.5 MB to spare\.$"
    with pytest.raises(ValueError, match=said):
        Binned.from_batches([np.random.default_rng(0).normal(size=(60_000, 7))], cache=tmp_path / "codes")
    assert not any((tmp_path / "codes").iterdir())
    ((start, size, whole),) = asked
    assert start == 0
    assert size == whole > 480_000  # the columns lie in groups of four


def test_files_that_change_and_row_groups_that_cannot_be_read(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    frame, file = shop(), tmp_path / "t.parquet"
    frame.to_parquet(file, row_group_size=100)
    cuts = coding.cuts_of_blocks

    def changing(*args):
        found = cuts(*args)
        frame.iloc[::-1].to_parquet(file, row_group_size=50)
        return found

    monkeypatch.setattr(coding, "cuts_of_blocks", changing)
    with pytest.raises(ValueError, match=r"^In .*t\.parquet: it changed while it was read; run it again"):
        Binned.from_parquet(file, target="sold")
    monkeypatch.undo()
    other = tmp_path / "u.parquet"
    frame.assign(size="large").to_parquet(other)
    with pytest.raises(ValueError, match=r"^In .*u\.parquet, rows 0 to 399: Column 'size' holds text"):
        Binned.from_parquet([file, other], target="sold")
    frame.drop(columns="age").to_parquet(other)
    with pytest.raises(ValueError, match=r"^In .*u\.parquet, rows 0 to 399: the columns are size, city, w, and those"):
        Binned.from_parquet([file, other], target="sold")
    from pyarrow import parquet

    frame.to_parquet(file, row_group_size=100, compression="zstd")
    chunk = parquet.ParquetFile(file).metadata.row_group(2).column(0)
    content = bytearray(Path(file).read_bytes())
    at = chunk.dictionary_page_offset or chunk.data_page_offset
    content[at : at + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    Path(file).write_bytes(content)
    with pytest.raises(ValueError, match=r"^In .*t\.parquet, from row 200: it cannot be read as Parquet"):
        Binned.from_parquet(file, target="sold", batch_rows=100)
