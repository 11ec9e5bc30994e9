"""RQP-Boost: AdaBoost's voters, weighed by a support vector machine's program (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

from dataclasses import dataclass

from boostlab.contract import Array
from boostlab.programs.hinge_qp import HingeQP
from boostlab.rules.reweighed import Reweighed


@dataclass(frozen=True)
class RQPBoost(Reweighed):
    """The weights b >= 0 that minimise |b|^2 / 2 + C sum max(0, 1 - y F).

    Parameters
    ----------
    C : float
        The price of slack, an example: near 0 every voter has its plain edge as its weight, a large C is a hard margin.
    """

    C: float = 0.01

    def program(self, U: Array, mass: Array) -> HingeQP:
        """Open the quadratic program."""
        return HingeQP(U, mass, self.seconds)

    def solve(self, program: HingeQP) -> tuple[Array, float]:
        """Solve, with this rule's price."""
        return program.solve(self.C)
