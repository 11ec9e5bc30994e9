"""The index of a folder of studies: what it says, and what it leaves alone."""

from __future__ import annotations

import json
from dataclasses import replace

from boostlab.studies import cell_file, index, page
from boostlab.studies.plan import Outcome
from boostlab.studies.runner import Ran
from boostlab.studies.store import Run
from boostlab.studies.study import Claim, Done, Report, Results
from toy_study import toy_study

NAMES = ["first", "second", "third"]


def write(folder, name, asked="quick", cells=2, planned=2):
    """Write the page of a study of which some cells are finished, with two verdicts, and the index."""
    claims = [Claim("One.", "holds", "Yes."), Claim("Two.", "does not hold", "No.")]
    study = replace(toy_study(folder, name=name), report=lambda results: Report(claims=claims))
    block = study.blocks[0]
    done = [
        Done(block.name, block.problems[0].name, block.methods[0].name, r, Outcome({"test_error": 0.1}), seconds=40.0)
        for r in range(cells)
    ]
    results = Results(study.blocks, done, {block.name: 5, "other": 0})
    page.write(Ran(study, asked, results, planned, runs=[Run(name, jobs=2, seconds=50.0)]), folder)
    return index.write(folder, NAMES)


def test_one_line_a_study_in_the_order_of_the_names(tmp_path):
    write(tmp_path, "third", asked=7)
    write(tmp_path, "a study without a name in the index")
    text = write(tmp_path, "second", planned=4).read_text()
    assert text == (tmp_path / "README.md").read_text()
    lines = [line for line in text.splitlines() if line.startswith("| [")]
    assert [line.split("]")[0] for line in lines] == ["| [second", "| [third"]
    assert lines[0].endswith("| 5 (quick) | 2 of 4 | 80 s | 50 s, 2 workers | not counted |")
    assert "Verdicts of the 0 finished pages of the full tier: none." in text
    write(tmp_path, "first", asked="full", planned=4)
    text = write(tmp_path, "second", asked="full").read_text()
    assert "2 workers | 1 holds, 1 does not hold |" in text
    assert "Verdicts of the 1 finished pages of the full tier: 1 holds, 1 does not hold." in text
    (tmp_path / "first" / index.FACTS).unlink()
    text = index.write(tmp_path, NAMES).read_text()
    assert "| 5 | 2 | 80 s |" in lines[1]
    assert "Not run here: first." in text
    assert "to make the page again" not in text
    (tmp_path / "second" / cell_file.NAME).unlink()
    assert "to make the page again: second." in index.write(tmp_path, NAMES).read_text()


def test_what_cannot_be_read_is_not_run_and_a_page_of_others_stays(tmp_path):
    write(tmp_path, "third")
    (tmp_path / "first").mkdir()
    for broken in ("{", "[]", json.dumps({"title": 1})):
        (tmp_path / "first" / index.FACTS).write_text(broken)
        assert "Not run here: first, second." in index.write(tmp_path, NAMES).read_text()
    (tmp_path / "README.md").write_text("# My folder\n")
    assert write(tmp_path, "third") is None
    assert (tmp_path / "README.md").read_text() == "# My folder\n"
    assert index.write(tmp_path / "nothing", NAMES) is None
