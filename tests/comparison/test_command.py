"""`boostlab compare` from end to end: the table, the ranking, the page, going on, and mistakes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import boostlab
from boostlab.cli import app, main
from boostlab.comparison import screen
from boostlab.comparison.command import CompareOptions, seconds_of
from boostlab.comparison.methods import suitable
from boostlab.comparison.protocol import NestedCV
from boostlab.datasets import twonorm
from boostlab.studies import worker

posix = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
PAIR = ["--boosters", "AdaBoost,MadaBoost", "--with-peers", "no", "--jobs", "1"]
SMALL = ["--folds", "2", "--repeats", "1", "--rounds", "4", *PAIR]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in an empty folder that holds shop.csv."""
    X, y = twonorm(120, random_state=0)
    lines = ["id,size,weight,colour,kept"]
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        colour = "" if i % 9 == 0 else "red" if row[2] > 0 else "blue"
        lines.append(f"{i},{row[0]:.3f},{row[1]:.3f},{colour},{'yes' if label > 0 else 'no'}")
    (tmp_path / "shop.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def run(here):
    def call(*arguments):
        result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


# -- from outside ----------------------------------------------------------------------------------------------------


def test_a_mistake_at_the_entry_point_has_no_traceback(here, monkeypatch, capfd):
    """Others are made below it."""
    monkeypatch.setattr(sys, "argv", ["boostlab", "compare", "shop.csv", "--target", "kep"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.startswith("boostlab: There is no column 'kep'; did you mean 'kept'?")
    assert said.err.count("\n") == 1


@posix
def test_killed_or_stopped_it_goes_on(here):
    """Killed while it writes, whatever the moment: the next run is not refused, and what lies in the folder is whole.
    Stopped or killed between cells: what is finished is kept, and the same command computes the rest.
    """
    script = Path(__file__).with_name("killed_compare.py")
    longer = ["--rounds", "12", "--folds", "3", *PAIR]
    command = [sys.executable, script, "shop.csv", " ".join(SMALL), " ".join(longer)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    attempts = found["attempts"]
    assert len(attempts) > 8
    assert attempts == [[-signal.SIGKILL]] * (len(attempts) - 1) + [[0]]
    assert "## Ranking" in (here / "killed" / "README.md").read_text()
    for how, code in (("SIGINT", 130), ("SIGKILL", -signal.SIGKILL)):
        one = found[how]
        kept = len(one["kept"])
        assert (one["code"], one["again"]) == (code, 0)
        assert 2 <= kept < 12
        assert len(one["after"]) == 12
        assert len(set(one["after"])) == 2
        assert one["after"][:kept] == one["kept"] == [one["kept"][0]] * kept
        assert "Traceback" not in one["err"]
    said = " ".join(found["SIGINT"]["out"].split())
    kept = len(found["SIGINT"]["kept"])
    assert f"stopped by Ctrl-C: {kept} of 12 cells are kept" in said
    report = found["SIGINT"]["report"]
    assert f"Not finished, because it was stopped by Ctrl-C: {kept} of 12 cells." in report
    assert "How it was done" in report
    assert found["SIGINT"]["models"] == []  # no fit goes on after Ctrl-C


# -- from inside -----------------------------------------------------------------------------------------------------


def test_a_table_and_once_more(here, run):
    """From outside, with two processes: tests/cli/test_entry_point.py."""
    done = run("shop.csv", "--target", "kept", *SMALL)
    said = [line for line in done.stderr.splitlines() if not line.startswith(("boostlab compiles", "shop: "))]
    assert (done.exit_code, said) == (0, [])
    out = done.stdout
    for text in (
        "no (54, 45 %), yes (66, 55 %)",
        "2 of numbers, 1 of categories (colour)",
        "14 cells (3.9 %) in colour",
    ):
        assert text in out
    assert "id (an id? all its numbers differ)" in out
    assert "Choose " in out
    assert "4 of 4 cells finished" in out
    assert max(map(len, out.splitlines())) <= 80
    page = (here / "shop-boosters" / "README.md").read_text()
    assert "## Ranking" in page
    assert "boostlab compare shop.csv --target kept --boosters AdaBoost,MadaBoost" in page
    assert "![Errors by round](errors-by-round.png)" in page
    names = {path.name for path in (here / "shop-boosters").iterdir()}
    assert {
        "README.md",
        "report.html",
        "model.boost",
        "cells.csv",
        "ranking.csv",
        "errors-and-their-intervals.png",
        "cells.sqlite",
    } <= names
    again = run("shop.csv", "--target", "kept", *SMALL)
    assert again.exit_code == 0
    assert "4 of 4 cells finished (all were there from earlier runs)" in again.stdout


def test_without_an_argument_it_is_a_demo_that_leaves_nothing_behind(run, here):
    result = run(*SMALL)
    assert result.exit_code == 0
    assert "made here" in result.stdout
    assert "With --out FOLDER it also writes a report" in result.stdout
    assert sorted(path.name for path in here.iterdir()) == ["shop.csv"]
    assert (here / "page" / "README.md").exists() or run(*SMALL, "--out", "page").exit_code == 0
    assert (here / "page" / "README.md").exists()


def test_noise_is_another_column(run):
    out = run("shop.csv", *SMALL, "--noise", "0.2").stdout
    assert "assumed: the last column" in out
    assert "flipped" in out
    assert "with 20 % of the training labels flipped" in " ".join(out.split())
    assert "8 of 8 cells finished" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_budget_ends_it_and_says_how_to_go_on(run, monkeypatch):
    run("shop.csv", *SMALL, "--out", "first")  # compiles, which is not taken from the budget
    fit = boostlab.AdaBoostClassifier.fit

    def slow(self, X, y):
        time.sleep(1.0 if len(y) == 60 else 0.0)  # the last fit of a cell
        return fit(self, X, y)

    monkeypatch.setattr(boostlab.AdaBoostClassifier, "fit", slow)
    result = run("shop.csv", *SMALL, "--budget", "0.9s")
    assert result.exit_code == 0
    said = " ".join(result.stdout.split())
    assert "Not finished, because its time was over: 1 of 4 cells are kept in shop-boosters/cells.sqlite" in said
    assert "had nobody to be compared with" in said
    assert "But that is over 1 of 2 test parts, and MadaBoost has no result yet: let it finish before you rely" in said
    assert "over 1 part (" in said


def test_getting_warm_leaves_half_of_the_budget(run, monkeypatch):
    run("shop.csv", *SMALL, "--out", "first")  # compiles
    monkeypatch.setattr(NestedCV, "warm", lambda self, method: time.sleep(1.0))
    monkeypatch.setattr(worker, "_is_warm", set())
    told = []
    monkeypatch.setattr(screen, "say_time", lambda console, *seconds: told.append(seconds))
    out = run("shop.csv", *SMALL, "--budget", "6s").stdout
    assert "4 of 4 cells finished" in out  # though two boosters take two seconds to get ready
    ((budget, compared, left, prepared),) = told
    assert budget == 6.0
    assert 1.0 <= prepared <= compared
    assert left >= 0.0


def test_two_tables_of_one_name_do_not_share_a_page(run, here):
    for folder in ("a", "b"):
        (here / folder).mkdir()
        (here / folder / "shop.csv").write_text((here / "shop.csv").read_text())
    assert run("a/shop.csv", *SMALL).exit_code == 0
    page = (here / "shop-boosters" / "README.md").read_text()
    for other in ("b/shop.csv", "shop.csv"):
        refused = run(other, *SMALL)
        assert refused.exit_code == 2
        assert " ".join(refused.stderr.split()) == (
            "boostlab: The folder shop-boosters holds the comparison of another table, ../a/shop.csv as seen from "
            f"there; name a folder for {other} with --out."
        )
    assert (here / "shop-boosters" / "README.md").read_text() == page
    assert run(here / "a" / "shop.csv", *SMALL).exit_code == 0  # the same file by another name
    assert run("b/shop.csv", *SMALL, "--out", "other").exit_code == 0
    assert run("shop.csv", *SMALL, "--out", "shop-boosters").exit_code == 0  # a folder that is named is used


def test_failures_are_rows(run, monkeypatch):
    def fail(self, X, y):
        raise RuntimeError("the abacus is [jammed]")

    monkeypatch.setattr(boostlab.MadaBoostClassifier, "fit", fail)
    result = run("shop.csv", *SMALL)
    assert result.exit_code == 0
    assert "MadaBoost failed on 2 of 2 parts: RuntimeError: the abacus is [jammed]" in " ".join(result.stdout.split())
    monkeypatch.setattr(boostlab.AdaBoostClassifier, "fit", fail)
    result = run("shop.csv", *SMALL, "--seed", "1")
    assert result.exit_code == 1
    assert "nothing to recommend" in result.stdout


def test_foreign_files_are_not_overwritten(run, here):
    folder = here / "mine"
    folder.mkdir()
    (folder / "README.md").write_text("my own words\n")
    result = run("shop.csv", *SMALL, "--out", "mine")
    assert result.exit_code == 2
    assert "The folder mine holds a README.md that boostlab did not write" in result.stderr
    assert (folder / "README.md").read_text() == "my own words\n"
    (folder / "README.md").rename(folder / "cells.csv")
    assert "holds a cells.csv that" in run("shop.csv", *SMALL, "--out", "mine").stderr
    assert [path.name for path in folder.iterdir()] == ["cells.csv"]


def test_more_classes(run, here):
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f};{y:.3f};{'abc'[int(3 * x)]}" for x, y in rng.random((90, 2))]
    (here / "three.csv").write_text("\n".join(["x;y;class", *rows]) + "\n")
    result = run("three.csv", *SMALL[:6], "--boosters", "SAMME", "--with-peers", "no", "--jobs", "1")
    assert result.exit_code == 0
    assert "3: a (" in result.stdout
    assert [method.name for method in suitable(None, 3, 180)[0]] == [
        *("SAMME", "LogitBoost", "AdaBoostM1", "AdaBoostM2", "AdaBoostMH", "VadaBoost"),
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--boosters", "AdaBost"], "There is no booster 'AdaBost'; did you mean AdaBoost?"),
        (["--boosters", ","], "No booster was named"),
        (["--folds", "1"], "folds=1 is not possible"),
        (["--repeats", "0"], "repeats=0 is not possible"),
        (["--noise", "0.5"], "noise=0.5 is not possible"),
        (["--noise", "-0.1"], "noise=-0.1 is not possible"),
        (["--rounds", "0"], "rounds=0 is not possible"),
        (["--seed", "-1"], "The seed -1 is not possible"),
        (["--budget", "soon"], "The budget 'soon' is not a time; write it as 90s, 5m or 1h30m."),
        (["--budget", "0s"], "The budget '0s' leaves no time"),
        (["--target", "kept"], "--target needs a table"),
        (["--jobs", "0"], "jobs=0 is not possible"),
        (["shop.csv", "--target", "kep"], "There is no column 'kep'; did you mean 'kept'?"),
        (["shp.csv"], "There is no file shp.csv; did you mean shop.csv?"),
        (["shop.csv", "--out", "shop.csv"], "The folder shop.csv cannot be written to"),
        (["shop.csv", "--drop", "colr"], "There is no column 'colr'; did you mean 'colour'?"),
        (["shop.csv", "--drop", 'id, "a, b"'], "There is no column 'a, b'; the columns are"),
        (["shop.csv", "--target", "kept", "--drop", "kept"], "The target 'kept' cannot be left out"),
        (["shop.csv", "--drop", "size", "--keep", "size"], "The column 'size' is to be left out and to be kept"),
        (["shop.csv", "--target", "size", "--metric", "error"], "The target 'size' has 1"),
        (["shop.csv", "--target", "size", "--noise", "0.1"], "Labels can be flipped (noise) only where"),
        (["shop.csv", "--metric", "roc_acu"], "There is no metric 'roc_acu'; did you mean roc_auc?"),
        (["shop.csv", "--metric", "mse", "--target", "kept"], "The target 'kept' holds words"),
        (["shop.csv", "--with-peers", "maybe"], "--with-peers maybe is not possible; it is yes or no."),
        (["nofile.csv"], "There is no file nofile.csv; check the name and the folder."),
        (["shop.csv", "--store", "."], "The store . is a folder"),
        (["."], ". is a folder; name a file."),
    ],
)
def test_mistakes_get_one_sentence(run, arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"boostlab: {sentence}")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_budgets_and_commands_as_people_write_them():
    assert [seconds_of(t) for t in ("90s", "5m", "5 min", "1h30m", "1.5h", "20")] == [90, 300, 300, 5400, 5400, 20]
    assert CompareOptions(noise=0.2, budget="5m", jobs=2).command() == "boostlab compare --noise 0.2 --jobs 2"
