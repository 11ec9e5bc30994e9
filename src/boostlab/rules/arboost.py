"""AR-Boost: AdaBoost that forgives the errors of its current voter (Saha, Kunapuli, Ray, Maldjian & Natarajan 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from boostlab.contract import State
from boostlab.rules.exponential import Exponential


@dataclass(frozen=True)
class ARBoost(Exponential):
    """Adaptively regularised AdaBoost with the loss exp(-y F - lambda |y - h|), lambda = (1/2) ln rho.

    1. w_i proportional to exp(-y_i F(x_i)); h = the voter with the smallest weighted error eps.
    2. Stop if eps >= rho / (rho + 1).
    3. alpha = (1/2) ln(rho (1 - eps) / eps); F += alpha h.

    Parameters
    ----------
    rho : float
        At least 1; rho = 1 is AdaBoost.
    """

    rho: float = 2.0

    @property
    def limit(self) -> float:
        """Step 2: errors above 1/2 are welcome up to here."""
        return self.rho / (self.rho + 1)

    def vote(self, s: State, error: float) -> float:
        """Step 3."""
        return 0.5 * log(self.rho * (1 - error) / error)
