"""The file of cells: what a page was made of comes back as it was, and gives the same page without store and data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boostlab.studies import cell_file, index, page
from boostlab.studies.plan import Method, Outcome
from boostlab.studies.runner import run
from boostlab.studies.store import Store
from boostlab.studies.study import Claim, Done, Report, Results
from boostlab.studies.tables import error_table
from toy_study import ToyProblem, toy_study


def report(found):
    first = found.rows("errors")[0]
    evidence = f"The first cell is {first.problem}, {first.method}, {first.repeat}."
    return Report({"Errors": error_table(found, "errors")}, {}, [Claim("Toys are fun.", "holds", evidence)])


def test_the_same_page_from_the_file(tmp_path):
    lost = ToyProblem("c", lost=True)
    study = toy_study(tmp_path, ["a", "b", lost], ["m0", Method("m1", "", {"fail": True})], repeats=3)
    study = replace(study, report=report)
    with Store(tmp_path / "cells.sqlite") as store:
        ran = run(study, store, jobs=1)
    before = page.write(ran, tmp_path / "first").path.parent
    recalled = index.recall(study, tmp_path / "first")
    again = page.write(recalled, tmp_path / "second").path.parent
    for name in ("README.md", "errors.csv", "study.json", cell_file.NAME):
        assert (again / name).read_bytes() == (before / name).read_bytes(), name
    assert [one.kind for one in recalled.results.rows()] == [one.kind for one in ran.results.rows()]
    assert index.recall(study, tmp_path / "third") is None


def test_numbers_and_the_arrays_that_are_read_come_back(tmp_path):
    study = replace(toy_study(tmp_path, ["a"], ["m0"]), reads={"said": None, "margins_*": 1}, leaves_out=("curve",))
    numbers = {
        "test_error": 1 / 3,
        "rounds": 7,
        "chosen": {"rate": 0.1},
        "curve": [1, 2],
        "grid": {"values": [None, 0.5]},
    }
    arrays = {
        "said": np.array([[0, 1], [9, 35]], np.int8),
        "margins_5": np.array([0.1, -1.0], np.float16),
        "unread": np.zeros(3),
    }
    done = [Done("errors", "a", "m0", r, Outcome(numbers, arrays), "", 0.1 + r, "ab", "1 2 3", "cd") for r in range(2)]
    gone = Done("errors", "z", "m9", 0, Outcome(numbers))
    cell_file.write(tmp_path / "cells.csv.gz", study, Results(study.blocks, [*done, gone]))
    back = cell_file.read(tmp_path / "cells.csv.gz", study)
    assert len(back) == 2  # a method that the study no longer has is left out
    for one, given in zip(back, done, strict=True):
        assert replace(one, outcome=None) == replace(given, outcome=None)
        assert one.outcome.numbers == {name: value for name, value in numbers.items() if name != "curve"}
        assert np.array_equal(one.outcome.arrays["said"], arrays["said"])
        assert one.outcome.arrays["said"].dtype == np.int8
    assert set(back[0].outcome.arrays) == {"said", "margins_5"}
    assert back[0].outcome.arrays["margins_5"].tobytes() == arrays["margins_5"].tobytes()
    assert set(back[1].outcome.arrays) == {"said"}


def test_pooled_arrays_keep_their_counts(tmp_path):
    study = replace(toy_study(tmp_path, ["a"], ["m0", "m1"]), reads={"said": None}, pooled=("said",))
    said = {"m0": [[1, 0, 2], [0, 0, 1], [1, 1, 2]], "m1": [[0, 1, 0], [1, 0, 0]]}
    done = [
        Done("errors", "a", name, r, Outcome({"test_error": r / 10}, {"said": np.array(line, np.int8)}))
        for name, lines in said.items()
        for r, line in enumerate(lines)
    ]
    failed = Done("errors", "a", "m1", 2, failure="No.")
    cell_file.write(tmp_path / "cells.csv.gz", study, Results(study.blocks, [*done, failed]))
    back = cell_file.read(tmp_path / "cells.csv.gz", study)
    assert [one.number("test_error") for one in back if one.method == "m0"] == [0.0, 0.1, 0.2]
    for name, lines in said.items():
        found = [one.outcome.arrays["said"] for one in back if one.method == name and one.outcome]
        assert np.array_equal(found, np.sort(lines, axis=0))
    assert np.array_equal(done[0].outcome.arrays["said"], said["m0"][0])  # what was given is as it was
