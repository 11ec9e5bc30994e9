"""Shared by AdaBoost.MH, MR and M2: a weight on every row and label, and voters that vote on every label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.contract import NEGLIGIBLE, Array, Rule, State, Step, Stop, exp, log, perfect


@dataclass(frozen=True)
class Labelwise(Rule):
    """Weights D(i, l) = exp(exponents), a voter by how far it agrees with them; a subclass says what these are.

    With the agreement u(i, l) in [-1, 1] and r = sum D u, alpha = (1/2) ln((1 + r) / (1 - r)) has the normaliser
    Z = sum D exp(-alpha u) <= sqrt(1 - r^2), with equality where all u are -1 and +1.
    """

    n_outputs: ClassVar[str] = "class"
    apart: ClassVar[float] = 2.0
    unit: ClassVar[float] = 1.0  # what alpha is multiplied by, where votes are smaller in proportion

    def exponents(self, s: State, F: Array) -> Array:
        """Return the logarithms of D for these scores, a new array; minus infinity where there is no weight."""
        raise NotImplementedError

    def agreement(self, s: State, h: Array) -> Array:
        """Return u for these votes; 1 where there is no weight."""
        raise NotImplementedError

    def begin(self, s: State) -> None:
        """Weigh the rows and labels for F = 0."""
        s.own.right = np.arange(s.n_classes) == s.codes[:, None]
        s.own.Y = np.where(s.own.right, 1.0, -1.0)
        self._weigh(s, s.F)
        s.own.log_first = s.own.log_loss

    def _weigh(self, s: State, F: Array) -> None:
        """Note D, up to a factor, and the logarithm of its sum."""
        D = self.exponents(s, F)
        top = s.largest(D)
        D -= top
        s.own.D = np.exp(D, out=D)
        s.own.whole = s.total(D)
        s.own.log_loss = top + log(s.own.whole)

    def step(self, s: State, task: object, h: Array) -> Step | Stop:
        """Measure the agreement; stop, or let the voter join."""
        u = self.agreement(s, h)
        lost = s.total(s.own.D * (1.0 - u))
        error = lost / (2.0 * s.own.whole)  # (1 - r) / 2
        if error >= 0.5 - NEGLIGIBLE:
            return Stop("no_edge", f"weighted error {error:.4g} over rows and labels, and the rule needs less than 0.5")
        floored = error or 0.5 / s.size
        alpha = self.unit * 0.5 * log((1 - floored) / floored)
        before = s.own.log_loss
        self._weigh(s, s.F + alpha * h)
        Z, loss = exp(s.own.log_loss - before), exp(min(s.own.log_loss - s.own.log_first, 700.0))
        facts = {"error": error, "edge": 1 - 2 * error, "Z": Z, "objective": loss}
        return Step(alpha, facts, perfect(s, u != 1.0) if lost == 0 else None)
