"""Where finished cells are kept: one SQLite file, one transaction a cell, safe among processes and after a kill.

A cell's key is a hash of its full definition and of the data's numbers, so whatever is defined otherwise is another
cell.  Nothing in the file is ever run as code.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from boostlab import __version__
from boostlab.studies.machine import machine
from boostlab.studies.packing import pack, to_text, unpack
from boostlab.studies.plan import Cell, Outcome, key
from boostlab.studies.request import RequestError

_MARK = 0x626F6F73  # "boos": the application id by which a store is known
_FORMAT = 1
_WAIT = 60.0  # seconds to wait for another process that writes
_TABLES = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, study TEXT NOT NULL, started TEXT NOT NULL, seconds REAL NOT NULL, jobs INTEGER NOT NULL,
    version TEXT NOT NULL, machine TEXT NOT NULL
);
CREATE TABLE cells (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, repeat INTEGER NOT NULL, data TEXT NOT NULL, definition TEXT NOT NULL,
    numbers TEXT NOT NULL, arrays BLOB, failure TEXT NOT NULL, seconds REAL NOT NULL, finished TEXT NOT NULL,
    run TEXT NOT NULL REFERENCES runs (id)
);
CREATE INDEX cells_by_kind ON cells (kind, repeat);
"""
_COLUMNS = "key, kind, repeat, data, definition, numbers, arrays, failure, seconds, finished, run"


class StoreError(RequestError):
    """The store cannot be used; the message is one sentence for the person who asked."""


@dataclass(frozen=True)
class CellEntry:
    """A cell on its way into the store."""

    key: str
    kind: str  # the definition but for repeat and data: cells of one kind take about as long
    repeat: int
    data: str
    definition: str

    @classmethod
    def of(cls, cell: Cell, data: str) -> CellEntry:
        """Return the entry of a cell on data with this hash.

        Parameters
        ----------
        cell : Cell
            The cell.
        data : str
            Hash of the data.

        Returns
        -------
        CellEntry
        """
        return cls(
            key(cell.definition, data), kind(cell), cell.repeat, data, to_text({**cell.definition, "data": data})
        )


@dataclass(frozen=True)
class Saved:
    """A row of the store."""

    number: int  # rows that come later have larger ones
    key: str
    outcome: Outcome | None
    failure: str
    seconds: float
    finished: str
    run: str


@dataclass(frozen=True)
class Run:
    """One call of the runner that wrote cells: how long it took by the clock, and on what."""

    study: str  # or several names, divided by commas
    jobs: int
    started: str = field(default_factory=lambda: _now())
    seconds: float = 0.0
    version: str = __version__
    machine: str = field(default_factory=machine)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def studies(self) -> int:
        """How many studies it was a run of."""
        return self.study.count(",") + 1


def kind(cell: Cell) -> str:
    """Return a hash of a cell's definition but for repeat and data.

    Parameters
    ----------
    cell : Cell
        The cell.

    Returns
    -------
    str
    """
    return key({name: part for name, part in cell.definition.items() if name != "repeat"}, "")


class Store:
    """A file of finished cells.

    Parameters
    ----------
    path : path
        The file; made, with its folder, if it is not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store(Path(folder, "cells.sqlite")) as store:
    ...     store.begin(run := Run("example", jobs=1))
    ...     store.put(CellEntry("k", "kind", 0, "data", "{}"), Outcome({"test_error": 0.1}), "", 1.5, run.id)
    ...     store.get(["k"])["k"].outcome.numbers
    {'test_error': 0.1}
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"The folder of the store, {self.path.parent}, cannot be made: {_why(error)}.") from error
        if self.path.is_dir():
            raise StoreError(f"The store {self.path} is a folder; name a file.")
        # One statement, one transaction, unless `_together` says otherwise.
        with self._sentences():
            self._db = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        try:
            self._open()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # -- writing -----------------------------------------------------------------------------------------------------

    def begin(self, run: Run) -> None:
        """Write down that a run began; its cells name it."""
        values = (run.id, run.study, run.started, run.seconds, run.jobs, run.version, run.machine)
        with self._sentences():
            self._db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def clock(self, run: Run, seconds: float) -> None:
        """Write down how long a run has taken so far."""
        with self._sentences():
            self._db.execute("UPDATE runs SET seconds = ? WHERE id = ?", (seconds, run.id))

    def put(self, entry: CellEntry, outcome: Outcome | None, failure: str, seconds: float, run: str) -> None:
        """Write a finished cell; it takes the place of an earlier failure.

        Parameters
        ----------
        entry : CellEntry
            Key and definition.
        outcome : Outcome or None
            What came out; None if it failed.
        failure : str
            Why it failed, or empty.
        seconds : float
            How long it took.
        run : str
            Id of the run.
        """
        values = (
            *(entry.key, entry.kind, entry.repeat, entry.data, entry.definition),
            *(to_text(outcome.numbers if outcome else {}), pack(outcome.arrays) if outcome else None),
            *(failure, seconds, _now(), run),
        )
        with self._sentences():
            self._db.execute(
                f"INSERT OR REPLACE INTO cells ({_COLUMNS}) VALUES ({', '.join('?' * len(values))})", values
            )

    def merge(self, other: str | os.PathLike[str]) -> tuple[int, int]:
        """Take over the cells of another store; of two that both have, ours stays unless it failed and theirs did not.

        Parameters
        ----------
        other : path
            The other store's file; it is not changed.

        Returns
        -------
        taken, known : int
            How many cells were taken over, and how many were left because they are here already.
        """
        if not Path(other).is_file():
            raise StoreError(f"There is no store {other} to merge.")
        with Store(other) as theirs, self._together():
            # A run that was taken over while it went on has a later clock now.
            self._db.executemany(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET seconds = max(seconds, excluded.seconds)",
                theirs._read("SELECT * FROM runs"),
            )
            ours = dict(self._read("SELECT key, failure FROM cells"))
            taken = known = 0
            for row in theirs._read(f"SELECT {_COLUMNS} FROM cells ORDER BY number"):
                name, failure = row[0], row[7]
                if name in ours and (failure or not ours[name]):
                    known += 1
                    continue
                marks = ", ".join("?" * len(row))
                self._db.execute(f"INSERT OR REPLACE INTO cells ({_COLUMNS}) VALUES ({marks})", row)
                taken += 1
        return taken, known

    # -- reading -----------------------------------------------------------------------------------------------------

    def get(self, keys: Iterable[str], arrays: bool = True) -> dict[str, Saved]:
        """Return those cells that are here, with or without their arrays."""
        return {one.key: one for part in _parts(keys) for one in self._saved(f"key IN ({_marks(part)})", part, arrays)}

    def states(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the failure of every cell that is here; empty for those that did not fail."""
        return {
            name: failure
            for part in _parts(keys)
            for name, failure in self._read(f"SELECT key, failure FROM cells WHERE key IN ({_marks(part)})", part)
        }

    def after(self, number: int) -> list[Saved]:
        """Return the cells that came after the one of this number, without their arrays."""
        return list(self._saved("number > ?", [number], arrays=False))

    def last(self) -> int:
        """Return the number of the latest cell."""
        return int(next(self._read("SELECT coalesce(max(number), 0) FROM cells"))[0])

    def elsewhere(self, kind: str, repeat: int) -> str:
        """Return the key of a cell by its definition alone, for a page where the data are not at hand.

        Empty where there is none, or where there are several, on data that differ.
        """
        found = list(self._read("SELECT key FROM cells WHERE kind = ? AND repeat = ?", [kind, repeat]))
        return found[0][0] if len(found) == 1 else ""

    def usual_seconds(self) -> dict[str, float]:
        """Return how long cells of every kind took on average."""
        return dict(self._read("SELECT kind, avg(seconds) FROM cells WHERE failure = '' GROUP BY kind"))

    def runs(self, ids: Iterable[str]) -> list[Run]:
        """Return these runs, the earliest first."""
        names = "study, jobs, started, seconds, version, machine, id"
        found = [
            Run(*row)
            for part in _parts(ids)
            for row in self._read(f"SELECT {names} FROM runs WHERE id IN ({_marks(part)})", part)
        ]
        return sorted(found, key=lambda run: run.started)

    # -- below -------------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Make the tables of a new file; refuse what is no store."""
        with self._together("DEFERRED"):  # one state of the file: another process may be making the tables
            mark = self._db.execute("PRAGMA application_id").fetchone()[0]
            tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        with self._sentences():
            if mark != _MARK and (mark or tables):
                raise StoreError(f"{self.path} is a database of another program; name another file for the store.")
            # Readers and a writer do not wait for each other; a killed process leaves whole transactions.
            self._write_ahead()
            self._db.execute("PRAGMA synchronous = NORMAL")
        if mark != _MARK:
            with self._together():
                if self._db.execute("PRAGMA application_id").fetchone()[0] != _MARK:  # else another process was faster
                    for statement in _TABLES.split(";"):
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA user_version = {_FORMAT}")
                    self._db.execute(f"PRAGMA application_id = {_MARK}")
        with self._sentences():
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > _FORMAT:
            raise StoreError(f"The store {self.path} was written by a later boostlab; update boostlab to read it.")

    def _write_ahead(self) -> None:
        """Set the journal mode; while another process sets it, SQLite gives up at once instead of waiting."""
        end = time.monotonic() + _WAIT
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def _saved(self, where: str, values: Sequence[Any], arrays: bool) -> Iterator[Saved]:
        blob = "arrays" if arrays else "NULL"
        query = f"SELECT number, key, numbers, {blob}, failure, seconds, finished, run FROM cells WHERE {where}"
        for number, name, numbers, packed, failure, *rest in self._read(query + " ORDER BY number", values):
            outcome = None if failure else Outcome(json.loads(numbers), unpack(packed))
            yield Saved(number, name, outcome, failure, *rest)

    def _read(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        with self._sentences():
            yield from self._db.execute(query, values)

    @contextmanager
    def _together(self, lock: str = "IMMEDIATE") -> Iterator[None]:
        with self._sentences():
            self._db.execute(f"BEGIN {lock}")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise StoreError(self._explain(error)) from error

    def _explain(self, error: sqlite3.DatabaseError) -> str:
        code = _code(error)
        if code == sqlite3.SQLITE_NOTADB:
            return f"{self.path} is not a store: no SQLite database; name another file."
        if code == sqlite3.SQLITE_CORRUPT:
            return f"The store {self.path} is damaged ({error}); put it aside, and what it held is computed again."
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return f"The store {self.path} has been locked by another process for {_WAIT:.0f} seconds; try again later."
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return f"The store {self.path} cannot be written ({error}); name another file with --store."
        return f"The store {self.path} does not work: {error}."


def _code(error: sqlite3.DatabaseError) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _parts(values: Iterable[str], size: int = 500) -> Iterator[list[str]]:
    """Yield the values in lists that fit into one statement."""
    every = list(values)
    for start in range(0, len(every), size):
        yield every[start : start + size]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
