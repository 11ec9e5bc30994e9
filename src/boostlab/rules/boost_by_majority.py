"""Boost by majority: one vote each, binomial weights, all rounds planned in advance (Freund 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np
from scipy.special import bdtr, gammaln

from boostlab.contract import NEGLIGIBLE, Array, Rule, State, Step, Stop, Task


@dataclass(frozen=True)
class BoostByMajority(Rule):
    """Assume that every voter errs on at most 1/2 - gamma of its weights; then the majority of k voters is good.

    1. In round i = 0, ..., k-1 an example on which r voters so far were right has the weight
       C(k-i-1, j) (1/2 + gamma)^j (1/2 - gamma)^(k-i-1-j) with j = floor(k/2) - r, and none unless 0 <= j <= k-i-1.
    2. h = the voter with the smallest weighted error; F += h.
    3. Stop after k rounds, or when no example has a weight: all are decided.

    The potential of an example is its chance to end wrong if each later voter is right on it by chance 1/2 + gamma: the
    sum of C(k-i, j) (1/2 + gamma)^j (1/2 - gamma)^(k-i-j) over j <= floor(k/2) - r.  Its mean does not rise in a round
    whose error is at most 1/2 - gamma, and after k rounds it is the training error.

    Parameters
    ----------
    gamma, k, strict : float in (0, 1/2), odd int, bool
        Strict stops at the first voter that errs on more than 1/2 - gamma; else it goes on, without the guarantee.
    """

    gamma: float = 0.05
    k: int = 99
    strict: bool = False

    labels_only: ClassVar[bool] = True

    def log_weight(self, i: int, r: Array) -> Array:
        """Step 1, as a logarithm."""
        rest, j = self.k - i - 1, self.k // 2 - r
        c = np.clip(j, 0, rest)
        logs = gammaln(rest + 1) - gammaln(c + 1) - gammaln(rest - c + 1)
        return np.where(c == j, logs + c * log(0.5 + self.gamma) + (rest - c) * log(0.5 - self.gamma), -np.inf)

    def potential(self, i: int, r: Array) -> Array:
        """Return the potential before round i."""
        chance = bdtr(np.clip(self.k // 2 - r, 0, self.k - i), self.k - i, 0.5 + self.gamma)
        return np.where(r > self.k // 2, 0.0, chance)

    def begin(self, s: State) -> None:
        """Nobody has broken the assumption."""
        s.own.violated = 0

    def task(self, s: State) -> Task | Stop:
        """Steps 1 and 3."""
        if s.t >= self.k:
            return self.end(s, "time_up", f"all {self.k} votes are cast")
        logs = self.log_weight(s.t, np.arange(s.t + 1))[np.rint((s.t + s.y * s.F) / 2).astype(np.intp)]
        if s.largest(logs) == -np.inf:
            return self.end(s, "given_up", f"every example is decided with {self.k - s.t} votes to come")
        return Task("edge", s.weigh(logs), s.y)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 2 and 3."""
        whole, wrong = task.sums or s.total(task.weight, task.weight * (h != s.y))
        error, i = wrong / whole, s.t + 1
        s.own.violated += error > 0.5 - self.gamma + NEGLIGIBLE
        if error >= 0.5 - NEGLIGIBLE or (self.strict and s.own.violated):
            return self.end(s, "no_edge", f"the last {error:.4g}, in round {i} of {self.k}")
        r = np.rint((i + s.y * (s.F + h)) / 2).astype(np.intp)
        left = float(s.total(self.potential(i, np.arange(i + 1))[r]) / s.n)
        facts = {"error": error, "edge": 1 - 2 * error, "violated": float(s.own.violated), "objective": left}
        return Step(1.0, facts, self.end(s, "time_up", f"all {self.k} votes are cast") if i == self.k else None)

    def end(self, s: State, code: str, why: str) -> Stop:
        """Where the assumption did not hold, that is the end's name."""
        broken = f"{s.own.violated} voters err on more than {0.5 - self.gamma:.4g} of the weight; {why}"
        return Stop("assumption_violated", broken) if s.own.violated else Stop(code, why)
