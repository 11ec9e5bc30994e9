"""What the rules share that set all voters' weights anew every round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.contract import Array, Reweigh, Rule, State, Stop, Task
from boostlab.programs.edge_lp import EdgeLP, SolverError


def failed(s: State, failure: SolverError) -> Reweigh | Stop:
    """End with the last weights that a solver found; before there are any, the first voter votes alone."""
    stop = Stop("solver_failed", str(failure))
    return stop if s.t else Reweigh(np.ones(1), {}, stop)


@dataclass(frozen=True)
class Corrective(Rule):
    """Voters by their edge under weights d with d_i <= 1/(nu n), which a program chooses.

    The best edge under such d is at least any vote's soft margin; the duality gap is the distance of the two.

    Parameters
    ----------
    nu : float
        In [1/n, 1]: at most this share of the sample lies below the margin.
    tol, seconds : float
        How far from the optimum training may end, and the longest that one program may take.
    """

    nu: float = 0.1
    tol: float = 1e-6
    seconds: float | None = None

    keeps_votes: ClassVar[bool] = True

    def cap(self, s: State) -> float:
        """Return the largest weight of an example."""
        return 1.0 / (self.nu * s.n)

    def begin(self, s: State) -> None:
        """Start from uniform weights."""
        if self.nu * s.size < 1:
            cause = f"nu={self.nu:g} is too small for {s.size:g} examples: the weights' cap 1/(nu n) must not exceed 1"
            raise ValueError(f"{cause}; use nu >= {1 / s.size:.3g}.")
        s.own.order = s.canonical_order()  # so that the choice among optima does not depend on the rows' order
        s.own.d, s.own.lowest_edge, s.own.converged = np.full(len(s.y), 1.0 / s.n), np.inf, 0

    def task(self, s: State) -> Task:
        """Ask for the largest edge under d."""
        return Task("edge", s.own.d, s.y)

    def edge(self, s: State, task: Task, h: Array) -> float:
        """Return the voter's edge and remember the smallest."""
        signed, whole = s.total(task.weight * s.y * h, task.weight)
        s.own.lowest_edge = min(s.own.lowest_edge, signed / whole)
        return float(signed / whole)

    def next_weights(self, s: State, d: Array) -> None:
        """Take d, which a program gave in its order of the rows, for the next task."""
        s.own.d = np.empty_like(d)
        s.own.d[s.own.order] = d

    def largest_soft_margin(self, s: State) -> Reweigh | None:
        """Return the weights with the largest soft margin, if the voters are enough; of too few it may vote badly."""
        if s.own.converged != s.t:
            return None
        program = EdgeLP(s.mass[s.own.order], cap=self.cap(s), seconds=self.seconds)
        for h in s.votes:
            program.add((s.y * h)[s.own.order])
        try:
            solved = program.solve()
        except SolverError as failure:
            return Reweigh(s.alphas, {}, Stop("solver_failed", f"{failure}; the weights are the last round's"))
        facts = {"objective": solved.value, "duality_gap": max(s.own.lowest_edge - solved.value, 0.0)}
        return Reweigh(solved.weights, facts)
