"""The time that a fit and each of its trainings may take."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any


class SolverError(RuntimeError):
    """A solver ended without an optimum."""


class OutOfTime(SolverError):
    """A solver had no more time."""


class FitTime:
    """The seconds of a fit, which its trainings (binary problems, folds of a calibration) divide among themselves.

    Parameters
    ----------
    seconds : float
        How many there are from now on.
    parts : int
        How many trainings, or groups of them, are to come.
    """

    def __init__(self, seconds: float, parts: int = 1) -> None:
        self.end, self.parts = perf_counter() + seconds, parts

    def share(self) -> float:
        """Return the seconds of the next part: all parts to come have the same share of what is left."""
        left = max(self.end - perf_counter(), 0.0) / self.parts
        self.parts = max(self.parts - 1, 1)
        return left

    def part(self, parts: int) -> FitTime:
        """Return the time of the next part, which consists of several."""
        return FitTime(self.share(), parts)


@dataclass
class Allowance:
    """Seconds for all rounds together, counted from the beginning of a round to its end.

    Parameters
    ----------
    seconds : float, optional
        How many; None is no limit.
    spent : float
        How many of them are gone already.
    """

    seconds: float | None = None
    spent: float = 0.0
    since: float | None = None

    def begin_round(self) -> None:
        """Start the clock."""
        self.since = perf_counter()

    def end_round(self) -> None:
        """Stop the clock."""
        self.spent, self.since = self.spent + self._running(), None

    def left(self) -> float:
        """Return the seconds that are left, infinity without a limit."""
        return inf if self.seconds is None else max(self.seconds - self.spent - self._running(), 0.0)

    def give(self, program: Any) -> Any:
        """Return a program, after giving it the time that is left."""
        program.seconds = None if self.seconds is None else self.left()
        if program.seconds == 0.0:
            raise OutOfTime("no time is left")
        return program

    def _running(self) -> float:
        return 0.0 if self.since is None else perf_counter() - self.since
