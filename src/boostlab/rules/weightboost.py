"""WeightBoost: an input-dependent brake on every vote (Jin, Liu, Si, Carbonell & Hauptmann 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from boostlab.contract import Array, State, Stop, Task
from boostlab.rules.exponential import Exponential


@dataclass(frozen=True)
class WeightBoost(Exponential):
    """H_t = H_{t-1} + alpha_t exp(-|beta H_{t-1}|) h_t: a voter is heard where the vote so far is unsure.

    1. w_i proportional to exp(-y_i H(x_i) - |beta H(x_i)|).
    2. h = the voter with the smallest weighted error eps; stop if eps >= 1/2.
    3. alpha = (1/2) ln((1 - eps) / eps); with `normalize` times 0.1 / mean exp(-|beta H|), so that a round's brakes are
       0.1 on average; stop where that factor reaches 2, from where on the loss may rise.
    4. H += alpha exp(-|beta H|) h.

    Parameters
    ----------
    beta : float
        Not negative; 0 is AdaBoost, 0.5 the paper's value.
    normalize : bool
        Step 3.
    """

    beta: float = 0.5
    normalize: bool = False

    additive: ClassVar[bool] = False

    def task(self, s: State) -> Task | Stop:
        """Step 1, and the factor of step 3."""
        s.own.factor = 1.0
        if self.normalize:
            brake = s.total(np.exp(-np.abs(self.beta * s.F))) / s.n
            if brake <= 0.05:
                return Stop("assumption_violated", f"the brakes' mean is {brake:.3g}, too small to normalize by")
            s.own.factor = 0.1 / brake
        return Task("edge", s.weigh(-s.y * s.F - np.abs(self.beta * s.F)), s.y)

    def vote(self, s: State, error: float) -> float:
        """Step 3."""
        return s.own.factor * 0.5 * log((1 - error) / error)

    def combine(self, F: Array, alpha: float, h: Array) -> Array:
        """The brake depends on the vote so far, so prediction goes voter by voter."""
        return F + alpha * np.exp(-np.abs(self.beta * F)) * h

    def loss(self, s: State, error: float, alpha: float, h: Array) -> float:
        """Return the mean of exp(-y H) after the step."""
        return float(s.total(np.exp(np.minimum(-s.y * self.combine(s.F, alpha, h), 700.0))) / s.n)
