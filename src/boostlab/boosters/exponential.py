"""Shared by AdaBoost and its kin: the weights exp(-y F)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from boostlab.contract import (
    NEGLIGIBLE,
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    Retry,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    Task,
    UsualRound,
    error_sums,
    formula,
    log,
    perfect,
)


@formula
def log_odds_step(sums: Sums, numbers: list[float]) -> int:
    """(1/2) ln((1 - eps) / eps) times nu, for 0 < eps < limit: numbers are alpha, nu and the limit."""
    error = sums[1] / sums[0]
    if not 0.0 < error < numbers[2] - NEGLIGIBLE:
        return UNUSUAL
    numbers[0] = numbers[1] * 0.5 * log((1.0 - error) / error)
    return TAKEN


@dataclass(frozen=True)
class Exponential(Rule):
    """Weights w proportional to exp(-y F), voters by smallest weighted error; a subclass says with what coefficient."""

    labels_only: ClassVar[bool] = True
    loss_after: ClassVar[Any] = None  # the formula whose mean is the objective; by default the mean of exp(-y F)

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
        return Step(alpha, self.facts(s, error, alpha, self.after(s, alpha)), perfect(s) if wrong == 0 else None)

    def after(self, s: State, alpha: float) -> Sums:
        """Return what is summed for the voter and alpha (nothing, for a rule that is plain)."""
        return () if self.loss_after is None else (s.total(self.loss_after, alpha),)

    def facts(self, s: State, error: float, alpha: float, after: Sums = ()) -> Facts:
        """Return what there is to say of a step."""
        return {"error": error, "edge": 1 - 2 * error, "objective": self.loss(s, error, alpha, after)}

    def facts_of_many(self, s: State, errors: Sequence[float], alphas: Sequence[float]) -> dict[str, Sequence[float]]:
        """Return what there is to say of many steps of a plain rule, a column a fact."""
        losses = [self.loss(s, error, alpha, ()) for error, alpha in zip(errors, alphas, strict=True)]
        return {"error": errors, "edge": [1 - 2 * error for error in errors], "objective": losses}

    def loss(self, s: State, error: float, alpha: float, after: Sums) -> float:
        """Return the objective after the step; the mean of exp(-y F) is the product of the normalisers Z."""
        if self.loss_after is not None:
            return after[0] / s.n
        s.own.log_loss += math.log((1 - error) * math.exp(-alpha) + error * math.exp(alpha))
        return math.exp(min(s.own.log_loss, 700.0))

    def by_error(self, step: Any, numbers: dict[str, float], **more: Any) -> UsualRound:
        """Return a usual round whose step looks at the error."""
        return UsualRound(step, numbers, error_sums, self._facts, **({"after": self.loss_after} | more))

    def _facts(self, s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
        return self.facts(s, sums[1] / sums[0], numbers[0], after)
