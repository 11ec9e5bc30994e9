"""ERLPBoost: LPBoost with an entropic regulariser (Warmuth, Glocer & Vishwanathan 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from boostlab.contract import Array, Reweigh, State, Stop
from boostlab.programs.capped_entropy import CappedEntropy
from boostlab.programs.soft_margin import soft_margin
from boostlab.rules.entropic import EntropicBooster


@dataclass(frozen=True)
class ERLPBoost(EntropicBooster):
    """Minimise P(d) = largest edge + KL(d, uniform) / eta, eta = max(2 ln(1/nu) / eps, 1/2); eps is `tol`.

    1. h = the voter with the largest edge g under d; d starts uniform, P at minus infinity.
    2. Phat = min(Phat, g + KL(d) / eta).  Stop if Phat - P(d) <= eps/2: the vote is within eps of the best.
    3. Add h; d = argmin of P over d_i <= 1/(nu n); the voters' weights are dual to it.
    4. After step 2 has stopped, the weights are those with the largest soft margin over the voters found.

    It needs at most max(4 / eps, 8 ln(1/nu) / eps^2) rounds.
    """

    def eta(self) -> float:
        """Return how little the entropy counts."""
        return max(2 * log(1 / self.nu) / self.tol, 0.5)

    def begin(self, s: State) -> None:
        """Start from uniform weights."""
        super().begin(s)
        s.own.program = CappedEntropy(s.mass[s.own.order], 1 / self.nu, self.seconds)
        s.own.P, s.own.Phat, s.own.entropy = -np.inf, np.inf, 0.0

    def entropic_round(self, s: State, edge: float, h: Array) -> Reweigh | Stop:
        """Steps 2 and 3."""
        own, eta = s.own, self.eta()
        own.Phat = min(own.Phat, edge + own.entropy / eta)
        if own.Phat - own.P <= self.tol / 2:
            own.converged = s.t
            return Stop("tolerance", f"the vote is within {self.tol:g} of the largest soft margin")
        own.program.add((s.y * h)[own.order])
        found = s.own.clock.give(own.program).penalised(eta, self.tol / 50)
        self.next_weights(s, found.q / s.n)
        own.entropy, own.P = found.entropy, float(found.edges.max()) + found.entropy / eta
        value = soft_margin(own.program.margins(found.v / eta), s.mass[own.order], self.cap(s))
        facts = {"edge": edge, "objective": value, "duality_gap": max(own.lowest_edge - value, 0.0)}
        return Reweigh(found.v / eta, {**facts, "potential": own.P, "evaluations": float(found.steps)})
