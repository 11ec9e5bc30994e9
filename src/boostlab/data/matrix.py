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

from boostlab.backend.cpu.kernels.row_hash import dense_keys, finish_keys, sparse_keys
from boostlab.backend.cpu.threads import spread
from boostlab.data.coded import CodedMatrix

Array = npt.NDArray[Any]

BLOCK = 4096  # rows copied at a time
_SINGLE = {np.dtype(t) for t in (bool, np.int8, np.uint8, np.int16, np.uint16, np.float16, np.float32)}


class Chosen:
    """Some rows of a dense array, read column by column and block by block: nothing is copied as a whole."""

    def __init__(self, X: Any, rows: Array) -> None:
        rows = rows.astype(np.int32 if len(X) < 2**31 else np.int64, copy=False)
        self.X: Any = X.X if isinstance(X, Chosen) else X
        self.rows: Array = X.rows[rows] if isinstance(X, Chosen) else rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.rows), self.X.shape[1]

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.rows) * int(self.X.shape[1])

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        return self.X.dtype

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Array:
        """Return the cells of some rows, or of some rows and columns, copied."""
        rows, *columns = key if isinstance(key, tuple) else (key,)
        return self.X[(self.rows[rows], *columns)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.X[self.rows], dtype)


def take(X: Any, rows: Array) -> Any:
    """Return some rows, by their numbers; those of a dense table are read where they are."""
    if isinstance(X, CodedMatrix):
        return X.take(rows)
    return X[rows] if is_sparse(X) else Chosen(X, rows)


def as_a_whole(X: Any) -> Any:
    """Return a table as others expect it: an array or a sparse matrix."""
    return X if is_sparse(X) else np.asarray(X)


def is_sparse(X: Any) -> bool:
    """Return whether X is a scipy sparse matrix or array."""
    return bool(sparse.issparse(X))


def by_rows(X: Any) -> Any:
    """Return a sparse X as CSR with sorted, distinct column indices; what the caller holds is not changed."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    kind = np.int32 if max(X.nnz, *X.shape) < 2**31 else np.int64  # 64 bits without need would compile all kernels anew
    if X.indices.dtype != kind or X.indptr.dtype != kind:
        X = type(X)((X.data, X.indices.astype(kind), X.indptr.astype(kind)), shape=X.shape)
    return X


def arrays_of(X: Any) -> tuple[Array, Array, Array]:
    """Return a CSR matrix's values, column indices and row starts, for kernels."""
    return seen(X.data), seen(X.indices), seen(X.indptr)


class _Window:
    """A read-only array's memory without the mark: a mark of which kernels, that only look, would be compiled anew."""

    def __init__(self, x: Array) -> None:
        self.owner = x
        self.__array_interface__ = {**x.__array_interface__, "data": (x.__array_interface__["data"][0], False)}


def seen(x: Array) -> Array:
    """Return an array that kernels may look at, and only look at, whether or not it may be written to."""
    return x if x.flags.writeable else np.asarray(_Window(x))


def float_type(X: Array) -> Any:
    """Return the float type that holds X's numbers: float32 where that is exact."""
    return np.float32 if X.dtype in _SINGLE else np.float64


def is_in_place(X: Array) -> bool:
    """Return whether kernels can read a dense X where it is."""
    return isinstance(X, np.ndarray) and X.dtype == float_type(X) and bool(X.flags.c_contiguous)


def blocks(X: Array, first: int, last: int) -> Iterator[tuple[int, Array]]:
    """Yield (row, block): the rows first <= i < last of a dense X as C-ordered floats, and where each block starts.

    A block is for looking at only: it may be the caller's own memory.
    """
    kind = float_type(X)
    step = max(last - first, 1) if is_in_place(X) else BLOCK
    for start in range(first, last, step):
        yield start, seen(np.ascontiguousarray(X[start : min(start + step, last)], dtype=kind))


def column(X: Any, j: int) -> Array:
    """Return one column of an array or a CSC matrix as floats."""
    if not is_sparse(X):
        return np.asarray(X[:, j], dtype=float_type(X))
    out, stored = np.zeros(X.shape[0]), slice(X.indptr[j], X.indptr[j + 1])
    out[X.indices[stored]] = X.data[stored]
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


def row_keys(X: Any, threads: int) -> Array:
    """Return a 64-bit key of every row: a sum over its columns to which zeros add nothing."""
    if isinstance(X, CodedMatrix):
        return X.keys.copy()
    keys = np.zeros(X.shape[0], np.uint64)

    def work(first: int, last: int) -> None:
        if is_sparse(X):
            sparse_keys(*arrays_of(X), first, last, keys)
        else:
            for start, block in blocks(X, first, last):
                dense_keys(block, start, keys)

    spread(work, X.shape[0], X.nnz if is_sparse(X) else X.size, threads)
    return keys


def scrambled_keys(X: Any, threads: int) -> Array:
    """Return a scrambled 64-bit key of every row, which depends on its content only."""
    keys = row_keys(X, threads)
    finish_keys(np.zeros(len(keys)), keys)
    return keys


def fingerprint(X: Any) -> int:
    """Return a number that changes when the numbers or their order do, whatever type or matrix holds them."""
    return zlib.crc32(row_keys(X, 1).data, zlib.crc32(repr(X.shape).encode()))


def canonical_order(X: Any, y: Array, mass: Array | None = None, threads: int = 1) -> Array:
    """Return an order of the rows that depends on their content only (rows that are equal stay together).

    Each row is folded into a 64-bit key, for which a sparse table and its dense twin are the same; sorting the keys
    gives the same sequence of rows however they arrive.  Rows that are equal but for their mass are sorted by it, where
    it is given.
    """
    keys = row_keys(X, threads)
    finish_keys(np.asarray(y, np.float64), keys)
    return np.argsort(keys, kind="stable") if mass is None else np.lexsort((mass, keys))
