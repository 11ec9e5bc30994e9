"""LPBoost: the soft-margin linear program by column generation (Demiriz, Bennett & Shawe-Taylor 2002)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostlab.contract import Array, Reweigh, State, Stop, Task
from boostlab.programs.edge_lp import EdgeLP
from boostlab.rules.corrective import Corrective

NO_SOFT_MARGIN = "no vote has a soft margin above 0"
ROUNDING = 1e-9  # a soft margin this small is none


@dataclass(frozen=True)
class LPBoost(Corrective):
    """Maximise the soft margin over all voters; every round re-weighs every voter.

    1. h = the voter with the largest edge g = sum d_i y_i h(x_i); d starts uniform, beta at minus infinity.
    2. Stop if g <= beta + tol: no voter outside the program can improve it.
    3. Add h and solve: min beta over d in the simplex with d_i <= 1/(nu n), the edge of every voter at most beta.
    4. The voters' weights are the dual variables of the edge constraints.
    """

    def begin(self, s: State) -> None:
        """Start from uniform weights."""
        super().begin(s)
        s.own.program = EdgeLP(s.mass[s.own.order], cap=self.cap(s), seconds=self.seconds)
        s.own.beta, s.own.values = -np.inf, []

    def weigh(self, s: State, task: Task, h: Array) -> Reweigh | Stop:
        """Steps 2 to 4."""
        own, edge = s.own, self.edge(s, task, h)
        if edge <= own.beta + self.tol and own.beta <= ROUNDING:
            return Stop("tolerance", f"{NO_SOFT_MARGIN}, the mean margin of its worst nu={self.nu:g} of the examples")
        if edge <= own.beta + self.tol:
            return Stop(
                "tolerance", f"the best edge {edge:.6g} exceeds beta = {own.beta:.6g} by no more than {self.tol:g}"
            )
        own.program.add((s.y * h)[own.order])
        solved = s.own.clock.give(own.program).solve()
        own.beta = solved.value
        own.values.append(own.beta)
        self.next_weights(s, solved.d)
        gap = max(own.lowest_edge - own.beta, 0.0)
        return Reweigh(solved.weights, {"edge": edge, "objective": own.beta, "duality_gap": gap})

    def finish(self, s: State) -> Reweigh | None:
        """Close the gap by the last edge, that of the voter which could not improve anything."""
        if len(s.own.values) < s.t:
            return None
        return Reweigh(s.alphas, {"duality_gap": max(s.own.lowest_edge - s.own.values[s.t - 1], 0.0)})
