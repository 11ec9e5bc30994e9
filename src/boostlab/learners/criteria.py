"""What makes a split good: small pure functions of sums, registered by name.

A learner sums a criterion's channels per bin.  For every cut the criterion sees `left` and `right` (the sums on its two
sides), `gross` (the sums of magnitudes over all rows) and `numbers` (what the rule adds), the channels first, and gives
a cost (the lowest wins) and the two leaves.  The cost functions are plain Python on numbers or arrays alike; the search
compiles them (`formula` marks what it may compile).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import formula
from boostlab.contract.criterion import (
    SIGNED,
    SQUARE,
    TINY,
    Close,
    Cost,
    Criterion,
    Fold,
    Residual,
    Separable,
    explaining,
)
from boostlab.learners.labelwise import Factored, Hamming, HammingZ

Array = npt.NDArray[Any]


# -- labels ----------------------------------------------------------------------------------------------------------


class Edge(Criterion):
    """Largest |sum w y h| of a voter with opposite leaves -1 and +1; learners compare it as the integer it is."""

    forms = (SIGNED,)


@formula
def _svp_parts(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """Return A, B and W_I W_J of the voter that says +1 above the cut."""
    lam, n = numbers[0], numbers[1]
    W_I, S_I = (gross[0] + (right[0] - left[0])) / 2, np.maximum((gross[1] + (right[1] - left[1])) / 2, 0.0)
    W_J, S_J = gross[0] - W_I, np.maximum(gross[1] - S_I, 0.0)
    A = (1 - lam) * W_I * W_I + lam * n * S_I
    B = (1 - lam) * W_J * W_J + lam * n * S_J
    return np.maximum(A, 0.0), np.maximum(B, 0.0), W_I * W_J


@formula
def svp(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """Half the smallest value of the variance-penalised cost over alpha."""
    A, B, WW = _svp_parts(left, right, gross, numbers)
    return np.sqrt(A * B) + (1 - numbers[0]) * WW


class SampleVariancePenalty(Criterion):
    """EBBoost: the smallest sqrt(A B) + (1 - lambda) W_I W_J over voters with opposite leaves.

    I is the set where voter and label agree, W the sums of w, S the sums of w^2 and
    A = (1 - lambda) W_I^2 + lambda n S_I, B likewise for the disagreements J.
    """

    names = ("variance_penalty", "n")
    forms = (SIGNED, SQUARE)

    def rank(self, sums: Array, numbers: Array) -> Array:
        """By the signed weight: cutting at zero is then the best edge."""
        return sums[0]

    @property
    def cost(self) -> Cost:
        """The cost of the best step along the voter."""
        return svp

    def upright(self, left: Array, right: Array, gross: Array, numbers: Array) -> Any:
        """Return whether the voter that says +1 above the cut has A >= B, rather than its complement."""
        A, B, _ = _svp_parts(left, right, gross, numbers)
        return A >= B

    def leaves(self, left: Array, right: Array, gross: Array, numbers: Array) -> tuple[float, float]:
        """Orient the voter so that A >= B."""
        return (-1.0, 1.0) if self.upright(left, right, gross, numbers) else (1.0, -1.0)


@formula
def mixed(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """Minus the edge under the mixture."""
    return -np.abs(numbers[0] * (right[0] - left[0]) + numbers[1] * (right[1] - left[1]))


class MixedEdge(Criterion):
    """Largest |sum (a w + b w^2) y h|, from sums of w y and of w^2 y."""

    names = ("a", "b")
    forms = (SIGNED, SQUARE)

    @property
    def cost(self) -> Cost:
        """Minus the edge."""
        return mixed

    def rank(self, sums: Array, numbers: Array) -> Array:
        """By the mixture: cutting at zero is then the best edge."""
        return numbers[0] * sums[0] + numbers[1] * sums[1]

    def leaves(self, left: Array, right: Array, gross: Array, numbers: Array) -> tuple[float, float]:
        """Orient the voter so that its edge is positive."""
        up = numbers @ (right - left) >= 0
        return (-1.0, 1.0) if up else (1.0, -1.0)


# -- sums over leaves ------------------------------------------------------------------------------------------------


@formula
def _z(sums: Any) -> Any:
    return np.sqrt(np.maximum(sums[0] + sums[1], 0.0) * np.maximum(sums[0] - sums[1], 0.0))


@formula
def z(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """The normaliser Z = 2 sum over leaves of sqrt(W+ W-), in which W+ and W- are (w + w y) / 2 and (w - w y) / 2."""
    return _z(left) + _z(right)


class Z(Separable):
    """Real AdaBoost: the smallest 2 sum over leaves of sqrt(W+ W-); leaves vote half the log odds."""

    names = ("smoothing",)
    labels = True

    def remaining(self, total: Array, scale: Array) -> float:
        """All of Z."""
        return float(self.impurity(total, scale))

    @property
    def cost(self) -> Cost:
        """Z, up to the normaliser."""
        return z

    def leaf(self, sums: Array, gross: Array, numbers: Array) -> float:
        """Half the log odds, smoothed by a share of the total weight."""
        s = numbers[0] * gross[0]
        plus, minus = max(sums[0] + sums[1], 0.0) / 2, max(sums[0] - sums[1], 0.0) / 2
        return float(0.5 * np.log((plus + s) / (minus + s)))

    def leaves_of(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """All leaves at once."""
        s, w, wt = numbers[0] * gross[0], sums[:, 0], sums[:, 1]
        return 0.5 * np.log((np.maximum(w + wt, 0.0) / 2 + s) / (np.maximum(w - wt, 0.0) / 2 + s))


@formula
def _explained(sums: Any) -> Any:
    wz = sums[1] * (sums[0] > 0.0)  # rounding may leave a sum where there is no weight
    return wz * wz / np.maximum(sums[0], TINY)


@explaining(1.0)
@formula
def squares(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """Minus what the means of the two sides explain."""
    return -(_explained(left) + _explained(right))


@formula
def squared_error(w: Any, t: Any, sums: Any) -> Any:
    """What the mean of a node with these sums leaves of a row."""
    mean = sums[1] / sums[0] if sums[0] > 0 else 0.0
    return w * ((t - mean) * (t - mean))


class LeastSquares(Separable):
    """The smallest weighted squared error of constants; leaves vote the weighted mean of the target."""

    centred = True
    residual: Residual | None = staticmethod(squared_error)

    def span(self, weight: Array, target: Array) -> Array | None:
        """The squares."""
        return weight * target * target

    @property
    def cost(self) -> Cost:
        """The squared error, up to a constant."""
        return squares

    def leaf(self, sums: Array, gross: Array, numbers: Array) -> float:
        """The weighted mean."""
        return float(sums[1] / sums[0]) if sums[0] > 0 else 0.0

    def leaves_of(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """All means at once."""
        return np.divide(sums[:, 1], sums[:, 0], out=np.zeros(len(sums)), where=sums[:, 0] > 0)


@explaining(2.0)
@formula
def gini(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """The weights times the gini indices of the two sides, less half the weight: half the squared error of labels."""
    return squares(left, right, gross, numbers) / 2


class Gini(LeastSquares):
    """CART's gini index, which for labels -1 and +1 is half the squared error; leaves vote the heavier label."""

    centred = False
    residual = None
    labels = heaviest = True

    def error(self, total: Array) -> tuple[int, int]:
        """Of w and w t."""
        whole, signed = total.tolist()
        return whole, (whole - abs(signed)) // 2

    def span(self, weight: Array, target: Array) -> Array | None:
        """The weight: squares of labels are 1."""
        return None

    def remaining(self, total: Array, scale: Array) -> float:
        """The gini index, as compared with that of as much weight of one label."""
        return float(self.impurity(total, scale) - self.impurity(total[[0, 0]], scale))

    @property
    def cost(self) -> Cost:
        """The gini index."""
        return gini

    def leaf(self, sums: Array, gross: Array, numbers: Array) -> float:
        """The sign of the signed weight."""
        return 1.0 if sums[1] >= 0 else -1.0

    def leaves_of(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """All signs at once."""
        return np.where(sums[:, 1] >= 0, 1.0, -1.0)


# -- labels of several classes ---------------------------------------------------------------------------------------


class ByClass(Separable):
    """A channel a class; a side's cost is a `fold` over its classes' weights, which `close` completes."""

    by_class = heaviest = True
    ranks_alone = False

    def weight(self, gross: Array) -> float:
        """All classes' weights."""
        return float(gross.sum())

    def leaf(self, sums: Array, gross: Array, numbers: Array) -> Any:
        """The number of the heaviest class, the first of those that are equal."""
        return self.name_type(len(sums))(sums.argmax())

    def leaves_of(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """All nodes at once."""
        return sums.argmax(axis=1).astype(self.name_type(sums.shape[1]))

    def name_type(self, n_classes: int) -> Any:
        """Return the type of class numbers in votes."""
        return np.min_scalar_type(-n_classes).type

    def impurity(self, total: Array, scale: Array) -> Any:
        """Fold the classes one after another, as compiled growth does (see `kernels.best_first`), to the same bits."""
        unit, folded = float(scale[0]), 0.0
        for weight in total.tolist():
            folded = self.fold(folded, weight * unit)
        return self.close(folded, int(total.sum()) * unit, 0.0, 0.0)

    def remaining(self, total: Array, scale: Array) -> float:
        """As compared with as much weight of one class."""
        pure = np.zeros_like(total)
        pure[0] = total.sum()
        return float(self.impurity(total, scale) - self.impurity(pure, scale))

    def weigh(self, sums: Array) -> Any:
        """Return the weights of all classes together."""
        return sums.sum(axis=0)

    def error(self, total: Array) -> tuple[int, int]:
        """All but the heaviest class."""
        whole = int(total.sum())
        return whole, whole - int(total.max())

    def rank(self, sums: Array, numbers: Array) -> Array:
        """By the first principal component of the categories' shares (Coppersmith, Hong & Hosking 1999).

        With two classes that is the share of one of them, and the best subset is a cut.
        """
        weight = sums.sum(axis=0)
        shares = sums * (weight > 0) / np.maximum(weight, TINY)
        apart = shares - (sums.sum(axis=1) / max(weight.sum(), TINY))[:, None]
        axis = np.linalg.eigh((weight * apart) @ apart.T)[1][:, -1]
        return axis @ shares * (1.0 if axis[np.abs(axis).argmax()] > 0 else -1.0)


@formula
def _heaviest(top: Any, weight: Any) -> Any:
    return np.maximum(top, weight)


@formula
def _right(left: Any, left_weight: Any, right: Any, right_weight: Any) -> Any:
    """Minus the weight of the rows that are right, if both sides vote their heaviest class."""
    return -(left + right)


class Labels(ByClass):
    """The smallest weighted error of two leaves that vote a class each."""

    @property
    def fold(self) -> Fold:
        """The heaviest class."""
        return _heaviest

    @property
    def close(self) -> Close:
        """The error, up to a constant."""
        return _right


@formula
def _squared(so_far: Any, weight: Any) -> Any:
    return so_far + weight * weight


@formula
def _gini_of_classes(left: Any, left_weight: Any, right: Any, right_weight: Any) -> Any:
    """The weights times the gini indices of the two sides, less the weight."""
    return -(left / np.maximum(left_weight, TINY) + right / np.maximum(right_weight, TINY))


class ClassGini(ByClass):
    """CART's gini index of several classes; leaves vote the heaviest."""

    @property
    def fold(self) -> Fold:
        """The sum of squares."""
        return _squared

    @property
    def close(self) -> Close:
        """The gini index, up to a constant."""
        return _gini_of_classes


CRITERIA: dict[str, Criterion] = {
    "edge": Edge(),
    "svp": SampleVariancePenalty(),
    "z": Z(),
    "least_squares": LeastSquares(),
    "labels": Labels(),
    "hamming": Hamming(),
    "factored": Factored(),
    "hamming_z": HammingZ(),
}

# What a user may name for trees to grow by, and for which of the criteria above: those of which leaves vote the
# heaviest label, so that a rule leaves open how the tree is grown.
GROWTH: dict[str, dict[str, Separable]] = {
    "gini": {"edge": Gini(), "labels": ClassGini()},
    "error": {"labels": Labels()},
}
