"""One small cluster for all tests: two worker processes on the loopback device."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from distributed import Client, LocalCluster


class SmallCluster:
    """A scheduler in this process and worker processes that a test may kill."""

    def __init__(self) -> None:
        self.scheduler = LocalCluster(
            n_workers=0, host="127.0.0.1", dashboard_address=":0", silence_logs=logging.CRITICAL
        )
        command = [sys.executable, str(Path(__file__).with_name("worker_forks.py"))]
        options = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.forks = subprocess.Popen(command, **options)
        self.pids: list[int] = []

    def alive(self, client: Client) -> list[int]:
        """Return the processes of the workers that answer."""
        return sorted(client.run(os.getpid, on_error="ignore").values()) if client.nthreads() else []

    def start(self, address: str) -> None:
        """Start a worker of a scheduler."""
        print(address, file=self.forks.stdin, flush=True)
        self.pids.append(int(self.forks.stdout.readline()))

    def fill(self, client: Client, n: int = 2) -> None:
        """Start workers until there are n, also in place of some that died a moment ago."""
        for _ in range(n - len(self.alive(client))):
            self.start(self.scheduler.scheduler_address)
        end = time.monotonic() + 60
        while len(self.alive(client)) < n and time.monotonic() < end:
            time.sleep(0.02)

    def kill(self, client: Client, which: int = 0) -> None:
        """Kill a worker, and do not wait."""
        os.kill(self.alive(client)[which], signal.SIGKILL)

    def close(self) -> None:
        """End what was started."""
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.forks.kill()
        self.forks.communicate()
        self.scheduler.close()


started: list[SmallCluster] = []


@pytest.fixture(scope="session")
def cluster():
    started.append(SmallCluster())
    yield started[0]
    close_all()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Close the cluster after the last of these tests: idle, it would take processor time from all others."""
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        close_all()


def close_all() -> None:
    """Close what is open."""
    while started:
        started.pop().close()


@pytest.fixture
def client(cluster):
    with Client(cluster.scheduler) as made:
        cluster.fill(made)
        yield made
