"""The time that a training may take."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any


class SolverError(RuntimeError):
    """A solver ended without an optimum."""


class OutOfTime(SolverError):
    """A solver had no more time."""


@dataclass
class Allowance:
    """Seconds for all rounds together, counted from the beginning of a round to its end.

    Parameters
    ----------
    seconds : float, optional
        How many; None is no limit.
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
