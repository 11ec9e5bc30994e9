"""The store: what goes in comes out, several processes may write, and what is no store is refused in one sentence."""

from __future__ import annotations

import sqlite3
import threading

import numpy as np
import pytest

from boostlab.studies.plan import Outcome
from boostlab.studies.runner import collect, run
from boostlab.studies.store import CellEntry, Run, Store, StoreError
from toy_study import ToyProblem, toy_study

RUN = Run("test", jobs=1)


def entry(name, kind="kind", repeat=0):
    return CellEntry(name, kind, repeat, "data", '{"repeat": 0}')


def filled(path, *names, failure=""):
    with Store(path) as store:
        store.begin(run := Run("test", jobs=1))
        for name in names:
            store.put(entry(name), None if failure else Outcome({"test_error": 0.25}), failure, 1.0, run.id)
    return path


def test_numbers_and_arrays_come_back(tmp_path):
    numbers = {
        "test_error": np.float64(0.1),
        "rounds": np.int64(7),
        "curve": np.array([3, 2, 1]),
        "chosen": {"ν": [0.1, None]},
        "nothing": float("nan"),
    }
    arrays = {"votes": np.array([0, 1, 1], np.int8), "margins": np.linspace(-1, 1, 5, dtype=np.float32)}
    with Store(tmp_path / "new" / "cells.sqlite") as store:
        store.begin(RUN)
        store.put(entry("k"), Outcome(numbers, arrays), "", 2.5, RUN.id)
    with Store(tmp_path / "new" / "cells.sqlite") as store:
        saved = store.get(["k", "unknown"])
        assert list(saved) == ["k"]
        found = saved["k"].outcome
        assert {k: v for k, v in found.numbers.items() if k != "nothing"} == {
            **{"test_error": 0.1, "rounds": 7, "curve": [3, 2, 1]},
            "chosen": {"ν": [0.1, None]},
        }
        assert np.isnan(found.numbers["nothing"])
        for name, array in arrays.items():
            assert found.arrays[name].dtype == array.dtype
            assert np.array_equal(found.arrays[name], array)
        assert store.get(["k"], arrays=False)["k"].outcome.arrays == {}
        assert saved["k"].seconds == 2.5
        assert store.runs(["unknown", RUN.id]) == [RUN]


def test_many_cells_are_read_in_parts(tmp_path):
    with Store(tmp_path / "cells.sqlite") as store:
        store.begin(RUN)
        with store._together():
            for i in range(1234):
                store.put(entry(f"k{i}", f"kind{i % 2}", i), Outcome({"i": i}), "", float(i % 2), RUN.id)
        assert len(store.get(f"k{i}" for i in range(1234))) == 1234
        assert store.usual_seconds() == {"kind0": 0.0, "kind1": 1.0}


def test_arrays_of_objects_are_refused(tmp_path):
    with Store(tmp_path / "cells.sqlite") as store, pytest.raises(TypeError, match="'bad' of an outcome holds objects"):
        store.put(entry("k"), Outcome({}, {"bad": np.array([{}])}), "", 0.0, RUN.id)


def test_several_writers_at_once(tmp_path):
    """Connections of their own, as processes have them; the first of them makes the tables."""
    path = tmp_path / "cells.sqlite"
    errors = []

    def write(writer):
        try:
            with Store(path) as store:
                store.begin(run := Run("test", jobs=1))
                for i in range(25):
                    store.put(entry(f"{i}", repeat=writer), Outcome({"by": writer}), "", 0.0, run.id)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(w,)) for w in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with Store(path) as store:
        assert len(store.get(str(i) for i in range(25))) == 25
        assert store.last() == 100  # numbers are never given twice, so that no reader that follows misses one
        assert [one.number for one in store.after(99)] == [100]


def test_several_openers_of_a_store_that_is_being_created(tmp_path):
    """It is not taken for another program's database: mark and tables are read as one state of the file."""
    errors = []

    def open_it(path, start):
        start.wait()
        try:
            with Store(path) as store:
                store.last()
        except StoreError as error:
            errors.append(error)

    for trial in range(40):
        start = threading.Barrier(6)
        threads = [threading.Thread(target=open_it, args=(tmp_path / f"{trial}.sqlite", start)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []


def test_a_store_that_another_process_is_creating_is_waited_for(tmp_path):
    """SQLite does not wait by itself where the journal mode is set."""
    path = tmp_path / "cells.sqlite"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, other.execute, ["COMMIT"])
    release.start()
    with Store(path) as store:
        assert store.last() == 0
    release.join()
    other.close()


# -- two stores into one ---------------------------------------------------------------------------------------------


def test_merging_takes_what_is_new_or_mends_a_failure(tmp_path):
    ours, theirs = filled(tmp_path / "a", "1", "2"), filled(tmp_path / "b", "2", "3", "4")
    filled(ours, "4", "5", failure="it broke")
    filled(theirs, "5", failure="it broke there too")
    with Store(ours) as store:
        assert store.merge(theirs) == (2, 2)  # 3 and 4; 2 and 5 are here already
        assert store.merge(theirs) == (0, 4)
        states = store.states("12345")
        assert states == {"1": "", "2": "", "3": "", "4": "", "5": "it broke"}
        assert len(store.runs({one.run for one in store.get("12345").values()})) == 3


def test_a_run_that_was_taken_over_early_gets_its_later_clock(tmp_path):
    with Store(tmp_path / "a") as ours, Store(tmp_path / "b") as theirs:
        now = Run("toy", jobs=1)
        theirs.begin(now)
        for clock in (5.0, 60.0):
            theirs.clock(now, clock)
            ours.merge(theirs.path)
            assert [run.seconds for run in ours.runs([now.id])] == [clock]


def test_a_study_computed_in_two_places_is_one(tmp_path):
    study, half = toy_study(tmp_path), toy_study(tmp_path, "a")
    with Store(tmp_path / "a.sqlite") as one, Store(tmp_path / "b.sqlite") as two:
        run(half, one, jobs=1)
        run(toy_study(tmp_path, "b"), two, jobs=1)
        one.merge(two.path)
        ran = run(study, one, jobs=1)
        assert (ran.computed, len(ran.results.rows())) == (0, 18)
        # The page can be made where one of the data sets is not at hand.
        away = collect(toy_study(tmp_path, ["a", ToyProblem("b", lost=True)]), one)
        assert len(away.results.rows()) == 18


# -- what is no store ------------------------------------------------------------------------------------------------


def refused(path):
    with pytest.raises(StoreError) as caught:
        Store(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, today I boosted.\n" * 50)
    assert refused(path) == f"{path} is not a store: no SQLite database; name another file."
    assert path.read_text().startswith("Dear diary")


def test_a_database_of_another_program(tmp_path):
    path = tmp_path / "songs.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE songs (title TEXT)")
    db.close()
    assert "is a database of another program" in refused(path)


def test_a_store_of_a_later_version(tmp_path):
    path = filled(tmp_path / "cells.sqlite", "k")
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    assert "was written by a later boostlab" in refused(path)


def test_a_folder(tmp_path):
    assert refused(tmp_path) == f"The store {tmp_path} is a folder; name a file."
    file = tmp_path / "file"
    file.touch()
    assert "cannot be made" in refused(file / "cells.sqlite")


def test_a_damaged_store(tmp_path):
    """A file of which the middle was overwritten: one sentence, wherever it is met."""
    path = filled(tmp_path / "cells.sqlite", *map(str, range(400)))
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\x17" * (len(whole) - 4096))
    with pytest.raises(StoreError, match=r"is damaged|does not work"), Store(path) as store:
        store.get(map(str, range(400)))
    path.write_bytes(whole[:5000])
    with pytest.raises(StoreError), Store(path) as store:
        store.get(map(str, range(400)))


def test_merging_what_is_not_there(tmp_path):
    with Store(tmp_path / "cells.sqlite") as store, pytest.raises(StoreError, match=r"There is no store .* to merge"):
        store.merge(tmp_path / "nowhere.sqlite")
    assert not (tmp_path / "nowhere.sqlite").exists()
