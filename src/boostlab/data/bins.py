"""Where columns are cut into bins.

A column with no more distinct values than bins is cut at the midpoints between them, so a stump on it is exact; longer
columns are cut at (weighted) quantiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import Codes, DenseCodes
from boostlab.backend.cpu.kernels.binning import encode, lay_grids
from boostlab.backend.cpu.kernels.sparse_histogram import keep_nonzero, sparse_codes, sparse_cuts
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.sparse_codes import SparseCodes
from boostlab.backend.cpu.threads import calls, spread
from boostlab.data.cut_search import midpoints
from boostlab.data.dense_cuts import ROW, Cuts, dense_cuts
from boostlab.data.matrix import blocks, is_plain, is_sparse, seen

Array = npt.NDArray[Any]

NONE = np.empty(0, np.int64)
MOST_BINS = 65_535
BYTE = 255  # bins of a column, up to which a code is a byte
UNEVEN = 4  # how many times as many cells a grid has where cuts are uneven, and rows for each of these at least


@dataclass
class Draft:
    """Codes that are to be made: their memory, which is free until then, and what is known of them."""

    cells: Array | None = None
    rows_of_slots: Array | None = None

    @classmethod
    def of(cls, X: Array, max_bins: int | str) -> Draft:
        """Return memory for the codes of X, where some columns fit in it and codes are bytes, whatever the cuts."""
        if max_bins == "exact" or int(max_bins) > BYTE or X.shape[1] < ROW:
            return cls()
        shape, kind = DenseCodes.shape_of(len(X), X.shape[1], int(max_bins) + 1)
        return cls(np.empty(shape, kind))


@dataclass
class Bins:
    """The cut points of every column: value x falls into bin `number of cuts below x`.

    Column j owns points[starts[j]:starts[j + 1]].
    """

    points: Array
    starts: Array
    categorical: frozenset[int] = frozenset()  # columns whose values are category numbers, one bin each

    @classmethod
    def fit(
        cls,
        X: Any,
        rows: Masses,
        max_bins: int | str = 255,
        threads: int = 1,
        n_categories: Mapping[int, int] | None = None,
        draft: Draft | None = None,
    ) -> Bins:
        """Find the cut points of every column of X.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Finite numbers, or NaN for a missing value.
        rows : Masses
            The rows' masses: quantiles are weighted by them.
        max_bins : int or "exact"
            At most so many bins a column; "exact" cuts between all distinct values.
        threads : int
            How many threads share the columns.
        n_categories : mapping, optional
            The categorical columns (their values are 0, 1, ...) and how many categories each has.
        draft : Draft, optional
            The codes of X that will be made next.
        """
        n_categories = n_categories or {}
        limit = MOST_BINS if max_bins == "exact" else int(max_bins)
        mass = cls.masses_of(rows)
        if is_sparse(X):
            found = _sparse_cuts(X, mass, limit, threads)
        else:
            space = None if draft is None else draft.cells
            found = dense_cuts(X, mass, limit, threads, n_categories, max_bins == "exact", space)
        if max_bins == "exact" and np.any(found.distinct > limit):
            j = int(np.argmax(found.distinct > limit))
            raise ValueError(
                f'max_bins="exact" allows {MOST_BINS:,} distinct values a column, but column {j} has '
                f"{found.distinct[j]:,}; give max_bins a number, for example 255."
            )
        if draft is not None:
            draft.rows_of_slots = found.rows
        starts = np.append(0, np.cumsum(found.counts)).astype(np.int64)
        return cls(found.points, starts, frozenset(n_categories))

    @staticmethod
    def masses_of(rows: Masses) -> Array | None:
        """Return the integer masses that quantiles look at; None if every row counts once."""
        if rows.uniform:
            return None
        mass = rows.counts
        if rows.mass is not None:
            mass = rows.whole(np.ones(rows.n_rows))[0]
            np.maximum(mass, 1 if rows.counts is None else rows.counts, out=mass)  # the lightest has a value, too
        return mass

    def of(self, j: int) -> Array:
        """Return the cut points of one column."""
        return self.points[self.starts[j] : self.starts[j + 1]]

    @property
    def columns(self) -> Array:
        """The column of every cut point."""
        return np.repeat(np.arange(self.n_features), np.diff(self.starts))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.starts) - 1

    @property
    def n_bins(self) -> Array:
        """Number of bins of every column; a missing value has the code after the last bin."""
        return np.diff(self.starts) + 1

    @property
    def slots(self) -> Array:
        """Where each column's slots start in a flat histogram: one a bin and one for missing values."""
        return np.append(0, np.cumsum(self.n_bins + 1)).astype(np.int64)

    def encode(self, X: Any, threads: int = 1, draft: Draft | None = None) -> Codes:
        """Return the bin codes of X; of a sparse one by rows or by columns."""
        return self._encode_sparse(X, threads) if is_sparse(X) else self.encode_dense(X, threads, draft)

    def encode_dense(self, X: Array, threads: int, draft: Draft | None = None) -> DenseCodes:
        """Return the bin codes of a dense X."""
        counts, n_bins = np.diff(self.starts), self.n_bins
        shape, kind = DenseCodes.shape_of(len(X), self.n_features, int(n_bins.max(initial=0)) + 1)
        draft = Draft() if draft is None else draft
        if draft.cells is None or (draft.cells.shape, draft.cells.dtype) != (shape, kind):
            draft.cells = np.empty(shape, kind)
        cells = draft.cells
        widths = np.array([1 << (int(c) + 1).bit_length() for c in counts], np.int64)
        starts = np.append(0, np.cumsum(widths)).astype(np.int64)
        cuts = np.full(starts[-1], np.inf)
        cuts[np.arange(len(self.points)) + np.repeat(starts[:-1] - self.starts[:-1], counts)] = self.points
        given = cuts, starts, self._grids(cuts, starts, starts[:-1] + counts, len(X)), n_bins
        if is_plain(X):
            for at, end in calls(len(X), X.size, threads):
                encode.shared((end - at) * self.n_features * 2, threads, seen(X), *given, 0, cells, at, end)
        else:

            def work(first: int, last: int) -> None:
                for start, block in blocks(X, first, last):
                    encode(block, *given, start, cells, 0, len(block))

            spread(work, len(X), X.size * 8, threads)
        codes = DenseCodes(cells, self.slots, threads)
        codes.rows_of_slots = draft.rows_of_slots
        return codes

    def _grids(self, cuts: Array, starts: Array, ends: Array, n_rows: int) -> tuple[Array, ...]:
        """Return even cells over every column's range (see `lay_grids`): four or more a cut, if cuts are even."""
        d, widest = self.n_features, int(self.n_bins.max(initial=1))
        size = min(4 << widest.bit_length(), 1 << 13)
        larger = size if n_rows < UNEVEN * size else UNEVEN * size
        grids = np.empty(d), np.empty(d), np.empty(d, np.int64), np.empty(d + 1, np.int64)
        below = np.empty(d * (larger + 1), np.uint16)
        lay_grids(cuts, starts, ends, size, larger, *grids, below)
        return *grids, below

    def _encode_sparse(self, X: Any, threads: int) -> SparseCodes:
        by_columns = X.tocsc()
        codes, zero = np.empty(by_columns.nnz, np.uint16), np.empty(self.n_features, np.int64)
        indptr = by_columns.indptr.astype(np.int64)
        sparse_codes(by_columns.data, indptr, self.points, self.starts, zero, codes)
        kept = int((codes != np.repeat(zero, np.diff(indptr))).sum())
        rows = _row_numbers(by_columns)
        columns = np.empty(kept, rows.dtype), np.empty(kept, np.uint16), np.empty_like(indptr)
        keep_nonzero(rows, codes, indptr, zero, *columns)
        widths = np.where(np.diff(columns[2]) > 0, self.n_bins + 1, 0)  # a column of zeros needs no slots
        slots = np.append(0, np.cumsum(widths)).astype(np.int64)
        return SparseCodes.of(columns, X.shape[0], zero, slots, threads)


def _row_numbers(by_columns: Any) -> Array:
    """Return the row of every stored cell as kernels are compiled for it, whatever integers the user's table has."""
    rows: Array = by_columns.indices
    return rows.astype(np.int32 if by_columns.shape[0] < 1 << 31 else np.int64, copy=False)


def _sparse_cuts(X: Any, mass: Array | None, limit: int, threads: int) -> Cuts:
    """Return the cut points of a sparse table, in time proportional to what is stored."""
    by_columns = X.tocsc()
    indptr = by_columns.indptr.astype(np.int64)
    d = X.shape[1]
    begins = np.append(0, np.cumsum(np.minimum(np.diff(indptr), limit - 1)))
    lows, highs = np.empty(begins[-1]), np.empty(begins[-1])
    found, distinct = np.zeros(d, np.int64), np.zeros(d, np.int64)
    heavy, rows = NONE if mass is None else mass.astype(np.int64), _row_numbers(by_columns)
    whole = X.shape[0] if mass is None else int(mass.sum())

    def work(first: int, last: int) -> None:
        arrays = by_columns.data, rows, indptr, heavy
        sparse_cuts(*arrays, whole, limit, begins, first, last, lows, highs, found, distinct)

    spread(work, d, by_columns.nnz * 32, threads)
    kept = np.arange(begins[-1]) - np.repeat(begins[:-1], np.diff(begins)) < np.repeat(found, np.diff(begins))
    return Cuts(midpoints(lows[kept], highs[kept]), found, distinct)
