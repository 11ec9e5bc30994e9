"""L2Boost: least-squares fits of the residual, for numbers and for labels (Buehlmann & Yu 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.contract import Array, Rule, State, Step, Stop, Task


@dataclass(frozen=True)
class L2Boost(Rule):
    """Minimise the mean of (y - F)^2, one least-squares fit at a time.

    1. r = y - F; f = the least-squares fit of r.
    2. F += nu f; stop when f explains nothing of r.

    With labels -1 and +1 for y, F estimates 2 P(+1) - 1 and its sign classifies.  The step nu lowers the risk as long
    as it is shorter than twice the best one, d / eta with d = mean r f and eta = mean f^2, which is 1 for a
    least-squares fit; where it is not (another learner's f), the best step is taken.

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]; 1 with two rounds is Tukey's twicing.
    """

    learning_rate: float = 0.1

    needs: ClassVar[str] = "least_squares"
    ROUNDING: ClassVar[float] = 1e-15  # of the risk of F = 0

    def begin(self, s: State) -> None:
        """Take note of the risk of F = 0, against which rounding is measured."""
        s.own.first = s.total(np.square(s.y, dtype=np.float64)) / s.n

    def task(self, s: State) -> Task:
        """Step 1."""
        return Task("least_squares", np.ones(len(s.y)), s.y - s.F)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Step 2."""
        r, h = task.target, h.astype(np.float64, copy=False)
        signed, squares = s.total(r * h, h * h)
        d, eta = signed / s.n, squares / s.n
        alpha = self.learning_rate if self.learning_rate * eta < 2 * d or d <= 0 else d / eta
        if alpha * (2 * d - alpha * eta) <= self.ROUNDING * s.own.first:
            return Stop("tolerance", "the best fit explains nothing of what is left of y")
        return Step(alpha, {"objective": s.total((r - alpha * h) ** 2) / s.n})

    def probability(self, F: Array) -> Array:
        """F estimates 2 P(+1) - 1."""
        return np.clip((1.0 + F) / 2.0, 0.0, 1.0)
