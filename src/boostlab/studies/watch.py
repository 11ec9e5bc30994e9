"""A study on the terminal while it runs: a live table, or a line now and then where there is no terminal."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isnan
from statistics import fmean

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from boostlab.studies.runner import Watch
from boostlab.studies.schedule import Place
from boostlab.studies.store import Saved

TOLD = 0.05  # the share of a cell from which on it says how long the whole takes: a start is no measure


class StudyProgress:
    """What is done so far, and how long the rest may take.

    Parameters
    ----------
    name : str
        The study.
    view : callable, optional
        Makes the table of what is finished; None is a row a block and method, or a row a study.
    """

    def __init__(self, name: str, view: Callable[[StudyProgress], Table] | None = None) -> None:
        self.name, self.view = name, view
        self.several = False  # studies, in which case they are counted and not their blocks
        self.lock = threading.Lock()  # cells come from one thread, and another draws
        self.jobs = 1
        self.total: Counter[str] = Counter()  # by block, or by study
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.errors: dict[tuple[str, str], list[float]] = {}  # by block and method
        self.seconds: dict[tuple[str, str], list[float]] = {}
        self.waiting: dict[str, str] = {}  # what is to be computed: key -> kind
        self.sizes: dict[str, float] = {}  # of the data, times the method's effort, by kind
        self.how: dict[str, str] = {}  # of the method, by kind
        self.usual: dict[str, list[float]] = {}  # seconds by kind
        self.names: dict[str, str] = {}  # method of a cell, by key
        self.notes: dict[str, tuple[float, float]] = {}  # of cells in the making: share done, seconds so far

    def begin(self, places: Sequence[Place], ready: Mapping[str, Saved], usual: Mapping[str, float], jobs: int) -> None:
        """Be told all places, what is there already, and what cells of every kind usually take."""
        with self.lock:
            self.jobs, self.several = jobs, len({place.study for place in places}) > 1
            self.usual = defaultdict(list, {kind: [seconds] for kind, seconds in usual.items()})
            for place in places:
                if place.entry is None:
                    continue
                method = (self._where(place), place.cell.method.name)
                self.total[method[0]] += 1
                self.errors.setdefault(method, [])
                self.seconds.setdefault(method, [])
                if place.key in ready:
                    self._count(place, ready[place.key])
                else:
                    self.waiting[place.key] = place.entry.kind
                    self.names[place.key] = place.cell.method.name
                self.sizes[place.entry.kind] = place.size * place.cell.method.effort
                self.how[place.entry.kind] = place.cell.method.how

    def cell(self, place: Place, saved: Saved) -> None:
        """Be told of a cell that was finished."""
        with self.lock:
            kind = self.waiting.pop(place.key, None)
            if kind is not None:
                self.usual[kind].append(saved.seconds)
            self._count(place, saved)

    def making(self, notes: Mapping[str, tuple[float, float]]) -> None:
        """Be told how far the cells in the making are."""
        with self.lock:
            self.notes = dict(notes)

    def _where(self, place: Place) -> str:
        return place.study if self.several else place.block

    def _count(self, place: Place, saved: Saved) -> None:
        method = (self._where(place), place.cell.method.name)
        self.done[method[0]] += 1
        self.failed[method[0]] += bool(saved.failure)
        done = place.done(saved)
        error = done.number("test_error" if isnan(done.number("cost")) else "cost")
        if not isnan(error):
            self.errors[method].append(error)
        if not saved.failure:
            self.seconds[method].append(saved.seconds)

    def seconds_left(self) -> float:
        """Return how long the rest may take; NaN as long as it is not known.

        What a cell in the making takes is read off how far it is, as long as none of its kind is finished.  Cells of a
        kind that was never computed are taken to need as long as the others, for data of their size and the effort of
        their method: those of methods trained the same way, if there are any, for a yardstick at its defaults says
        little of a search.
        """
        known = {kind: list(seconds) for kind, seconds in self.usual.items() if seconds and kind in self.sizes}
        here = {key: note for key, note in self.notes.items() if key in self.waiting and note[0] >= TOLD}
        finished = set(known)
        for key, (share, seconds) in here.items():
            if self.waiting[key] not in finished:
                known.setdefault(self.waiting[key], []).append(seconds / share)
        if not known:
            return float("nan")
        means = {kind: fmean(seconds) for kind, seconds in known.items()}
        rest = []
        for key, kind in self.waiting.items():
            whole = means[kind] if kind in means else self._pace(self.how[kind], means) * self.sizes[kind]
            if key in here:  # the further it is, the more it says of itself
                share, seconds = here[key]
                whole = seconds + (1.0 - share) * whole if kind in finished else seconds / share
            rest.append(max(whole - self.notes.get(key, (0.0, 0.0))[1], 0.0))
        return max(sum(rest) / self.jobs, max(rest, default=0.0))

    def _pace(self, how: str, means: Mapping[str, float]) -> float:
        """Return the seconds by size of the kinds whose methods are trained so, or of all where there are none."""
        alike = [kind for kind in means if self.how[kind] == how] or list(means)
        return sum(means[kind] for kind in alike) / max(sum(self.sizes[kind] for kind in alike), 1.0)

    def sentence(self) -> str:
        """Return where it stands, in one line."""
        failed = self.failed.total()
        parts = [f"{self.name}: {self.done.total()} of {self.total.total()} cells"]
        parts += [f"{failed} failed"] if failed else []
        if now := [f"{self.names[key]} {share:.0%}" for key, (share, _) in self.notes.items() if key in self.waiting]:
            parts.append(f"now {' and '.join(now[:4])}")
        left = self.seconds_left()
        parts += [f"about {duration(left)} left"] if self.waiting and not isnan(left) else []
        return ", ".join(parts)

    def table(self) -> Table:
        """Return blocks and methods with running means, or studies with their counts."""
        view = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
        if self.several:
            view.add_column("Study", no_wrap=True)
            view.add_column("Cells", justify="right", no_wrap=True)
            for study, total in self.total.items():
                failed = f" ({self.failed[study]} failed)" if self.failed[study] else ""
                view.add_row(Text(study + failed), f"{self.done[study]}/{total}")
            return view
        view.add_column("Block, method", no_wrap=True)
        for title in ("Cells", "Error %", "Seconds"):
            view.add_column(title, justify="right", no_wrap=True)
        for block, total in self.total.items():
            failed = f" ({self.failed[block]} failed)" if self.failed[block] else ""
            view.add_row(Text(block + failed, "bold"), Text(f"{self.done[block]}/{total}", "bold"), "", "")
            for (where, method), errors in self.errors.items():
                if where == block:
                    seconds = self.seconds[where, method]
                    view.add_row(
                        Text(f"  {method}"),
                        str(len(seconds)),
                        f"{100 * fmean(errors):.2f}" if errors else "",
                        f"{fmean(seconds):.2f}" if seconds else "",
                    )
        return view


class _Screen(StudyProgress):
    """Progress on a terminal."""

    def __rich__(self) -> Group:
        with self.lock:
            if not self.total:
                return Group(Text(f"{self.name}: reading the data ..."))
            ready = "" if self.done else "  Getting ready (the first run on a machine compiles for some seconds)."
            hint = Text(f"{self.sentence()}.{ready}  Ctrl-C stops; what is finished is kept.")
            return Group(hint, self.table() if self.view is None else self.view(self))


class _Lines(StudyProgress):
    """Progress in a file or a log."""

    def __init__(self, name: str, console: Console, pause: float) -> None:
        super().__init__(name)
        self.console, self.pause = console, pause
        self.last, self.said = time.monotonic(), ""

    def cell(self, place: Place, saved: Saved) -> None:
        super().cell(place, saved)
        self.say()

    def making(self, notes: Mapping[str, tuple[float, float]]) -> None:
        super().making(notes)
        if notes:
            self.say()

    def say(self) -> None:
        """Print where it stands, if the last line is old enough and says something else."""
        if time.monotonic() - self.last >= self.pause and (text := self.sentence()) != self.said:
            self.last, self.said = time.monotonic(), text
            self.console.print(Text(text), soft_wrap=True)


@contextmanager
def watching(
    name: str, console: Console, view: Callable[[StudyProgress], Table] | None = None, *, pause: float = 10.0
) -> Iterator[Watch]:
    """Give a watcher that shows a study on the console until the block ends.

    Parameters
    ----------
    name : str
        The study.
    console : rich Console
        Where to; on a terminal the table goes away at the end.
    view : callable, optional
        Makes the table of what is finished; None is a row a block and method.
    pause : float, default=10.0
        Least number of seconds between two lines where there is no terminal.

    Yields
    ------
    Watch
    """
    if not console.is_terminal:
        yield _Lines(name, console, pause)
        return
    screen = _Screen(name, view)
    with Live(screen, console=console, transient=True, refresh_per_second=2):
        yield screen


def duration(seconds: float) -> str:
    """Return seconds as people say them.

    Parameters
    ----------
    seconds : float
        At least 0.

    Returns
    -------
    str

    Examples
    --------
    >>> duration(3.2), duration(75), duration(600), duration(9000)
    ('3 s', '75 s', '10 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
