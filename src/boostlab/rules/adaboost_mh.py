"""AdaBoost.MH: multiclass boosting of one yes-or-no question a label (Schapire & Singer 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_expit, softmax

from boostlab.contract import Array, State, Task
from boostlab.rules.labelwise import Labelwise


@dataclass(frozen=True)
class AdaBoostMH(Labelwise):
    """Voters h(x, l) in [-1, 1] say of every label whether it is the right one; Y(i, l) is 1 for it, else -1.

    1. D(i, l) proportional to exp(-Y(i, l) F(x_i, l)).
    2. h = the voter with the largest edge r = sum D(i, l) Y(i, l) h(x_i, l), of the form v_l phi(x): one function phi
       of -1 and +1 for all labels, and a sign a label.
    3. Stop if r <= 0.
    4. alpha = (1/2) ln((1 + r) / (1 - r)); F(x, l) += alpha h(x, l).

    The share of rows and labels with Y F <= 0, the Hamming loss, is at most the product of the normalisers Z, and Z =
    sqrt(1 - r^2) for votes -1 and +1.  Two classes: AdaBoost.
    """

    needs: ClassVar[str] = "factored"

    def exponents(self, s: State, F: Array) -> Array:
        """Step 1."""
        logs: Array = s.own.Y * F
        return np.negative(logs, out=logs)

    def task(self, s: State) -> Task:
        """Step 2."""
        return Task(self.needs, s.own.D, s.own.Y, {"no": -1.0})

    def agreement(self, s: State, h: Array) -> Array:
        """Return Y h."""
        agree: Array = s.own.Y * h
        return agree

    def probability(self, F: Array) -> Array:
        """Every label's own link 1 / (1 + exp(-2 F)), to sum 1; with two classes AdaBoost's."""
        P: Array = softmax(log_expit(2.0 * F), axis=1)
        return P


@dataclass(frozen=True)
class AdaBoostMHFree(AdaBoostMH):
    """AdaBoost.MH whose voters' leaves say yes or no to every label as they like."""

    needs: ClassVar[str] = "hamming"
