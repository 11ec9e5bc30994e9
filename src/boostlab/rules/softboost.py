"""SoftBoost and TotalBoost: weights of least entropy that put every edge below a target (Warmuth et al. 2006, 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from boostlab.contract import Array, Reweigh, State, Stop
from boostlab.programs.capped_entropy import CappedEntropy, Infeasible
from boostlab.programs.soft_margin import soft_margin
from boostlab.rules.entropic import EntropicBooster


@dataclass(frozen=True)
class SoftBoost(EntropicBooster):
    """Push all edges below the smallest edge so far less eps (`tol`), as close to uniform as possible.

    1. h = the voter with the largest edge under d; d starts uniform; ghat = the smallest of these edges so far.
    2. Add h; d = argmin of KL(d, uniform) over d_i <= 1/(nu n) with the edge of every voter at most ghat - eps.
    3. Stop if there is no such d: then the voters found hold a vote within eps of the best.
    4. Then the weights are those with the largest soft margin over the voters found.

    It needs at most 2 ln(1/nu) / eps^2 rounds.
    """

    def kappa(self) -> float:
        """Return how many times the uniform weight an example may have."""
        return 1.0 / self.nu

    def begin(self, s: State) -> None:
        """Start from uniform weights."""
        super().begin(s)
        s.own.program = CappedEntropy(s.mass[s.own.order], self.kappa(), self.seconds)
        s.own.entropy = 0.0

    def entropic_round(self, s: State, edge: float, h: Array) -> Reweigh:
        """Steps 2 and 3."""
        own, done = s.own, None
        own.program.add((s.y * h)[own.order])
        weights, steps = np.append(s.alphas, 0.0) if s.t else np.ones(1), 0
        try:
            found = s.own.clock.give(own.program).projected(own.lowest_edge - self.tol, self.tol / 1000)
        except Infeasible:
            done = Stop("tolerance", f"the voters hold a vote within {self.tol:g} of the largest soft margin")
            own.converged = s.t + 1
        else:
            self.next_weights(s, found.q / s.n)
            weights, steps, own.entropy = found.v / found.v.sum(), found.steps, found.entropy
        value = soft_margin(own.program.margins(weights), s.mass[own.order], self.cap(s))
        facts = {"edge": edge, "objective": value, "duality_gap": max(own.lowest_edge - value, 0.0)}
        return Reweigh(weights, {**facts, "potential": own.entropy, "evaluations": float(steps)}, done)


@dataclass(frozen=True)
class TotalBoost(SoftBoost):
    """SoftBoost without a cap on the weights: it maximises the smallest margin, in at most 2 ln(n) / eps^2 rounds."""

    nu: float = 1.0  # not used

    def kappa(self) -> float:
        """No cap."""
        return inf

    def cap(self, s: State) -> float:
        """No cap."""
        return inf
