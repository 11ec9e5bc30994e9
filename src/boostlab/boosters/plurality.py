"""Shared by the rules of several classes whose voters name a class, the most votes winning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.contract import (
    NEGLIGIBLE,
    Array,
    Rule,
    State,
    Step,
    Stop,
    Task,
    class_error_sums,
    is_other_class,
    perfect,
)


@dataclass(frozen=True)
class Plurality(Rule):
    """F_k is the sum of alpha over the voters that name the class k; a subclass says with what coefficient.

    With w_i proportional to exp(-F_c(x_i)), c the right class, a vote multiplies by exp(alpha) what it gets wrong.
    """

    needs: ClassVar[str] = "labels"
    n_outputs: ClassVar[str] = "class"

    def limit(self, s: State) -> float:
        """Return from where on weighted errors are of no use."""
        raise NotImplementedError

    def vote(self, s: State, error: float) -> float:
        """Return alpha for a voter with this (floored) weighted error."""
        raise NotImplementedError

    def credit(self, s: State) -> float:
        """Return the share of alpha by which a right vote lowers the log of the loss; a wrong one has the rest."""
        return 1 - 1 / s.n_classes

    def begin(self, s: State) -> None:
        """The loss of F = 0 is 1."""
        s.own.log_loss = 0.0

    def task(self, s: State) -> Task:
        """Ask for the smallest error under w."""
        return Task(self.needs, s.exponentials(), s.codes)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Measure the error on the full sample; stop, or let the voter join."""
        whole, wrong = s.total(class_error_sums)
        error, limit = wrong / whole, self.limit(s)
        if error >= limit - NEGLIGIBLE:
            return Stop("no_edge", f"weighted error {error:.4g}, and the rule needs less than {limit:.4g}")
        alpha = self.vote(s, error or 0.5 / s.size)
        credit = self.credit(s)
        s.own.log_loss += math.log((1 - error) * math.exp(-credit * alpha) + error * math.exp((1 - credit) * alpha))
        facts = {"error": error, "edge": 1 - error / limit, "objective": math.exp(min(s.own.log_loss, 700.0))}
        return Step(alpha, facts, perfect(s, is_other_class) if wrong == 0 else None)

    def shown(self, F: Array) -> Array:
        """Return the sum of alpha times 1 for the class named and -1/(K-1) for the others: zero over the classes."""
        K = F.shape[1]
        return (F - F.mean(axis=1, keepdims=True)) * (K / (K - 1))

    def probability(self, F: Array) -> Array:
        """Softmax of the scores."""
        e = np.exp(F - F.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
