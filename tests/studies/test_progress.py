"""How far a cell is: written by its worker, read by the watcher, and used for the time that is left."""

import math

import pytest

from boostlab.studies import progress
from boostlab.studies.progress import noting, read_notes, report
from boostlab.studies.watch import StudyProgress


def test_notes_are_there_as_long_as_the_cell_is_in_the_making(tmp_path):
    report(1, 2)  # nobody watches
    with noting(tmp_path, "cell"):
        assert read_notes(tmp_path)["cell"][0] == 0.0
        progress._sink.last = 0.0  # as if the last note were old
        report(3, 4)
        share, seconds = read_notes(tmp_path)["cell"]
        assert share == 0.75
        assert 0.0 <= seconds < 60.0
    assert read_notes(tmp_path) == {}


def test_the_time_left_is_read_off_cells_in_the_making():
    study = StudyProgress("t")
    study.jobs = 2
    study.waiting = {"a": "one", "b": "one", "c": "two", "d": "two"}
    study.names = {"a": "AdaBoost", "c": "LogitBoost"}
    study.sizes = {"one": 100.0, "two": 100.0}
    study.total["t"] = 4
    assert math.isnan(study.seconds_left())
    study.making({"a": (0.25, 10.0), "c": (0.5, 30.0)})  # whole cells of 40 and 60 seconds
    assert study.seconds_left() == pytest.approx((30 + 40 + 30 + 60) / 2)
    assert study.sentence() == "t: 0 of 4 cells, now AdaBoost 25% and LogitBoost 50%, about 80 s left"
    study.making({"a": (0.0, 5.0)})
    assert "AdaBoost 0%" in study.sentence()
