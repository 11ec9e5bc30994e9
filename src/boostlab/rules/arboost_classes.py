"""AR-Boost for three or more classes (Saha, Kunapuli, Ray, Maldjian & Natarajan 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from boostlab.contract import State
from boostlab.rules.plurality import Plurality


@dataclass(frozen=True)
class ARBoostOfClasses(Plurality):
    """SAMME that forgives its current voter's errors: the loss exp(-y'f / C - lambda |y - h|_1 / C).

    Codes are 1 and -1/(C-1), |.|_1 sums over the classes, and lambda = ((C-1)/2) ln rho.

    1. w_i proportional to exp(sum of alpha over the voters that are wrong on i).
    2. H = the voter with the smallest weighted error eps; stop if eps >= rho (C-1) / (rho (C-1) + 1).
    3. alpha = ln(rho (1 - eps) / eps) + ln(C - 1).

    After step 3 the voter errs on rho (C-1) / (rho (C-1) + 1) of the weight.

    Parameters
    ----------
    rho : float
        At least 1; rho = 1 is SAMME.
    """

    rho: float = 2.0

    def limit(self, s: State) -> float:
        """Step 2."""
        odds = self.rho * (s.n_classes - 1)
        return odds / (odds + 1)

    def vote(self, s: State, error: float) -> float:
        """Step 3."""
        return log(self.rho * (1 - error) / error) + log(s.n_classes - 1)
