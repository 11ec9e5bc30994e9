"""Threads for kernels that release the interpreter lock.

Plain Python threads instead of Numba's own: they may be nested in joblib or in another program's threads, survive
a fork, need no threading layer, and cost about 30 microseconds a call, which work below `WORTH` cells never pays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.spin_barrier import break_up, new_team

Array = npt.NDArray[Any]

MOST = 256  # threads
WORTH = 1 << 19  # cells of work (about 0.2 ms) below which one thread is faster

_pools: dict[int, ThreadPoolExecutor] = {}
_joining = Lock()
os.register_at_fork(after_in_child=_pools.clear) if hasattr(os, "register_at_fork") else None


class AtOnce(int):
    """A number of threads that share work of any size; a plain number of them shares what is worth it."""


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for; None is all cores, or the share a joblib worker was given."""
    if n_jobs is not None and n_jobs > 0:
        return min(n_jobs, MOST)
    cores = joblib.cpu_count()  # asks the system, which takes 0.1 ms
    if n_jobs is None:
        share = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(cores, int(share) if share.isdigit() else cores))
    return max(1, cores + 1 + n_jobs)


def is_worth(cells: int, threads: int) -> bool:
    """Return whether so many cells of work are done faster by several threads."""
    return threads > 1 and (cells >= WORTH or isinstance(threads, AtOnce))


def spread(work: Callable[[int, int], object], size: int, cells: int, threads: int) -> None:
    """Call work(first, last) on even parts of range(size), in parallel if `cells` of work are worth it.

    The work itself must not call `spread`: the parts of one call share a pool.
    """
    parts = min(threads, size) if is_worth(cells, threads) else 1
    if parts <= 1:
        work(0, size)
    else:
        _together(work, size, parts, [()] * parts)


def spread_sums(work: Callable[[int, int, Array], object], size: int, cells: int, slots: int, threads: int) -> Array:
    """Return what work(first, last, out) adds to `slots` integers, over even parts of range(size).

    Every thread has sums of its own, so there are only as many of them as have more to do than to add up at the end.
    """
    parts = min(threads, size, 1 + cells // max(4 * slots, 1)) if is_worth(cells, threads) else 1
    outs = np.zeros((max(parts, 1), slots), np.int64)
    if parts <= 1:
        work(0, size, outs[0])
        return outs[0]
    _together(work, size, parts, [(out,) for out in outs])
    for out in outs[1:]:
        outs[0] += out
    return outs[0]


def gather(work: Callable[[int, int], Any], size: int, cells: int, threads: int) -> list[Any]:
    """Return what work(first, last) returns on even parts of range(size), in their order."""
    parts = min(threads, size) if is_worth(cells, threads) else 1
    return [work(0, size)] if parts <= 1 else _together(work, size, parts, [()] * parts)


def as_team(work: Callable[[int, Array], Any], size: int) -> Any:
    """Return what work(0, team) returns, while other threads run work(1, team) to work(size - 1, team).

    Members may wait for each other (see kernels/team.py), so all of them must be at work at once: they enter the pool
    together, and other teams after them.
    """
    team = new_team()
    if size == 1:
        return work(0, team)
    futures, done = list[Future[Any]](), False

    def member(me: int) -> Any:
        try:
            return work(me, team)
        except BaseException:  # say, no memory: the others would wait for ever
            break_up(team)
            raise

    try:
        with _joining:
            futures += [_pool(size).submit(member, me) for me in range(1, size)]
        first = work(0, team)
        done = True
        return first
    finally:
        if not done:  # an interrupt, or no thread to be had
            break_up(team)
        for future in futures:
            future.result()


def _pool(parts: int) -> ThreadPoolExecutor:
    if parts not in _pools:
        _pools[parts] = ThreadPoolExecutor(parts - 1, thread_name_prefix="boostlab")
    return _pools[parts]


def _together(work: Callable[..., object], size: int, parts: int, own: Sequence[tuple[Array, ...]]) -> list[Any]:
    bounds = [size * p // parts for p in range(parts + 1)]
    jobs = [(a, b, *mine) for (a, b), mine in zip(pairwise(bounds), own, strict=True)]
    futures = [_pool(parts).submit(work, *job) for job in jobs[1:]]
    try:
        first = work(*jobs[0])  # by this thread, which would only wait
    finally:
        rest = [future.result() for future in futures]
    return [first, *rest]
