"""AdaBoost's voters, weighed anew at the end (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boostlab.contract import Array, Retry, Reweigh, State, Step, Stop, Task
from boostlab.programs.allowance import SolverError
from boostlab.rules.adaboost import AdaBoost


@dataclass(frozen=True)
class Reweighed(AdaBoost):
    """Run AdaBoost, keep its voters, and let a program weigh them; voters that vote alike are one.

    Parameters
    ----------
    seconds : float, optional
        The longest that the program may take; AdaBoost's own weights stay if it fails.
    """

    seconds: float | None = None

    keeps_votes: ClassVar[bool] = True

    def program(self, U: Array, mass: Array) -> Any:
        """Return the program over different voters, whose agreements y h are the rows of U."""
        raise NotImplementedError

    def solve(self, program: Any) -> tuple[Array, float]:
        """Return the weights and the optimum for this rule's parameter; a solved program goes on from there."""
        raise NotImplementedError

    def worth(self, s: State, margins: Array, alphas: Array) -> float:
        """Return what the program maximises or minimises, for a vote of AdaBoost's."""
        raise NotImplementedError

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """AdaBoost's step, and what the program thinks of it."""
        answer = super().step(s, task, h)
        if isinstance(answer, Step):
            alphas, F = np.append(s.alphas, answer.alpha), s.F + answer.alpha * h
            answer.facts = {**answer.facts, "program": self.worth(s, s.y * F, alphas)}
        return answer

    def open(self, U: Array, mass: Array) -> tuple[Any, Array]:
        """Return the program over voters with agreements U (of those that vote alike the first), and who they are."""
        first = np.unique(U, axis=0, return_index=True)[1]
        first.sort()
        return self.program(U[first], mass), first

    def weigh(self, program: Any, kept: Array, n_voters: int) -> Reweigh | Stop:
        """Solve and return all voters' weights."""
        alphas = np.zeros(n_voters)
        try:
            alphas[kept], value = self.solve(program)
        except SolverError as failure:
            return Stop("solver_failed", f"{failure}; the weights are those of before")
        if not alphas.any():
            return Stop("solver_failed", "the program gave no voter a weight; the weights are those of before")
        return Reweigh(alphas, {"program": value})

    def finish(self, s: State) -> Reweigh | None:
        """Weigh the voters once AdaBoost is done."""
        order = s.canonical_order()  # so that the solver's choice among optima does not depend on the rows' order
        answer = self.weigh(*self.open((s.y * s.votes)[:, order], s.mass[order]), s.t)
        return Reweigh(s.alphas, {}, answer) if isinstance(answer, Stop) else answer
