"""What is shown while a study runs: counts, running means, and the time that is left."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from boostlab.studies import watch
from boostlab.studies.plan import Outcome
from boostlab.studies.schedule import find_places
from boostlab.studies.store import Saved, Store
from toy_study import ToyProblem, toy_study


@pytest.fixture
def places(tmp_path):
    study = toy_study(tmp_path, ["a", ToyProblem("lost", lost=True)], ["m0", "m1"])
    with Store(tmp_path / "cells.sqlite") as store:
        return find_places(study, store, 2)[0]


def saved(place, error, seconds=1.0):
    outcome = None if error is None else Outcome({"test_error": error})
    return Saved(1, place.key, outcome, "" if outcome else "broken", seconds, "", "run")


def test_means_counts_and_time_left(places):
    """Two repeats of two methods; one cell is there, two are told, the last is the second of its kind."""
    found = {(p.cell.method.name, p.cell.repeat): p for p in places if p.entry}
    assert len(found) == 4
    progress = watch.StudyProgress("toy")
    first = found["m0", 0]
    progress.begin(places, {first.key: saved(first, 0.1)}, {}, jobs=1)
    assert progress.sentence() == "toy: 1 of 4 cells"  # how long the others take is not known
    assert math.isnan(progress.seconds_left())
    progress.cell(found["m0", 1], saved(found["m0", 1], 0.2, seconds=8.0))
    assert progress.seconds_left() == 16.0  # two of a kind never seen, taken to be as long
    progress.cell(found["m1", 0], saved(found["m1", 0], 0.5, seconds=4.0))
    assert progress.seconds_left() == 4.0  # one of a kind that took 4 seconds
    assert progress.sentence() == "toy: 3 of 4 cells, about 4 s left"
    progress.cell(found["m1", 1], saved(found["m1", 1], None))
    assert progress.sentence() == "toy: 4 of 4 cells, 1 failed"
    out = io.StringIO()
    Console(file=out, width=80).print(progress.table())
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["errors", "(1", "failed)", "4/4"] in lines
    assert ["m0", "2", "15.00", "4.50"] in lines  # the mean of 10 and 20 percent
    assert ["m1", "1", "50.00", "4.00"] in lines


def test_kinds_never_seen_take_as_long_as_others_for_data_of_their_size(tmp_path):
    study = toy_study(tmp_path, ["a", ToyProblem("b", rows=36)], ["m0"])
    with Store(tmp_path / "cells.sqlite") as store:
        small, large = find_places(study, store, 1)[0]
    progress = watch.StudyProgress("toy")
    progress.begin([small, large], {}, {"something else": 100.0}, jobs=1)
    assert math.isnan(progress.seconds_left())
    progress.cell(small, saved(small, 0.1, seconds=2.0))
    assert progress.seconds_left() == 6.0  # three times the rows


def test_many_workers_share_the_time_but_not_the_last_cell(places):
    progress = watch.StudyProgress("toy")
    kinds = [place.entry.kind for place in places if place.entry]
    progress.begin(places, {}, dict.fromkeys(kinds, 6.0), jobs=2)
    assert progress.seconds_left() == 12.0
    progress.jobs = 100
    assert progress.seconds_left() == 6.0


def test_lines_where_there_is_no_terminal(places):
    out = io.StringIO()
    with watch.watching("toy", Console(file=out, width=40), pause=0.0) as lines:
        lines.begin(places, {}, {}, 1)
        lines.cell(places[0], saved(places[0], 0.1))
    assert out.getvalue() == "toy: 1 of 4 cells, about 3 s left\n"


def test_a_table_on_a_terminal(places):
    out = io.StringIO()
    with watch.watching("toy", Console(file=out, width=80, force_terminal=True)) as screen:
        assert "reading the data" in shown(screen)
        screen.begin(places, {}, {}, 1)
        assert "Getting ready" in shown(screen)
        screen.cell(places[0], saved(places[0], 0.1))
        assert "toy: 1 of 4 cells, about 3 s left.  Ctrl-C stops" in shown(screen)


def shown(screen):
    out = io.StringIO()
    Console(file=out, width=80).print(screen)
    return out.getvalue()


def test_of_several_studies_each_is_a_row(tmp_path):
    studies = [toy_study(tmp_path, "a", ["m0"], name="one"), toy_study(tmp_path, "b", ["m0"], name="two")]
    with Store(tmp_path / "cells.sqlite") as store:
        found = [place for study in studies for place in find_places(study, store, 2)[0]]
    progress = watch.StudyProgress("2 studies")
    progress.begin(found, {}, {}, jobs=1)
    progress.cell(found[0], saved(found[0], 0.2))
    progress.cell(found[2], saved(found[2], None))
    out = io.StringIO()
    Console(file=out, width=80).print(progress.table())
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["one", "1/2"] in lines
    assert ["two", "(1", "failed)", "1/2"] in lines
