"""The runner: only what is missing is computed, whatever ended the last run, and a cell is what its definition says."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from boostlab.studies import plan, worker
from boostlab.studies.plan import Method
from boostlab.studies.request import RequestError
from boostlab.studies.runner import _batch, collect, run
from boostlab.studies.schedule import find_places, in_groups
from boostlab.studies.store import Run, Store
from toy_study import ToyProblem, ToyProtocol, said, toy_study

SCRIPT = Path(__file__).parents[1] / "toy_study.py"
ALL = {(p, m, str(r)) for p in "ab" for m in ("m0", "m1", "m2") for r in range(3)}


posix = pytest.mark.skipif(os.name == "nt", reason="kills a group of processes")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "cells.sqlite") as store:
        yield store


def wait_for(condition, process, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def start(folder, jobs):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that its workers can be killed with it
    )


def _computing(group):
    """Return the workers of a group of processes that are still there."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split()[0] == str(group) and "LokyProcess" in line]


def key(done):
    return done.problem, done.method, str(done.repeat)


# -- kill and go on --------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_in_the_middle_of_a_cell_only_the_missing_cells_are_computed(tmp_path, jobs):
    block = tmp_path / "block-b-m1-1"
    block.touch()
    process = start(tmp_path, jobs)
    wait_for(lambda: ("b", "m1", "1") in said(tmp_path), process)
    with Store(tmp_path / "cells.sqlite") as store:
        if jobs == 2:  # the other worker does all that is left but for the cells behind the blocked one
            wait_for(lambda: store.last() >= 14, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        block.unlink()
        study = toy_study(tmp_path)
        kept = {key(done) for done in collect(study, store).results.rows()}
        assert ("b", "m1", "1") not in kept
        assert 7 <= len(kept) < 18
        before = len(said(tmp_path))
    out, err = start(tmp_path, jobs).communicate(timeout=120)
    assert (out.strip(), err) == (f"{18 - len(kept)} of 18 done", "")
    assert sorted(said(tmp_path)[before:]) == sorted(ALL - kept)

    # ... and what was interrupted twice is what an undisturbed run finds.
    other = tmp_path / "other"
    other.mkdir()
    with Store(tmp_path / "cells.sqlite") as one, Store(other / "cells.sqlite") as two:
        errors = [collect(study, one).results.matrix("errors")[2], run(study, two, jobs=1).results.matrix("errors")[2]]
    assert np.array_equal(*errors)
    assert not np.isnan(errors[0]).any()


@posix
def test_workers_end_after_their_cell_when_the_runner_was_killed(tmp_path):
    block = tmp_path / "block-b-m1-1"
    block.touch()
    process = start(tmp_path, 2)
    try:
        wait_for(lambda: ("b", "m1", "1") in said(tmp_path), process)
        process.kill()
        process.wait()
        block.unlink()
        with Store(tmp_path / "cells.sqlite") as store:
            end = time.monotonic() + 60
            while not any(key(d) == ("b", "m1", "1") for d in collect(toy_study(tmp_path), store).results.rows()):
                assert time.monotonic() < end
                time.sleep(0.05)
        while _computing(process.pid):
            assert time.monotonic() < end, "a worker waits for tasks that nobody gives"
            time.sleep(0.05)
        assert ("b", "m2", "1") not in said(tmp_path)  # it was next
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@posix
def test_a_run_goes_on_when_the_shell_that_began_it_is_left(tmp_path):
    block = tmp_path / "block-a-m0-0"
    block.touch()
    command = f'"{sys.executable}" "{SCRIPT}" "{tmp_path}" 1 & while [ -e "{block}" ]; do sleep 0.02; done'
    shell = subprocess.Popen(["sh", "-c", command], stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for(lambda: ("a", "m0", "0") in said(tmp_path), shell)
        shell.kill()
        shell.wait()
        block.unlink()
        with Store(tmp_path / "cells.sqlite") as store:
            end = time.monotonic() + 60
            while store.last() < len(ALL):
                assert time.monotonic() < end
                time.sleep(0.05)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)


@posix
def test_ctrl_c_keeps_what_is_finished(tmp_path):
    block = tmp_path / "block-b-m1-1"
    block.touch()
    process = start(tmp_path, 2)
    wait_for(lambda: ("b", "m1", "1") in said(tmp_path), process)
    with Store(tmp_path / "cells.sqlite") as store:  # the other worker does all that is left: both have loaded
        wait_for(lambda: store.last() >= 14, process)  # what they need
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: workers are told too
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert out.endswith("of 18 interrupted\n")
    with Store(tmp_path / "cells.sqlite") as store:
        assert store.last() == int(out.split()[0]) >= 7
        block.unlink()
        assert run(toy_study(tmp_path), store, jobs=1).computed == 18 - int(out.split()[0])


@posix
def test_a_worker_that_the_system_kills_ends_the_run_in_a_sentence(tmp_path, store):
    ran = run(toy_study(tmp_path, "a", ["m0", "m1", Method("m2", "", {"die": True})]), store, 1, jobs=2)
    assert ran.ended.startswith("a worker was killed, most likely for lack of memory")
    assert "m2" not in {done.method for done in ran.results.rows()}
    assert not ran.interrupted


def test_a_booster_that_was_interrupted_is_no_result(tmp_path, store):
    """Ctrl-C while this process itself computes: the cell is lost, those before it are kept."""
    study = toy_study(tmp_path, "a", ["m0", Method("m1", "", {"interrupt": True}), "m2"])
    ran = run(study, store, 1, jobs=1)
    assert (ran.interrupted, ran.computed, ran.planned) == (True, 1, 3)
    assert "Ctrl-C" in ran.ended


# -- a cell is its definition ----------------------------------------------------------------------------------------


def test_nothing_is_computed_twice(tmp_path, store):
    assert run(toy_study(tmp_path), store, "quick", jobs=1).computed == 12
    assert run(toy_study(tmp_path), store, "quick", jobs=1).computed == 0
    assert run(toy_study(tmp_path), store, jobs=1).computed == 6  # the third repeat
    assert run(toy_study(tmp_path, name="another"), store, jobs=1).computed == 0  # of the same cells
    assert len(said(tmp_path)) == len(set(said(tmp_path))) == 18


def changed(folder):
    """Yield one change after the other to a study of one problem and one method."""
    method = Method("m", "", {"shift": 0.1}, {"depth": (1, 2)}, "staged")
    yield toy_study(folder, "a", [method])
    yield toy_study(folder, "a", [replace(method, params={"shift": 0.2})])
    yield toy_study(folder, "a", [replace(method, grid={"depth": (1, 3)})])
    yield toy_study(folder, "a", [replace(method, grid={"depth": (2, 1)})])
    yield toy_study(folder, "a", [replace(method, how="at once")])
    yield toy_study(folder, "a", [method], version=2)
    yield toy_study(folder, [ToyProblem("a", rows=13)], [method])
    yield toy_study(folder, [ToyProblem("a", seed=1)], [method])  # other numbers under the same name
    yield toy_study(folder, "a", [replace(method, booster="AdaBoostClassifier")])


def test_what_another_run_has_finished_meanwhile_is_not_computed_again(tmp_path, store):
    study = toy_study(tmp_path)
    store.begin(now := Run("toy", jobs=1))
    places = find_places(study, store, "full")[0]
    tasks = [_batch(group, store, now, (float("inf"),) * 2, tmp_path) for group in in_groups(places, {}, 1)]
    run(study, store, jobs=1)  # the other
    before = said(tmp_path)
    assert [worker.work(task) for task in tasks] == [0] * len(tasks)
    assert said(tmp_path) == before


def test_a_changed_definition_never_reuses_a_cell(tmp_path, store):
    for count, study in enumerate(changed(tmp_path), start=1):
        assert run(study, store, 1, jobs=1).computed == 1
        assert store.last() == count  # and the old one is still there
    for study in changed(tmp_path):
        assert run(study, store, 1, jobs=1).computed == 0


def test_a_changed_rule_is_another_cell(tmp_path, store, monkeypatch):
    study = toy_study(tmp_path, "a", [Method("m", "AdaBoostClassifier")])
    assert run(study, store, 1, jobs=1).computed == 1
    monkeypatch.setattr(plan, "code_version", lambda booster: "edited")
    assert run(study, store, 1, jobs=1).computed == 1


# -- splits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("jobs", "backend"), [(1, None), (2, "threading"), (2, "sequential")])
def test_all_methods_see_identical_splits(tmp_path, store, jobs, backend):
    """With several workers a problem's cells may be divided among them: the splits are the same."""
    ran = run(toy_study(tmp_path), store, jobs=jobs, backend=backend)
    assert ran.computed == 18
    _, _, splits = ran.results.matrix("errors", "split")
    assert (splits == splits[:, :1]).all()
    assert len(np.unique(splits)) == 6  # every problem and repeat its own
    for done in ran.results.rows():
        assert sorted(done.outcome.arrays["order"]) == list(range(12))


def test_parts_are_made_once_for_all_methods(tmp_path, store):
    run(toy_study(tmp_path), store, jobs=1)
    assert sorted(said(tmp_path, "parts")) == [(p, str(r)) for p in "ab" for r in range(3)]


def test_long_cells_come_first_within_a_repeat(tmp_path, store):
    study = toy_study(tmp_path, ["a", ToyProblem("b", rows=40), ToyProblem("c", rows=20)])
    places, _ = find_places(study, store, 2)

    def order(usual):
        return [(g[0].cell.repeat, g[0].cell.problem.name) for g in in_groups(places, usual, workers=1)]

    assert order({}) == [(0, "b"), (0, "c"), (0, "a"), (1, "b"), (1, "c"), (1, "a")]  # larger tables take longer
    known = {p.entry.kind: 9.0 for p in places if p.cell.problem.name == "a"}
    assert order(known)[:3] == [(0, "a"), (0, "b"), (0, "c")]  # unless the store knows better
    groups = in_groups(places, {}, workers=4)
    assert len(groups) == 12  # of 6, cut in two
    assert sorted(p.key for g in groups for p in g) == sorted(p.key for p in places)


# -- what goes wrong -------------------------------------------------------------------------------------------------


def test_failures_are_rows_and_computed_again_when_asked(tmp_path, store):
    study = toy_study(tmp_path, methods=["m0", Method("m1", "", {"fail": True}), "m2"])
    ran = run(study, store, 2, jobs=1)
    failed = [done for done in ran.results.rows() if done.failure]
    assert len(failed) == 4
    assert {done.method for done in failed} == {"m1"}
    assert failed[0].failure.startswith("RuntimeError: the abacus is jammed (toy_study.py, line ")
    assert np.isnan(ran.results.matrix("errors")[2][:, 1]).all()
    (tmp_path / "mended").touch()
    assert run(study, store, 2, jobs=1).computed == 0
    ran = run(study, store, 2, jobs=1, retry=True)
    assert ran.computed == 4
    assert not any(done.failure for done in ran.results.rows())


def test_a_split_that_fails_fails_all_its_cells(tmp_path, store):
    (tmp_path / "broken-a").touch()
    ran = run(toy_study(tmp_path), store, 1, jobs=1)
    assert {d.problem for d in ran.results.rows() if "these rows cannot be split" in d.failure} == {"a"}
    assert sum(bool(d.failure) for d in ran.results.rows()) == 3


def test_an_outcome_that_cannot_be_stored_is_a_failure(tmp_path, store):
    ran = run(toy_study(tmp_path, "a", [Method("m", "", {"object": True})]), store, 1, jobs=1)
    assert ran.results.rows()[0].failure.startswith("TypeError: <object object")


def test_data_that_are_not_there_are_left_out_and_named(tmp_path, store):
    whole = toy_study(tmp_path)
    lacking = toy_study(tmp_path, [ToyProblem("a", lost=True), "b"])
    ran = run(lacking, store, 2, jobs=1)
    assert ran.results.absent == {"a": "The data set 'a' was not found; look under the carpet."}
    assert ran.computed == ran.planned == 6
    assert run(whole, store, 2, jobs=1).computed == 6
    # Computed where the data were: they are known by their definition.
    assert len(collect(lacking, store, 2).results.rows()) == 12
    # Not so when there are two that differ in nothing but the numbers.
    run(toy_study(tmp_path, [ToyProblem("a", seed=1), "b"]), store, 2, jobs=1)
    assert {done.problem for done in collect(lacking, store, 2).results.rows()} == {"b"}


def test_a_method_without_its_package_is_left_out_and_can_be_merged(tmp_path, store, monkeypatch):
    methods = [Method("m0", "", {"shift": 0.0}), Method("peer", "", {"shift": 0.5}, needs="no_such_package")]
    study = toy_study(tmp_path, "a", methods)
    ran = run(study, store, 2, jobs=1)
    assert (ran.computed, ran.planned) == (2, 2)
    assert ran.results.absent == {"peer": "it needs the package no_such_package, which is not installed here."}
    elsewhere = tmp_path / "elsewhere.sqlite"
    with Store(elsewhere) as other, monkeypatch.context() as there:
        there.setattr("boostlab.studies.schedule.is_installed", lambda package: True)
        assert run(study, other, 2, jobs=1).computed == 4
    assert store.merge(elsewhere) == (2, 2)
    again = run(study, store, 2, jobs=1)
    assert (again.computed, again.planned, len(again.results.rows())) == (0, 4, 4)
    assert again.results.absent == {}


def test_after_the_budget_no_cell_begins(tmp_path, store):
    methods = [Method(f"m{i}", "", {"seconds": 0.3, "shift": i}) for i in range(20)]
    start = time.monotonic()
    ran = run(toy_study(tmp_path, "a", methods), store, 1, jobs=1, budget=0.5)
    assert time.monotonic() - start < 3.0
    assert 1 <= ran.computed <= 2
    assert ran.ended == "its time was over"
    assert not ran.interrupted


def test_no_jobs_is_refused(tmp_path, store):
    with pytest.raises(RequestError, match="jobs=0 is not possible"):
        run(toy_study(tmp_path), store, jobs=0)


def test_a_watcher_is_told_every_cell_once(tmp_path, store):
    class Watch:
        def __init__(self):
            self.ready, self.cells = [], []

        def begin(self, places, ready, usual, jobs):
            self.places, self.ready, self.jobs = places, list(ready), jobs

        def cell(self, place, saved):
            self.cells.append((place.cell.problem.name, place.cell.method.name, str(place.cell.repeat)))

        def making(self, notes):
            assert all(0.0 <= share <= 1.0 <= 1.0 + seconds for share, seconds in notes.values())

    run(toy_study(tmp_path), store, 1, jobs=1)
    watch = Watch()
    run(toy_study(tmp_path), store, 3, jobs=2, backend="threading", watch=watch)
    assert (len(watch.places), len(watch.ready), watch.jobs) == (18, 6, 2)
    assert sorted(watch.cells) == sorted(one for one in ALL if one[2] != "0")


def test_a_worker_has_one_thread(tmp_path, store, monkeypatch):
    from boostlab.backend.cpu.threads import count_threads

    seen = []
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setattr(ToyProtocol, "log", lambda self, *words: seen.append(count_threads(None)))
    run(toy_study(tmp_path), store, 1, jobs=1)
    assert set(seen) == {1}
    assert os.environ["OMP_NUM_THREADS"] == "7"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_worker_does_not_write_across_the_live_table(monkeypatch, capsys, terminal):
    log = logging.getLogger("boostlab")
    monkeypatch.setattr(log, "level", logging.NOTSET)
    log.manager._clear_cache()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    worker._keep_off_the_screen()
    assert log.isEnabledFor(logging.WARNING) is not terminal
    monkeypatch.undo()
    log.manager._clear_cache()


def test_one_worker_says_for_all_that_kernels_are_compiled(tmp_path, caplog):
    log = logging.getLogger("boostlab.test")
    workers = [worker._OneForAll() for _ in range(3)]
    for one in workers:
        one.sign = tmp_path / "compiling"
    alone, late = worker._OneForAll(), worker._OneForAll()
    late.sign = tmp_path / "gone" / "compiling"
    for number, one in enumerate([*workers, alone, alone, late]):
        log.addFilter(one)
        log.warning("compiling %s", number)
        log.removeFilter(one)
    assert [record.message for record in caplog.records] == ["compiling 0", "compiling 3", "compiling 4"]
    assert worker._notices in logging.getLogger("boostlab").filters
