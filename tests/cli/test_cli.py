"""The command line, from inside and once from outside."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import boostlab
from boostlab.boosters import REGISTRY, REGRESSORS
from boostlab.cli import app


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments):
        result = CliRunner().invoke(app, arguments)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


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


def test_reproduce_without_the_papers_studies_says_how_to_get_them(run, monkeypatch):
    monkeypatch.delitem(sys.modules, "boostlab_reproductions.command", raising=False)
    monkeypatch.setitem(sys.modules, "boostlab_reproductions", None)  # as if it were not installed
    for arguments in (["smoke"], ["--list"]):
        result = run("reproduce", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("boostlab: reproduce needs the papers' studies")
        assert result.stderr.endswith("pip install ./reproductions\n")
        assert result.stderr.count("\n") == 1


def test_the_command_line_starts_without_the_heavy_libraries():
    code = "import sys, boostlab.cli; print(sorted({'sklearn', 'numba', 'numpy', 'scipy', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
