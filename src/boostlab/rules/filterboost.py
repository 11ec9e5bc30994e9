"""FilterBoost on a fixed sample: logistic weights (Bradley & Schapire 2008)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from boostlab.contract import Array
from boostlab.rules.madaboost import MadaBoost


@dataclass(frozen=True)
class FilterBoost(MadaBoost):
    """Minimise the mean of ln(1 + exp(-y F)), with the weights q_i = 1 / (1 + exp(y_i F(x_i))).

    The rest is MadaBoost's: the loss is bounded in the same way.  An error weighs at least 1/2, so the training error
    is at most twice the mean of q.
    """

    def weights(self, v: Array) -> Array:
        """Return q."""
        return expit(-v)

    def phi(self, v: Array) -> Array:
        """Return the loss."""
        return np.logaddexp(0.0, -v)

    def bound(self, mean: float) -> float:
        """Return how large the training error can be."""
        return 2.0 * mean
