"""AdaBoost.MH with real-valued votes (Schapire & Singer 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import ClassVar

from boostlab.contract import NEGLIGIBLE, Array, State, Step, Stop, Task, perfect
from boostlab.rules.adaboost_mh import AdaBoostMH


@dataclass(frozen=True)
class AdaBoostMHReal(AdaBoostMH):
    """AdaBoost.MH with voters that say how sure they are of every label.

    1. D(i, l) proportional to exp(-Y(i, l) F(x_i, l)).
    2. h = the voter whose leaves vote (1/2) ln(W+ / W-) on every label and have the smallest Z = 2 sum over leaves and
       labels of sqrt(W+ W-), W+ and W- the weights of the leaf's rows that are and are not of the label.
    3. Stop if Z >= 1.
    4. F += h.

    Leaves are smoothed by 1/(2 n K) of the weight.  Where another learner's votes are too sure, the step is halved
    until Z < 1, as in Real AdaBoost, which this is for two classes.
    """

    needs: ClassVar[str] = "hamming_z"

    def task(self, s: State) -> Task:
        """Steps 1 and 2."""
        return Task(self.needs, s.own.D, s.own.Y, {"smoothing": 0.5 / (s.size * s.n_classes)})

    def step(self, s: State, task: object, h: Array) -> Step | Stop:
        """Steps 3 and 4."""
        v, alpha, before = s.own.Y * h, 1.0, s.own.log_loss
        wrong, whole, D = s.total(s.own.D * (v <= 0)), s.own.whole, s.own.D
        for _ in range(12):
            self._weigh(s, s.F + alpha * h)
            Z = exp(min(s.own.log_loss - before, 700.0))
            if Z < 1 - NEGLIGIBLE:
                loss = exp(min(s.own.log_loss - s.own.log_first, 700.0))
                facts = {"error": wrong / whole, "Z": Z, "objective": loss}
                return Step(alpha, facts, perfect(s, v > 0) if wrong == 0 else None)
            alpha /= 2.0
        s.own.D, s.own.whole, s.own.log_loss = D, whole, before
        return Stop("no_edge", f"the best voter's normaliser Z is {Z:.6g} at its smallest step, and it must be below 1")
