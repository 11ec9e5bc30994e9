"""Real AdaBoost (Schapire & Singer 1999; Friedman, Hastie & Tibshirani 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar

import numpy as np

from boostlab.contract import NEGLIGIBLE, Array, Rule, State, Step, Stop, Task, perfect


@dataclass(frozen=True)
class RealAdaBoost(Rule):
    """AdaBoost with voters that say how sure they are.

    1. w_i proportional to exp(-y_i F(x_i)).
    2. f = the voter whose leaves vote (1/2) ln(W+ / W-) and have the smallest Z = 2 sum over leaves of sqrt(W+ W-).
    3. Stop if Z >= 1.
    4. F += f.

    Votes of a learner that is surer than its errors allow may make Z >= 1 although they point the right way: then the
    step is halved until Z < 1.  (A stump's or tree's leaves are their own best step.)

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]: F += nu f.
    """

    learning_rate: float = 1.0

    needs: ClassVar[str] = "z"

    def begin(self, s: State) -> None:
        """The loss of F = 0 is 1."""
        s.own.log_loss = 0.0

    def task(self, s: State) -> Task:
        """Steps 1 and 2; leaves are smoothed by 1/(2n) of the weight."""
        return Task("z", s.exponentials(), s.y, {"smoothing": 0.5 / s.size})

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 3 and 4."""
        w, v, nu = task.weight, s.y * h, self.learning_rate
        before, wrong = s.total(w, w * (v <= 0))
        for _ in range(12):
            Z = s.total(w * np.exp(-nu * v)) / before
            if Z < 1 - NEGLIGIBLE:
                s.own.log_loss += log(Z)
                facts = {"error": wrong / before, "Z": Z, "objective": exp(min(s.own.log_loss, 700.0))}
                return Step(nu, facts, perfect(s, s.y * h > 0) if wrong == 0 else None)
            nu /= 2.0
        return Stop("no_edge", f"the best voter's normaliser Z is {Z:.6g} at its smallest step, and it must be below 1")
