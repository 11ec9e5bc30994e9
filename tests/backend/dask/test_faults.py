"""What goes wrong on a cluster is survived with the same bits, or said in one sentence; nothing hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pytest
from distributed import Client
from distributed.comm import CommClosedError
from distributed.core import Status

import boostlab.dask
from backend.dask.collections_of_rows import collections, left_on, sample, votes
from boostlab import AdaBoostClassifier, SAMMEClassifier
from boostlab.backend.dask.cluster import Cluster
from boostlab.data.dask import sample as sample_of_cluster

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def test_twenty_killed_workers_change_no_bit(client, cluster):
    X, y = sample()
    booster, rng = AdaBoostClassifier(max_leaf_nodes=3, n_estimators=22), np.random.default_rng(0)
    here = votes(booster.fit(X, y))
    timers = []

    def kill(state):
        if timers:
            timers[-1].join()
        if len(timers) < 20:
            cluster.fill(client)
            pid = int(rng.choice(cluster.alive(client)))
            timers.append(threading.Timer(rng.random() * 0.02, os.kill, (pid, signal.SIGKILL)))  # amid a round
            timers[-1].start()

    assert votes(booster.set_params(callbacks=kill).fit(*collections(X, y))) == here
    assert len(timers) == 20
    cluster.fill(client)
    assert left_on(client) == (0, [])


def test_a_worker_killed_while_the_table_is_read(client, cluster):
    X, y = sample()
    here = votes(AdaBoostClassifier(n_estimators=3).fit(X, y))
    DX, Dy = collections(X, y)
    slow = DX.map_blocks(lambda x: (time.sleep(0.1), x)[1], meta=np.empty((0, 4)))
    timer = threading.Timer(0.6, cluster.kill, (client,))
    timer.start()
    assert votes(AdaBoostClassifier(n_estimators=3).fit(slow, Dy)) == here
    timer.join()


def test_two_fits_at_once(client):
    X, y = sample()
    booster, other = AdaBoostClassifier(n_estimators=6), SAMMEClassifier(n_estimators=6, max_depth=2)
    here = [votes(b.fit(X, y)) for b in (booster, other)]
    found = {}
    threads = [
        threading.Thread(target=lambda i=i, b=b: found.update({i: votes(b.fit(*collections(X, y)))}))
        for i, b in enumerate((booster, other))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [found[0], found[1]] == here


def test_an_interrupt_keeps_the_rounds_so_far_and_leaves_a_clean_cluster(client):
    X, y = sample()

    def interrupt(state):
        if state.t == 3:
            raise KeyboardInterrupt

    model = AdaBoostClassifier(n_estimators=9, callbacks=interrupt).fit(*collections(X, y))
    assert (model.n_estimators_, model.stop_reason_.split(":")[0]) == (3, "interrupted")
    assert votes(model) == votes(AdaBoostClassifier(n_estimators=3).fit(X, y))
    assert left_on(client) == (0, [])


def test_a_partition_that_cannot_be_computed(client):
    X, y = sample()
    DX, Dy = collections(X, y)

    def fails(x, block_id=(0, 0)):
        if block_id[0] == 2:
            raise OSError("the disk is gone")
        return x

    bad = DX.map_blocks(fails, meta=np.empty((0, 4)))
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"Partition 2 cannot be computed: OSError: the disk is gone\.$"):
        AdaBoostClassifier(n_estimators=3).fit(bad, Dy)
    assert time.monotonic() - start < 30
    assert left_on(client) == (0, [])


def test_a_lost_partition_is_named_by_its_own_number(client):
    def submit(numbers):
        return [client.submit(lambda n: 1 // (7 - n), n, pure=False) for n in numbers]

    with pytest.raises(RuntimeError, match=r"^Partition 7 cannot be computed: ZeroDivisionError"):
        Cluster(client).results(submit, [3, 7], "Partition")
    assert client.gather(Cluster(client).results(submit, [5, 3], "Partition")) == [0, 0]


def test_a_partition_that_workers_die_of(client, cluster, monkeypatch):
    """As the system does when memory is short: the process is gone, again and again."""
    monkeypatch.setattr(cluster.scheduler.scheduler, "allowed_failures", 0)
    monkeypatch.setattr("boostlab.backend.dask.cluster.AGAIN", 1)
    X, y = sample()
    DX, Dy = collections(X, y)

    def dies(x, block_id=(0, 0)):
        if block_id[0] == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"^Worker after worker died of partition \d; give the workers more memory"):
        AdaBoostClassifier(n_estimators=3).fit(DX.map_blocks(dies, meta=np.empty((0, 4))), Dy)
    assert time.monotonic() - start < 30
    assert left_on(client) == (0, [])


def test_a_cluster_without_workers(cluster):
    with Client(cluster.scheduler) as client, dask.config.set({"boostlab.silence": 1}):
        for pid in cluster.alive(client):
            os.kill(pid, signal.SIGKILL)
        start = time.monotonic()
        with pytest.raises(RuntimeError, match=r"^The Dask cluster has had no worker for 1 seconds; start some"):
            AdaBoostClassifier(n_estimators=3).fit(*collections(*sample()))
        assert time.monotonic() - start < 15


def test_a_frozen_worker(client):
    X, y = sample()
    stopped = []
    assert Cluster(client).silence(2) == 10.0

    def freeze(state):
        if state.t == 2:
            stopped.append((max(client.run(os.getpid).values()), time.monotonic()))
            os.kill(stopped[0][0], signal.SIGSTOP)

    try:
        said = r"^The Dask worker tcp:\S+ has given no sign of life for \d+ seconds"
        with dask.config.set({"boostlab.silence": 2}), pytest.raises(RuntimeError, match=said):
            AdaBoostClassifier(n_estimators=9, callbacks=freeze).fit(*collections(X, y))
        assert time.monotonic() - stopped[0][1] < 15
    finally:
        os.kill(stopped[0][0], signal.SIGCONT)
    assert left_on(client) == (0, [])
    assert AdaBoostClassifier(n_estimators=3).fit(*collections(X, y)).n_estimators_ == 3


@pytest.mark.parametrize("at", ["what one said is gathered", "what several said is merged"])
def test_a_worker_that_freezes_while_answers_are_gathered(client, monkeypatch, at):
    """The tasks are done, and only the frozen worker has a result."""
    X, y = sample()
    stopped, gather, merge = [], Cluster.gather, sample_of_cluster.merged_by_tree

    def freeze():
        if not stopped:
            stopped.extend(client.run(os.getpid).values())
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)

    if at.startswith("what one"):
        monkeypatch.setattr(Cluster, "gather", lambda *args: (freeze(), gather(*args))[1])
    else:
        monkeypatch.setattr(sample_of_cluster, "merged_by_tree", lambda *args: (freeze(), merge(*args))[1])
    try:
        start, said = time.monotonic(), r"^The Dask worker tcp:\S+ has given no sign of life for \d+ seconds"
        with dask.config.set({"boostlab.silence": 0.5}), pytest.raises(RuntimeError, match=said):
            AdaBoostClassifier(n_estimators=3).fit(*collections(X, y))
        assert time.monotonic() - start < 15
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert left_on(client) == (0, [])


def test_workers_that_pause_because_their_memory_is_nearly_full(client):
    """They are alive, and take no task until there is memory again."""
    X, y = sample()
    here = votes(AdaBoostClassifier(n_estimators=3).fit(X, y))

    def pause(dask_worker, to="paused"):
        dask_worker.status = Status[to]

    client.run(pause)
    said = r"^The Dask cluster has only had workers that pause because their memory is nearly full for 1 seconds; start"
    with dask.config.set({"boostlab.silence": 1}), pytest.raises(RuntimeError, match=said):
        AdaBoostClassifier(n_estimators=3).fit(*collections(X, y))
    threading.Timer(1.0, client.run, (pause,), {"to": "running"}).start()
    assert votes(AdaBoostClassifier(n_estimators=3).fit(*collections(X, y))) == here
    assert left_on(client) == (0, [])


def test_a_closed_client(cluster):
    X, y = sample()
    with Client(cluster.scheduler) as closed:
        pass
    with boostlab.dask.using(closed), pytest.raises(RuntimeError, match="client or its scheduler is gone"):
        AdaBoostClassifier(n_estimators=3).fit(*collections(X, y))


@pytest.mark.parametrize("question", ["run_function", "who_has"])
def test_a_scheduler_that_goes_away_while_it_is_asked(client, monkeypatch, question):
    DX, Dy = collections(*sample())
    slow = DX.map_blocks(lambda x: (time.sleep(0.3), x)[1], meta=np.empty((0, 4)))

    async def gone(**_):
        raise CommClosedError("Connection reset by peer")

    monkeypatch.setattr(client.scheduler, question, gone, raising=False)
    with pytest.raises(RuntimeError, match=r"^The Dask client or its scheduler is gone, so the fit ends here"):
        AdaBoostClassifier(n_estimators=3).fit(slow if question == "run_function" else DX, Dy)


SCHEDULER = """
import asyncio
from distributed import Scheduler

async def schedule():
    async with Scheduler(host="127.0.0.1", dashboard=False) as made:
        print(made.address, flush=True)
        await asyncio.sleep(120)

asyncio.run(schedule())
"""


@pytest.mark.parametrize("at", [0, 2])
def test_a_scheduler_that_stops_or_goes_away(cluster, at):
    """Killed in a round, or stopped while the table is read: rounds do not need it."""
    process = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    client = Client(process.stdout.readline().decode().strip(), timeout=30)
    cluster.start(client.scheduler.address)
    client.wait_for_workers(1)
    ended = [time.monotonic()]

    def leave(state):
        if state.t == at:
            ended[0] = time.monotonic()
            process.kill()

    if at == 0:
        process.send_signal(signal.SIGSTOP)
    said = pytest.raises(RuntimeError, match="client or its scheduler is gone")
    with dask.config.set({"boostlab.silence": 1 if at == 0 else 0}), said as caught:
        AdaBoostClassifier(n_estimators=400, callbacks=leave).fit(*collections(*sample()))
    assert time.monotonic() - ended[0] < 15
    assert "\n" not in str(caught.value)
    process.kill()
    process.wait()
    process.stdout.close()
    client.close()
