"""Shared by ERLPBoost, SoftBoost and TotalBoost: an entropic program every round, else linear ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostlab.boosters.corrective import Corrective
from boostlab.contract import Array, Reweigh, State, Stop, Task
from boostlab.solvers.allowance import SolverError
from boostlab.solvers.capped_entropy import Stuck
from boostlab.solvers.edge_lp import EdgeLP


@dataclass(frozen=True)
class EntropicBooster(Corrective):
    """Rounds by an entropic program; where it gets stuck (`tol` is tiny: entropy hardly counts) by the linear one.

    The linear program keeps every promise but the number of rounds: its optimum beta is the vote's soft margin, and the
    smallest edge so far is at least the largest soft margin.
    """

    tol: float = 0.01

    def begin(self, s: State) -> None:
        """Start with entropic rounds."""
        super().begin(s)
        s.own.linear, s.own.beta = None, -np.inf

    def entropic_round(self, s: State, edge: float, h: Array) -> Reweigh | Stop:
        """Weigh the voters by the rule's own program; its solver may fail."""
        raise NotImplementedError

    def weigh(self, s: State, task: Task, h: Array) -> Reweigh | Stop:
        """Take a round, and a linear one once an entropic one has got stuck."""
        edge = self.edge(s, task, h)
        try:
            return self.entropic_round(s, edge, h) if s.own.linear is None else self.linear_round(s, edge, h)
        except Stuck:
            s.own.linear = self.program_of_voters(s)
            return self.weigh(s, task, h)

    def program_of_voters(self, s: State) -> EdgeLP:
        """Open the linear program over the voters so far."""
        program = EdgeLP(s.mass[s.own.order], cap=self.cap(s), seconds=self.seconds)
        for h in s.votes if s.t else ():
            program.add((s.y * h)[s.own.order])
        return program

    def linear_round(self, s: State, edge: float, h: Array) -> Reweigh | Stop:
        """Take LPBoost's step, unless the vote is within `tol` of the best."""
        own = s.own
        if own.lowest_edge - own.beta <= self.tol:
            own.converged = s.t
            return Stop("tolerance", f"the vote is within {self.tol:g} of the largest soft margin")
        own.linear.add((s.y * h)[own.order])
        solved = s.own.clock.give(own.linear).solve()
        own.beta = solved.value
        self.next_weights(s, solved.d)
        gap = max(own.lowest_edge - own.beta, 0.0)
        return Reweigh(solved.weights, {"edge": edge, "objective": own.beta, "duality_gap": gap})

    def finish(self, s: State) -> Reweigh | None:
        """Return the weights with the largest soft margin, if the voters are enough; of too few it may vote badly."""
        if s.own.converged != s.t:
            return None
        try:
            solved = s.own.clock.give(self.program_of_voters(s)).solve()
        except SolverError as failure:
            return Reweigh(s.alphas, {}, Stop("solver_failed", f"{failure}; the weights are the last round's"))
        facts = {"objective": solved.value, "duality_gap": max(s.own.lowest_edge - solved.value, 0.0)}
        return Reweigh(solved.weights, facts)
