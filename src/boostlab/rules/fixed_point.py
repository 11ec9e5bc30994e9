"""VadaBoost and EBBoost that estimate their penalty anew every round, from the current training losses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, sqrt
from typing import Any

import numpy as np

from boostlab.contract import Array, State, Step, Stop
from boostlab.rules.ebboost import EBBoost
from boostlab.rules.vadaboost import VadaBoost


class FixedPoint(VadaBoost):
    """Sample variance penalisation, mean + tau sqrt(variance / n), through the cost of VadaBoost.

    1. The two costs of the losses e = exp(-y F) have parallel gradients for lambda = tau mean sqrt(n) / ((n - 1) sd),
       with tau = sqrt(2 ln(2 / delta)), the empirical Bernstein bound's.
    2. Before every round lambda is set to that, cut to [0, 1] (1 at F = 0, where it does not matter).
    3. The objective is mean + tau sd / sqrt(n).  It is concave in mean^2 and variance, so it falls with the cost of
       every round whose lambda was not cut; stop when it has seen no new minimum for `patience` rounds.
    """

    patience: int
    delta: float

    @property
    def tau(self) -> float:
        """What the standard error counts."""
        return sqrt(2 * log(2 / self.delta))

    def begin(self, s: State) -> None:
        """No minimum has been seen."""
        super().begin(s)
        s.own.lowest, s.own.lowest_at = np.inf, 0

    def penalty(self, s: State, e: Array) -> float:
        """Steps 1 and 2; the scale of e does not matter."""
        mean, error = self._moments(s, e)
        return min(1.0, self.tau * mean / ((s.size - 1) * error)) if error > 0 else 1.0

    def _moments(self, s: State, e: Array) -> tuple[float, float]:
        """Return the mean and its standard error sd / sqrt(n)."""
        mean = s.total(e) / s.n
        return mean, sqrt(s.total((e - mean) ** 2) / s.n / (s.size - 1))

    def step(self, s: State, task: Any, h: Array) -> Step | Stop:
        """Step 3."""
        answer = super().step(s, task, h)
        if isinstance(answer, Stop):
            return answer
        mean, error = self._moments(s, np.exp(np.minimum(self.log_losses(s, answer.alpha, h), 300.0)))
        objective = mean + self.tau * error
        if objective < s.own.lowest:
            s.own.lowest, s.own.lowest_at = objective, s.t
        elif s.t - s.own.lowest_at >= self.patience and answer.stop is None:
            answer = replace(answer, stop=Stop("patience", f"no lower penalised loss in {self.patience} rounds"))
        return replace(answer, facts={**answer.facts, "variance_penalty": s.own.lam, "objective": objective})


@dataclass(frozen=True)
class FixedPointVadaBoost(FixedPoint):
    """VadaBoost with `FixedPoint`'s penalty."""

    patience: int = 10
    delta: float = 0.05


@dataclass(frozen=True)
class FixedPointEBBoost(FixedPoint, EBBoost):
    """EBBoost with `FixedPoint`'s penalty."""

    exact: bool = True
    patience: int = 10
    delta: float = 0.05
