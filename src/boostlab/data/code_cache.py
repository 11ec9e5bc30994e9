"""A folder that keeps the codes of a table in memory-mapped files, and how far they are made.

What was begun for the same source is finished: the cut points are read, and coding goes on after the rows that are
there.  What belongs to another source is removed first.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

VERSION = 1  # raised when the files mean something else
STATE, CUTS, CODES, KEYS = FILES = ("boostlab-codes.json", "cuts.npz", "codes.npy", "keys.npy")


class CodeCache:
    """The files of one table.

    Parameters
    ----------
    folder : path
        Where; it is made if it is not there.
    source : str, optional
        Says all that the codes depend on; None is a source that has no name, whose codes cannot be used again.
    """

    def __init__(self, folder: Path, source: str | None) -> None:
        self.folder, self.source = folder, source
        self.name = "" if source is None else hashlib.sha256(f"{VERSION} {source}".encode()).hexdigest()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"The cache folder {folder} cannot be made ({(error.strerror or '').lower()}).") from None
        self.rows = self._rows_of_before()
        if self.rows is None:
            self.remove()

    def _rows_of_before(self) -> int | None:
        """Return how many rows are coded already; None if the files are not of this table."""
        try:
            said = json.loads((self.folder / STATE).read_text())
            return int(said["rows"]) if self.name and said["table"] == self.name else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self) -> None:
        """Leave nothing behind."""
        self.rows = None
        for name in (*FILES, f"{STATE}.tmp"):
            with suppress(OSError):
                (self.folder / name).unlink()

    def note(self, rows: int) -> None:
        """Write down that so many rows are coded."""
        beside = self.folder / f"{STATE}.tmp"
        beside.write_text(json.dumps({"table": self.name, "rows": rows}))
        os.replace(beside, self.folder / STATE)

    def cuts(self) -> tuple[Array, Array, Array] | None:
        """Return the cut points of an earlier run, as `cuts_of_blocks` does."""
        if self.rows is None:
            return None
        try:
            with np.load(self.folder / CUTS) as kept:
                return kept["points"], kept["counts"], kept["distinct"]
        except (OSError, ValueError, KeyError):
            self.remove()
            return None

    def keep_cuts(self, points: Array, counts: Array, distinct: Array) -> None:
        """Keep the cut points."""
        np.savez(self.folder / CUTS, points=points, counts=counts, distinct=distinct)
        self.note(0)
        self.rows = 0

    def arrays(self, shape: tuple[int, int, int], kind: Any) -> tuple[Array, Array, int]:
        """Return the codes and the rows' keys, and how many rows of them are there."""
        wanted = {CODES: (shape, np.dtype(kind)), KEYS: ((shape[1],), np.dtype(np.uint64))}
        if self.rows:
            with suppress(OSError, ValueError):
                found = [np.lib.format.open_memmap(self.folder / name, mode="r+") for name in wanted]
                if all((a.shape, a.dtype) == w for a, w in zip(found, wanted.values(), strict=True)):
                    return found[0], found[1], self.rows
        try:
            cells, keys = (
                np.lib.format.open_memmap(self.folder / name, mode="w+", dtype=dtype, shape=size)
                for name, (size, dtype) in wanted.items()
            )
            for name in wanted:
                _reserve(self.folder / name)
        except OSError as error:
            self.remove()
            raise ValueError(
                f"The codes cannot be kept in {self.folder} ({(error.strerror or '').lower()}); name a folder with "
                f"{np.prod(shape) * np.dtype(kind).itemsize / 1e6:,.1f} MB to spare."
            ) from None
        return cells, keys, 0


def _reserve(file: Path) -> None:
    """Take the space of a file at once: writing to a mapped one on a full disk would end the process."""
    if hasattr(os, "posix_fallocate"):
        with file.open("r+b") as opened:
            os.posix_fallocate(opened.fileno(), 0, file.stat().st_size)
