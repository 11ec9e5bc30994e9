"""Work on threads: every part once, errors come back, nesting is harmless."""

from __future__ import annotations

import os
import threading

import joblib
import pytest

from boostlab.backend.cpu import threads
from boostlab.backend.cpu.threads import A_CALL, WORTH, AtOnce, calls, count_threads, is_worth, spread


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 16, 17, 1000])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize("cells", [0, WORTH - 1, WORTH, 10 * WORTH])
def test_every_index_once(size, n_threads, cells):
    parts, lock = [], threading.Lock()

    def work(first, last):
        with lock:
            parts.append((first, last))

    spread(work, size, cells, n_threads)
    assert sorted(i for a, b in parts for i in range(a, b)) == list(range(size))
    assert len(parts) == max(1, min(n_threads, size, 1 + cells // WORTH))
    lengths = [b - a for a, b in parts]
    assert max(lengths) - min(lengths) <= 1


def test_parts_run_at_the_same_time():
    together, met = threading.Barrier(3, timeout=10), []  # opens only if all three are there
    spread(lambda a, b: met.append(together.wait()), 3, 2 * WORTH, 3)
    assert sorted(met) == [0, 1, 2]


@pytest.mark.parametrize("size", [0, 1, 10, 1000])
def test_long_work_is_done_in_several_calls(size):
    assert list(calls(size, 2 * A_CALL - 1, 2)) == [(0, size)]
    several = list(calls(size, 9 * A_CALL, 2))
    assert len(several) == 5
    assert [i for a, b in several for i in range(a, b)] == list(range(size))


def test_threads_asked_for_at_once_are_given_for_any_work():
    parts = []
    spread(lambda a, b: parts.append((a, b)), 6, 1, AtOnce(3))
    assert sorted(parts) == [(0, 2), (2, 4), (4, 6)]
    assert not is_worth(1, 3)
    assert not is_worth(WORTH, AtOnce(1))


def test_little_work_stays_on_the_callers_thread():
    seen = []
    spread(lambda a, b: seen.append(threading.current_thread()), 100, WORTH - 1, 8)
    assert seen == [threading.current_thread()]


@pytest.mark.parametrize("n_threads", [1, 4])
@pytest.mark.parametrize("bad", [0, 37, 99])
def test_errors_come_back(n_threads, bad):
    def work(first, last):
        if first <= bad < last:
            raise LookupError(f"row {bad}")

    with pytest.raises(LookupError, match=f"row {bad}"):
        spread(work, 100, 9 * WORTH, n_threads)
    done = []
    spread(lambda a, b: done.extend(range(a, b)), 100, 9 * WORTH, n_threads)  # and the threads still work
    assert sorted(done) == list(range(100))


@pytest.mark.parametrize("n_threads", [2, 4])
def test_nested_in_joblib_threads(n_threads):
    def job(k):
        done = []
        for _ in range(20):
            spread(lambda a, b: done.extend(range(a, b)), 50 + k, 9 * WORTH, n_threads)
        return sorted(done) == sorted(list(range(50 + k)) * 20)

    assert all(joblib.Parallel(n_jobs=8, backend="threading")(joblib.delayed(job)(k) for k in range(16)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_threads_survive_a_fork():
    spread(lambda a, b: None, 4, WORTH, 2)  # a pool exists
    assert 2 in threads._pools
    child = os.fork()
    if child == 0:  # pragma: no cover - the parent sees the exit status only
        done = []
        watch = threading.Thread(target=spread, args=(lambda a, b: done.append(b - a), 4, WORTH, 2), daemon=True)
        watch.start()
        watch.join(10)
        os._exit(0 if done == [2, 2] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    ("n_jobs", "share", "expected"),
    [
        (None, None, 8),
        (None, "", 8),
        (None, "3", 3),
        (None, "64", 8),
        (None, "0", 1),
        (None, "4,2", 8),  # OpenMP's list form is not a number
        (1, "3", 1),
        (5, "3", 5),
        (12, None, 8),  # more would take turns
        (AtOnce(12), None, 12),
        (-1, "3", 8),
        (-2, None, 7),
        (-8, None, 1),
        (-50, None, 1),
    ],
)
def test_count_threads(monkeypatch, n_jobs, share, expected):
    monkeypatch.setattr(threads, "_count_cores", lambda allowed, limit: 8)
    if share is None:
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OMP_NUM_THREADS", share)
    assert count_threads(n_jobs) == expected


def test_cores_are_counted_anew_when_fewer_are_allowed(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert count_threads(None) == joblib.cpu_count()
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert count_threads(None) == 1
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT")
    if hasattr(os, "sched_setaffinity"):
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        try:
            assert count_threads(None) == 1
        finally:
            os.sched_setaffinity(0, before)
    assert count_threads(None) == joblib.cpu_count()
