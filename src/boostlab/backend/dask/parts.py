"""The parts of a fit on a cluster: who holds which, and what is done when one is lost."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

from boostlab.backend.dask import worker
from boostlab.backend.partitioned.part import Answer, Call

PATIENCE = 60.0  # seconds without any worker after which a fit gives up
TRIES = 20  # how often parts may be made anew for one question


class DaskParts:
    """Parts on the workers of a cluster (see `partitioned.rows.Parts`).

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    makers : list of callables
        Each submits what makes one part, to a worker, and returns the future; called again if the part is lost.
    """

    def __init__(self, client: Any, makers: Sequence[Callable[[str | None], Any]]) -> None:
        self.client, self.makers, self.fit = client, makers, uuid.uuid4().hex
        self.log: list[Call] = []  # all orders so far
        self.homes: dict[int, str] = {}
        self._restore(range(len(makers)))

    def ask(self, orders: Sequence[Call], question: Call) -> Answer:
        """Let every part carry out the orders, one after the other, and answer the question; merge the answers."""
        first = len(self.log)
        self.log += orders
        for _ in range(TRIES):
            reply = self._reply(first, orders, question)
            if reply.answer is not None:
                return reply.answer
            self._restore(reply.missing)
        raise RuntimeError(
            f"Partitions {sorted(reply.missing)} were lost {TRIES} times in one round; give the workers more memory, or "
            "use smaller partitions."
        )

    def _reply(self, first: int, orders: Sequence[Call], question: Call) -> worker.Reply:
        by_home: dict[str, list[int]] = {}
        for number, home in self.homes.items():
            by_home.setdefault(home, []).append(number)
        futures = [
            self.client.submit(
                *(worker.call, self.fit, numbers, first, list(orders), question),
                workers=[home],
                allow_other_workers=True,
                pure=False,
                key=f"boostlab-{self.fit[:8]}-{uuid.uuid4().hex[:12]}",
            )
            for home, numbers in by_home.items()
        ]
        return worker.merge_replies(question[0], self._gather(futures))

    def _gather(self, futures: Sequence[Any]) -> list[Any]:
        """Return results, or say in one sentence why there are none."""
        from distributed import wait
        from distributed.scheduler import KilledWorker

        since = time.monotonic()
        while True:
            if self.client.status != "running":
                raise RuntimeError("The Dask client is closed, so the fit cannot go on; open one, and fit again.")
            try:
                wait(futures, timeout=5)
                return [f.result(timeout=5) for f in futures]
            except TimeoutError:
                if self.client.scheduler_info().get("workers"):
                    since = time.monotonic()
                elif time.monotonic() - since > PATIENCE:
                    raise RuntimeError(
                        f"The cluster has had no worker for {PATIENCE:.0f} seconds; start some, and fit again."
                    ) from None
            except KilledWorker as error:
                raise RuntimeError(
                    f"A partition was on several workers when they died ({error}); give the workers more memory, or use "
                    "smaller partitions."
                ) from None
            except CancelledError:
                raise RuntimeError("The cluster cancelled the fit, or its scheduler is gone; fit again.") from None

    def _restore(self, numbers: Sequence[int]) -> None:
        """Make parts, anew if they were lost, with all orders but those of the question in hand."""
        made = {n: self.makers[n](None) for n in numbers}
        held = {
            n: self.client.submit(worker.hold, self.fit, n, part, list(self.log), pure=False) for n, part in made.items()
        }
        for n, home in zip(held, self._gather(list(held.values())), strict=True):
            self.homes[n] = home

    def release(self) -> None:
        """Let the workers forget the parts."""
        if self.client.status == "running":
            self.client.run(worker.release, self.fit, on_error="ignore")
