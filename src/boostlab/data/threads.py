"""Threads for kernels that release the interpreter lock.

Plain Python threads instead of Numba's own: they may be nested in joblib or in another program's threads, survive
a fork, need no threading layer, and cost about 30 microseconds a call, which work below `WORTH` cells never pays.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import joblib

MOST = 256  # threads
WORTH = 1 << 19  # cells of work (about 0.2 ms) below which one thread is faster

_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear) if hasattr(os, "register_at_fork") else None


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for; None is all cores, or the share a joblib worker was given."""
    cores = joblib.cpu_count()
    if n_jobs is None:
        share = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(cores, int(share) if share.isdigit() else cores))
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else min(n_jobs, MOST)


def spread(work: Callable[[int, int], object], size: int, cells: int, threads: int) -> None:
    """Call work(first, last) on even parts of range(size), in parallel if `cells` of work are worth it.

    The work itself must not call `spread`: the parts of one call share a pool.
    """
    parts = min(threads, size) if cells >= WORTH else 1
    if parts <= 1:
        work(0, size)
        return
    if parts not in _pools:
        _pools[parts] = ThreadPoolExecutor(parts, thread_name_prefix="boostlab")
    bounds = [size * p // parts for p in range(parts + 1)]
    futures = [_pools[parts].submit(work, a, b) for a, b in pairwise(bounds)]
    for future in futures:
        future.result()
