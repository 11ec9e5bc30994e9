"""How far a cell is: written by its worker, read by the watcher, and used for the time that is left."""

import math

import pytest

from boostlab.studies import progress
from boostlab.studies.progress import TimeOver, noting, read_notes, report
from boostlab.studies.watch import StudyProgress


def test_notes_are_there_as_long_as_the_cell_is_in_the_making(tmp_path):
    report(1, 2)  # the run is not watched
    with noting(tmp_path, "cell"):
        assert read_notes(tmp_path)["cell"][0] == 0.0
        progress._sink.last = 0.0  # as if the last note were old
        report(3, 4)
        share, seconds = read_notes(tmp_path)["cell"]
        assert share == 0.75
        assert 0.0 <= seconds < 60.0
    assert read_notes(tmp_path) == {}


def test_a_cell_whose_run_is_long_over_is_given_up(tmp_path):
    with pytest.raises(TimeOver), noting(tmp_path, "cell", until=0.0):
        raise AssertionError("the first report ends it")
    assert read_notes(tmp_path) == {}
    report(1, 2)  # another cell's time is its own


def test_a_cell_is_not_given_up_before_the_run_has_a_result(tmp_path):
    with noting(tmp_path, "cell", until=0.0, after=tmp_path / "finished"):
        report(1, 2)
        (tmp_path / "finished").touch()
        with pytest.raises(TimeOver):
            report(1, 2)
    report(1, 2)


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


def test_the_time_left_is_true_within_a_factor_of_two():
    """Two workers, three splits of four methods that take 5 to 40 seconds, 4 of them before the first round."""
    takes = {"a": 5.0, "b": 10.0, "c": 25.0, "d": 40.0}
    study = StudyProgress("t")
    study.jobs = 2
    queue = [(f"{kind}{split}", kind) for split in range(3) for kind in takes]
    study.waiting, study.sizes = dict(queue), dict.fromkeys(takes, 100.0)
    study.usual, study.how = {kind: [] for kind in takes}, dict.fromkeys(takes, "")
    began, free, ends = {}, [0.0, 0.0], {}
    for key, kind in queue:  # who is free first takes the next
        worker = free.index(min(free))
        began[key], ends[key] = free[worker], free[worker] + takes[kind]
        free[worker] = ends[key]
    whole = max(ends.values())
    told = 0
    for second in range(1, int(whole) - 2):
        for key, kind in queue:
            if ends[key] <= second and study.waiting.pop(key, None):
                study.usual[kind].append(takes[kind])
        notes = {}
        for key, kind in queue:
            spent = second - began[key]
            if key in study.waiting and spent > 0:
                notes[key] = (max(spent - 4.0, 0.001) / (takes[kind] - 4.0), float(spent))
        study.making(notes)
        left = study.seconds_left()
        seen = {study.waiting[key] for key, (share, _) in notes.items() if share >= 0.05}
        if all(kind in seen or study.usual[kind] for kind in takes):  # before, unknown kinds are guesses
            told += 1
            assert 0.5 <= left / (whole - second) <= 2.0, (second, left, whole - second)
    assert told > 0.7 * whole
    study.waiting, study.usual = {"a": "a"}, {}
    study.making({"a": (0.001, 30.0)})
    assert math.isnan(study.seconds_left())  # it has hardly begun
