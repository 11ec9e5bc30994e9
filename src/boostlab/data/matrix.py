"""A table of numbers in memory: a dense array of any numeric type and order, or a sparse matrix by rows.

Dense rows reach the kernels in blocks of C-ordered floats, so that an array of integers or one stored by columns is
never copied as a whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from boostlab.data.threads import spread
from boostlab.kernels.keys import dense_keys, finish_keys, sparse_keys

Array = npt.NDArray[Any]

BLOCK = 4096  # rows copied at a time
_SINGLE = {np.dtype(t) for t in (bool, np.int8, np.uint8, np.int16, np.uint16, np.float16, np.float32)}


def is_sparse(X: Any) -> bool:
    """Return whether X is a scipy sparse matrix or array."""
    return bool(sparse.issparse(X))


def by_rows(X: Any) -> Any:
    """Return a sparse X as CSR with sorted, distinct column indices; what the caller holds is not changed."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def float_type(X: Array) -> Any:
    """Return the float type that holds X's numbers: float32 where that is exact."""
    return np.float32 if X.dtype in _SINGLE else np.float64


def blocks(X: Array, first: int, last: int) -> Iterator[tuple[int, Array]]:
    """Yield (row, block): the rows first <= i < last of a dense X as C-ordered floats, and where each block starts."""
    kind = float_type(X)
    step = max(last - first, 1) if X.dtype == kind and X.flags.c_contiguous else BLOCK
    for start in range(first, last, step):
        yield start, np.ascontiguousarray(X[start : min(start + step, last)], dtype=kind)


def column(X: Any, j: int) -> Array:
    """Return one column as floats."""
    if not is_sparse(X):
        return np.asarray(X[:, j], dtype=float_type(X))
    out = np.zeros(X.shape[0])
    at = np.flatnonzero(X.indices == j)
    out[np.searchsorted(X.indptr, at, side="right") - 1] = X.data[at]
    return out


def extremes(X: Any) -> tuple[Array, Array]:
    """Return every column's smallest and largest number, missing values aside (NaN where there is no number)."""
    if is_sparse(X):
        by_columns, n = X.tocsc(), X.shape[0]
        low, high = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for j in np.flatnonzero(np.diff(by_columns.indptr)):
            values = by_columns.data[by_columns.indptr[j] : by_columns.indptr[j + 1]].astype(np.float64)
            if len(values) < n:
                values = np.append(values, 0.0)
            low[j], high[j] = np.fmin.reduce(values), np.fmax.reduce(values)
        return low, high
    low, high = np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    for _, block in blocks(X, 0, len(X)):
        low = np.fmin(low, np.fmin.reduce(block, axis=0))
        high = np.fmax(high, np.fmax.reduce(block, axis=0))
    return low.astype(np.float64), high.astype(np.float64)


def fingerprint(X: Any) -> int:
    """Return a number that changes when the table does."""
    crc = zlib.crc32(repr(X.shape).encode())
    if is_sparse(X):
        for part in (X.data, X.indices, X.indptr):
            crc = zlib.crc32(np.ascontiguousarray(part).data, crc)
        return crc
    for _, block in blocks(X, 0, len(X)):
        crc = zlib.crc32(block.view(np.uint8).data, crc)
    return crc


def canonical_order(X: Any, y: Array, mass: Array | None = None, threads: int = 1) -> Array:
    """Return an order of the rows that depends on their content only (rows that are equal stay together).

    Each row is folded into a 64-bit key, a sum over its columns to which zeros add nothing, so that a sparse table has
    the order of its dense twin; sorting the keys gives the same sequence of rows however they arrive.  Rows that are
    equal but for their mass are sorted by it, where it is given.
    """
    keys = np.zeros(len(y), np.uint64)

    def work(first: int, last: int) -> None:
        if is_sparse(X):
            sparse_keys(X.data.astype(np.float64, copy=False), X.indices, X.indptr, first, last, keys)
        else:
            for start, block in blocks(X, first, last):
                dense_keys(block, start, keys)

    spread(work, len(y), X.shape[0] * X.shape[1], threads)
    finish_keys(np.asarray(y, np.float64), keys)
    return np.argsort(keys, kind="stable") if mass is None else np.lexsort((mass, keys))
