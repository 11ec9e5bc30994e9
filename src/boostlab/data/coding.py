"""The passes over a table that comes in batches: what its columns are, where they are cut, and the codes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array, validate_data

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.masses import Masses
from boostlab.data.batches import Batch, Batches, in_batch, shown_columns
from boostlab.data.bins import MOST_BINS, Bins
from boostlab.data.code_cache import CodeCache
from boostlab.data.coded import CodedMatrix
from boostlab.data.frames import Columns, has_others, is_frame, merged_columns
from boostlab.data.input_tables import Reader
from boostlab.data.matrix import row_keys
from boostlab.data.table import Table
from boostlab.data.table_search import TableSearch, cuts_of_blocks

Array = npt.NDArray[Any]

NOTED = 32  # batches after which a cache notes how far it is


def most_bins(max_bins: int | str) -> int:
    """Return the largest number of bins of a column."""
    return MOST_BINS if max_bins == "exact" else int(max_bins)


@dataclass
class ReadBatches:
    """What a first pass learns: how columns are read, rows, labels and weights."""

    reader: Reader
    n_rows: int
    rows_of: list[int]  # rows of every batch
    y: Array | None
    weight: Array | None
    search: TableSearch | None = None  # after its first pass, where that was this one

    def numbers(self, name: str, batch: Batch, number: int) -> Array:
        """Return a batch as numbers, after checking that it is the one that the first pass saw."""
        if number >= len(self.rows_of) or len(batch.X) != self.rows_of[number]:
            raise ValueError(f"{name} changed while it was read; run it again on files that stay as they are.")
        columns = self.reader._columns
        if columns is None:
            return np.asarray(batch.X, dtype=np.float64)
        return columns.numbers(batch.X if is_frame(batch.X) else np.asarray(batch.X, dtype=object), first=True)


def read_batches(batches: Batches, categorical_features: Any, limit: int = 255, threads: int = 1) -> ReadBatches:
    """Look at all batches once: their columns must agree, and categories are those of all of them.

    Where all columns hold numbers and no row has a weight, it is the first pass of the search for cuts as well.
    """
    reader, columns, first = Reader(categorical_features), None, None
    search: TableSearch | None = None
    rows_of, ys, weights = [], list[Array](), list[Array]()
    for name, batch in batches:
        with in_batch(name):
            shown = list(batch.X.columns) if is_frame(batch.X) else [f"column {j}" for j in range(np.shape(batch.X)[1])]
            if first is None:
                first = shown
                search = TableSearch(len(shown), limit, None, threads=threads)
                validate_data(reader, batch.X, skip_check_array=True)
            elif shown != first:
                raise ValueError(f"the columns are {shown_columns(shown)}, and those before {shown_columns(first)}.")
            by_dtype = categorical_features is None or isinstance(categorical_features, str)
            if has_others(batch.X) or not by_dtype or columns is not None:
                columns = merged_columns(columns, Columns.fit(batch.X, categorical_features), batch.X)
            elif not is_frame(batch.X) or not has_others(batch.X):
                check_array(batch.X, dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=0)
            if columns is not None or batch.weight is not None or has_others(batch.X):
                search = None
            if search is not None:
                search.see(np.asarray(batch.X, dtype=np.float64), None)
            rows_of.append(len(batch.X))
            for kept, column in ((ys, batch.y), (weights, batch.weight)):
                if column is not None:
                    if np.shape(column) != (len(batch.X),):
                        raise ValueError(
                            f"there are {len(batch.X)} rows, and labels or weights of shape {np.shape(column)}."
                        )
                    kept.append(np.asarray(column))
    if first is None or not sum(rows_of):
        raise ValueError("There are no rows in these batches; give at least one row.")
    if not (len(ys) in (0, len(rows_of)) and len(weights) in (0, len(rows_of))):
        raise ValueError("Some batches have labels or weights and others do not; give them with all or with none.")
    reader._columns = columns
    y, weight = (np.concatenate(parts) if parts else None for parts in (ys, weights))
    if search is not None:
        search.advance()
    return ReadBatches(reader, sum(rows_of), rows_of, y, weight, search)


def code_batches(batches: Batches, read: ReadBatches, max_bins: int | str, threads: int, cache: Path | None) -> Table:
    """Cut the columns, and keep the rows as codes: in memory, or in files of a folder."""
    kept = None if cache is None else CodeCache(cache, _identity(batches, read, max_bins))
    try:
        return _coded(batches, read, max_bins, threads, kept)
    except Exception:
        if kept is not None:
            kept.remove()
        raise
    except BaseException:  # Ctrl-C: the next run goes on
        if kept is not None and kept.source is None:
            kept.remove()
        raise


def _identity(batches: Batches, read: ReadBatches, max_bins: int | str) -> str | None:
    """Return all that codes depend on; None where the source has no name."""
    if batches.source is None:
        return None
    columns = read.reader._columns
    weight = b"" if read.weight is None else np.ascontiguousarray(np.asarray(read.weight, np.float64)).tobytes()
    known = None if columns is None else columns.categories
    return f"{batches.source} {read.n_rows} {max_bins!r} {known!r} {hashlib.sha256(weight).hexdigest()}"


def _masses(weight: Array) -> Array:
    """Return how much every row counts in the search for cuts; rows without weight have no say."""
    masses, heavy = np.zeros(len(weight), np.int64), weight > 0
    found = Bins.masses_of(Masses(int(heavy.sum()), weight[heavy]))
    masses[heavy] = 1 if found is None else found
    return masses


def _coded(batches: Batches, read: ReadBatches, max_bins: int | str, threads: int, kept: CodeCache | None) -> Table:
    masses = None if read.weight is None else _masses(np.asarray(read.weight, np.float64))
    columns = read.reader._columns
    n_categories = {} if columns is None else columns.n_categories
    d, limit = int(read.reader.n_features_in_), most_bins(max_bins)

    def numbers() -> Iterator[tuple[int, Array]]:
        at = 0
        for number, (name, batch) in enumerate(batches):
            with in_batch(name):
                X = read.numbers(name, batch, number)
            yield at, X
            at += len(X)
        if at != read.n_rows:
            raise ValueError(f"{name} is the last batch now, and was not before; run it again on files that stay.")

    def blocks() -> Iterator[tuple[Array, Array | None]]:
        for at, X in numbers():
            mass = None if masses is None else masses[at : at + len(X)]
            yield (X, None) if mass is None else (X[mass > 0], mass[mass > 0])

    found = None if kept is None else kept.cuts()
    search = read.search or TableSearch(d, limit, n_categories, threads=threads)
    points, counts, distinct = found or cuts_of_blocks(blocks, search)
    if max_bins == "exact" and np.any(distinct > limit):
        raise ValueError(
            f'max_bins="exact" allows {MOST_BINS:,} distinct values a column, but column {int(np.argmax(distinct))} '
            "has more; give max_bins a number, for example 255."
        )
    if kept is not None and found is None:
        kept.keep_cuts(points, counts, distinct)
    bins = Bins(points, np.append(0, np.cumsum(counts)).astype(np.int64), frozenset(n_categories))
    shape, kind = DenseCodes.shape_of(read.n_rows, d, int(bins.n_bins.max(initial=0)) + 1)
    if kept is None:
        cells, keys, done = np.zeros(shape, kind), np.empty(read.n_rows, np.uint64), 0
    else:
        cells, keys, done = kept.arrays(shape, kind)
    for number, (at, X) in enumerate(numbers() if done < read.n_rows else ()):
        if at + len(X) <= done:
            continue
        cells[:, at : at + len(X)] = bins._encode_dense(X, threads).cells
        keys[at : at + len(X)] = row_keys(X, threads)
        if kept is not None and number % NOTED == NOTED - 1:
            kept.note(at + len(X))
    if kept is not None:
        kept.note(read.n_rows)
    codes = DenseCodes(cells, bins.slots, threads)
    return Table(CodedMatrix(codes, bins, keys), bins, codes, threads)
