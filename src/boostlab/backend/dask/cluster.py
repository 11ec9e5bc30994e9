"""A Dask cluster as a fit sees it: results or one sentence, never a hang."""

from __future__ import annotations

import time
from asyncio import run_coroutine_threadsafe, wait_for
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import wait as wait_for_calls
from typing import Any

PATIENCE = 30.0  # seconds without any worker after which a fit gives up: a nanny may take some to start one anew
TRIES = 20  # how often what is lost is computed anew, for one question
AGAIN = 3  # how often a task is submitted that fails, or that workers die of
REACH = 3.0  # seconds that a connection to a worker may take, after which the scheduler is asked to call it
LOOK = 0.5  # seconds between two looks at the client's health
FROZEN = 10.0  # seconds without a sign of life after which a round does not wait for a worker any more
BEATS = 10  # the same in signs of life that a worker owes, which it gives more rarely on a large cluster
STARTING = 3  # times as long while tables are read: a worker that imports libraries may be silent for some seconds

GONE = "The Dask client or its scheduler is gone, so the fit ends here; connect, and fit again."
MORE_MEMORY = "give the workers more memory, or use smaller partitions"


class Cluster:
    """A client, and what to say when its cluster fails.

    Parameters
    ----------
    client : distributed.Client
        The client.
    """

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise TypeError("This Dask client is asynchronous, and fit waits for its workers; use a plain Client.")
        self.client = client
        self.reached: dict[str, bool] = {}  # workers that this process can, or cannot, call directly
        self.opened: list[Any] = []  # parts
        self.kept: list[Any] = []  # futures

    def keep(self, futures: Sequence[Any]) -> None:
        """Remember futures, to release them in the end."""
        self.kept += futures

    def close(self) -> None:
        """Leave nothing of a fit on the cluster."""
        for parts in self.opened:
            parts.close()
        for future in self.kept:
            future.release()
        self.opened, self.kept = [], []

    def check(self) -> None:
        """Refuse a client that has no scheduler any more."""
        if self.client.status != "running":
            raise RuntimeError(GONE)

    def workers(self) -> set[str]:
        """Return the addresses of the workers that the scheduler knows."""
        return set(self._told(self.client.nthreads))

    @staticmethod
    def _told(ask: Callable[..., Any], *args: Any) -> Any:
        """Return what the scheduler says; a connection that ends amid is a scheduler that is gone."""
        try:
            return ask(*args)
        except OSError:
            raise RuntimeError(GONE) from None

    def results(self, submit: Callable[[int], Any], n: int, what: str) -> list[Any]:
        """Return the futures of n computations once all are there; one that a dying worker took along is repeated.

        Parameters
        ----------
        submit : callable
            Submits computation i, and returns its future.
        n : int
            How many.
        what : str
            What one of them is called in a message.
        """
        futures, tries = [submit(i) for i in range(n)], [0] * n
        try:
            self._finish(futures, tries, submit, what)
        except BaseException:  # also Ctrl-C
            for future in futures:
                future.release()
            raise
        return futures

    def _finish(self, futures: list[Any], tries: list[int], submit: Callable[[int], Any], what: str) -> None:
        from distributed import KilledWorker

        left = set(range(len(futures)))
        while left:
            self._wait([futures[i] for i in left])
            for i in sorted(left):
                status = futures[i].status
                if status == "finished":
                    left.discard(i)
                elif status in ("error", "cancelled", "lost"):
                    error = futures[i].exception(timeout=LOOK * 10) if status == "error" else CancelledError()
                    tries[i] += 1 + int(getattr(error, "allowed_failures", 0))  # workers that died of it
                    if isinstance(error, KilledWorker | MemoryError) and tries[i] >= AGAIN:
                        raise RuntimeError(f"Worker after worker died of {what.lower()} {i}; {MORE_MEMORY}.") from None
                    if (
                        not isinstance(error, KilledWorker | MemoryError | CancelledError | OSError)
                        or tries[i] >= AGAIN
                    ):
                        raise RuntimeError(f"{what} {i} cannot be computed: {_one_line(error)}.") from None
                    self.check()
                    futures[i].release()
                    futures[i] = submit(i)

    def _wait(self, futures: Sequence[Any]) -> None:
        """Wait until one more of the futures is done, or failed; complain if there is no worker for long."""
        from distributed import wait

        alone, start = None, time.monotonic()
        while True:
            self.check()
            try:
                wait(futures, timeout=LOOK, return_when="ALL_COMPLETED")
                return
            except TimeoutError:
                if any(f.status in ("error", "cancelled", "lost") for f in futures):
                    return
            except CancelledError:
                return
            if self.workers():
                alone = None
                if time.monotonic() - start > STARTING * self.silence:
                    self._refuse_frozen(STARTING * self.silence)
            else:
                alone = alone or time.monotonic()
                patience = self._configured or PATIENCE
                if time.monotonic() - alone > patience:
                    raise RuntimeError(
                        f"The Dask cluster has had no worker for {patience:.0f} seconds; start some, with more "
                        "memory if theirs ran out, and fit again."
                    ) from None

    def homes(self, futures: Sequence[Any]) -> list[str]:
        """Return the worker that has each result; "" if none has it any more."""
        self.check()
        found = self._told(self.client.who_has, list(futures))
        return [next(iter(found.get(f.key, ())), "") for f in futures]

    def run(
        self, function: Callable[..., Any], *args: Any, groups: Mapping[str, Sequence[str]]
    ) -> dict[str, Any | None]:
        """Call a function on workers, outside of tasks; return results, by worker: None from one that is gone.

        Parameters
        ----------
        function, *args
            A coroutine function and its arguments.
        groups : mapping
            The workers to call, and those that each depends on: if one of these leaves, the call ends.
        """
        from distributed.protocol.pickle import dumps

        self.check()
        start, loop = time.monotonic(), self.client.loop.asyncio_loop
        asked = {"function": dumps(function), "args": dumps(args), "kwargs": dumps({})}
        calls = {w: run_coroutine_threadsafe(self._call(asked, w), loop) for w in groups}
        try:
            while not all(call.done() for call in calls.values()):
                done, _ = wait_for_calls(calls.values(), timeout=LOOK)
                if len(done) < len(calls):
                    self.check()
                    if time.monotonic() - start > self.silence:
                        self._refuse_frozen(self.silence, {w for below in groups.values() for w in below})
                    alive = self.workers()
                    for w, call in calls.items():
                        if not call.done() and not alive.issuperset(groups[w]):
                            call.cancel()
            return {w: None if call.cancelled() else call.result() for w, call in calls.items()}
        finally:
            for call in calls.values():
                call.cancel()

    @property
    def silence(self) -> float:
        """Seconds without a sign of life that are too many: as Dask's configuration says, or as the workers owe."""
        from distributed.scheduler import heartbeat_interval

        return self._configured or max(FROZEN, BEATS * heartbeat_interval(len(self.workers())))

    @property
    def _configured(self) -> float:
        """Seconds to wait as Dask's configuration says; 0 if it does not."""
        import dask

        return float(dask.config.get("boostlab.silence", None) or 0.0)

    def _refuse_frozen(self, patience: float, asked: Collection[str] | None = None) -> None:
        """Refuse to wait for workers that are there and give no sign of life: a stopped process, a machine that hangs.

        A worker that computes for long still tells the scheduler every second that it is alive.
        """

        def seconds_silent(
            dask_scheduler: Any,
        ) -> dict[str, float]:  # travels whole: a scheduler need not have boostlab
            return {address: time.time() - w.last_seen for address, w in dask_scheduler.workers.items()}

        try:
            silent = self.client.run_on_scheduler(seconds_silent)
        except Exception:  # a scheduler that does not tell, or is gone: `check` finds out
            return
        frozen = [w for w, s in sorted(silent.items()) if s > patience and (asked is None or w in asked)]
        if frozen:
            raise RuntimeError(
                f"The Dask worker {frozen[0]} has given no sign of life for {silent[frozen[0]]:.0f} seconds, so the "
                "fit ends here; end or restart it, and fit again, or set boostlab.silence in Dask's configuration."
            )

    async def _call(self, asked: Mapping[str, bytes], worker: str) -> Any | None:
        """Call a worker directly, or by way of the scheduler where this process cannot reach it."""
        from distributed.protocol.pickle import loads

        try:
            if await self._reaches(worker):
                reply = await self.client.rpc(worker).run(**asked, wait=True)
                return reply["result"] if reply["status"] == "OK" else None
            function, args = loads(asked["function"]), loads(asked["args"])
            found = await self.client.run(function, *args, workers=[worker], on_error="return")
        except Exception:  # the worker is gone, or the scheduler or the client: `check` finds out
            return None
        return None if isinstance(found[worker], Exception) else found[worker]

    async def _reaches(self, worker: str) -> bool:
        """Return whether this process has a connection to a worker, or can make one."""
        if worker not in self.reached:
            try:
                comm = await wait_for(self.client.rpc.connect(worker), REACH)
                self.client.rpc.reuse(worker, comm)
                self.reached[worker] = True
            except (OSError, TimeoutError):
                self.reached[worker] = False
        return self.reached[worker]


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[-1].rstrip('.')}" if lines[-1] else type(error).__name__
