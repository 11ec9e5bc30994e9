"""What a worker does: the cells of one repeat of one problem, each into the store as soon as it is finished."""

from __future__ import annotations

import logging
import math
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostlab.studies.packing import to_text
from boostlab.studies.plan import Method, Outcome, Procedure, StudyProblem
from boostlab.studies.progress import TimeOver, noting
from boostlab.studies.store import CellEntry, Store

_FIRST = "finished"  # the sign that a cell of a booster is


@dataclass(frozen=True)
class CellBatch:
    """Cells that share their parts, for one worker."""

    problem: StudyProblem
    repeat: int
    cells: tuple[tuple[CellEntry, Method, Procedure], ...]
    store: Path
    run: str
    until: float  # time after which no cell is begun
    late: float  # time after which a cell in the making is given up, if the run has a result without it
    home: int  # process that gave the batch
    signs: Path  # a folder in which workers leave signs for each other
    is_prepared: bool = False  # there was time to get warm before: `until` is not put off for the rest of it


class _Memory(threading.local):
    """What a worker remembers from one batch to the next: of this run, seconds to get warm and cells; and parts."""

    def __init__(self) -> None:
        self.run, self.warming, self.finished = "", 0.0, 0
        self.parts: tuple[str, list[Any]] = ("", [])  # of the last batch of a single cell: the next may share them


class _OneForAll(logging.Filter):
    """Lets one worker of a run say that kernels are compiled, and no other: a file is the sign that it was said."""

    sign: Path | None = None  # none in the process of the runner itself

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether no other worker has left the sign before; leave it."""
        if self.sign is None:
            return True
        try:
            self.sign.touch(exist_ok=False)
        except OSError:  # it is there, or the run is over
            return False
        return True


_notices = _OneForAll()
logging.getLogger("boostlab").addFilter(_notices)
_memory = _Memory()
_parents: dict[int, int] = {}  # of this process, when its first batch came; a fork has its own
_is_warm: set[str] = set()  # methods that this process has run before


def work(batch: CellBatch) -> int:
    """Compute and store the cells of a batch; what fails is stored as a failure.

    Parameters
    ----------
    batch : CellBatch
        The cells.

    Returns
    -------
    int
        How many were computed; fewer than asked for where time ran out, or another run was faster.
    """
    _settle_in(batch)
    if batch.is_prepared and time.time() >= batch.until:
        return 0
    _warm(batch)
    made = _remembered(batch)
    count = 0
    with Store(batch.store) as store:
        for entry, method, protocol in batch.cells:
            if _is_orphan(batch):
                os._exit(1)  # an idle worker would wait for batches for minutes
            warming = 0.0 if batch.is_prepared else _memory.warming
            if time.time() >= batch.until + warming:
                return count
            if store.states([entry.key]).get(entry.key) == "":
                continue  # another run on the same store was faster
            try:
                # Every run gets further: it waits for the first cell of a booster, the others are given up.
                late = batch.late + warming if method.booster or _memory.finished else math.inf
                with noting(batch.signs, entry.key, late, batch.signs / _FIRST if method.booster else None):
                    outcome, failure, seconds = _compute(batch, method, protocol, made)
            except TimeOver:
                return count
            try:
                store.put(entry, outcome, failure, seconds, batch.run)
            except TypeError as error:  # an outcome that cannot be stored
                store.put(entry, None, _say(error), seconds, batch.run)
            count += 1
            _memory.finished += 1
            if method.booster:
                with suppress(OSError):  # the run is over
                    (batch.signs / _FIRST).touch()
    return count


def prepare(batch: CellBatch) -> None:
    """Compile what the methods of a batch need, if it is not too late; other workers find it compiled.

    Parameters
    ----------
    batch : CellBatch
        The cells.
    """
    _settle_in(batch)
    if time.time() < batch.until:
        _warm(batch)


def _settle_in(batch: CellBatch) -> None:
    """Let a worker's process be one: it leaves Ctrl-C and the screen to its parent."""
    _parents.setdefault(os.getpid(), os.getppid())
    if os.getpid() != batch.home and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends its workers
        _keep_off_the_screen()
        _notices.sign = batch.signs / "compiling"


def _remembered(batch: CellBatch) -> list[Any]:
    """Return where the parts of a batch go, once they are made: those of the batch before where they are the same.

    Parts go with their batch, for they may be large; a batch of a single cell leaves them for the next.
    """
    if len(batch.cells) > 1:
        _memory.parts = ("", [])
        return []
    entry, _, protocol = batch.cells[0]
    name = to_text({"data": entry.data, "basis": protocol.basis(), "repeat": batch.repeat, "run": batch.run})
    if _memory.parts[0] != name:
        _memory.parts = (name, [])
    return _memory.parts[1]


def _keep_off_the_screen() -> None:
    """Say nothing on a terminal: the parent draws a live table there, which a line of another process would tear."""
    if sys.stderr is not None and sys.stderr.isatty():
        logging.getLogger("boostlab").setLevel(logging.ERROR)


def _is_orphan(batch: CellBatch) -> bool:
    """Whether the runner that started this process has ended: another run may be at work.

    That the runner's own parent is gone, a shell that was left, is no reason to end.
    """
    return _parents[os.getpid()] == batch.home != os.getppid()


def _warm(batch: CellBatch) -> None:
    """Let kernels be compiled or read before the time is measured, which is not taken from a run's budget either.

    What fails here will fail, and be told, in its cell.
    """
    if _memory.run != batch.run:
        _memory.run, _memory.warming, _memory.finished = batch.run, 0.0, 0
    start = time.time()
    for _, method, protocol in batch.cells:
        if method.booster and (name := to_text(method.definition())) not in _is_warm:
            _is_warm.add(name)
            with _caught(), suppress(Exception):
                protocol.warm(method)
    _memory.warming += time.time() - start


def _compute(
    batch: CellBatch, method: Method, protocol: Procedure, made: list[Any]
) -> tuple[Outcome | None, str, float]:
    """Return what came out, or why nothing did, and the seconds; making the shared parts is not counted."""
    start = time.perf_counter()
    with _caught() as said:
        try:
            if not made:
                made.append(protocol.parts(_data(batch), batch.repeat))
            start = time.perf_counter()
            outcome = protocol.run(made[0], method)
        except Exception as error:
            return None, _say(error), time.perf_counter() - start
    seconds = time.perf_counter() - start
    if str(outcome.numbers.get("stop", "")).startswith("interrupted"):
        raise KeyboardInterrupt  # the engine answers Ctrl-C by ending the fit: such a model is no result
    if said:
        outcome.numbers.setdefault("warnings", list(dict.fromkeys(str(one.message) for one in said)))
    return outcome, "", seconds


@contextmanager
def _caught() -> Iterator[list[warnings.WarningMessage]]:
    """Collect warnings, where that is safe: filters belong to the process, not to the thread."""
    if threading.current_thread() is not threading.main_thread():
        yield []
        return
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        yield said


def _say(error: Exception) -> str:
    """Return an error in one line, with the place where it arose."""
    first = (str(error).strip() or "no reason given").splitlines()[0]
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {first}{place}"


def _data(batch: CellBatch) -> Any:
    data = batch.problem.data()
    if data.hash != batch.cells[0][0].data:
        raise ValueError(f"the data of {batch.problem.name} changed while the study was running; run it again")
    return data
