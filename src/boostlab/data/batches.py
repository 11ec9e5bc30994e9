"""Tables that come in batches, which can be read again and again: lists, generators, Arrow, polars, Parquet files."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.frames import as_frame, is_frame
from boostlab.data.lazy import is_collection
from boostlab.data.matrix import is_sparse
from boostlab.data.memory import free_memory, give_back, is_in_memory

Array = npt.NDArray[Any]

GIVE_BACK = 1 << 24  # bytes of numbers after which free memory is given back
BUFFER = 1 << 14  # bytes of a column that are read at a time
CELL, FEWEST = 256, 256  # bytes of free memory that a cell of a batch asks for; rows of a batch, at least
SLICE = 65_536  # rows of a lazy frame that are collected at a time


@dataclass
class Batch:
    """Some rows: columns, labels or numbers to predict, weights."""

    X: Any
    y: Array | None = None
    weight: Array | None = None

    def __post_init__(self) -> None:
        self.X = as_frame(self.X)
        if is_sparse(self.X):
            self.X = self.X.toarray()  # they are kept as dense codes
        if not is_frame(self.X):
            self.X = np.asarray(self.X)
            if self.X.ndim != 2:
                raise ValueError(
                    "batches are tables of rows and columns, or tuples (X, y) and (X, y, sample_weight); give a list "
                    "of them."
                )


@dataclass
class Batches:
    """Batches that can be read again and again.

    Parameters
    ----------
    open : callable
        Returns an iterator over all batches, the same ones every time.
    name : callable
        Says what to call a batch, by its number.
    source : str, optional
        Changes when the batches do; None where that is not known.
    """

    open: Callable[[], Iterator[Batch]]
    name: Callable[[int], str] = field(default=lambda number: f"batch {number}")
    source: str | None = None

    @classmethod
    @contextlib.contextmanager
    def of(cls, given: Any, target: str | None, weight: str | None) -> Iterator[Batches]:
        """Make batches of what a user gives; what can be read only once is kept in a temporary file meanwhile."""
        if isinstance(given, str | Path):
            raise TypeError(f"{given} is a path; Binned.from_parquet reads Parquet files, and pandas' chunks CSV.")
        if is_collection(given):
            raise TypeError("A Dask collection is fitted where it is: give it to a booster's fit.")
        again = _readable_again(given)
        if again is not None:
            yield cls(lambda: (batch_of(b, target, weight) for given in again() for b in _batches_of(given)))
            return
        if not isinstance(given, Iterator):
            raise TypeError(
                "Batches must be a list of tables, a generator, or a function that returns one; "
                f"{type(given).__name__} is none of these."
            )
        sweep_spools()
        with tempfile.TemporaryDirectory(prefix=f"{_SPOOL}{os.getpid()}-") as folder:
            yield cls(Spool(given, Path(folder), target, weight).batches)

    def __iter__(self) -> Iterator[tuple[str, Batch]]:
        batches, size = self.open(), 0
        for number in range(1 << 62):
            try:
                batch = next(batches)
            except StopIteration:
                give_back()
                return
            except (ValueError, TypeError) as error:
                if str(error).startswith("In "):
                    raise
                raise type(error)(f"In {self.name(number)}: {error}") from error
            size += 8 * np.size(batch.X)
            yield self.name(number), batch
            if size > GIVE_BACK:
                size = 0
                give_back()


def _readable_again(given: Any) -> Callable[[], Iterable[Any]] | None:
    """Return a function that reads given batches from the start; None if they can be read only once, or are none."""
    library = type(given).__module__.split(".")[0]
    if library == "polars" and hasattr(given, "collect"):
        return partial(_slices, given)
    if library == "pyarrow" and hasattr(given, "scanner"):  # a dataset: not many batches ahead
        return partial(given.to_batches, batch_size=SLICE, batch_readahead=1, fragment_readahead=1)
    if library == "pyarrow" and hasattr(given, "to_batches"):
        return given.to_batches  # a table, or a scanner
    if library == "pyarrow" and hasattr(given, "to_pandas") and not isinstance(given, Iterator):
        return lambda: iter([given])  # one batch
    if is_frame(given) or is_sparse(given) or (isinstance(given, np.ndarray) and given.ndim == 2):
        return lambda: iter([given])
    if callable(given):
        return given
    return given.__iter__ if isinstance(given, Iterable) and not isinstance(given, Iterator) else None


def _batches_of(given: Any) -> Iterable[Any]:
    """Return what is in one batch: of a fragment of a dataset its batches."""
    if type(given).__module__.startswith("pyarrow") and not hasattr(given, "to_pandas"):
        return given.to_batches(batch_size=SLICE, batch_readahead=1)
    return (given,)


def _slices(frame: Any) -> Iterator[Any]:
    """Yield a lazy frame of polars some rows at a time."""
    if hasattr(frame, "collect_batches"):
        yield from frame.collect_batches(chunk_size=SLICE, maintain_order=True)
        return
    start = 0
    while len(rows := frame.slice(start, SLICE).collect()):
        yield rows
        start += len(rows)


class TableFiles:
    """Files that must stay as they are while they are read.

    Parameters
    ----------
    paths : path, pattern or list of them
        Those of a pattern, or in a folder, are read in the order of their names.
    kind : str
        What they hold, for messages.
    """

    def __init__(self, paths: Any, kind: str) -> None:
        if type(paths).__module__.startswith("pyarrow"):
            raise TypeError(f"Files are read by their paths; give Binned.from_batches this {type(paths).__name__}.")
        given = [paths] if isinstance(paths, str | Path) else list(paths)
        self.files = [file for p in given for file in _files_of(p, kind)]
        self.kind = kind
        if not self.files:
            raise ValueError(f"No file is named like {paths!s}; give the path of a {kind} file, a pattern, or a list.")
        self.stamps = {file: self.stamp(file) for file in self.files}

    def stamp(self, file: Path) -> tuple[int, int]:
        """Return what changes when a file does: its size, and when it was written."""
        try:
            seen = file.stat()
        except OSError:
            raise ValueError(f"There is no file {file}; give the path of a {self.kind} file.") from None
        return seen.st_size, seen.st_mtime_ns

    def check(self, file: Path) -> None:
        """Refuse a file that is not the one of the first look."""
        if self.stamp(file) != self.stamps[file]:
            raise ValueError(f"In {file}: it changed while it was read; run it again on a file that stays as it is.")

    @property
    def source(self) -> str:
        """All files, as they are."""
        return repr([(str(file.resolve()), *stamp) for file, stamp in self.stamps.items()])

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(size for size, _ in self.stamps.values())


def _files_of(path: Any, kind: str) -> list[Path]:
    """Return the files of a path, a pattern, or a folder of files of a kind."""
    if has_magic(str(path)):
        return [Path(f) for f in sorted(glob(str(path)))]
    return sorted(Path(path).glob(f"*.{kind.lower()}")) if Path(path).is_dir() else [Path(path)]


def parquet_batches(paths: Any, target: str | None, weight: str | None, columns: Any, batch_rows: int) -> Batches:
    """Return the batches of Parquet files: one path, a pattern, or a list of them, in the order of their names."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install 'boostlab[parquet]'.") from None
    given = TableFiles(paths, "Parquet")
    if isinstance(columns, str):
        raise TypeError(f"columns={columns!r} is one name; give a list of names.")
    if not batch_rows >= 1:
        raise ValueError(f"batch_rows={batch_rows!r} is not possible; give a whole number of at least 1.")
    wanted = None if columns is None else [*dict.fromkeys([*columns, *(n for n in (target, weight) if n is not None)])]
    names: list[str] = []
    rows = min(batch_rows, max(free_memory() // (CELL * max(_n_columns(given.files[0], wanted), 1)), FEWEST))

    def opened() -> Iterator[Batch]:
        names.clear()
        for file in given.files:
            names.append(str(file))
            given.check(file)
            try:
                at = 0
                # pre_buffer would keep the whole file, and no buffer whole columns of a row group.
                opened_file = parquet.ParquetFile(file, pre_buffer=False, buffer_size=BUFFER)
                with in_batch(names[-1]):
                    _check_there(wanted, opened_file.schema_arrow.names)
                for batch in opened_file.iter_batches(rows, columns=wanted):
                    names[-1] = f"{file}, rows {at} to {at + len(batch) - 1}"
                    with in_batch(names[-1]):
                        yield batch_of(batch, target, weight)
                    at += len(batch)
                    names.append(f"{file}, from row {at}")
            except (ArrowException, OSError) as error:
                given.check(file)
                raise ValueError(f"In {names[-1]}: it cannot be read as Parquet ({error}).") from None
            given.check(file)

    what = (target, weight, wanted)
    return Batches(opened, lambda number: names[-1], f"{given.source} {what!r}")


def _n_columns(file: Path, wanted: list[str] | None) -> int:
    """Return how many columns a Parquet file has, or are wanted of it; 1 if it cannot be read."""
    from pyarrow import parquet

    if wanted is not None:
        return len(wanted)
    with contextlib.suppress(Exception):  # said when it is read
        return int(parquet.read_metadata(file).num_columns)
    return 1


def _check_there(wanted: Sequence[str] | None, names: Sequence[str]) -> None:
    """Refuse columns that are not there: Arrow would leave them out."""
    missing = [n for n in wanted or () if n not in names]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}; the columns are {shown_columns(names)}.")


def batch_of(given: Any, target: str | None, weight: str | None) -> Batch:
    """Return what a user gives as one batch: a table, or a tuple of a table, labels and weights."""
    if isinstance(given, tuple):
        if not 1 <= len(given) <= 3:
            raise ValueError(f"a tuple holds X, labels and weights, and this one has {len(given)} members.")
        return Batch(*given)
    frame = as_frame(given)
    if target is None and weight is None:
        return Batch(frame)
    if not is_frame(frame):
        raise ValueError("Columns can be named as target or weight in frames only; give arrays as tuples (X, y).")
    names = [n for n in (target, weight) if n is not None]
    _check_there(names, list(frame.columns))
    rest = frame.drop(columns=names) if hasattr(frame, "iloc") else frame.drop(names)
    return Batch(rest, *(None if n is None else np.asarray(frame[n]) for n in (target, weight)))


@contextlib.contextmanager
def in_batch(name: str) -> Iterator[None]:
    """Say in which batch something is wrong."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise type(error)(f"In {name}: {error}") from error


# -- batches that come once ------------------------------------------------------------------------------------------

_SPOOL = "boostlab-spool-"  # and the process that writes it


def sweep_spools(folder: Path | None = None) -> None:
    """Remove what killed processes left in a folder, by default that of temporary files."""
    for left in (folder or Path(tempfile.gettempdir())).glob(f"{_SPOOL}*-*"):
        owner = left.name.removeprefix(_SPOOL).partition("-")[0]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(left, ignore_errors=True)


def _is_alive(process: int) -> bool:
    if os.name == "nt":
        return True  # a signal would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


class Spool:
    """Keeps batches that come only once on disk, as pickles of this process's own making, for further passes."""

    def __init__(
        self, source: Iterator[Any], folder: Path, target: str | None = None, weight: str | None = None
    ) -> None:
        self.source, self.folder, self.names = source, folder, (target, weight)
        self.n = 0
        self.whole = False

    @classmethod
    def on_disk(cls, source: Iterator[Any], folder: Path | None, size: int) -> Spool | None:
        """Return a spool in a folder, by default that of temporary files; None where so many bytes have no place.

        What lies in memory although it looks like a disk is no place.
        """
        where = Path(tempfile.gettempdir()) if folder is None else folder
        try:
            where.mkdir(parents=True, exist_ok=True)
            if is_in_memory(where) or shutil.disk_usage(where).free < 2 * size:
                return None
            sweep_spools(where)
            spool = cls(source, Path(tempfile.mkdtemp(prefix=f"{_SPOOL}{os.getpid()}-", dir=where)))
        except OSError:
            return None
        weakref.finalize(spool, shutil.rmtree, spool.folder, ignore_errors=True)
        return spool

    def batches(self) -> Iterator[Batch]:
        """Yield what is kept, and what is still to come."""
        import pickle

        for number in range(self.n):
            yield pickle.loads((self.folder / str(number)).read_bytes())
        if self.whole:
            return
        for given in self.source:
            batch = given if isinstance(given, Batch) else batch_of(given, *self.names)
            (self.folder / str(self.n)).write_bytes(pickle.dumps(batch, protocol=5))
            self.n += 1
            yield batch
        self.whole = True


def shown_columns(names: Sequence[Any], most: int = 8) -> str:
    """Return the names of columns for a message, the first few of many."""
    few = ", ".join(map(str, names[:most]))
    return few if len(names) <= most else f"{few} and {len(names) - most} more"
