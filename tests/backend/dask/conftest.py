"""One small cluster for all tests: two worker processes on the loopback device."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys

import pytest
from distributed import Client, LocalCluster


class SmallCluster:
    """A scheduler in this process and worker processes that a test may kill."""

    def __init__(self) -> None:
        self.scheduler = LocalCluster(
            n_workers=0, host="127.0.0.1", dashboard_address=":0", silence_logs=logging.CRITICAL
        )
        self.processes: list[subprocess.Popen] = []

    def fill(self, client: Client, n: int = 2) -> None:
        """Start workers until there are n."""
        address = self.scheduler.scheduler_address
        alive = len(client.nthreads())
        for _ in range(n - alive):
            command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1"]
            options = ["--no-dashboard", "--memory-limit", "0", "--host", "127.0.0.1", "--death-timeout", "60"]
            self.processes.append(
                subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
        client.wait_for_workers(n, timeout=60)

    def kill(self, client: Client, which: int = 0) -> None:
        """Kill a worker, and do not wait."""
        os.kill(sorted(client.run(os.getpid).values())[which], signal.SIGKILL)

    def close(self) -> None:
        """End what was started."""
        for process in self.processes:
            process.kill()
            process.wait()
        self.scheduler.close()


@pytest.fixture(scope="session")
def cluster():
    made = SmallCluster()
    yield made
    made.close()


@pytest.fixture
def client(cluster):
    with Client(cluster.scheduler) as made:
        cluster.fill(made)
        yield made
