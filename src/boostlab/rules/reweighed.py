"""AdaBoost's voters, weighed anew at the end (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boostlab.contract import Array, Reweigh, State, Stop
from boostlab.programs.edge_lp import SolverError
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
        """Return the program over voters whose agreements y h are the rows of U."""
        raise NotImplementedError

    def solve(self, program: Any) -> tuple[Array, float]:
        """Return the voters' weights and the optimum; a program solved before goes on from there."""
        raise NotImplementedError

    def finish(self, s: State) -> Reweigh | None:
        """Weigh the voters once AdaBoost is done."""
        order = s.canonical_order()
        U, first = np.unique((s.y * s.votes)[:, order], axis=0, return_index=True)
        alphas = np.zeros(s.t)
        try:
            alphas[first], value = self.solve(self.program(U, s.mass[order]))
        except SolverError as failure:
            return Reweigh(s.alphas, {}, Stop("solver_failed", f"{failure}; the weights are AdaBoost's"))
        return Reweigh(alphas, {"program": value})
