"""BrownBoost: boosting against a clock, which gives up on hopeless examples (Freund 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import erf, erfc, erfcinv

from boostlab.contract import Array, Rule, State, Step, Stop, Task
from boostlab.programs.brownian import advance_clock


@dataclass(frozen=True)
class BrownBoost(Rule):
    """Spend a total time c so that at its end the error is at most the target.

    1. r = y F; s = the time left; w_i proportional to exp(-(r_i + s)^2 / c).
    2. h = the voter with the smallest weighted error, b = y h; stop if its edge is not positive.
    3. Find alpha and t, 0 < t <= s, with the same potential as before, sum of erf((r + alpha b + s - t) / sqrt c), and
       no edge left, sum of b exp(-(r + alpha b + s - t)^2 / c) = 0; or t = s, if the clock runs out first.
    4. F += alpha h; s -= t; stop when s = 0.

    Parameters
    ----------
    target_error : float
        epsilon in (0, 1): c = erfinv(1 - epsilon)^2.
    total_time : float, optional
        c itself.
    """

    target_error: float = 0.1
    total_time: float | None = None

    @property
    def c(self) -> float:
        """The total time."""
        return float(erfcinv(self.target_error)) ** 2 if self.total_time is None else self.total_time

    def begin(self, s: State) -> None:
        """The clock starts at c."""
        s.own.left, s.own.last = self.c, None

    def task(self, s: State) -> Task:
        """Steps 1 and 2."""
        return Task("edge", s.weigh(-((s.y * s.F + s.own.left) ** 2) / self.c), s.y)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 3 and 4."""
        b, own = s.y * h, s.own
        signed, whole = s.total(task.weight * b, task.weight)
        edge = signed / whole
        if edge <= 1e-8:
            return Stop("no_edge", f"edge {edge:.3g} with {own.left:.4g} of the time {self.c:.4g} left")
        found = advance_clock(s, s.y * s.F + own.left, b, self.c, own.left, edge, own.last)
        if found is None:
            return Stop("solver_failed", f"no step solves both equations; {own.left:.4g} of the time is left")
        alpha, t, evaluations = found
        own.last = (alpha, t)
        own.left = left = own.left - t if own.left - t > 1e-9 else 0.0
        potential = s.total(erfc((s.y * s.F + alpha * b + left) / sqrt(self.c))) / s.n
        facts = {
            "error": (1 - edge) / 2,
            "edge": edge,
            "time_left": left,
            "evaluations": float(evaluations),
            "objective": potential,
        }
        return Step(alpha, facts, Stop("time_up", f"the clock ran out in round {s.t + 1}") if left == 0.0 else None)

    def probability(self, F: Array) -> Array:
        """A score, (1 + erf(F / sqrt c)) / 2, rather than a calibrated probability."""
        return (1.0 + erf(F / np.sqrt(self.c))) / 2.0
