"""Kernels over a range of rows (or of columns) that a team of threads shares.

A kernel says by the names of its parameters what a part of it is: `first` and `last` are the range, of which every part
has its share; `out`, where parts `add`, is a sum of each part's own; `part` is the number of the part; and so is `me`,
where parts meet at a barrier.  What a kernel returns, every part returns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.compiling import kernel, part, stamp_of, told_apart
from boostlab.backend.cpu.kernels.tasks import TEAM_NUMBERS, TaskShape, run_planned, run_task, task_maker
from boostlab.backend.cpu.teams import team_of, worth_waking
from boostlab.backend.cpu.threads import AtOnce

Array = npt.NDArray[Any]
Workspace = Callable[[int], Array]

PART = 1 << 13  # cells of work (about 3 microseconds) below which a part is not worth a thread
NUMBERS = ("part", "_part", "me")  # what a part's number is called
ALONE = np.zeros(TEAM_NUMBERS, np.int64)  # what one thread alone looks at
NO_PLAN = np.empty(0, np.int64)


class InParts:
    """A compiled function whose parts several threads may do at once.

    Parameters
    ----------
    function : callable
        Plain Python that can be compiled; see the top of this file.
    adds : bool
        Whether it adds to `out`, so that every part needs one of its own.
    planned : bool
        Whether calls have a last argument: a plan (see kernels/tasks.py), or `NO_PLAN`.
    """

    def __init__(self, function: Callable[..., Any], adds: bool = False, planned: bool = False) -> None:
        self.function, self.adds, self.planned = told_apart(function), adds, planned
        self.names = list(inspect.signature(function).parameters)
        given = [name for name in self.names if name not in NUMBERS]
        self.range = [given.index(name) for name in given if name.removeprefix("_") in ("first", "last")]
        self.kinds = _kinds(inspect.signature(function).return_annotation)
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    def __call__(self, *args: Any) -> Any:
        """Do all of it in this thread; return what the function returns."""
        if self.adds:
            args = *args[:-1], args[-1][None]
        found = np.empty((1, len(self.kinds)), np.int64)
        self._checked(self._enter(ALONE, 1, *args, found))
        if len(self.kinds) == 1:
            return self._told(found)[0][0]
        return self._told(found)[0] if self.kinds else None

    def shared(self, cells: int, threads: int, *args: Any) -> list[Any]:
        """Do it in parts; return what each of them returns, in their order.

        Parameters
        ----------
        cells : int
            The work, in cells of a histogram (0.4 ns each).
        threads : int
            How many threads may share it.
        *args
            The function's, with the whole range.
        """
        parts = self._n_parts(cells, threads, args) if threads > 1 else 1
        found = self.in_so_many(parts, *args, most=threads)
        return self._told(found) if self.kinds else []

    def added(self, cells: int, threads: int, shape: tuple[int, ...], *args: Any) -> tuple[Array, list[Any]]:
        """Return the sums of what all parts add to an `out` of this shape, and what each part returns.

        A part's own sums are to be cleared and added to the others', so that there are only as many of them as have
        more to do than that.
        """
        slots = prod(shape)
        parts = min(self._n_parts(cells, threads, args), 1 + cells // max(4 * slots, 1))
        found = np.empty((parts, len(self.kinds)), np.int64)
        if parts == 1:
            out = np.zeros((1, *shape), np.int64)
            self._checked(self._enter(ALONE, 1, *args, out, found))
            return out[0], self._told(found)
        self._compile(*args, np.empty((0, *shape), np.int64), found)
        if slots == 0:  # nothing is added
            return np.empty(shape, np.int64), self._told(
                self.in_so_many(parts, *args, np.empty((parts, *shape), np.int64), most=threads)
            )
        with team_of(parts, threads) as team:
            outs, total = team.workspace(parts * slots), np.empty(slots, np.int64)
            self._checked(self._enter(team.numbers, parts, *args, outs.reshape(parts, *shape), found))
            few = min(parts, 1 + parts * slots // PART)
            add_up._checked(add_up._enter(team.numbers, few, outs.reshape(parts, slots), 0, slots, total, NOTHING_TOLD))
        return total.reshape(shape), self._told(found)

    def in_so_many(self, parts: int, *args: Any, most: int = 0) -> Array:
        """Let so many threads do a part each, or follow the plan that is the last argument; return what they found.

        No more than `most` threads are wanted by other calls of the kind.
        """
        found = np.empty((parts, len(self.kinds)), np.int64) if self.kinds else NOTHING_TOLD
        if parts == 1:
            failures = self._enter(ALONE, 1, *args, found)
        else:
            self._compile(*args, found)
            with team_of(parts, most) as team:
                failures = self._enter(team.numbers, parts, *args, found)
        if failures:
            self._checked(failures)
        return found

    def together(self, size: int, arguments: Callable[[Array, Workspace], tuple[Any, ...]]) -> Any:
        """Let `size` threads each do the part `me` at the same time; return what the first returns.

        The function's other arguments are made of the numbers that the threads meet by (see `spin_barrier`), and of
        workspace of so many integers.
        """
        found = np.empty((size, len(self.kinds)), np.int64)
        if size == 1:
            self._checked(self._enter(ALONE, 1, *arguments(ALONE, _empty), found))
        else:
            if not self._enter.overloads:
                self._compile(*arguments(ALONE, _empty), found)
            with team_of(size) as team:
                self._checked(self._enter(team.numbers, size, *arguments(team.numbers, team.workspace), found))
        first = self._told(found[:1])[0]
        return first[0] if len(first) == 1 else first

    def ready(self, *args: Any, found: Array) -> None:
        """Compile it, if need be, before a team is lent."""
        self._compile(*args, found)

    def alone(self, *args: Any, found: Array) -> None:
        """Do all of it in this thread; what the function returns goes to found[0], floats as their bits."""
        if failures := self._enter(ALONE, 1, *args, found):
            self._checked(failures)

    def pack(self, row: Array, *args: Any, found: Array) -> None:
        """Write the call that `alone` would make to a row of integers (see `prepared`); nothing is done now."""
        self._checked(self._enter(row, 0, *args, found))

    # -- inside ------------------------------------------------------------------------------------------------------

    def _compile(self, *args: Any) -> None:
        """Compile the entry before a team is lent: its threads would look for parts as long as that takes."""
        if not self._enter.overloads:
            self._enter(np.zeros(TEAM_NUMBERS, np.int64), 0, *args)  # no parts: nothing is done

    def _n_parts(self, cells: int, threads: int, args: tuple[Any, ...]) -> int:
        if threads <= 1:
            return 1
        parts = parts_now(cells, threads)
        return parts if parts == 1 else min(parts, max(args[self.range[1]] - args[self.range[0]], 1))

    def _checked(self, failures: int) -> None:
        if failures:
            raise MemoryError(f"{self.__name__} found no memory to work in; close other programs, or fit fewer rows.")

    def _told(self, found: Array) -> list[Any]:
        if "float" not in self.kinds:
            return list(map(tuple, found.tolist())) if self.kinds else []
        columns = [
            (found[:, c].view(np.float64) if kind == "float" else found[:, c]).tolist()
            for c, kind in enumerate(self.kinds)
        ]
        return list(zip(*columns, strict=True))

    @cached_property
    def _enter(self) -> Any:
        """The compiled entry: (team, how many parts, the arguments but the part's number, where parts tell)."""
        function = part(self.function)
        given = [name for name in self.names if name not in NUMBERS]
        number = next((at for at, name in enumerate(self.names) if name in NUMBERS), -1)
        first, last = self.range or (-1, -1)
        shape = TaskShape(first, last, given.index("out") if self.adds else -1, number, tuple(self.kinds))
        arguments = ", ".join(given)
        run, plan, how = "run_task", "", str(int("me" in self.names))
        if self.planned:
            run, plan, how = "run_planned", "_plan, ", "_plan"
        source = (
            f"def enter(_team, _parts, {arguments}, {plan}_found):\n"
            f"    address, packed, size = task_of(function, ({arguments},), _found)\n"
            f"    return {run}(address, packed, size, _team, _parts, {how})\n"
        )
        # The cache on disk lies beside the function's own file, and forgets the kernel when that file changes.  What
        # the entry calls are no cells of it, whose contents the cache would compare: its name says them, and of which
        # source they are.
        home = function.__code__.co_filename
        scope: dict[str, Any] = {"__name__": function.__module__, "function": function}
        scope |= {"task_of": task_maker(shape), "run_task": run_task, "run_planned": run_planned}
        exec(compile(source, home if Path(home).exists() else __file__, "exec"), scope)
        enter = scope["enter"]
        enter.__qualname__ = f"in_parts_{-stamp_of(run_task):x}.{function.__qualname__}"
        return kernel(enter)


def parts_of(cells: int, threads: int) -> int:
    """Return how many threads so many cells of work are worth: all where half are, so that each keeps to its rows."""
    if isinstance(threads, AtOnce):
        return threads
    worth = max(1, min(threads, cells // PART))
    return threads if worth > 1 and threads <= 2 * worth else worth


def parts_now(cells: int, threads: int) -> int:
    """Return how many threads so many cells of work are worth now, when some of them may sleep."""
    parts = parts_of(cells, threads)
    return parts if parts == 1 or isinstance(threads, AtOnce) else worth_waking(parts, cells)


def _empty(size: int) -> Array:
    return np.empty(size, np.int64)


def in_parts(function: Callable[..., Any]) -> InParts:
    """Compile a function of a range, whose parts write to places of their own."""
    return InParts(function)


def adding(function: Callable[..., Any]) -> InParts:
    """Compile a function of a range that adds to `out`, its last argument."""
    return InParts(function, adds=True)


def _kinds(annotation: Any) -> list[str]:
    """Return "int" or "float" for everything that a function returns."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "None")
    if text in ("None", "_empty"):
        return []
    return [kind.strip() for kind in text.removeprefix("tuple[").removesuffix("]").split(",")]


def _add_up(outs: Array, first: int, last: int, total: Array) -> None:
    """Sum the rows of outs, for the columns first <= s < last."""
    for s in range(first, last):
        total[s] = outs[0, s]
    for p in range(1, outs.shape[0]):
        for s in range(first, last):
            total[s] += outs[p, s]


add_up = InParts(_add_up)
NOTHING_TOLD = np.empty((0, 0), np.int64)
