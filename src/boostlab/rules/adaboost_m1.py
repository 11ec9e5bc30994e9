"""AdaBoost.M1: multiclass voters that are right on more than half of the weight (Freund & Schapire 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from boostlab.contract import State
from boostlab.rules.plurality import Plurality


@dataclass(frozen=True)
class AdaBoostM1(Plurality):
    """AdaBoost with voters that name one of K classes.

    1. H = the voter with the smallest weighted error eps; stop if eps >= 1/2.
    2. beta = eps / (1 - eps); the weights of the rows it gets right are multiplied by beta.
    3. Output the class with the largest sum of ln(1 / beta) over the voters that name it.

    The training error is at most the product of 2 sqrt(eps (1 - eps)).  Two classes: AdaBoost, with coefficients
    ln(1 / beta) twice as large.
    """

    def limit(self, s: State) -> float:
        """Step 1."""
        return 0.5

    def vote(self, s: State, error: float) -> float:
        """ln(1 / beta)."""
        return log((1 - error) / error)

    def credit(self, s: State) -> float:
        """One half, as with two classes: the loss is then the bound on the training error."""
        return 0.5
