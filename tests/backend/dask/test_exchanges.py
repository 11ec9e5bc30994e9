"""Between client and workers little travels, by whatever way there is, and a call may come twice."""

from __future__ import annotations

import asyncio

import dask
import numpy as np
import pytest

from backend.dask.collections_of_rows import collections, left_on, sample, votes
from boostlab import AdaBoostClassifier, LPBoostClassifier
from boostlab.backend.dask.cluster import Cluster

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def test_a_reduction_tree_of_workers_gives_the_same_bits(client):
    X, y = sample()
    here = votes(AdaBoostClassifier(n_estimators=4).fit(X, y))
    with dask.config.set({"boostlab.fan": 1}):  # the first worker asks the second
        assert votes(AdaBoostClassifier(n_estimators=4).fit(*collections(X, y))) == here


def test_a_call_that_comes_twice_or_late_does_no_harm(client):
    X, y = sample()
    here = votes(AdaBoostClassifier(n_estimators=4).fit(X, y))
    run = Cluster.run

    def twice(self, *args, **options):
        run(self, *args, **options)
        return run(self, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cluster, "run", twice)
        assert votes(AdaBoostClassifier(n_estimators=4).fit(*collections(X, y))) == here


def test_constraints_and_time_limits(client):
    X, y = sample()
    DX, Dy = collections(X, y)
    for options in ({"monotone": {0: 1}}, {"monotone": {1: -1}, "max_leaf_nodes": 4}, {"interactions": [[0, 1]]}):
        booster = AdaBoostClassifier(n_estimators=4, **{"max_leaf_nodes": 3, **options})
        assert votes(booster.fit(DX, Dy)) == votes(booster.fit(X, y))
    with pytest.raises(TypeError, match="in one place; use AdaBoost or LogitBoost"):
        LPBoostClassifier(time_limit=5.0).fit(DX, Dy)


SENT = [0]  # bytes that this process's connections have written


def count_bytes():
    """Let Dask's connections of this process add up what they say they write."""
    from distributed.comm.tcp import TCP

    if not hasattr(TCP, "uncounted"):
        TCP.uncounted = TCP.write

        async def write(self, *args, **kwargs):
            n = await TCP.uncounted(self, *args, **kwargs)
            SENT[0] += n
            return n

        TCP.write = write


def sent():
    return SENT[0]


def test_traffic_of_a_round_does_not_depend_on_the_rows(client):
    for install in (count_bytes, lambda: client.run(count_bytes)):
        install()
    bytes_of = []
    for n in (1_000, 8_000):
        X, y = sample(n)
        marks = []
        DX, Dy = client.persist(collections(np.round(X, 1), y, n // 4))

        def mark(state, marks=marks):
            if state.t in (2, 8):
                marks.append(sent() + sum(client.run(sent).values()))

        AdaBoostClassifier(n_estimators=8, callbacks=mark).fit(DX, Dy)
        bytes_of.append((marks[1] - marks[0]) / 6)
    slots = 4 * 256 * 8 * 2  # two histograms of four columns
    assert bytes_of[1] < 1.4 * bytes_of[0]
    assert bytes_of[1] < 12 * slots  # from worker to scheduler to client, and orders both ways


def test_workers_that_the_client_cannot_reach_are_called_by_way_of_the_scheduler(client, monkeypatch):
    """As where a firewall lies between: connections are refused, or are not answered."""
    X, y = sample()
    here, ways = votes(AdaBoostClassifier(n_estimators=4, max_leaf_nodes=3).fit(X, y)), []
    workers, connect, run, silence = set(client.nthreads()), client.rpc.connect, client.run, [0]

    async def refused(address=None, *args, **options):
        if address in workers:
            await asyncio.sleep(silence[0])
            raise OSError("no route to host")
        return await connect(address, *args, **options)

    monkeypatch.setattr("boostlab.backend.dask.cluster.REACH", 0.2)
    monkeypatch.setattr(client.rpc, "connect", refused)
    monkeypatch.setattr(client, "run", lambda *args, **options: (ways.append(1), run(*args, **options))[1])
    for silence[0] in (0, 60):
        ways.clear()
        assert votes(AdaBoostClassifier(n_estimators=4, max_leaf_nodes=3).fit(*collections(X, y))) == here
        assert len(ways) > 8  # at least two levels of four trees, two workers each
    monkeypatch.undo()
    assert left_on(client) == (0, [])
