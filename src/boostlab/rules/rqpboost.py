"""RQP-Boost: AdaBoost's voters, weighed by a support vector machine's program (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostlab.contract import Array, State
from boostlab.programs.hinge_qp import HingeQP
from boostlab.rules.reweighed import Reweighed


@dataclass(frozen=True)
class RQPBoost(Reweighed):
    """The weights b >= 0 that minimise |b|^2 / 2 + C mean max(0, 1 - y F).

    Parameters
    ----------
    C : float
        The price of slack (the paper's for one example is C/n): near 0 every voter has its plain edge as its weight, a
        large C is a hard margin.
    """

    C: float = 3.0

    def program(self, U: Array, mass: Array) -> HingeQP:
        """Open the quadratic program."""
        return HingeQP(U, mass / mass.sum(), self.seconds)

    def worth(self, s: State, margins: Array, alphas: Array) -> float:
        """Return the cost."""
        return float(alphas @ alphas / 2 + self.C * s.total(np.maximum(0.0, 1.0 - margins)) / s.n)

    def solve(self, program: HingeQP) -> tuple[Array, float]:
        """Solve, with this rule's price."""
        return program.solve(self.C)
