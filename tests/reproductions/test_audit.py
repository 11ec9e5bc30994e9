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
    for study in papers.STUDIES.values():
        if study.name != "smoke":
            assert all(block.protocol.split_seed("ab" * 32, 0) for block in study.blocks)
