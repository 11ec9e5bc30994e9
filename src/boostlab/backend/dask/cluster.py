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
        return set(self._told(self.client.scheduler.ncores))

    def _told(self, ask: Callable[..., Any], **given: Any) -> Any:
        """Return what the scheduler says; a connection that ends, or is silent, is a scheduler that is gone."""
        try:
            return self.client.sync(ask, callback_timeout=STARTING * (self._configured or FROZEN), **given)
        except OSError:  # also TimeoutError
            raise RuntimeError(GONE) from None

    def results(self, submit: Callable[[list[int]], list[Any]], numbers: Sequence[int], what: str) -> list[Any]:
        """Return the futures of computations once all are there; one that a dying worker took along is repeated.

        Parameters
        ----------
        submit : callable
            Submits some computations, by their numbers, and returns their futures: the scheduler is told at once.
        numbers : sequence of int
            Which.
        what : str
            What one of them is called in a message.
        """
        futures, tries = dict(zip(numbers, submit(list(numbers)), strict=True)), dict.fromkeys(numbers, 0)
        try:
            left = set(numbers)
            while left:
                self._wait([futures[i] for i in left])
                left = {i for i in left if futures[i].status != "finished"}
                lost = [i for i in sorted(left) if self._is_lost(futures, i, tries, what)]
                for i in lost:
                    futures[i].release()
                futures |= dict(zip(lost, submit(lost) if lost else [], strict=True))
        except BaseException:  # also Ctrl-C
            for future in futures.values():
                future.release()
            raise
        return [futures[i] for i in numbers]

    def _is_lost(self, futures: Mapping[int, Any], i: int, tries: dict[int, int], what: str) -> bool:
        """Return whether a computation must be repeated; raise if that is of no use."""
        from distributed import KilledWorker

        status = futures[i].status
        if status not in ("error", "cancelled", "lost"):
            return False
        error = futures[i].exception(timeout=LOOK * 10) if status == "error" else CancelledError()
        tries[i] += 1 + int(getattr(error, "allowed_failures", 0))  # workers that died of it
        if isinstance(error, KilledWorker | MemoryError) and tries[i] >= AGAIN:
            raise RuntimeError(f"Worker after worker died of {what.lower()} {i}; {MORE_MEMORY}.") from None
        if not isinstance(error, KilledWorker | MemoryError | CancelledError | OSError) or tries[i] >= AGAIN:
            raise RuntimeError(f"{what} {i} cannot be computed: {_one_line(error)}.") from None
        self.check()
        return True

    def _wait(self, futures: Sequence[Any]) -> None:
        """Wait until all futures are done, or one failed."""
        from distributed import wait

        watch = WorkerWatch(self)
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
            watch.look()

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Return results, or raise what went wrong with one; Dask's own function may wait for ever."""
        self._wait(futures)
        watch, loop = WorkerWatch(self), self.client.loop.asyncio_loop
        call = run_coroutine_threadsafe(self.client.gather(list(futures), asynchronous=True), loop)
        try:
            while not wait_for_calls([call], timeout=LOOK).done:
                self.check()
                watch.look()
            return call.result()
        finally:
            call.cancel()

    def homes(self, futures: Sequence[Any]) -> list[str]:
        """Return the worker that has each result; "" if none has it any more."""
        self.check()
        found = self._told(self.client.scheduler.who_has, keys=[f.key for f in futures])
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
                    if time.monotonic() - start > (self._configured or FROZEN):
                        self.refuse_frozen(self.states(), start, {w for below in groups.values() for w in below})
                    alive = self.workers()
                    for w, call in calls.items():
                        if not call.done() and not alive.issuperset(groups[w]):
                            call.cancel()
            return {w: None if call.cancelled() else call.result() for w, call in calls.items()}
        finally:
            for call in calls.values():
                call.cancel()

    @property
    def _configured(self) -> float:
        """Seconds to wait as Dask's configuration says; 0 if it does not."""
        import dask

        return float(dask.config.get("boostlab.silence", None) or 0.0)

    def fan(self, usual: int) -> int:
        """Return how many answers one merges, as Dask's configuration says (`boostlab.fan`); `usual` if it does not."""
        import dask

        return int(dask.config.get("boostlab.fan", None) or usual)

    def silence(self, n_workers: int) -> float:
        """Return the seconds without a sign of life that are too many: as configured, or as so many workers owe."""
        from distributed.scheduler import heartbeat_interval

        return self._configured or max(FROZEN, BEATS * heartbeat_interval(n_workers))

    def states(self) -> dict[str, tuple[str, float]]:
        """Return every worker's state, and how many seconds ago it gave a sign of life."""
        from distributed.protocol.pickle import dumps

        def seen(dask_scheduler: Any) -> dict[str, tuple[str, float]]:  # travels whole: boostlab need not be there
            workers = dask_scheduler.workers.items()
            return {address: (w.status.name, time.time() - w.last_seen) for address, w in workers}

        asked = {"function": dumps(seen), "args": dumps(()), "kwargs": dumps({})}
        reply = self._told(self.client.scheduler.run_function, wait=True, **asked)
        if reply["status"] == "OK":
            return reply["result"]
        return dict.fromkeys(self.workers(), ("running", 0.0))  # a scheduler that runs no functions

    def refuse_frozen(
        self, states: Mapping[str, tuple[str, float]], since: float, asked: Collection[str], times: int = 1
    ) -> None:
        """Refuse to wait for workers that are there and give no sign of life: a stopped process, a machine that hangs.

        A worker that computes for long still tells the scheduler every second that it is alive.
        """
        patience = times * self.silence(len(states))
        frozen = [(w, s) for w, (_, s) in sorted(states.items()) if s > patience and w in asked]
        if frozen and time.monotonic() - since > patience:
            raise RuntimeError(
                f"The Dask worker {frozen[0][0]} has given no sign of life for {frozen[0][1]:.0f} seconds, so the "
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


class WorkerWatch:
    """How long tasks may be waited for: as long as workers give signs of life, and some of them take tasks.

    Parameters
    ----------
    cluster : Cluster
        Whose workers.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.start = cluster, time.monotonic()
        self.idle: float | None = None  # since when no worker takes tasks

    def look(self) -> None:
        """Complain of workers that are not there, not alive, or without memory, for long."""
        states, now = self.cluster.states(), time.monotonic()
        if any(status == "running" for status, _ in states.values()):
            self.idle = None
            self.cluster.refuse_frozen(states, self.start, states, STARTING)
            return
        self.idle = self.idle or now
        patience = self.cluster._configured or PATIENCE
        if now - self.idle > patience:
            cause = "had no worker" if not states else "only had workers that pause because their memory is nearly full"
            raise RuntimeError(
                f"The Dask cluster has {cause} for {patience:.0f} seconds; start some, with more memory if theirs ran "
                "out, and fit again."
            ) from None


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[-1].rstrip('.')}" if lines[-1] else type(error).__name__
