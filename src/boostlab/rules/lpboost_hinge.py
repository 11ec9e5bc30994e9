"""LPBoost with a price on slack: the hinge loss and the sum of the weights (Demiriz, Bennett & Shawe-Taylor 2002)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostlab.contract import Array, Reweigh, State, Stop, Task
from boostlab.programs.allowance import Allowance
from boostlab.programs.edge_lp import EdgeLP
from boostlab.rules.corrective import Corrective


@dataclass(frozen=True)
class HingeLPBoost(Corrective):
    """LPBoost's other form: minimise sum alpha + C sum max(0, 1 - y F), by column generation.

    1. h = the voter with the largest g = sum u_i y_i h(x_i); u starts at C everywhere.
    2. Stop if g <= 1 + tol: no voter outside the program can improve it.
    3. Add h and solve: max sum u_i over 0 <= u_i <= C with sum u_i y_i h_j(x_i) <= 1 for every voter j.
    4. The voters' weights are the dual variables of these constraints; u / max(1, g) bounds the optimum from below.

    Parameters
    ----------
    C : float
        The price of slack, an example.
    tol : float
        By how much an edge must violate its constraint to count.
    seconds : float, optional
        The longest that all rounds together may take.
    """

    nu: float = 1.0  # not used
    C: float = 1.0

    def begin(self, s: State) -> None:
        """Without a voter every example has its full price."""
        s.own.order, s.own.clock = s.canonical_order(), Allowance(self.seconds)
        s.own.program = EdgeLP(s.mass[s.own.order], price=self.C, seconds=self.seconds)
        s.own.d, s.own.bound, s.own.values = np.full(len(s.y), self.C), 0.0, []

    def weigh(self, s: State, task: Task, h: Array) -> Reweigh | Stop:
        """Steps 2 to 4; where the empty vote is optimal, the best voter alone stands for it."""
        own = s.own
        edge, whole = s.total(task.weight * s.y * h, task.weight)
        own.bound = max(own.bound, whole / max(1.0, edge))
        if edge <= 1 + self.tol:
            if s.t:
                return Stop("tolerance", f"the best edge {edge:.6g} exceeds 1 by no more than {self.tol:g}")
            empty = Stop("tolerance", f"C={self.C:g} is so small that no vote pays; the best voter stands alone")
            return Reweigh(np.ones(1), {"edge": edge, "objective": whole, "duality_gap": 0.0}, empty)
        own.program.add((s.y * h)[own.order])
        solved = s.own.clock.give(own.program).solve()
        own.values.append(solved.value)
        own.d = np.empty_like(solved.d)
        own.d[own.order] = solved.d
        gap = max(solved.value - own.bound, 0.0)
        return Reweigh(solved.weights, {"edge": edge, "objective": solved.value, "duality_gap": gap})

    def finish(self, s: State) -> Reweigh | None:
        """Close the gap by the last edge, that of the voter which could not improve anything."""
        if len(s.own.values) < s.t:
            return None
        return Reweigh(s.alphas, {"duality_gap": max(s.own.values[s.t - 1] - s.own.bound, 0.0)})
