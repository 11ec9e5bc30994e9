"""SAMME: multiclass AdaBoost as stagewise additive modelling (Zhu, Zou, Rosset & Hastie 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from boostlab.contract import State
from boostlab.rules.plurality import Plurality


@dataclass(frozen=True)
class SAMME(Plurality):
    """Stagewise minimisation of the mean of exp(-y'f / K), in which y and the voters have the codes 1 and -1/(K-1).

    1. w_i proportional to exp(sum of alpha over the voters that are wrong on i).
    2. H = the voter with the smallest weighted error eps.
    3. Stop if eps >= (K-1)/K, the error of a random guess.
    4. alpha = ln((1 - eps) / eps) + ln(K - 1).

    The minimiser has f = (K-1) (F - mean F) and P = softmax(f / (K-1)) = softmax(F).  Two classes: AdaBoost, with
    coefficients twice as large.

    A textbook prints alpha = (1/2) ln((1 - eps) / eps) + ln(K - 1) for weights that change by exp(+-alpha).  In the
    convention of step 1, which has twice that, it is ln((1 - eps) / eps) + 2 ln(K - 1): the steps of AR-Boost with
    rho = K - 1, after which the voter errs on (K-1)^2 / ((K-1)^2 + 1) of the weight.  It does not minimise the loss.
    Step 3 stays, as the text only relaxes what AdaBoost.M1 asks of a voter.

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]: alpha is multiplied by it.
    form : {"paper", "textbook"}
        Step 4, or the textbook's.
    """

    learning_rate: float = 1.0
    form: str = "paper"

    def limit(self, s: State) -> float:
        """Step 3."""
        return (s.n_classes - 1) / s.n_classes

    def vote(self, s: State, error: float) -> float:
        """Step 4."""
        relaxed = {"paper": 1, "textbook": 2}[self.form] * log(s.n_classes - 1)
        return self.learning_rate * (log((1 - error) / error) + relaxed)
