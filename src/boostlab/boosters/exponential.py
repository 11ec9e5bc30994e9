"""Shared by AdaBoost and its kin: the weights exp(-y F)."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar

import numpy as np

from boostlab.contract import NEGLIGIBLE, Array, Retry, Rule, State, Step, Stop, Task, error_sums, perfect

NONE = np.empty(0)


@dataclass(frozen=True)
class Exponential(Rule):
    """Weights w proportional to exp(-y F), voters by smallest weighted error; a subclass says how loud they vote."""

    labels_only: ClassVar[bool] = True

    def limit(self, s: State, error: float) -> float:
        """Return from where on weighted errors are of no use (to a voter with this one)."""
        return 0.5

    def vote(self, s: State, error: float) -> float:
        """Return alpha for a voter with this (floored) weighted error."""
        raise NotImplementedError

    def floored(self, s: State, error: float) -> float:
        """Return the error, or what stands for it where a perfect voter's alpha would be infinite."""
        return error or min(0.5, self.limit(s, error)) / s.size

    def begin(self, s: State) -> None:
        """The loss of F = 0 is 1."""
        s.own.log_loss = 0.0

    def task(self, s: State) -> Task | Stop:
        """Ask for the smallest error under w."""
        return Task(self.needs, s.exponentials(), s.y)

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Measure the error on the full sample; stop, or let the voter join."""
        whole, wrong = s.total(error_sums)
        error = wrong / whole
        limit = self.limit(s, error)
        if error >= limit - NEGLIGIBLE:
            return Stop("no_edge", f"weighted error {error:.4g}, and the rule needs less than {limit:.4g}")
        alpha = self.vote(s, self.floored(s, error))
        return Step(alpha, self.facts(s, error, alpha, h), perfect(s) if wrong == 0 else None)

    def facts(self, s: State, error: float, alpha: float, h: Array = NONE) -> dict[str, float]:
        """Return what there is to say of a step (a rule that is plain needs no votes for that)."""
        return {"error": error, "edge": 1 - 2 * error, "objective": self.loss(s, error, alpha, h)}

    def loss(self, s: State, error: float, alpha: float, h: Array) -> float:
        """Return the mean of exp(-y F) after the step: the product of the normalisers Z."""
        s.own.log_loss += log((1 - error) * exp(-alpha) + error * exp(alpha))
        return exp(min(s.own.log_loss, 700.0))
