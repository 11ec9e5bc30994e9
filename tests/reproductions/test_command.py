"""`boostlab reproduce`, once from outside through the installed command, the rest from inside."""

from __future__ import annotations

import csv
import gzip
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import boostlab
import boostlab_reproductions
from boostlab.cli import app
from boostlab.studies.plan import Method
from boostlab.studies.store import Store
from boostlab_reproductions import papers
from toy_study import ToyProblem, toy_study

INSTALLED = shutil.which("boostlab", path=str(Path(sys.executable).parent))
KEPT = Path("studies", "cells.sqlite")
COMMAND = [INSTALLED] if INSTALLED else [sys.executable, "-m", "boostlab"]


def outside(*arguments, cwd):
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(Path(one.__file__).parents[1]) for one in (boostlab, boostlab_reproductions)),
    }
    return subprocess.Popen(
        [*COMMAND, "reproduce", *arguments],
        **dict(cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True),
    )


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    toys = {"toy": toy_study(tmp_path), "toy-lost": toy_study(tmp_path, [ToyProblem("z", lost=True)], name="toy-lost")}
    monkeypatch.setattr(papers, "_all", lambda: toys)

    def call(*arguments, code=0):
        result = CliRunner().invoke(app, ["reproduce", *arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    call.toys = toys
    return call


def test_the_smoke_study_from_outside(tmp_path):
    """Through the command, store and page; the error stream says that kernels compile, and nothing else."""
    process = outside("smoke", "--quick", "--jobs", "1", cwd=tmp_path)
    out, err = process.communicate(timeout=300)
    said = [line for line in err.splitlines() if not line.startswith("boostlab compiles its kernels")]
    assert (process.returncode, said) == (0, [])
    assert "smoke: 27 of 27 cells, 27 computed now; the page is" in out
    assert "\x1b" not in out
    folder = tmp_path / "studies" / "smoke"
    page = (folder / "README.md").read_text(encoding="utf-8")
    for text in ("| twonorm | ", "Boosted stumps make fewer", "![Mean test errors]", "27 of 27 finished", "--quick"):
        assert text in page
    assert len(gzip.decompress((folder / "cells.csv.gz").read_bytes()).splitlines()) == 28
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".md") == [
        *("beside-the-best-possible.csv", "cells.csv.gz", "mean-test-errors.png", "report.html", "study.json"),
        "test-errors-in-percent.csv",
    ]
    assert (tmp_path / KEPT).is_file()


@pytest.mark.skipif(os.name == "nt", reason="sends the signal of a POSIX terminal")
def test_ctrl_c_from_outside_while_boosters_train(tmp_path):
    """In one process, where the engine itself would answer Ctrl-C by a model of few rounds."""
    process = outside("smoke", "--repeats", "300", "--jobs", "1", cwd=tmp_path)
    path = tmp_path / KEPT
    end = time.monotonic() + 120
    while True:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.1)
        if path.exists():
            with Store(path) as store:
                if store.last() >= 5:
                    break
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    with Store(path) as store:
        kept = store.last()
        stops = {one.outcome.numbers["stop"].split(":")[0] for one in store.after(0)}
    assert "interrupted" not in stops
    assert out.splitlines()[-1] == (
        f"smoke: stopped after {kept} of 2700 cells, which are kept in {KEPT}; run the same command again to go on."
    )


def test_going_on_and_pages_of_what_is_there(run, tmp_path):
    assert "toy: 12 of 12 cells, 12 computed now; the page is" in run("toy", "--quick", "--jobs", "1").stdout
    assert "toy: 18 of 18 cells, 6 computed now" in run("toy", "--repeats", "3", "--jobs", "1").stdout
    assert "toy: 18 of 30 cells, 0 computed now" in run("toy", "--repeats", "5", "--only-page").stdout
    assert "12 cells are not computed yet" in Path("studies/toy/README.md").read_text(encoding="utf-8")
    log = len((tmp_path / "log").read_text().splitlines())
    assert "toy: 18 of 18 cells, 0 computed now" in run("TOY").stdout
    Store("empty.sqlite").close()
    before = Path("studies/toy/README.md").read_bytes()
    assert "toy: 18 of 18 cells" in run("toy", "--only-page", "--store", "empty.sqlite").stdout  # of the file beside
    assert Path("studies/toy/README.md").read_bytes() == before
    assert len((tmp_path / "log").read_text().splitlines()) == log


def test_all_without_the_data_of_some(run):
    result = run("toy-lost", "--quick", "--jobs", "1", code=2)
    assert result.stdout == "toy-lost: without z: The data set 'z' was not found; look under the carpet.\n"
    assert result.stderr == "boostlab: toy-lost cannot be run: none of its data sets was found.\n"
    run.toys["another"] = toy_study(Path.cwd(), "b", name="another")
    result = run("all", "--quick", "--jobs", "1", code=1)
    assert "toy: 12 of 12 cells" in result.stdout
    assert "toy-lost cannot be run: none of its data sets was found." in result.stdout
    assert "another: 6 of 6 cells" in result.stdout
    run.toys["toy-lost"] = toy_study(Path.cwd(), ["a", ToyProblem("z", lost=True)], name="toy-lost")
    result = run("all", "--quick", "--jobs", "1")
    assert "toy-lost: without z: The data set 'z' was not found" in result.stdout
    assert "toy-lost: 6 of 6 cells, 0 computed now" in result.stdout
    assert "- z: The data set 'z'" in Path("studies/toy-lost/README.md").read_text(encoding="utf-8")


def test_the_index_has_all_studies_but_the_smoke_test(run, tmp_path):
    run.toys["smoke"] = toy_study(tmp_path, "b", name="smoke")
    for name in ("toy", "smoke"):
        run(name, "--quick", "--jobs", "1")
    index = Path("studies/README.md").read_text(encoding="utf-8")
    assert [line.split("]")[0] for line in index.splitlines() if line.startswith("| [")] == ["| [toy"]
    assert "Not run here: toy-lost." in index


def test_failures_are_told_and_retried(run, tmp_path):
    run.toys["toy"] = toy_study(tmp_path, "a", ["m0", Method("m1", "", {"fail": True})])
    assert "2 failed (--retry computes them again)" in run("toy", "--quick", "--jobs", "1").stdout
    (tmp_path / "mended").touch()
    assert "2 failed" in run("toy", "--quick", "--jobs", "1").stdout
    assert "toy: 4 of 4 cells, 2 computed now; the page" in run("toy", "--quick", "--retry", "--jobs", "1").stdout


def test_ctrl_c_ends_all_studies(run, tmp_path):
    run.toys["toy"] = toy_study(tmp_path, "a", ["m0", Method("m1", "", {"interrupt": True})])
    out = run("all", "--quick", "--jobs", "1", code=130).stdout
    assert f"toy: stopped after 1 of 4 cells, which are kept in {KEPT}; run the same command again" in out
    run.toys["another"] = toy_study(tmp_path, "b", [Method("m1", "", {"interrupt": True})], name="another")
    run.toys["good"] = toy_study(tmp_path, "a", ["m0"], name="good")
    out = run("all", "--quick", "--jobs", "1", code=130).stdout
    assert "good: 2 of 2 cells" not in out
    assert f"3 studies: stopped after 2 of 8 cells, which are kept in {KEPT}; run the same" in out
    del run.toys["another"]
    run.toys["toy"], run.toys["good"] = run.toys["good"], run.toys["toy"]
    out = run("all", "--quick", "--jobs", "1", code=130).stdout
    assert "good: 2 of 2 cells, 1 computed now; the page is" in out  # what is finished has its page


def test_stores_of_two_machines(run):
    run("toy", "--quick", "--jobs", "1", "--store", "there.sqlite")
    out = run("--merge", "there.sqlite", "--store", "here.sqlite").stdout
    assert out == "Merged there.sqlite into here.sqlite: 12 cells taken over, 0 known already.\n"
    out = run("toy", "--quick", "--merge", "there.sqlite", "--store", "here.sqlite").stdout
    assert "0 cells taken over, 12 known already" in out
    assert "toy: 12 of 12 cells, 0 computed now" in out
    out = run("toy", "--quick", "--only-page", "--merge", "there.sqlite", "--store", "third.sqlite").stdout
    assert "toy: 12 of 12 cells, 0 computed now" in out
    run("--merge", "nowhere.sqlite", "--store", "fourth.sqlite", code=2)
    assert not Path("fourth.sqlite").exists()


def test_a_page_is_gone_on_from_where_its_store_is_lost(run, tmp_path):
    run("toy", "--quick", "--jobs", "1", "--store", "lost.sqlite")
    before = (tmp_path / "studies" / "toy" / "README.md").read_text()
    cells = str(Path("studies", "toy", "cells.csv.gz"))
    out = run("toy", "--quick", "--merge", cells, "--store", "new.sqlite").stdout
    assert "12 cells taken over, 0 known already." in " ".join(out.split())
    assert "toy: 12 of 12 cells, 0 computed now" in out
    after = (tmp_path / "studies" / "toy" / "README.md").read_text()
    assert [line for line in after.splitlines() if "Clock" not in line] == [
        line for line in before.splitlines() if "Clock" not in line
    ]
    out = run("--merge", cells, "--store", "new.sqlite").stdout
    assert "0 cells taken over, 12 known already." in " ".join(out.split())
    whole = Path(cells).read_bytes()
    head, *rows = csv.reader(gzip.decompress(whole).decode().splitlines())
    for row in rows[:3]:
        row[head.index("definition")] = "0" * 16  # the code was another
    text = io.StringIO()
    csv.writer(text).writerows([head, *rows])
    Path(cells).write_bytes(gzip.compress(text.getvalue().encode()))
    out = run("--merge", cells, "--store", "third.sqlite").stdout
    assert "9 cells taken over, 0 known already, 3 left out, as code, parameters" in " ".join(out.split())
    lost = [ToyProblem(one.name, lost=True) for one in run.toys["toy"].blocks[0].problems]
    run.toys["toy"] = toy_study(tmp_path, lost)
    out = run("--merge", cells, "--store", "without_data.sqlite").stdout
    assert "0 cells taken over, 0 known already, 12 left out, as their data are not here" in " ".join(out.split())
    Path("elsewhere").mkdir()
    shutil.copy(cells, "elsewhere")
    shutil.copy(cells, Path("studies", "toy", "renamed.csv.gz"))
    for other in ("elsewhere/cells.csv.gz", "studies/toy/renamed.csv.gz"):
        problem = run("--merge", other, "--store", "third.sqlite", code=2).stderr
        assert "it must be a study's cells.csv.gz, in a folder of that study's name" in problem
    Path(cells).write_bytes(whole[: len(whole) // 2])
    for arguments in (["--merge", cells], ["toy", "--only-page"]):
        problem = run(*arguments, "--store", "fourth.sqlite", code=2).stderr
        assert "cells.csv.gz is damaged" in problem
        assert problem.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["toi"], "There is no study 'toi'; did you mean toy?"),
        (["xyzzy"], "There is no study 'xyzzy'; choose from all, toy, toy-lost."),
        ([], "No study was named; choose from all, toy, toy-lost."),
        (["toy", "--quick", "--repeats", "3"], "--quick and --repeats exclude each other"),
        (["toy", "--repeats", "0"], "repeats=0 is not possible"),
        (["toy", "--jobs", "0"], "jobs=0 is not possible"),
        (["toy", "--only-page"], f"There is no store {KEPT}"),
        (["toy", "--store", "notes.txt"], "notes.txt is not a store: no SQLite database"),
        (["toy", "--store", "."], "The store . is a folder"),
        (["toy", "--out", "notes.txt"], "The folder notes.txt cannot be written to"),
        (["--merge", "nowhere.sqlite"], "There is no store nowhere.sqlite to merge"),
    ],
)
def test_mistakes_get_one_sentence(run, arguments, sentence):
    Path("notes.txt").write_text("Dear diary, today I boosted a lot, and it was good.\n" * 40)
    result = run(*arguments, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith(f"boostlab: {sentence}")
    assert result.stderr.count("\n") == 1


def test_a_store_without_cells_of_the_study(run):
    run("toy", "--quick", "--jobs", "1")
    result = run("toy-lost", "--only-page", code=2)
    assert result.stderr.count("\n") == 1


def test_the_list(run):
    out = run("--list").stdout
    assert "toy-lost" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_quick_page_does_not_take_the_place_of_a_full_one(run, tmp_path):
    run("toy", "--jobs", "1")
    page = (tmp_path / "studies" / "toy" / "README.md").read_text()
    for fewer in (["--quick"], ["--repeats", "1"]):
        said = run("toy", *fewer, "--jobs", "1").output
        assert "has a page of the full tier, which is kept" in " ".join(said.split())
        assert (tmp_path / "studies" / "toy" / "README.md").read_text() == page
    run("toy", "--quick", "--jobs", "1", "--out", "other")
    assert "quick tier" in (tmp_path / "other" / "toy" / "README.md").read_text()
    assert "the page is" in run("toy", "--repeats", "3", "--jobs", "1").output
