"""Tables and pages: marks by hand-worked cases, and a page that hides nothing."""

from __future__ import annotations

import csv
import gzip
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from boostlab.studies import page
from boostlab.studies.plan import Method, Outcome
from boostlab.studies.request import RequestError
from boostlab.studies.runner import Ran, run
from boostlab.studies.store import Store
from boostlab.studies.study import Claim, Done, Report, Results
from boostlab.studies.tables import against_published, as_good_as_best, difference, error_table, markdown, plain
from toy_study import ToyProblem, toy_study


def results(values, folder="."):
    """Return results of problems "a", "b" ... and methods "m0", "m1" ..., NaN for a failure."""
    names = [chr(ord("a") + i) for i in range(len(values))]
    methods = [f"m{j}" for j in range(len(values[0]))]
    done = [
        Done("errors", p, m, r, None, "broken") if np.isnan(v) else Done("errors", p, m, r, Outcome({"test_error": v}))
        for p, rows in zip(names, values, strict=True)
        for m, row in zip(methods, rows, strict=True)
        for r, v in enumerate(row)
    ]
    return Results(toy_study(folder, names, methods).blocks, done)


def test_results_as_an_array():
    nan = float("nan")
    given = results([[[0.1, 0.2], [0.3, nan]]])
    problems, methods, values = given.matrix("errors")
    assert (problems, methods) == (["a"], ["m0", "m1"])
    assert np.array_equal(values, [[[0.1, 0.2], [0.3, nan]]], equal_nan=True)
    assert np.isnan(given.matrix("errors", "margin")[2]).all()
    assert [one.failure for one in given.rows("errors")] == ["", "", "", "broken"]
    assert given.rows("another") == []


def test_marks_follow_the_paired_t_test():
    rng = np.random.default_rng(0)
    best = 0.10 + 0.01 * rng.standard_normal(20)
    near = best + 0.002 + 0.01 * rng.standard_normal(20)
    far = best + 0.02 + 0.01 * rng.standard_normal(20)
    values = np.array([far, best, near, np.full(20, np.nan)])
    p = [ttest_rel(row, best).pvalue for row in (far, near)]
    assert p[0] < 0.01 < p[1]
    assert as_good_as_best(values).tolist() == [False, True, True, False]
    assert as_good_as_best(np.array([[0.1, 0.1], [0.1, 0.1], [0.2, 0.2]])).tolist() == [True, True, False]
    assert as_good_as_best(np.full((2, 3), np.nan)).tolist() == [False, False]


def test_an_error_table_and_its_file():
    rows = error_table(results([[[0.10, 0.12, 0.14], [0.20, 0.22, 0.25]]]), "errors")
    assert markdown(rows).splitlines()[-1] == "| a | **12.0 ± 1.2** | 22.3 ± 1.5 |"
    assert plain(rows)[0] == {"data": "a", "m0": 12.0, "m0 s.e.": 1.1547, "m1": 22.3333, "m1 s.e.": 1.45297}


def test_differences_from_the_published_value_are_in_standard_errors():
    given = results([[[0.10, 0.12, 0.14], [0.20, 0.22, 0.24]], [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]])
    rows = against_published(given, "errors", {("A", "m0"): (10.0, 1.0), ("b", "m1"): (40.0, np.nan)}, named={"a": "A"})
    error = 2.0 / np.sqrt(3)  # of 10, 12, 14
    assert rows[0]["in standard errors"] == round(2.0 / np.hypot(error, 1.0), 2)
    assert (rows[0]["difference"], str(rows[0]["ours"]), str(rows[0]["published"])) == (
        2.0,
        "12.00 ± 1.15",
        "10.00 ± 1.00",
    )
    assert (rows[1]["data"], rows[1]["difference"]) == ("b", 10.0)
    assert np.isnan(rows[1]["in standard errors"])  # neither side has an error
    assert np.isnan(difference(1.0, 0.0, 0.5))


@pytest.fixture
def ran(tmp_path):
    study = toy_study(tmp_path, ["a", ToyProblem("b", lost=True)], ["m0", Method("m1", "", {"fail": True})], repeats=2)
    with Store(tmp_path / "cells.sqlite") as store:
        yield run(replace(study, missing=("FutureBoost does not exist yet.",), report=report), store, jobs=1)


def report(found):
    def draw(figure):
        figure.add_subplot().plot([1, 2])

    def fail(figure):
        raise ValueError("no ink")

    return Report(
        {"Errors, in %": error_table(found, "errors"), "Empty": []},
        {"A line": draw, "A blot": fail},
        [Claim("Toys are | fun.", "does not hold", "They broke.")],
        ["A note."],
    )


def test_a_page_shows_all(ran, tmp_path):
    written = page.write(ran, tmp_path)
    text = written.path.read_text(encoding="utf-8")
    for part in (
        "# A toy",
        "Source: nobody",
        "Repeats: 2 (full tier)",
        "Cells: 4 of 4 finished, 2 of them failed",
        "of computing, added up over the cells",
        "Machine: ",
        "| **does not hold** | Toys are \\| fun. | They broke. |",
        "## Errors, in %",
        "[errors-in.csv](errors-in.csv)",
        "No cell of this table is finished.",
        "![A line](a-line.png)",
        "**The figure A blot could not be drawn: ValueError: no ink**",
        "A note.",
        "- It is a toy.",
        "- FutureBoost does not exist yet.",
        "- b: The data set 'b' was not found; look under the carpet.",
        "- m1 on a failed 2 times: RuntimeError: the abacus is jammed",
        "boostlab reproduce toy\n",
    ):
        assert part in text
    assert "A blot]" not in text
    assert written.troubles == ["The figure A blot could not be drawn: ValueError: no ink"]
    assert (tmp_path / "toy" / "a-line.png").read_bytes().startswith(b"\x89PNG")
    with gzip.open(tmp_path / "toy" / "cells.csv.gz", "rt", newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 4
    assert ",".join(cells[0]) == (
        "block,problem,method,repeat,test_error,rounds,chosen,stop,seconds,failure,seed,data,definition,numbers,arrays"
    )
    assert cells[2]["test_error"] == ""
    assert cells[2]["failure"].startswith("RuntimeError")
    assert float(cells[0]["test_error"]) == pytest.approx(ran.results.rows()[0].number("test_error"), rel=1e-5)


def test_no_machine_is_named(ran, tmp_path):
    import platform

    text = page.write(ran, tmp_path).path.read_text(encoding="utf-8")
    assert platform.node() not in text
    assert str(tmp_path) not in text


def test_a_report_that_fails_leaves_the_cells(ran, tmp_path):
    def broken(found):
        raise KeyError("AdaBoost")

    written = page.write(replace(ran, study=replace(ran.study, report=broken)), tmp_path)
    assert written.troubles == ["The tables could not be made: KeyError: 'AdaBoost'"]
    assert "KeyError" in written.path.read_text(encoding="utf-8")
    assert (tmp_path / "toy" / "cells.csv.gz").exists()


def test_verdicts_are_of_four_kinds():
    with pytest.raises(ValueError, match="verdict is one of holds, partly"):
        Claim("x", "perhaps", "y")


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RequestError, match=r"cannot be written to .*; name another with --out"):
        page.prepare(tmp_path / "file" / "folder")


def test_numbers_of_a_column_have_as_many_digits():
    rows = [{"x": 0.13, "p": 1.0, "wide": 3e-9}, {"x": 0.125, "p": 0.0002, "wide": 2.5}, {"x": -0.0, "p": 0.04}]
    assert markdown(rows).splitlines()[2:] == [
        "| 0.130 | 1.0000 | 3e-09 |",
        "| 0.125 | 0.0002 | 2.5 |",
        "| 0.000 | 0.0400 |  |",
    ]


def test_a_page_names_what_is_not_computed_yet(tmp_path):
    study = toy_study(tmp_path, ["a", "b"], ["m0", "m1"])
    report = Report({"mean_errors": [{"x": 1}]}, captions={"mean_errors": "Over two repeats."})
    study = replace(study, report=lambda _: report)
    done = [Done("errors", p, m, 0, Outcome({"test_error": 0.1})) for p in "ab" for m in ("m0", "m1")]
    ran = Ran(study, 2, Results(study.blocks, [*done, replace(done[0], repeat=1)], {"errors": 2}), planned=8)
    text = page.write(ran, tmp_path).path.read_text()
    assert "3 cells are not computed yet: m1 on a has 1 of 2 repeats; m0 on b has 1 of 2 repeats; m1 on b has" in text
    assert "**Not finished (62.5% of the cells)" in text
    assert "## Mean errors\n\nOver two repeats.\n\n| x |" in text


def test_large_numbers_are_no_powers_of_ten():
    assert markdown([{"rounds": 200000.0, "seconds": 123456.7}, {"rounds": 3.0, "seconds": 0.5}]).splitlines()[2:] == [
        "| 200000 | 123457 |",
        "| 3 | 0.5 |",
    ]
