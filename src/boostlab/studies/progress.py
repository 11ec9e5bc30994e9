"""How far a cell is: its worker writes it down, and the display of the run reads it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path

_PAUSE = 0.2  # seconds between two notes of one cell


class TimeOver(BaseException):
    """A cell is not finished although its run is long over."""


class _Sink(threading.local):
    path: Path | None = None
    until = inf
    after: Path | None = None
    began = 0.0
    last = 0.0


_sink = _Sink()


@contextmanager
def noting(folder: Path, key: str, until: float = inf, after: Path | None = None) -> Iterator[None]:
    """Let `report` write into a file of this cell as long as the block lasts.

    Parameters
    ----------
    folder : path
        Where the workers of a run leave notes.
    key : str
        The cell.
    until : float
        The time from which on `report` ends the cell by `TimeOver`.
    after : path, optional
        A file as long as which is not there the cell goes on whatever the time.
    """
    _sink.until, _sink.after = until, after
    _sink.path, _sink.began, _sink.last = folder / f"{key}.progress", time.time(), 0.0
    try:
        report(0, 1)
        yield
    finally:
        with suppress(OSError):
            _sink.path.unlink()
        _sink.path, _sink.until, _sink.after = None, inf, None


def report(done: float, total: float) -> None:
    """Say how far the cell is that this thread computes; without a run that is watched it says nothing.

    Parameters
    ----------
    done, total : float
        In whatever unit; `total` is positive.
    """
    now = time.time()
    if now > _sink.until and (_sink.after is None or _sink.after.exists()):
        raise TimeOver
    if _sink.path is None or now - _sink.last < _PAUSE:
        return
    _sink.last = now
    text = json.dumps({"share": min(max(done / total, 0.0), 1.0), "began": _sink.began})
    with suppress(OSError):  # the run is over
        beside = _sink.path.with_suffix(".note")
        beside.write_text(text)
        beside.replace(_sink.path)


def read_notes(folder: Path) -> dict[str, tuple[float, float]]:
    """Return how far every cell in the making is: its key -> the share done, and the seconds since it began."""
    found = {}
    for path in folder.glob("*.progress"):
        with suppress(OSError, ValueError, KeyError):  # it was finished just now
            note = json.loads(path.read_text())
            found[path.stem] = (float(note["share"]), max(time.time() - float(note["began"]), 0.0))
    return found
