"""RLP-Boost: AdaBoost's voters, weighed by the soft-margin linear program (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostlab.contract import Array, State
from boostlab.programs.edge_lp import EdgeLP
from boostlab.programs.soft_margin import soft_margin
from boostlab.rules.reweighed import Reweighed


@dataclass(frozen=True)
class RLPBoost(Reweighed):
    """The weights with the largest soft margin: max rho - sum xi / (nu n), y F >= rho - xi, weights of sum 1.

    Parameters
    ----------
    nu : float
        In [1/n, 1]: at most this share of the sample lies below the margin.
    """

    nu: float = 0.1

    def program(self, U: Array, mass: Array) -> EdgeLP:
        """Open the linear program."""
        self.check(max(float(mass.sum()), len(mass)))
        program = EdgeLP(mass, cap=1.0 / (self.nu * float(mass.sum())), seconds=self.seconds)
        for u in U:
            program.add(u)
        return program

    def begin(self, s: State) -> None:
        """Refuse a nu that is too small before any work is done."""
        super().begin(s)
        self.check(s.size)

    def check(self, size: float) -> None:
        """Refuse a nu below 1/n."""
        if self.nu * size < 1:
            raise ValueError(f"nu={self.nu:g} is too small for {size:g} examples; use nu >= {1 / size:.3g}.")

    def worth(self, s: State, margins: Array, alphas: Array) -> float:
        """Return the soft margin."""
        return soft_margin(margins / np.abs(alphas).sum(), s.mass, 1.0 / (self.nu * s.n))

    def solve(self, program: EdgeLP) -> tuple[Array, float]:
        """Solve, with this rule's cap."""
        self.check(max(program.size, program.n))
        program.set_cap(1.0 / (self.nu * program.size))
        solved = program.solve()
        return solved.weights, solved.value
