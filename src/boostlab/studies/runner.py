"""Compute the cells of a study that the store does not have, on all cores, until they are done or interrupted.

Every worker writes a cell into the store as soon as it is finished.  So the store is the only memory: a run that is
killed loses no more than the cells in the making, and the next run computes what is missing, whatever the reason.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, Protocol

import joblib
from threadpoolctl import threadpool_limits

from boostlab.studies.progress import read_notes
from boostlab.studies.request import check_jobs
from boostlab.studies.schedule import Place, Schedule, find_places, in_groups, without_package
from boostlab.studies.store import Run, Saved, Store, StoreError
from boostlab.studies.study import Results, Study
from boostlab.studies.worker import CellBatch, prepare, work

_LOOK = 0.5  # seconds between two looks into the store
GRACE = 0.1  # of the budget: how long cells in the making may go on when it is over
READY = 0.25  # of the budget: how long kernels are compiled in advance; those of later methods wait for their cells
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR")  # whose variables X_NUM_THREADS limit a worker


@dataclass
class Ran:
    """What a run, or a look into the store, brought."""

    study: Study
    asked: str | int  # tier, or number of repeats
    results: Results
    planned: int  # cells of the study, without those whose data are not at hand
    computed: int = 0  # just now
    ended: str = ""  # why it ended before all was done
    interrupted: bool = False
    runs: list[Run] = field(default_factory=list)  # all that contributed
    first: str = ""  # when the earliest and the latest cell were finished
    last: str = ""
    prepared: float = 0.0  # seconds in which kernels were compiled or read before the first cell


class Watch(Protocol):
    """An observer; called from a thread of the runner."""

    def begin(self, places: Sequence[Place], ready: Mapping[str, Saved], usual: Mapping[str, float], jobs: int) -> None:
        """Be told all places, what is there already, and what cells of every kind usually take."""

    def cell(self, place: Place, saved: Saved) -> None:
        """Be told of a cell that was finished."""

    def making(self, notes: Mapping[str, tuple[float, float]]) -> None:
        """Be told how far the cells in the making are: key -> the share done, and the seconds since it began."""


def run(
    study: Study,
    store: Store,
    repeats: str | int = "full",
    *,
    jobs: int | None = None,
    backend: str | None = None,
    budget: float = math.inf,
    retry: bool = False,
    watch: Watch | None = None,
) -> Ran:
    """Compute what is missing of a study, and return all its results.

    Parameters
    ----------
    study : Study
        The study.
    store : Store
        Where finished cells are kept.
    repeats : {"quick", "full"} or int, default="full"
        A tier, or the number of repeats.
    jobs : int, optional
        Number of workers; None is all cores.
    backend : str, optional
        One of joblib's backends whose workers can open the store's file; None is that of joblib's context, processes
        by default.
    budget : float, default=inf
        Seconds after which no cell is begun; a tenth later those in the making are given up, but for the first of a
        booster.  Where `splits_first` holds kernels are compiled, or read, before the first cell, those of later
        methods as far as a quarter of the budget allows, and half of it at least is left for cells; otherwise
        compiling is not counted.
    retry : bool, default=False
        Whether to compute again what failed.
    watch : Watch, optional
        Told of every finished cell.

    Returns
    -------
    Ran
    """
    options: dict[str, Any] = {"jobs": jobs, "backend": backend, "budget": budget, "retry": retry, "watch": watch}
    return next(run_all([study], store, repeats, **options))


def run_all(
    studies: Sequence[Study],
    store: Store,
    repeats: str | int = "full",
    *,
    jobs: int | None = None,
    backend: str | None = None,
    budget: float = math.inf,
    retry: bool = False,
    watch: Watch | None = None,
) -> Iterator[Ran]:
    """Compute what is missing of several studies in one run, and return the results of one after the other.

    No core waits for the end of a study, and cells of several studies that share their parts are computed together:
    a training that one of them needs serves the others, too.

    Parameters
    ----------
    studies : sequence of Study
        The studies, in the order in which they are begun.
    store, repeats, jobs, backend, budget, retry, watch
        As for `run`.

    Returns
    -------
    iterator of Ran
        They are read from the store one by one.
    """
    start, workers = time.perf_counter(), _count(jobs)
    found = [find_places(study, store, repeats) for study in studies]
    places = [place for own, _ in found for place in own]
    states = store.states(place.key for place in places)
    missing = [place for place in places if place.can_run and _is_missing(states.get(place.key), retry)]
    collected = partial(_collect_all, studies, store, repeats, found)
    if not missing:
        return collected()
    usual, now = store.usual_seconds(), Run(", ".join(study.name for study in studies), workers)
    if watch is not None:
        ready = {place.key for place in places} - {place.key for place in missing}
        watch.begin(places, store.get(ready, arrays=False), usual, workers)
    store.begin(now)
    splits_first = all(study.splits_first for study in studies)
    groups = in_groups(missing, usual, workers, splits_first)
    until, ended, interrupted, prepared = math.inf, "", False, 0.0
    with TemporaryDirectory() as signs, _one_thread(), _following(store, now, missing, watch, start, Path(signs)):
        if splits_first and budget > 0:
            firsts = {place.cell.method.name: [place] for place in reversed(missing) if place.cell.method.booster}
            soon = time.time() + READY * budget
            batches = [_batch(group, store, now, (soon, soon), Path(signs)) for group in reversed(firsts.values())]
            ended, interrupted = _compute(batches, workers, backend, prepare)
            prepared = time.perf_counter() - start
        until = time.time() + (max(budget - prepared, budget / 2.0) if prepared else budget)
        late = until + max(budget * GRACE, 1.0)
        if not ended:
            batches = [_batch(group, store, now, (until, late), Path(signs), prepared > 0.0) for group in groups]
            ended, interrupted = _compute(batches, workers, backend, work)
    store.clock(now, time.perf_counter() - start)
    if not ended and time.time() >= until:
        ended = "its time was over"
    return collected({place.key for place in missing}, now, ended, interrupted, prepared)


def collect(study: Study, store: Store, repeats: str | int = "full") -> Ran:
    """Return the results that the store has of a study, and compute nothing.

    Parameters
    ----------
    study : Study
        The study.
    store : Store
        Where finished cells are kept.
    repeats : {"quick", "full"} or int, default="full"
        A tier, or the number of repeats.

    Returns
    -------
    Ran
    """
    return next(_collect_all([study], store, repeats, [find_places(study, store, repeats)]))


def _collect_all(
    studies: Sequence[Study],
    store: Store,
    repeats: str | int,
    found: Sequence[Schedule],
    missing: Set[str] = frozenset(),
    now: Run | None = None,
    ended: str = "",
    interrupted: bool = False,
    prepared: float = 0.0,
) -> Iterator[Ran]:
    """Yield the results of studies after a run: with what it computed, and why each is not finished, if it is not."""
    for study, (places, absent) in zip(studies, found, strict=True):
        ran = _collect(study, store, repeats, places, absent)
        ran.prepared = prepared
        own = {place.key for place in places} & missing
        ran.computed = sum(one.run == now.id for one in store.get(own, arrays=False).values()) if now else 0
        if ran.computed < len(own):
            ran.ended, ran.interrupted = ended, interrupted
        yield ran


def _collect(study: Study, store: Store, asked: str | int, places: Sequence[Place], absent: Mapping[str, str]) -> Ran:
    saved = store.get({place.key for place in places if place.key})
    done = [place.done(saved[place.key]) for place in places if place.key in saved]
    times = sorted(one.finished for one in saved.values()) or [""]
    return Ran(
        study,
        asked,
        Results(study.blocks, done, study.repeats(asked), {**absent, **without_package(places, saved)}),
        planned=sum(place.can_run or place.key in saved for place in places),
        runs=store.runs({one.run for one in saved.values()}),
        first=times[0],
        last=times[-1],
    )


# -- while it runs ---------------------------------------------------------------------------------------------------


def _is_missing(state: str | None, retry: bool) -> bool:
    """Whether a cell is to be computed, by its failure in the store (None: it is not there)."""
    return state is None or (retry and state != "")


def _count(jobs: int | None) -> int:
    check_jobs(jobs)
    return max(1, int(joblib.effective_n_jobs(-1 if jobs is None else jobs)))


def _batch(
    group: Sequence[Place],
    store: Store,
    now: Run,
    ends: tuple[float, float],
    signs: Path,
    is_prepared: bool = False,
) -> CellBatch:
    cell = group[0].cell
    return CellBatch(
        *(cell.problem, cell.repeat),
        cells=tuple((place.entry, place.cell.method, place.cell.protocol) for place in group if place.entry),
        store=store.path,
        run=now.id,
        until=ends[0],
        late=ends[1],
        home=os.getpid(),
        signs=signs,
        is_prepared=is_prepared,
    )


def _compute(
    batches: Sequence[CellBatch], workers: int, backend: str | None, do: Callable[[CellBatch], Any]
) -> tuple[str, bool]:
    """Compute the batches, or prepare for them; return why not all of them, and whether by Ctrl-C."""
    try:
        with _ctrl_c(), warnings.catch_warnings():
            # joblib takes a worker whose memory has grown for a leak and starts another, which is no one's concern.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            joblib.Parallel(workers, backend, batch_size=1)(joblib.delayed(do)(batch) for batch in batches)
    except (KeyboardInterrupt, _Interrupted):
        return "it was stopped by Ctrl-C", True
    except BrokenExecutor:
        return "a worker was killed, most likely for lack of memory (fewer jobs need less)", False
    return "", False


class _Interrupted(BaseException):
    """Ctrl-C, by a name that the engine does not answer: it would end the fit and leave a model of few rounds."""


@contextmanager
def _ctrl_c() -> Iterator[None]:
    """Let the first Ctrl-C end the run; the second is Python's own."""
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def stop(*_: Any) -> NoReturn:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        raise _Interrupted

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let every worker do with one thread: there is one on every core."""
    names = [f"{name}_NUM_THREADS" for name in _THREADS]
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        with threadpool_limits(1):
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _following(
    store: Store, now: Run, missing: Sequence[Place], watch: Watch | None, start: float, signs: Path
) -> Iterator[None]:
    """Look into the store from time to time: tell the watcher of new cells, and write down how long it takes."""
    places: dict[str, list[Place]] = {}
    for place in missing:
        places.setdefault(place.key, []).append(place)
    end = threading.Event()
    number = store.last()

    def look(own: Store) -> None:
        nonlocal number
        fresh = own.after(number)
        for saved in fresh:
            number = saved.number
            for place in places.get(saved.key, ()):
                if watch is not None:
                    watch.cell(place, saved)
        if fresh:
            own.clock(now, time.perf_counter() - start)
        if watch is not None:
            watch.making({key: note for key, note in read_notes(signs).items() if key in places})

    def look_on() -> None:
        # A store that does not answer is the workers' to report.
        with suppress(StoreError), Store(store.path) as own:
            while not end.wait(_LOOK):
                look(own)
            look(own)

    thread = threading.Thread(target=look_on, name="boostlab-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()
