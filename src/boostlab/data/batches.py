"""Tables that come in batches: read a few times, kept as codes of one byte a cell."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array, validate_data

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.masses import Masses
from boostlab.data.bins import MOST_BINS, Bins
from boostlab.data.coded import CodedMatrix
from boostlab.data.frames import Columns, has_others, is_frame, merged_columns
from boostlab.data.input_tables import Reader
from boostlab.data.matrix import row_keys
from boostlab.data.table import Table
from boostlab.data.table_search import cuts_of_blocks

Array = npt.NDArray[Any]


@dataclass
class Batch:
    """Some rows: columns, labels or numbers to predict, weights."""

    X: Any
    y: Array | None = None
    weight: Array | None = None


@dataclass
class Batches:
    """Batches that can be read again and again.

    Parameters
    ----------
    open : callable
        Returns an iterator over all batches, the same ones every time.
    name : callable
        Says what to call a batch, by its number.
    """

    open: Callable[[], Iterator[Batch]]
    name: Callable[[int], str] = field(default=lambda number: f"batch {number}")

    @classmethod
    @contextlib.contextmanager
    def of(cls, given: Any, target: str | None, weight: str | None) -> Iterator[Batches]:
        """Make batches of what a user gives; what can be read only once is kept in a temporary file meanwhile."""
        if callable(given) or (isinstance(given, Iterable) and not isinstance(given, Iterator)):
            source = given if callable(given) else lambda: iter(given)
            yield cls(lambda: (batch_of(b, target, weight) for b in source()))
            return
        if not isinstance(given, Iterator):
            raise TypeError(
                "Batches must be a list of tables, a generator, or a function that returns one; "
                f"{type(given).__name__} is none of these."
            )
        with tempfile.TemporaryDirectory(prefix="boostlab-") as folder:
            yield cls(_Spool(given, Path(folder), target, weight).batches)

    def __iter__(self) -> Iterator[tuple[str, Batch]]:
        for number, batch in enumerate(self.open()):
            yield self.name(number), batch


def parquet_batches(paths: Any, target: str | None, weight: str | None, columns: Any, batch_rows: int) -> Batches:
    """Return the batches of Parquet files: one path, a pattern, or a list of them, in the order of their names."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install 'boostlab[parquet]'.") from None
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    files = [Path(f) for p in given for f in (sorted(glob(str(p))) if has_magic(str(p)) else [p])]
    if not files:
        raise ValueError(f"No file is named like {paths!s}; give the path of a Parquet file, a pattern, or a list.")
    wanted = None if columns is None else [*dict.fromkeys([*columns, *(n for n in (target, weight) if n is not None)])]
    names: list[str] = []

    def opened() -> Iterator[Batch]:
        names.clear()
        for file in files:
            names.append(str(file))
            try:
                at = 0
                for batch in parquet.ParquetFile(file).iter_batches(batch_rows, columns=wanted):
                    names[-1] = f"{file}, rows {at} to {at + len(batch) - 1}"
                    with in_batch(names[-1]):
                        yield batch_of(batch, target, weight)
                    at += len(batch)
                    names.append(f"{file}, from row {at}")
            except FileNotFoundError:
                raise ValueError(f"There is no file {file}; give the path of a Parquet file.") from None
            except (ArrowException, OSError) as error:
                raise ValueError(f"In {names[-1]}: it cannot be read as Parquet ({error}).") from None

    return Batches(opened, lambda number: names[-1])


def batch_of(given: Any, target: str | None, weight: str | None) -> Batch:
    """Return what a user gives as one batch: a table, or a tuple of a table, labels and weights."""
    if isinstance(given, tuple):
        return Batch(*given)
    frame = given.to_pandas() if type(given).__module__.startswith("pyarrow") else given
    if target is None and weight is None:
        return Batch(frame)
    if not is_frame(frame):
        raise ValueError("Columns can be named as target or weight in frames only; give arrays as tuples (X, y).")
    names = [n for n in (target, weight) if n is not None]
    missing = [n for n in names if n not in list(frame.columns)]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}; the columns are {', '.join(map(str, frame.columns))}.")
    rest = frame.drop(columns=names) if hasattr(frame, "iloc") else frame.drop(names)
    return Batch(rest, *(None if n is None else np.asarray(frame[n]) for n in (target, weight)))


class _Spool:
    """Keeps batches that come only once on disk, as pickles of this process's own making, for further passes."""

    def __init__(self, source: Iterator[Any], folder: Path, target: str | None, weight: str | None) -> None:
        self.source, self.folder, self.names = source, folder, (target, weight)
        self.n = 0
        self.whole = False

    def batches(self) -> Iterator[Batch]:
        """Yield what is kept, and what is still to come."""
        import pickle

        for number in range(self.n):
            yield pickle.loads((self.folder / str(number)).read_bytes())
        if self.whole:
            return
        for given in self.source:
            batch = batch_of(given, *self.names)
            (self.folder / str(self.n)).write_bytes(pickle.dumps(batch, protocol=5))
            self.n += 1
            yield batch
        self.whole = True


@dataclass
class ReadBatches:
    """What a first pass learns: how columns are read, rows, labels and weights."""

    reader: Reader
    n_rows: int
    rows_of: list[int]  # rows of every batch
    y: Array | None
    weight: Array | None

    def numbers(self, name: str, batch: Batch, number: int) -> Array:
        """Return a batch as numbers, after checking that it is the one that the first pass saw."""
        if number >= len(self.rows_of) or len(batch.X) != self.rows_of[number]:
            raise ValueError(f"{name} changed while it was read; run it again on files that stay as they are.")
        columns = self.reader._columns
        if columns is None:
            return np.asarray(batch.X, dtype=np.float64)
        return columns.numbers(batch.X if is_frame(batch.X) else np.asarray(batch.X, dtype=object), first=True)


@contextlib.contextmanager
def in_batch(name: str) -> Iterator[None]:
    """Say in which batch something is wrong."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise type(error)(f"In {name}: {error}") from error


def read_batches(batches: Batches, categorical_features: Any) -> ReadBatches:
    """Look at all batches once: their columns must agree, and categories are those of all of them."""
    reader, columns, first = Reader(categorical_features), None, None
    rows_of, ys, weights = [], list[Array](), list[Array]()
    for name, batch in batches:
        with in_batch(name):
            shown = list(batch.X.columns) if is_frame(batch.X) else [f"column {j}" for j in range(np.shape(batch.X)[1])]
            if first is None:
                first = shown
                validate_data(reader, batch.X, skip_check_array=True)
            elif shown != first:
                raise ValueError(f"the columns are {', '.join(map(str, shown))}, and those before {', '.join(first)}.")
            by_dtype = categorical_features is None or isinstance(categorical_features, str)
            if has_others(batch.X) or not by_dtype or columns is not None:
                columns = merged_columns(columns, Columns.fit(batch.X, categorical_features), batch.X)
            elif not is_frame(batch.X) or not has_others(batch.X):
                check_array(batch.X, dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=0)
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
    joined = (np.concatenate(parts) if parts else None for parts in (ys, weights))
    return ReadBatches(reader, sum(rows_of), rows_of, *joined)


def code_batches(batches: Batches, read: ReadBatches, max_bins: int | str, threads: int, cache: Path | None) -> Table:
    """Cut the columns, and keep the rows as codes: in memory, or in a file of a folder."""
    heavy = np.ones(read.n_rows, bool) if read.weight is None else read.weight > 0  # the others have no say
    weight = None if read.weight is None else np.asarray(read.weight, np.float64)[heavy]
    whole = np.zeros(read.n_rows, np.int64)
    mass = Bins.masses_of(Masses(int(heavy.sum()), weight))
    whole[heavy] = 1 if mass is None else mass
    columns = read.reader._columns
    n_categories = {} if columns is None else columns.n_categories
    d, limit = int(read.reader.n_features_in_), MOST_BINS if max_bins == "exact" else int(max_bins)

    def numbers() -> Iterator[tuple[int, Array]]:
        at = 0
        for number, (name, batch) in enumerate(batches):
            with in_batch(name):
                X = read.numbers(name, batch, number)
            yield at, X
            at += len(X)

    def blocks() -> Iterator[tuple[Array, Array]]:
        for at, X in numbers():
            mass = whole[at : at + len(X)]
            yield X[mass > 0], mass[mass > 0]

    points, counts, distinct = cuts_of_blocks(blocks, d, limit, n_categories)
    if max_bins == "exact" and np.any(distinct > limit):
        raise ValueError(
            f'max_bins="exact" allows {MOST_BINS:,} distinct values a column, but column {int(np.argmax(distinct))} '
            "has more; give max_bins a number, for example 255."
        )
    bins = Bins(points, np.append(0, np.cumsum(counts)).astype(np.int64), frozenset(n_categories))
    widest = int(bins.n_bins.max(initial=0)) + 1
    shape, kind = DenseCodes.shape_of(read.n_rows, d, widest)
    if cache is None:
        cells = np.zeros(shape, kind)
    else:
        cache.mkdir(parents=True, exist_ok=True)
        cells = np.lib.format.open_memmap(cache / "codes.npy", mode="w+", dtype=kind, shape=shape)
    keys = np.empty(read.n_rows, np.uint64)
    for at, X in numbers():
        cells[:, at : at + len(X)] = bins._encode_dense(X, threads).cells
        keys[at : at + len(X)] = row_keys(X, threads)
    codes = DenseCodes(cells, bins.slots, threads)
    return Table(CodedMatrix(codes, bins, keys), bins, codes, threads)
