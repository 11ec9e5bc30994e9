"""What makes a split good: small pure functions of sums, registered by name.

A learner sums a criterion's channels per bin.  For every cut the criterion sees `left` and `right` (the sums on its two
sides) and `gross` (the sums of magnitudes over all rows), the channels on the last axis, and gives a cost (the lowest
wins) and the two leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Params = Mapping[str, float]


class Criterion:
    """Base of all criteria."""

    def channels(self, weight: Array, target: Array) -> Array:
        """Return what to sum, of shape (n_rows,) or (n_rows, channels)."""
        raise NotImplementedError

    def cost(self, left: Array, right: Array, gross: Array, params: Params) -> Array:
        """Return the cost of every cut."""
        raise NotImplementedError

    def leaves(self, left: Array, right: Array, gross: Array, params: Params) -> tuple[Any, Any]:
        """Return what the winning cut's two sides vote."""
        raise NotImplementedError

    def rank(self, sums: Array) -> Array:
        """Return a number for each category, given its sums, in whose order a cut should be looked for."""
        w, wz = sums[..., 0], sums[..., 1]
        return np.divide(wz, w, out=np.zeros_like(wz), where=w > 0)  # the mean of the target


class Edge(Criterion):
    """Largest |sum w y h| of a voter with opposite leaves -1 and +1; learners compare it as the integer it is."""

    def channels(self, weight: Array, target: Array) -> Array:
        """One channel: the signed weight."""
        return weight * target


class SampleVariancePenalty(Criterion):
    """EBBoost: the smallest sqrt(A B) + (1 - lambda) W_I W_J over voters with opposite leaves.

    I is the set where voter and label agree, W the sums of w, S the sums of w^2 and
    A = (1 - lambda) W_I^2 + lambda n S_I, B likewise for the disagreements J.
    """

    def channels(self, weight: Array, target: Array) -> Array:
        """Two channels: w y and w^2 y."""
        signed = weight * target
        return np.stack([signed, weight * signed], axis=1)

    def rank(self, sums: Array) -> Array:
        """By the signed weight: cutting at zero is then the best edge."""
        return sums[..., 0]

    def parts(self, left: Array, right: Array, gross: Array, params: Params) -> tuple[Array, Array, Array]:
        """Return A, B and W_I W_J of the voter that says +1 above the cut."""
        lam, n = params["variance_penalty"], params["n"]
        agree = (gross + (right - left)) / 2
        W_I, S_I = agree[..., 0], np.maximum(agree[..., 1], 0.0)
        W_J, S_J = gross[0] - W_I, np.maximum(gross[1] - S_I, 0.0)
        A = (1 - lam) * W_I * W_I + lam * n * S_I
        B = (1 - lam) * W_J * W_J + lam * n * S_J
        return np.maximum(A, 0.0), np.maximum(B, 0.0), W_I * W_J

    def cost(self, left: Array, right: Array, gross: Array, params: Params) -> Array:
        """Half the smallest value of the cost over alpha."""
        A, B, WW = self.parts(left, right, gross, params)
        return np.sqrt(A * B) + (1 - params["variance_penalty"]) * WW

    def leaves(self, left: Array, right: Array, gross: Array, params: Params) -> tuple[float, float]:
        """Orient the voter so that A >= B."""
        A, B, _ = self.parts(left, right, gross, params)
        return (-1.0, 1.0) if A >= B else (1.0, -1.0)


class Separable(Criterion):
    """A criterion whose cost is a sum over leaves, and whose leaves do not look at each other: trees can use it too."""

    centred = False  # whether only differences of the target matter, and leaves vote the target

    def span(self, weight: Array, target: Array) -> Array:
        """Return per row what impurities are made of: gains far below its sum are rounding."""
        return weight

    def weight(self, gross: Array) -> float:
        """Return the total weight, given the channels' gross sums."""
        return float(gross[0])

    def impurity(self, sums: Array) -> Array:
        """Return what a leaf with these sums costs."""
        raise NotImplementedError

    def leaf(self, sums: Array, gross: Array, params: Params) -> Any:
        """Return what a leaf with these sums votes."""
        raise NotImplementedError

    def cost(self, left: Array, right: Array, gross: Array, params: Params) -> Array:
        """Both sides' impurities."""
        return self.impurity(left) + self.impurity(right)

    def leaves(self, left: Array, right: Array, gross: Array, params: Params) -> tuple[Any, Any]:
        """Both sides' votes."""
        return self.leaf(left, gross, params), self.leaf(right, gross, params)


class Z(Separable):
    """Real AdaBoost: the smallest 2 sum over leaves of sqrt(W+ W-); leaves vote half the log odds."""

    def channels(self, weight: Array, target: Array) -> Array:
        """Two channels: w and w y."""
        return np.stack([weight, weight * target], axis=1)

    def impurity(self, sums: Array) -> Array:
        """The leaf's part of Z, up to the normaliser."""
        plus, minus = _plus_minus(sums)
        return 2 * np.sqrt(plus * minus)

    def leaf(self, sums: Array, gross: Array, params: Params) -> float:
        """Half the log odds, smoothed by a share of the total weight."""
        s = params["smoothing"] * gross[0]
        plus, minus = _plus_minus(sums)
        return float(0.5 * np.log((plus + s) / (minus + s)))


class LeastSquares(Separable):
    """The smallest weighted squared error of constants; leaves vote the weighted mean of the target."""

    centred = True

    def span(self, weight: Array, target: Array) -> Array:
        """The squares."""
        return weight * target * target

    def channels(self, weight: Array, target: Array) -> Array:
        """Two channels: w and w z."""
        return np.stack([weight, weight * target], axis=1)

    def impurity(self, sums: Array) -> Array:
        """Minus what the mean explains."""
        w, wz = sums[..., 0], sums[..., 1]
        return -np.divide(wz * wz, w, out=np.zeros_like(wz), where=w > 0)

    def leaf(self, sums: Array, gross: Array, params: Params) -> float:
        """The weighted mean."""
        return float(sums[1] / sums[0]) if sums[0] > 0 else 0.0


class Gini(LeastSquares):
    """CART's gini index, which for labels -1 and +1 is half the squared error; leaves vote the heavier label."""

    centred = False

    def impurity(self, sums: Array) -> Array:
        """The weight times the gini index, less half the weight."""
        return super().impurity(sums) / 2

    def leaf(self, sums: Array, gross: Array, params: Params) -> float:
        """The sign of the signed weight."""
        return 1.0 if sums[1] >= 0 else -1.0


class PseudoLoss(Separable):
    """AdaBoost.M2: leaves say 1 for the classes that are plausible, else 0; the smallest pseudo-loss wins.

    The channel of row i and class l is what p(x_i, l) = 1 would cost: +D(i, l) for a wrong class, minus the row's sum
    of D for the right one.
    """

    def channels(self, weight: Array, target: Array) -> Array:
        """One channel a class."""
        return weight * target

    def span(self, weight: Array, target: Array) -> Array:
        """All classes' weights."""
        return weight.sum(axis=1)

    def weight(self, gross: Array) -> float:
        """Half of all classes' weights: the right class's is as large as the others' together."""
        return float(gross.sum() / 2)

    def impurity(self, sums: Array) -> Array:
        """Each class takes the cheaper of 0 and 1."""
        return np.minimum(sums, 0).sum(axis=-1)

    def leaf(self, sums: Array, gross: Array, params: Params) -> Array:
        """1 where that lowers the pseudo-loss."""
        return (sums < 0).astype(np.float64)

    def rank(self, sums: Array) -> Array:
        """By the class that the categories differ in most."""
        return sums[..., np.abs(sums).sum(axis=0).argmax()]


def _plus_minus(sums: Array) -> tuple[Array, Array]:
    w, wy = sums[..., 0], sums[..., 1]
    return np.maximum(w + wy, 0.0) / 2, np.maximum(w - wy, 0.0) / 2


CRITERIA: dict[str, Criterion] = {
    "edge": Edge(),
    "svp": SampleVariancePenalty(),
    "z": Z(),
    "least_squares": LeastSquares(),
    "pseudo_loss": PseudoLoss(),
}
