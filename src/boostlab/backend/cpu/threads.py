"""How many threads there are, and Python functions that several of them share (for kernels see `in_parts`).

Plain Python threads instead of Numba's own: they may be nested in joblib or in another program's threads, survive
a fork, and need no threading layer.  Handing out work to Python threads takes 40 microseconds for two of them and 230
for sixteen, which work below `WORTH` cells never pays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import joblib

MOST = 256  # threads
A_CALL = 1 << 27  # cells that a thread does in one call
WORTH = 1 << 19  # cells of work (about 0.2 ms) below which one thread is faster

_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear) if hasattr(os, "register_at_fork") else None


class AtOnce(int):
    """A number of threads that share work of any size; a plain number of them shares what is worth it."""


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for; None is all cores, or the share a joblib worker was given.

    No more than there are cores: threads that take turns on one do nothing sooner, and wait for each other.
    """
    if n_jobs is not None and n_jobs > 0:
        return n_jobs if n_jobs == 1 else at_once(min(n_jobs, MOST))
    cores = count_cores()
    if n_jobs is None:
        share = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(cores, int(share) if share.isdigit() else cores))
    return max(1, cores + 1 + n_jobs)


def count_cores() -> int:
    """Return how many cores this process may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    return _count_cores(allowed, os.environ.get("LOKY_MAX_CPU_COUNT"))


def at_once(threads: int) -> int:
    """Return how many of these threads can run at the same time, as those that meet in every round should."""
    return threads if isinstance(threads, AtOnce) else min(threads, count_cores())


@cache
def _count_cores(allowed: int, limit: str | None) -> int:
    """Return how many cores joblib counts: it reads files of the system, which takes 0.1 ms or more.

    It is asked once for as long as the processors that this process may use, and the limit of the environment, which
    joblib looks at as well, are the same.
    """
    return int(joblib.cpu_count())


def is_worth(cells: int, threads: int) -> bool:
    """Return whether so many cells of work are done faster by several threads."""
    return threads > 1 and (cells >= WORTH or isinstance(threads, AtOnce))


def calls(size: int, cells: int, threads: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of a range in stretches, each of which kernels do in a tenth of a second or two: Ctrl-C is heard
    between their calls.  The whole range is so many cells of work.
    """
    n = 1 + cells // (threads * A_CALL)
    yield from pairwise(size * k // n for k in range(n + 1))


def spread(work: Callable[[int, int], object], size: int, cells: int, threads: int) -> None:
    """Call work(first, last) on even parts of range(size), by as many threads as so many cells of work are worth.

    The work itself must not call `spread`: the parts of one call share a pool.
    """
    parts = min(threads, size, threads if isinstance(threads, AtOnce) else 1 + cells // WORTH)
    if parts <= 1:
        work(0, size)
    else:
        _together(work, size, parts)


def _pool(parts: int) -> ThreadPoolExecutor:
    if parts not in _pools:
        _pools[parts] = ThreadPoolExecutor(parts - 1, thread_name_prefix="boostlab")
    return _pools[parts]


def _together(work: Callable[[int, int], object], size: int, parts: int) -> None:
    bounds = [size * p // parts for p in range(parts + 1)]
    jobs = list(pairwise(bounds))
    futures = [_pool(parts).submit(work, *job) for job in jobs[1:]]
    try:
        work(*jobs[0])  # by this thread, which would only wait
    finally:
        for future in futures:
            future.result()
