"""LPBoost: the soft-margin linear program by column generation (Demiriz, Bennett & Shawe-Taylor 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.contract import Array, Reweigh, Rule, State, Stop, Task
from boostlab.programs.edge_lp import EdgeLP, SolverError


@dataclass(frozen=True)
class LPBoost(Rule):
    """Maximise the soft margin over all voters; every round re-weighs every voter.

    1. h = the voter with the largest edge g = sum d_i y_i h(x_i); d starts uniform, beta at minus infinity.
    2. Stop if g <= beta + tol: no voter outside the program can improve it.
    3. Add h and solve: min beta over d in the simplex with d_i <= 1/(nu n), the edge of every voter at most beta.
    4. The voters' weights are the dual variables of the edge constraints.

    Parameters
    ----------
    nu : float
        In (1/n, 1]: at most this share of the sample lies below the margin.
    tol : float
        By how much an edge must violate its constraint to count.
    """

    nu: float = 0.1
    tol: float = 1e-6

    keeps_votes: ClassVar[bool] = True

    def begin(self, s: State) -> None:
        """Start from uniform weights."""
        if self.nu * s.size < 1:
            raise ValueError(
                f"nu={self.nu:g} is too small for {s.size:g} examples: the weights' cap 1/(nu n) must not exceed 1; "
                f"use nu >= {1 / s.size:.3g}."
            )
        s.own.order = s.canonical_order()  # so that the solver's choice among optima does not depend on the rows' order
        s.own.program = EdgeLP(s.mass[s.own.order], cap=1.0 / (self.nu * s.n))
        s.own.d = np.full(len(s.y), 1.0 / s.n)
        s.own.beta, s.own.lowest_edge = -np.inf, np.inf

    def task(self, s: State) -> Task:
        """Step 1."""
        return Task("edge", s.own.d, s.y)

    def step(self, s: State, task: Task, h: Array) -> Reweigh | Stop:
        """Steps 2 to 4."""
        d, own = task.weight, s.own
        signed, whole = s.total(d * s.y * h, d)
        edge = signed / whole
        own.lowest_edge = min(own.lowest_edge, edge)
        if edge <= own.beta + self.tol:
            return Stop(
                "tolerance", f"the best edge {edge:.6g} exceeds beta = {own.beta:.6g} by no more than {self.tol:g}"
            )
        try:
            own.program.add((s.y * h)[own.order])
            d, own.beta, alphas = own.program.solve()
        except SolverError as failure:
            return Stop("solver_failed", str(failure))
        own.d = np.empty_like(d)
        own.d[own.order] = d
        gap = max(own.lowest_edge - own.beta, 0.0)
        return Reweigh(alphas, {"edge": edge, "objective": own.beta, "duality_gap": gap})
