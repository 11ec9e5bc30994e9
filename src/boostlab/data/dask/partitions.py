"""The partitions of what a user passes: rows, labels and weights that belong together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.dask.cluster import MORE_MEMORY, Cluster

Array = npt.NDArray[Any]

FAN = 8  # results that one task merges


@dataclass
class Refused:
    """What is wrong with a partition: said by a task as its result, so that it is told from a task that failed."""

    error: Exception


@dataclass
class Partitions:
    """Delayed partitions, side by side: columns, labels, weights (None where none are given)."""

    X: list[Any]
    y: list[Any]
    weight: list[Any]
    n_features: int
    head: Any  # a table with the columns and hardly a row

    @classmethod
    def of(cls, X: Any, y: Any, weight: Any, where: str = "X") -> Partitions:
        """Return the partitions of collections; labels and weights may also be arrays in memory."""
        if type(X).__module__.startswith(("dask.delayed", "dask.bag")):
            raise TypeError(
                f"{where} is a Dask collection without columns ({type(X).__name__}); give an array or a frame."
            )
        if hasattr(X, "columns"):
            head, blocks = X._meta_nonempty, _delayed(X)
            n_features, rows = len(X.columns), None
        else:
            if X.ndim != 2:
                raise ValueError(f"{where} has {X.ndim} dimensions; give a table of rows and columns.")
            n_features = int(X.shape[1])
            X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
            head, blocks, rows = np.zeros((1, n_features)), _delayed(X), X.chunks[0]
            rows = None if np.isnan(rows).any() else rows
        n = len(blocks)
        return cls(list(blocks), _beside(n, rows, y), _beside(n, rows, weight), n_features, head)

    def __len__(self) -> int:
        return len(self.X)


def _delayed(collection: Any) -> list[Any]:
    """Return the partitions.

    Frames are not optimised as a whole: that would read several small files as one partition of y, and not of X.
    """
    if hasattr(collection, "dtypes") or hasattr(collection, "divisions"):
        return list(collection.simplify().to_delayed(optimize_graph=False))
    return list(np.ravel(collection.to_delayed()))


def _beside(n: int, rows: Sequence[int] | None, given: Any) -> list[Any]:
    """Return labels or weights in the partitions of the rows."""
    if given is None:
        return [None] * n
    if not hasattr(given, "to_delayed"):  # in memory
        if rows is None:
            raise ValueError(
                "Labels or weights in memory cannot be laid beside partitions whose sizes are not known; give them as "
                "a Dask collection with the partitions of X, such as a column of the same frame (of an array, "
                "X.compute_chunk_sizes() finds the sizes)."
            )
        given = np.asarray(given)
        if len(given) != sum(rows):
            raise ValueError(f"X has {sum(rows)} rows, and there are {len(given)} labels or weights; give one a row.")
        return np.split(given, np.cumsum(rows)[:-1])
    if rows is not None and hasattr(given, "chunks") and not np.isnan(given.shape[0]):
        if given.shape[0] != sum(rows):
            raise ValueError(
                f"X has {sum(rows)} rows, and there are {given.shape[0]} labels or weights; give one a row."
            )
        given = given.rechunk({0: tuple(rows)}) if given.chunks[0] != tuple(rows) else given
    blocks = _delayed(given)
    if len(blocks) != n:
        raise ValueError(
            f"X has {n} partitions, and labels or weights have {len(blocks)}; give both the same partitions "
            "(repartition, or rechunk)."
        )
    return blocks


def compute(cluster: Cluster, function: Callable[..., Any], columns: Sequence[Sequence[Any]], *given: Any) -> list[Any]:
    """Return the futures of function(*partition, *given), one a partition, once all are there."""
    from dask import delayed

    shared = [delayed(g, pure=False, traverse=False) for g in given]
    rows = [*zip(*columns, strict=True)]

    def submit(numbers: list[int]) -> list[Any]:  # in one graph, which holds what they share once
        made = delayed(function, pure=False)
        return list(cluster.client.compute([made(*rows[i], *shared) for i in numbers]))

    return cluster.results(submit, range(len(rows)), "Partition")


def told(cluster: Cluster, function: Callable[..., Any], columns: Sequence[Sequence[Any]], *given: Any) -> list[Any]:
    """Return what small function(*partition, *given) say of all partitions, or raise what is wrong with one."""
    return computed(cluster, lambda: compute(cluster, function, columns, *given))


def computed(cluster: Cluster, futures: Callable[[], list[Any]]) -> list[Any]:
    """Return results, computed anew where a worker died before they were gathered; nothing of them stays there."""
    from distributed import KilledWorker

    for last in (False, False, True):
        made = futures()
        try:
            return [checked(i, r) for i, r in enumerate(cluster.gather(made))]
        except (KilledWorker, OSError, CancelledError):
            cluster.check()
            if last:
                raise RuntimeError(f"What workers said of partitions was lost three times; {MORE_MEMORY}.") from None
        finally:
            release(made)
    raise AssertionError


def release(futures: Sequence[Any]) -> None:
    """Let go of results at once, not when Python gets round to it."""
    for future in futures:
        future.release()


def checked(i: int, result: Any) -> Any:
    """Return a result, or raise what is wrong with the partition."""
    if isinstance(result, Refused):
        raise type(result.error)(f"In partition {i}: {result.error}")
    return result


def merged_by_tree(cluster: Cluster, futures: list[Any], merge: Callable[..., Any]) -> Any:
    """Return merge(*results), made by a tree of tasks where the results are."""
    fan = max(2, cluster.fan(FAN))
    while len(futures) > 1:
        groups = [futures[i : i + fan] for i in range(0, len(futures), fan)]
        merged = [cluster.client.submit(merge, *g, pure=False) if len(g) > 1 else g[0] for g in groups]
        release([f for g in groups if len(g) > 1 for f in g])
        futures = merged
    return futures[0]
