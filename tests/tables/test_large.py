"""Files that are read in batches are understood as whole ones are, and give the same models."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from boostlab.cli import app
from boostlab.data.binned import Binned
from boostlab.studies.request import RequestError
from boostlab.tables import large, memory
from boostlab.tables.columns import read_column
from boostlab.tables.files import batches, read
from boostlab.tables.large import Coding, LargeFile, choose_reading, understand_large
from boostlab.tables.memory import batch_rows
from boostlab.tables.model import load_model
from boostlab.tables.seen_columns import seen_columns
from boostlab.tables.table import understand

TEXTS = ("a fine day in {}", "nobody came to {} that night", "rain and snow in {} again")


def ugly(n=90, seed=0):
    """Return a table in which every kind of column has a surprise late in the file."""
    rng = np.random.default_rng(seed)
    towns = [f"Town {i}" for i in range(n)]
    late = np.arange(n) > 0.7 * n
    x = rng.normal(size=n).round(3)
    return pd.DataFrame(
        {
            "row id": np.arange(n) + 5,
            "x": x,
            "late gap": np.where(late & (rng.random(n) < 0.5), "", rng.integers(0, 99, n).astype(str)),
            "late word": np.where(late, "none of these", rng.integers(0, 9, n).astype(str)),
            "price": [f"${v:,.2f}" if b else f"{v:.0f}" for v, b in zip(rng.random(n) * 5000, late, strict=True)],
            "day": pd.date_range("2024-01-25", periods=n, freq="7h").strftime("%Y-%m-%d %H:%M"),
            "yes": np.where(rng.random(n) < 0.5, "yes", "No"),
            "city": rng.choice(["Rome", "Oslo", "", "Wien"], n),
            "note": [TEXTS[i % 3].format(towns[i]) for i in range(n)],
            "name": towns,
            "constant": 1,
            "odd": np.where(np.arange(n) == 1, np.inf, rng.random(n)),
            "label": np.where(x + rng.normal(size=n) > 0, "good", np.where(np.arange(n) == 40, "", "bad")),
        }
    )


def short_of_memory(monkeypatch, rows):
    """Let memory suffice for so many rows of such a table at a time."""
    monkeypatch.setattr("boostlab.tables.memory.free_memory", lambda: 512 * 13 * rows)
    assert batch_rows(13) == rows


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=25)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("target", ["label", "price", "x"])
def test_a_large_file_is_understood_as_a_whole_one(tmp_path, kind, target):
    pytest.importorskip("pyarrow")
    frame = ugly()
    if kind == "parquet":
        frame["count"] = pd.array([None if i % 9 == 0 else i % 7 for i in range(len(frame))], "Int64")
        frame["when"] = pd.date_range("2024-02-28", periods=len(frame), freq="D")
        frame["flag"] = pd.array([None if i == 3 else i % 3 == 0 for i in range(len(frame))], "boolean")
    path = write(frame, tmp_path / f"t.{kind}")
    whole = understand(read(path), "t", target, folds=2)
    for size in (7, 1000):
        large = understand_large(LargeFile(path, size=size), "t", target, folds=2)
        assert large.recipe == whole.recipe
        assert large.facts == whole.facts
        assert large.warnings == whole.warnings
        np.testing.assert_array_equal(large.y, whole.y)
        np.testing.assert_array_equal(large.drawn(np.arange(len(whole.y))[::-1]), whole.X[::-1])
        bins = Binned.fit(whole.X, categorical_features=whole.categorical_features or "from_dtype").bins
        np.testing.assert_array_equal(large.X.bins.points, bins.points)


CELLS = ["1", "2.5", "", "?", "1,234", "1.234,5", "$3", "4 kg", "5%", "2024-01-02", "02/01/2024", "13/01/2024", "yes"]
CELLS += ["No", "red", "inf", "1_0", "nan", "3,5", "20240103", "12:30", "Infinity", "(4)", "1 234", "true", "-"]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4), min_size=1, max_size=4), st.booleans())
def test_forms_do_not_depend_on_batches(parts, decimal_comma):
    class Raw:
        names, remarks = ("a",), ()

        def __init__(self, cells):
            self.cells, self.n_rows, self.decimal_comma = [cells], len(cells), decimal_comma

    whole = read_column("a", [cell for part in parts for cell in part], None, decimal_comma)
    column = seen_columns(lambda: [("", Raw(part)) for part in parts])[0][0]
    if whole.n_distinct:  # an empty column is left out, whatever its form
        assert column.form == whole.form
    facts = ("n_missing", "n_distinct", "holds_words", "distinct_words", "is_whole", "holds_text")
    for fact in facts if whole.n_distinct else facts[1:2]:
        assert getattr(column, fact) == getattr(whole, fact), fact
    if whole.form.kind == "date" and whole.n_distinct:
        assert column.varying_parts == whole.varying_parts


def test_what_is_read_in_batches_is_said(tmp_path, monkeypatch):
    path = write(ugly(), tmp_path / "t.csv")
    assert not choose_reading(path).in_batches
    size = path.stat().st_size
    monkeypatch.setattr("boostlab.tables.large.free_memory", lambda: 20 * size)
    reading = choose_reading(path)
    assert reading.in_batches
    assert re.fullmatch(
        r"t\.csv is read in batches: as a whole it would take about \d+ kB of the \d+ kB of memory that are free; one "
        r"byte a cell is kept, in memory\.",
        reading.why,
    )
    assert not choose_reading(path, "no").in_batches
    with pytest.raises(RequestError, match="auto, yes or no"):
        choose_reading(path, "perhaps")
    with pytest.raises(RequestError, match="cannot be read in batches; save it as CSV"):
        choose_reading(tmp_path / "t.xlsx", "yes")
    assert 0 < memory.free_memory() < 1 << 50


def run(*arguments):
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_fit_and_predict_in_batches_give_the_model_of_the_whole_file(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    short_of_memory(monkeypatch, 31)
    frame = ugly(200)
    path = write(frame, tmp_path / "t.parquet")
    boost = ("--booster", "adaboost", "--set", "n_estimators=9", "--set", "early_stopping=True", "--set", "max_bins=20")
    common = ("fit", path, "--target", "label", *boost)
    assert run(*common, "--out", tmp_path / "whole.boost").exit_code == 0
    cache = ("--cache", tmp_path / "codes")
    done = run(*common, "--in-batches", "yes", *cache, "--out", tmp_path / "parts.boost")
    assert done.exit_code == 0
    assert f"t.parquet is read in batches, as asked, and one byte a cell is kept, in {tmp_path / 'codes'}" in (
        " ".join(done.stdout.split())
    )
    assert (tmp_path / "codes" / "codes.npy").exists()
    (one, about), (two, also) = (load_model(tmp_path / f"{name}.boost") for name in ("whole", "parts"))
    assert repr(one["booster"].estimators_) == repr(two["booster"].estimators_)
    np.testing.assert_array_equal(one["booster"].estimator_weights_, two["booster"].estimator_weights_)
    for fact in ("facts", "warnings", "training", "importances", "rounds", "stop"):
        assert about[fact] == also[fact]
    monkeypatch.setattr("boostlab.tables.files.read_raw", None)  # the whole file is not read
    assert run("predict", tmp_path / "parts.boost", path, "--out", tmp_path / "p.csv").exit_code == 0
    scored = pd.read_csv(tmp_path / "p.csv")
    assert len(scored) == len(frame)
    assert (scored["predicted label"] == scored["label"]).mean() > 0.6
    done = run("fit", path, "--target", "label", "--in-batches", "yes", "--out", tmp_path / "auto.boost")
    assert done.exit_code == 0
    assert "LogitBoost with trees of" in done.stdout


def test_compare_in_batches_draws_rows_and_fits_all(tmp_path, monkeypatch):
    short_of_memory(monkeypatch, 31)
    frame = ugly(150)
    for number, part in enumerate((frame[:60], frame[60:])):
        write(part, tmp_path / f"t-{number}.csv")
    write(frame, tmp_path / "t.csv")
    outcome = []
    for name, path in (("whole", "t.csv"), ("parts", "t-*.csv")):
        options = ("--boosters", "AdaBoost", "--folds", 2, "--rounds", 4, "--with-peers", "no", "--jobs", 1)
        done = run(
            "compare", tmp_path / path, "--target", "label", *options, "--max-rows", 100, "--out", tmp_path / name
        )
        assert done.exit_code == 0
        model = load_model(tmp_path / name / "model.boost")[0]["booster"]
        outcome.append((repr(model.estimators_), re.findall(r"AdaBoost .*?%", done.stdout)))
    assert outcome[0] == outcome[1]
    assert "are read in batches" in " ".join(done.stderr.split())
    for path in ("t.csv", "t-*.csv"):
        done = run("predict", tmp_path / "parts" / "model.boost", tmp_path / path, "--out", tmp_path / "p.out")
        assert done.exit_code == 0
        outcome.append((tmp_path / "p.out").read_text())
    assert outcome[2] == outcome[3]


def test_what_is_wrong_is_said_with_file_and_rows(tmp_path):
    pytest.importorskip("pyarrow")
    frame = ugly()
    text = write(frame, tmp_path / "t.csv").read_text().splitlines()
    (tmp_path / "t.csv").write_text("\n".join([*text[:60], "1,2,3", *text[60:]]))
    wrong = {"t.csv": r"t\.csv is not a table: line 61 has 3 cells where the first has 13"}
    write(frame, tmp_path / "a-1.parquet")
    write(frame.drop(columns="city"), tmp_path / "a-2.parquet")
    wrong["a-*.parquet"] = r"In .*a-2\.parquet, rows 1 to 20: the columns are row id, .* and those before"
    write(frame, tmp_path / "b-1.parquet")
    write(frame.assign(x="many"), tmp_path / "b-2.parquet")
    wrong["b-*.parquet"] = r"In .*b-2\.parquet, rows 1 to 20: the column 'x' holds text, and held numbers before"
    content = bytearray((tmp_path / "a-1.parquet").read_bytes())
    content[len(content) // 3 : len(content) // 2] = b"\xff" * (len(content) // 2 - len(content) // 3)
    (tmp_path / "c.parquet").write_bytes(content)
    wrong["c.parquet"] = r"c\.parquet cannot be read( from row \d+)? as Parquet"
    for name, sentence in wrong.items():
        with pytest.raises(RequestError, match=sentence):
            understand_large(LargeFile(tmp_path / name, size=20), "t", "label", folds=2)
    path, passes = write(frame, tmp_path / "d.csv"), []

    class Changing(LargeFile):
        def batches(self):
            passes.append(1)
            if len(passes) == 4:
                write(frame[::-1], path)
                os.utime(path, ns=(1, 1))
            return super().batches()

    with pytest.raises(RequestError, match=r"In .*d\.csv: it changed while it was read"):
        understand_large(Changing(path, size=20), "t", "label", folds=2)


KILLED = """
import os, signal, sys
from boostlab.cli import main
from boostlab.data import code_cache
note = code_cache.CodeCache.note
def once(self, rows):
    note(self, rows)
    if rows >= 100:
        os.kill(os.getpid(), signal.SIGKILL)
code_cache.CodeCache.note = once
from boostlab.tables import memory
memory.free_memory = lambda: 512 * 13 * 20  # 20 rows a batch
sys.argv[0] = "boostlab"
main()
"""


def test_a_killed_fit_goes_on_where_it_was(tmp_path, monkeypatch):
    path, codes, out = write(ugly(200), tmp_path / "t.csv"), tmp_path / "codes", tmp_path / "m.boost"
    command = ["fit", path, "--target", "label", "--booster", "adaboost", "--cache", codes, "--out", out]
    command = [str(word) for word in command]
    done = subprocess.run([sys.executable, "-c", KILLED, *command], capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert not out.exists()
    from boostlab.data import coding

    coded, keys = [], coding.row_keys
    monkeypatch.setattr(coding, "cuts_of_blocks", None)
    monkeypatch.setattr(coding, "row_keys", lambda X, t: coded.append(len(X)) or keys(X, t))
    short_of_memory(monkeypatch, 20)
    assert run(*command).exit_code == 0
    assert 0 < sum(coded) < 110
    voters = repr(load_model(out)[0]["booster"].estimators_)
    assert run(*command[:6], "--out", out).exit_code == 0
    assert repr(load_model(out)[0]["booster"].estimators_) == voters


def test_batches_find_a_missing_header(tmp_path):
    (tmp_path / "t.csv").write_text("1,2\n3,4\n5,6\n")
    (raw,) = batches(tmp_path / "t.csv")
    assert (raw.names, raw.n_rows) == (["column 1", "column 2"], 3)


def test_text_is_parsed_twice_and_kept_as_numbers_on_disk(tmp_path, monkeypatch):
    """Once to understand its columns, once for their numbers, which later passes read from the disk."""
    gc.freeze()  # the collector below need not look at what other tests have left
    opened, numbers = [], []
    monkeypatch.setattr(large, "batches", lambda *args: (opened.append(args[2]), batches(*args))[1])
    monkeypatch.setattr("boostlab.tables.forms._value", lambda cell, form: numbers.append(cell))  # one by one: slow
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    rows = [f"{x!r},{'ab'[x > 0]}" for x in rng.normal(size=300).tolist()]
    path.write_text("\n".join(["x,label", *rows]))
    table = understand_large(LargeFile(path, size=50), "t", "label", folds=2, coding=Coding(tmp_path / "codes"))
    assert opened == [50, 50]
    assert not numbers
    kept = [*(tmp_path / "codes").glob("boostlab-spool-*")]
    assert len(kept) == 1
    np.testing.assert_array_equal(table.drawn(np.array([7, 3]))[:, 0], [float(rows[i].split(",")[0]) for i in (7, 3)])
    assert opened == [50, 50]
    del table
    gc.collect()
    assert not kept[0].exists()


def test_batches_are_small_where_rows_are_wide_or_memory_is_short(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,label", *(f"{i},{'ab'[i % 2]}" for i in range(900))]))
    assert [raw.n_rows for raw in batches(path)] == [900]
    monkeypatch.setattr("boostlab.tables.memory.free_memory", lambda: 512 * 2 * 300)
    assert [raw.n_rows for raw in batches(path)] == [300] * 3
    assert batch_rows(1 << 20) == 16
    file = LargeFile(path)
    assert len([*file.batches()]) == 3
    monkeypatch.setattr("boostlab.tables.memory.free_memory", lambda: 0)
    assert len([*file.batches()]) == 3  # the same in all passes
