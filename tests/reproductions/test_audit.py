"""The committed pages: made again from the cells that lie beside them, they are the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from boostlab.cli import app
from boostlab.studies import cell_file, index
from boostlab_reproductions import papers
from boostlab_reproductions.papers.agreement import agreement

PAPERS = [
    *("ebboost-slides", "vadaboost-table1", "vadaboost-table2", "vadaboost-figure2"),
    *("quadboost-table1", "quadboost-table2"),
    *("arboost-binary", "arboost-multiclass", "arboost-noise", "arboost-figure5"),
    *("textbook-figure2.5", "textbook-figure2.6", "textbook-figure2.7", "textbook-figure2.8", "bias-variance"),
]
COMMITTED = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize("name", ["textbook-figure2.5"])
def test_a_committed_page_is_made_from_its_cells(name, tmp_path, monkeypatch):
    monkeypatch.delenv("BOOSTLAB_DATA", raising=False)
    (tmp_path / name).mkdir()
    for file in (cell_file.NAME, index.FACTS):
        shutil.copy(COMMITTED / name / file, tmp_path / name)
    result = CliRunner().invoke(app, ["reproduce", name, "--only-page", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    for path in sorted((COMMITTED / name).iterdir()):
        if path.suffix in (".md", ".csv", ".json"):
            assert (tmp_path / name / path.name).read_text() == path.read_text(), path.name


def test_seeds_are_those_of_the_splits():
    """The words in the file draw the very rows that a protocol trains on."""
    from boostlab_reproductions.protocols.vadaboost import Stopped, halves

    words = Stopped().split_seed("0123456789abcdef99", 3)
    order = np.random.default_rng(np.random.SeedSequence(words)).permutation(40)
    assert np.array_equal(halves(40, 3, "0123456789abcdef99")[0], order[:20])
    for name in PAPERS:
        assert all(block.protocol.split_seed("ab" * 32, 0) for block in papers.STUDIES[name].blocks), name


def test_all_printed_errors_are_counted(tmp_path):
    (tmp_path / "vadaboost-table1").mkdir()
    (tmp_path / "vadaboost-table1" / "published.csv").write_text(
        "data,method,in standard errors,explained by\n"
        "a5a,AdaBoost,-1.9,\nmusk,AdaBoost,2.4,\nringnorm,AdaBoost,-9.0,400 examples\nringnorm (400),AdaBoost,0.1,\n"
    )
    result = CliRunner().invoke(app, ["reproduce", "--agreement", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    found = {one.study: one for one in agreement(tmp_path)}
    assert found["all"].printed == 402
    one = found["vadaboost-table1"]
    assert (one.near, one.explained, one.unexplained, one.missing) == (1, 1, 1, 87)
    assert "Of 402 printed errors 1 (0%) lie within two combined" in result.output.replace("\n", " ")


def test_pages_without_reasons_have_stand_ins_and_the_second_reading(tmp_path):
    (tmp_path / "vadaboost-table1").mkdir()
    (tmp_path / "vadaboost-table1" / "published.csv").write_text(
        "data,method,in standard errors\nringnorm,AdaBoost,-9.0\nringnorm,EBBoost,-9.0\nw4a (surrogate),AdaBoost,3.0\n"
        "ringnorm (400),AdaBoost,0.1\nringnorm (400),EBBoost,2.1\n"
    )
    one = next(one for one in agreement(tmp_path) if one.study == "vadaboost-table1")
    assert (one.near, one.explained, one.unexplained) == (0, 2, 1)


def test_every_page_of_the_full_tier_has_its_cells_and_no_file_that_it_does_not_name():
    for folder in sorted(path for path in COMMITTED.iterdir() if (path / cell_file.NAME).is_file()):
        named = (folder / "README.md").read_text()
        files = {path.name for path in folder.iterdir()} - {"README.md", "report.html", index.FACTS}
        assert [name for name in sorted(files) if f"]({name})" not in named] == [], folder.name
