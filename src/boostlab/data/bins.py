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
from boostlab.backend.cpu.kernels.binning import columns_of, cut_sorted, encode, lay_grids
from boostlab.backend.cpu.kernels.cell_sort import sort_by_cells
from boostlab.backend.cpu.kernels.sparse_histogram import keep_nonzero, sparse_codes, sparse_cuts
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.sparse_codes import SparseCodes
from boostlab.backend.cpu.threads import spread
from boostlab.data.cut_search import midpoints
from boostlab.data.matrix import blocks, float_type, is_sparse, seen

Array = npt.NDArray[Any]

NONE = np.empty(0, np.int64)
MANY = 1 << 14  # values of a column that are sorted by cells: ten times as fast as a whole sort, for 100,000
CELLS = 1 << 14

ROW, LIGHT_ROW = 32, 24  # bytes of a row, whose columns are copied at once to be sorted; masses take space as well
MOST_BINS = 65_535


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
        """
        n_categories = n_categories or {}
        limit = MOST_BINS if max_bins == "exact" else int(max_bins)
        mass = cls.masses_of(rows)
        if is_sparse(X):
            points, counts, distinct = _sparse_cuts(X, mass, limit, threads)
        else:
            points, counts, distinct = _dense_cuts(X, mass, limit, threads, n_categories, max_bins == "exact")
        if max_bins == "exact" and np.any(distinct > limit):
            j = int(np.argmax(distinct > limit))
            raise ValueError(
                f'max_bins="exact" allows {MOST_BINS:,} distinct values a column, but column {j} has '
                f"{distinct[j]:,}; give max_bins a number, for example 255."
            )
        return cls(points, np.append(0, np.cumsum(counts)).astype(np.int64), frozenset(n_categories))

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

    def encode(self, X: Any, threads: int = 1) -> Codes:
        """Return the bin codes of X; of a sparse one by rows or by columns."""
        return self._encode_sparse(X, threads) if is_sparse(X) else self.encode_dense(X, threads)

    def encode_dense(self, X: Array, threads: int) -> DenseCodes:
        counts, n_bins = np.diff(self.starts), self.n_bins
        cells = np.zeros(*DenseCodes.shape_of(len(X), self.n_features, int(n_bins.max(initial=0)) + 1))
        widths = np.array([1 << int(c).bit_length() for c in counts], np.int64)
        starts = np.append(0, np.cumsum(widths)).astype(np.int64)
        cuts = np.full(starts[-1], np.inf)
        cuts[np.arange(len(self.points)) + np.repeat(starts[:-1] - self.starts[:-1], counts)] = self.points
        grids = self._grids(cuts, starts, starts[:-1] + counts)

        def work(first: int, last: int) -> None:
            for start, block in blocks(X, first, last):
                encode(block, cuts, starts, grids, n_bins, start, cells)

        spread(work, len(X), X.size * 8, threads)
        return DenseCodes(cells, self.slots, threads)

    def _grids(self, cuts: Array, starts: Array, ends: Array) -> tuple[Array, Array, Array, Array]:
        """Return even cells over every column's range (see `lay_grids`): four or more a cut, if cuts are even."""
        d, widest = self.n_features, int(self.n_bins.max(initial=1))
        size = min(4 << widest.bit_length(), 1 << 13)
        grids = np.empty(d), np.empty(d), np.full(d, -1), np.empty((d, size), np.uint16)
        lay_grids(cuts, starts, ends, *grids)
        return grids

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


# -- cut points ------------------------------------------------------------------------------------------------------


def _dense_cuts(
    X: Array, mass: Array | None, limit: int, threads: int, n_categories: Mapping[int, int], exact: bool
) -> tuple[Array, Array, Array]:
    """Return the columns' cut points, how many each has, and how many distinct values (unless `exact`, a bound)."""
    d = X.shape[1]
    cuts: list[Array] = [np.empty(0)] * d
    distinct = np.zeros(d, np.int64)

    # Made here and not by the threads, each of which has a heap of its own that would stay as large as its largest use.
    several = 1
    if isinstance(X, np.ndarray) and X.flags.c_contiguous and X.dtype == float_type(X):
        several = max(min((ROW if mass is None else LIGHT_ROW) // X.itemsize, d), 1)
    most = max(min(limit, len(X)), 1)
    whole = mass if mass is None else mass.astype(np.int64, copy=False)  # once for all threads
    facts = len(X), float_type(X), whole, limit, exact
    spaces = [
        (np.empty((several, len(X)), float_type(X)), np.empty(most), ColumnSort(*facts))
        for _ in range(min(threads, max(d, 1)))
    ]

    def work(first: int, last: int) -> None:
        space, points, by_value = spaces.pop()
        for j in range(first, last):
            values = space[(j - first) % several]
            if several > 1 and (j - first) % several == 0:
                columns_of(seen(X), j, space[: last - j])
            elif several == 1:
                np.copyto(values, X[:, j], casting="unsafe")
            if j in n_categories:
                cuts[j] = np.arange(n_categories[j] - 1) + 0.5
                continue
            n_cuts, distinct[j] = cut_sorted(*by_value(values), limit, points)
            cuts[j] = points[:n_cuts].copy()

    spread(work, d, X.size * 8, threads)
    return np.concatenate([np.empty(0), *cuts]), np.array([len(c) for c in cuts], np.int64), distinct


class ColumnSort:
    """Sorts columns of one length, a long one as far as its cuts can tell (see `kernels.cell_sort`).

    Parameters
    ----------
    n_rows, dtype
        Of the columns.
    mass : int64 array, optional
        Of the rows; None if each is 1.
    limit : int
        The largest number of bins.
    exact : bool
        Whether distinct values are counted, however many there are.
    cells : int, optional
        How many cells to part values into, 0 for a whole sort; by default what is faster.
    """

    def __init__(
        self, n_rows: int, dtype: Any, mass: Array | None, limit: int, exact: bool, cells: int | None = None
    ) -> None:
        cells = (CELLS if n_rows >= MANY else 0) if cells is None else cells
        self.mass, self.limit, self.exact, self.cells = mass, limit, exact, cells
        many = n_rows if cells else 0
        self._cell, self._values = np.empty(many, np.uint16), np.empty(many, dtype)
        self._masses, self._crowded = np.empty(0 if mass is None else many, np.int64), np.empty((cells, 2), np.int64)

    def __call__(self, values: Array) -> tuple[Array, Array, bool]:
        """Return values and the masses up to each, as `cut_sorted` takes them; what is given may be sorted in place."""
        if self.cells and (found := self._by_cells(values)) is not None:
            return found
        if self.mass is None:
            values.sort()
            return values, NONE, False
        order = np.argsort(values, kind="stable")
        return values[order], np.cumsum(self.mass[order], dtype=np.int64), False

    def _by_cells(self, values: Array) -> tuple[Array, Array, bool] | None:
        out, masses, mass = self._values, self._masses, NONE if self.mass is None else self.mass
        facts = self.limit, self.exact, self._cell, out, masses, self._crowded
        left, many = sort_by_cells(seen(values), seen(mass), *facts)
        if left < 0:
            return None
        for start, end in self._crowded[:left].tolist():
            if self.mass is None:
                out[start:end].sort()
            else:
                order = start + np.argsort(out[start:end], kind="stable")
                out[start:end], masses[start:end] = out[order], masses[order]
        return out, masses if self.mass is None else np.cumsum(masses, out=masses), many and not self.exact


def _row_numbers(by_columns: Any) -> Array:
    """Return the row of every stored cell as kernels are compiled for it, whatever integers the user's table has."""
    rows: Array = by_columns.indices
    return rows.astype(np.int32 if by_columns.shape[0] < 1 << 31 else np.int64, copy=False)


def _sparse_cuts(X: Any, mass: Array | None, limit: int, threads: int) -> tuple[Array, Array, Array]:
    """Do the same for a sparse table, in time proportional to what is stored."""
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
    return midpoints(lows[kept], highs[kept]), found, distinct
