"""The passes over a table that comes in batches: what its columns are, where they are cut, and the codes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
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
from boostlab.data.input_errors import one_sentence
from boostlab.data.input_tables import Reader
from boostlab.data.matrix import row_keys
from boostlab.data.table import Table
from boostlab.data.table_search import TableSearch, cuts_of_blocks

Array = npt.NDArray[Any]

_NUMBERS = "biuf"  # kinds of types


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
    bins: Bins | None = None  # of another table, whose reader this is

    def numbers(self, name: str, batch: Batch, number: int) -> Array:
        """Return a batch as numbers, after checking that it is the one that the first pass saw."""
        if number >= len(self.rows_of) or len(batch.X) != self.rows_of[number]:
            raise ValueError(f"{name} changed while it was read; run it again on files that stay as they are.")
        if self.bins is not None:
            return np.asarray(self.reader.numbers(batch.X), np.float64)
        columns = self.reader._columns
        if columns is None:
            return np.asarray(batch.X, dtype=np.float64)
        return columns.numbers(batch.X if is_frame(batch.X) else np.asarray(batch.X, dtype=object), first=True)


class ColumnsSeen:
    """What the columns of batches are, batch by batch; where all hold numbers, also a first pass for cuts.

    Parameters
    ----------
    wanted
        Which columns hold categories, as in a booster.
    limit, threads : int
        Bins a column, and how many share the columns of a batch.
    """

    def __init__(self, wanted: Any, limit: int, threads: int) -> None:
        self.reader, self.names = Reader(wanted), list[Any]()
        self.columns: Columns | None = None
        self.wanted, self.limit, self.threads = wanted, limit, threads
        self.by_dtype = wanted is None or isinstance(wanted, str)
        self.search: TableSearch | None = None

    def see(self, X: Any, weighted: bool) -> None:
        """Look at one more batch."""
        names = list(X.columns) if is_frame(X) else [f"column {j}" for j in range(X.shape[1])]
        if not self.names:
            self.names, self.search = names, TableSearch(len(names), self.limit, None, threads=self.threads)
            validate_data(self.reader, X, skip_check_array=True)
        elif names != self.names:
            raise ValueError(f"the columns are {shown_columns(names)}, and those before {shown_columns(self.names)}.")
        others = has_others(X)
        if others or not self.by_dtype or self.columns is not None:
            self.columns = merged_columns(self.columns, Columns.fit(X, self.wanted), X)
        else:
            check_array(X, input_name="X", dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=0)
        if self.columns is not None or weighted or others:
            self.search = None
        if self.search is not None:
            self.search.see(np.asarray(X, dtype=np.float64), None)


def read_batches(
    batches: Batches,
    categorical_features: Any,
    limit: int = 255,
    threads: int = 1,
    known: tuple[Reader, Bins] | None = None,
) -> ReadBatches:
    """Look at all batches once: their columns must agree, and categories are those of all of them.

    Columns and bins may also be those of another table, known before.
    """
    seen = ColumnsSeen(categorical_features, limit, threads)
    rows_of, ys, weights = list[int](), list[Array](), list[Array]()
    for name, batch in batches:
        with in_batch(name), one_sentence(batch.X):
            if known is None:
                seen.see(batch.X, batch.weight is not None)
            rows_of.append(batch.X.shape[0])
            for kept, column in ((ys, batch.y), (weights, batch.weight)):
                if column is not None:
                    kept.append(_beside(column, rows_of[-1], kept))
            if batch.weight is not None and not (np.isfinite(weights[-1]) & (weights[-1] >= 0)).all():
                raise ValueError("every weight must be a finite number of at least 0.")
    if not sum(rows_of):
        raise ValueError("There are no rows in these batches; give at least one row.")
    if not (len(ys) in (0, len(rows_of)) and len(weights) in (0, len(rows_of))):
        raise ValueError("Some batches have labels or weights and others do not; give them with all or with none.")
    if weights and not any(w.any() for w in weights):
        raise ValueError("All weights are zero; give rows a weight above 0.")
    y, weight = (np.concatenate(parts) if parts else None for parts in (ys, weights))
    if known is not None:
        return ReadBatches(known[0], sum(rows_of), rows_of, y, weight, bins=known[1])
    seen.reader._columns = seen.columns
    if seen.search is not None:
        seen.search.advance()
    return ReadBatches(seen.reader, sum(rows_of), rows_of, y, weight, seen.search)


def _beside(column: Any, n_rows: int, before: Sequence[Array]) -> Array:
    """Return labels or weights of a batch, one a row and of the kind of those before."""
    made = np.asarray(column)
    if made.shape != (n_rows,):
        raise ValueError(f"there are {n_rows} rows, and labels or weights of shape {made.shape}.")
    if before and n_rows and (made.dtype.kind in _NUMBERS) != (before[0].dtype.kind in _NUMBERS):
        raise ValueError("labels are text here and numbers elsewhere; give one kind in all batches.")
    return made


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
    cuts = b"" if read.bins is None else read.bins.points.tobytes() + read.bins.starts.tobytes()
    return f"{batches.source} {read.n_rows} {max_bins!r} {known!r} {hashlib.sha256(weight + cuts).hexdigest()}"


def _masses(weight: Array) -> Array:
    """Return how much every row counts in the search for cuts; rows without weight have no say."""
    masses, heavy = np.zeros(len(weight), np.int64), weight > 0
    found = Bins.masses_of(Masses(int(heavy.sum()), weight[heavy]))
    masses[heavy] = 1 if found is None else found
    return masses


def _coded(batches: Batches, read: ReadBatches, max_bins: int | str, threads: int, kept: CodeCache | None) -> Table:
    masses = None if read.weight is None or read.bins is not None else _masses(np.asarray(read.weight, np.float64))

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

    bins = read.bins or _cut(blocks, read, max_bins, threads, kept)
    shape, kind = DenseCodes.shape_of(read.n_rows, bins.n_features, int(bins.n_bins.max(initial=0)) + 1)
    if kept is None:
        cells, keys, done = np.zeros(shape, kind), np.empty(read.n_rows, np.uint64), 0
    else:
        cells, keys, done = kept.arrays(shape, kind)
    for at, X in numbers() if done < read.n_rows else ():
        if at + len(X) <= done:
            continue
        cells[:, at : at + len(X)] = bins.encode_dense(X, threads).cells
        keys[at : at + len(X)] = row_keys(X, threads)
        if kept is not None:
            kept.note(at + len(X))
    codes = DenseCodes(cells, bins.slots, threads)
    return Table(CodedMatrix(codes, bins, keys), bins, codes, threads)


def _cut(blocks: Any, read: ReadBatches, max_bins: int | str, threads: int, kept: CodeCache | None) -> Bins:
    """Return the bins of the table, by passes over its blocks if an earlier run has not left them."""
    columns, limit = read.reader._columns, most_bins(max_bins)
    n_categories = {} if columns is None else columns.n_categories
    found = None if kept is None else kept.cuts()
    search = read.search or TableSearch(int(read.reader.n_features_in_), limit, n_categories, threads=threads)
    points, counts, distinct = found or cuts_of_blocks(blocks, search)
    if max_bins == "exact" and np.any(distinct > limit):
        raise ValueError(
            f'max_bins="exact" allows {MOST_BINS:,} distinct values a column, but column {int(np.argmax(distinct))} '
            "has more; give max_bins a number, for example 255."
        )
    if kept is not None and found is None:
        kept.keep_cuts(points, counts, distinct)
    return Bins(points, np.append(0, np.cumsum(counts)).astype(np.int64), frozenset(n_categories))
