"""The studies of a folder as pages for the browser."""

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from boostlab.cli import app

STUDIES = Path(__file__).parents[2] / "studies"


def test_one_command_makes_pages_of_all_studies(tmp_path):
    if not (STUDIES / "README.md").is_file():
        pytest.skip("the results of the studies are not here")
    folder = tmp_path / "studies"
    for name in ("README.md", "*/README.md", "*/*.png"):
        for file in STUDIES.glob(name):
            (folder / file.relative_to(STUDIES)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder / file.relative_to(STUDIES))
    done = CliRunner().invoke(app, ["pages", str(folder)])
    assert (done.exit_code, done.stdout) == (0, f"Open this in a browser: {folder / 'index.html'}\n")
    index = (folder / "index.html").read_text(encoding="utf-8")
    studies = [one.parent.name for one in folder.glob("*/README.md")]
    assert len(studies) > 10
    for name in studies:
        assert f'href="{name}/report.html"' in index
        text = (folder / name / "report.html").read_text(encoding="utf-8")
        assert 'href="../index.html"' in text
        assert "is missing." not in re.sub(r"<p>[^<]*</p>", "", text)  # every picture is inside
        assert not re.search(r'src="(?!data:)', text)


def test_a_folder_without_studies_is_refused(tmp_path):
    done = CliRunner().invoke(app, ["pages", str(tmp_path)])
    assert done.exit_code == 2
    assert "holds no studies" in done.stderr
    assert done.stderr.count("\n") == 1
