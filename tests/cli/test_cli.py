"""The command line, from inside and once from outside."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import boostlab
from boostlab.cli import app
from boostlab.estimators import REGISTRY, REGRESSORS

SMALL = ["compare", "--folds", "2", "--rounds", "5", "--boosters", "AdaBoost,LogitBoost"]


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments):
        result = CliRunner().invoke(app, arguments)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


def test_compare_from_outside():
    """Also shows that nothing is written to the error stream but that kernels compile: no warning, no progress bar."""
    env = {**os.environ, "COLUMNS": "80", "PYTHONWARNINGS": "default"}
    done = subprocess.run(
        [sys.executable, "-m", "boostlab", *SMALL], capture_output=True, text=True, env=env, timeout=180
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith("boostlab compiles its kernels")]
    assert (done.returncode, said) == (0, [])
    assert "569 rows, 30 columns, 2 classes" in done.stdout
    assert "On clean labels" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_compare_shows_both_kinds_of_labels(run):
    out = run(*SMALL).stdout
    for text in ("20 % flipped", "clean labels", "2-fold", "at most 5 rounds", "AdaBoost ", "LogitBoost ", "±"):
        assert text in out
    assert "With 20 % of the training labels flipped" in out
    assert "\x1b" not in out


def test_compare_is_repeatable(run):
    def without_seconds():
        return [" ".join(line.split()[:9]) for line in run(*SMALL).stdout.splitlines()]

    assert without_seconds() == without_seconds()


def test_compare_without_noise_has_one_column(run):
    out = run(*SMALL, "--noise", "0").stdout
    assert "clean labels" in out
    assert "flipped" not in out


def test_a_failing_booster_is_a_row(run, monkeypatch):
    def fail(self, X, y):
        raise RuntimeError("the abacus is [jammed]")

    monkeypatch.setattr(boostlab.LogitBoostClassifier, "fit", fail)
    result = run(*SMALL)
    assert result.exit_code == 0
    assert "failed" in result.stdout
    assert "* LogitBoost: failed: RuntimeError: the abacus is [jammed] (4 of 4 fits)" in result.stdout
    monkeypatch.setattr(boostlab.AdaBoostClassifier, "fit", fail)
    result = run(*SMALL)
    assert result.exit_code == 1
    assert "no booster finished" in result.stdout


def test_ctrl_c_shows_what_there_is(run, monkeypatch):
    def stop(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(boostlab.LogitBoostClassifier, "fit", stop)
    result = run(*SMALL)
    assert result.exit_code == 130
    assert "Ctrl-C ended it after 1 of 8 fits" in result.stdout
    assert "On clean labels AdaBoost had" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--boosters", "AdaBost"], "There is no booster 'AdaBost'; did you mean AdaBoost?"),
        (["--boosters", ","], "No booster was named"),
        (["--folds", "1"], "folds=1 is not possible"),
        (["--noise", "0.5"], "noise=0.5 is not possible"),
        (["--noise", "-0.1"], "noise=-0.1 is not possible"),
        (["--rounds", "0"], "rounds=0 is not possible"),
        (["--seed", "-1"], "The seed -1 is not possible"),
    ],
)
def test_mistakes_get_one_sentence(run, arguments, sentence):
    result = run("compare", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"boostlab: {sentence}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("columns", ["80", "120"])
def test_list_mentions_every_booster(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    result = run("list")
    assert result.exit_code == 0
    for name in REGISTRY | REGRESSORS:
        assert name in result.stdout
    for own in ("variance_penalty=0.5", "algorithm='discrete'", "target_error=0.1", "nu=0.1"):
        assert own in result.stdout
    assert "max_bins" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= int(columns)


def test_datasets_says_where_each_is(run, monkeypatch, tmp_path):
    monkeypatch.setenv("BOOSTLAB_DATA", str(tmp_path))
    monkeypatch.setenv("BOOSTLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "zoo.csv.gz").touch()
    result = run("datasets")
    assert result.exit_code == 0
    lines = {line.split()[0]: line.strip().split(maxsplit=4)[1:] for line in result.stdout.splitlines() if line.strip()}
    assert set(boostlab.datasets.names()) <= set(lines)
    assert lines["zoo"] == ["101", "16", "7", "data folder"]
    assert [cell.split() for cell in lines["adult"]] == [["48,842"], ["14"], ["2"], ["-", "OpenML", "1590"]]
    assert lines["a5a"][-1].split() == ["-", "a", "file"]
    assert lines["wdbc"][-1] == "scikit-learn"
    assert f"names: {tmp_path}\n" in result.stdout


def test_version(run):
    assert run("--version").stdout == f"boostlab {boostlab.__version__}\n"


def test_help_names_the_commands(run):
    out = run("--help").stdout
    assert "compare" in out
    assert "list" in out
    assert "--noise" in run("compare", "--help").stdout


def test_the_command_line_starts_without_the_heavy_libraries():
    code = "import sys, boostlab.cli; print(sorted({'sklearn', 'numba', 'numpy', 'scipy', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
