"""Dask workers as forks of one process that has imported and loaded everything, so that a test may kill many of them.

Every line on the standard input is the address of a scheduler, for which it starts a worker; the answer is the number
of its process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np
from distributed import Worker

import boostlab.backend.dask.worker
import boostlab.boosters
import boostlab.data.dask.sample  # noqa: F401
from boostlab import Binned, DecisionTree
from boostlab.boosters.adaboost import AdaBoost
from boostlab.engine.training import Training


def load() -> None:
    """Load the kernels that workers call, in this one thread."""
    from backend.test_partitioned import parted, sample

    Binned.from_batches([np.eye(4)], n_jobs=1)
    table, masses, codes = sample(0, 2, "plain")
    rows = parted(AdaBoost(), table, masses, codes, 2, codes * 0)
    Training(AdaBoost(), DecisionTree(max_leaf_nodes=3), rows, horizon=3).run(3)
    assert threading.active_count() == 1  # a fork has no other


async def work(address: str) -> None:
    """Be a worker until the scheduler is gone."""
    options = dict(nthreads=1, memory_limit=0, host="127.0.0.1", dashboard=False, death_timeout=60)
    async with Worker(address, **options) as worker:
        await worker.finished()


def main() -> None:
    """Fork until there is no more input."""
    sys.path[:0] = [str(Path(__file__).parents[n]) for n in (2, 3)]  # also for functions of tests that are sent here
    load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for them
    for address in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(0), os.close(1)
            asyncio.run(work(address.strip()))
            os._exit(0)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
