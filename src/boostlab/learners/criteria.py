"""What makes a split good: small pure functions of sums, registered by name.

A learner sums a criterion's channels per bin.  For every cut the criterion sees `left` and `right` (the sums on its two
sides), `gross` (the sums of magnitudes over all rows) and `numbers` (what the rule adds), the channels first, and gives
a cost (the lowest wins) and the two leaves.  The cost functions are plain Python on numbers or arrays alike; the search
compiles them (`formula` marks what it may compile).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import formula, log
from boostlab.contract.criterion import (
    PERFECT,
    SIGNED,
    SQUARE,
    TIES,
    TINY,
    Cost,
    Criterion,
    Residual,
    Says,
    Separable,
    explaining,
)
from boostlab.learners.class_criteria import ClassGini, Labels
from boostlab.learners.labelwise import Factored, Hamming, HammingZ

Array = npt.NDArray[Any]


# -- labels ----------------------------------------------------------------------------------------------------------


class Edge(Criterion):
    """Largest |sum w y h| of a voter with opposite leaves -1 and +1; learners compare it as the integer it is."""

    forms = (SIGNED,)
    opposite = True


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


@formula
def svp_leaves(left: Any, right: Any, gross: Any, numbers: Any) -> tuple[float, float]:
    """Orient the voter so that A >= B."""
    A, B, _ = _svp_parts(left, right, gross, numbers)
    return (-1.0, 1.0) if A >= B else (1.0, -1.0)


class SampleVariancePenalty(Criterion):
    """EBBoost: the smallest sqrt(A B) + (1 - lambda) W_I W_J over voters with opposite leaves.

    I is the set where voter and label agree, W the sums of w, S the sums of w^2 and
    A = (1 - lambda) W_I^2 + lambda n S_I, B likewise for the disagreements J.
    """

    names = ("variance_penalty", "n")
    forms = (SIGNED, SQUARE)
    opposite = True
    says = staticmethod(svp_leaves)

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

    def rise(self, left: Array, right: Array, gross: Array, numbers: Array) -> Array:
        """By the orientation."""
        return np.where(self.upright(left, right, gross, numbers), 1.0, -1.0)


@formula
def mixed(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """Minus the edge under the mixture."""
    return -np.abs(numbers[0] * (right[0] - left[0]) + numbers[1] * (right[1] - left[1]))


@formula
def mixed_leaves(left: Any, right: Any, gross: Any, numbers: Any) -> tuple[float, float]:
    """Orient the voter so that its edge is positive."""
    edge = numbers[0] * (right[0] - left[0]) + numbers[1] * (right[1] - left[1])
    return (-1.0, 1.0) if edge >= 0 else (1.0, -1.0)


class MixedEdge(Criterion):
    """Largest |sum (a w + b w^2) y h|, from sums of w y and of w^2 y."""

    names = ("a", "b")
    forms = (SIGNED, SQUARE)
    opposite = True
    says = staticmethod(mixed_leaves)

    @property
    def cost(self) -> Cost:
        """Minus the edge."""
        return mixed

    def rank(self, sums: Array, numbers: Array) -> Array:
        """By the mixture: cutting at zero is then the best edge."""
        return numbers[0] * sums[0] + numbers[1] * sums[1]


@formula
def shifted(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """Minus the edge of weights that are numbers[0] times those summed where y = -1, and numbers[1] times elsewhere.

    It is rounded to some 2^-34 of all weights, so that cuts which are equally good but for rounding have the same cost;
    a cut that makes no error costs less than all others.
    """
    minus, plus, ties = numbers[0], numbers[1], TIES * gross[0]
    edge = (plus - minus) / 2 * (right[0] - left[0]) + (plus + minus) / 2 * (right[1] - left[1])
    if_up, if_down = left[0] + left[1] + (right[0] - right[1]), left[0] - left[1] + (right[0] + right[1])
    errs = np.minimum(if_up + gross[0] * (numbers[2] < 0.0), if_down + gross[0] * (numbers[3] > 0.0))
    return ties - (np.maximum(numbers[2] * edge, numbers[3] * edge) + ties) - PERFECT * gross[0] * (errs <= 0.0)


@formula
def shifted_leaves(left: Any, right: Any, gross: Any, numbers: Any) -> tuple[float, float]:
    """Orient the voter so that its edge is the larger of those that it may have."""
    minus, plus = numbers[0], numbers[1]
    edge = (plus - minus) / 2 * (right[0] - left[0]) + (plus + minus) / 2 * (right[1] - left[1])
    up = numbers[2] if numbers[2] * edge >= numbers[3] * edge else numbers[3]
    return -up, up


class ShiftedEdge(Criterion):
    """Largest |sum v c y h| of sums of v and of v y, where c is one number for each label (see `ShiftedTask`).

    `up` and `down` say how voters may be turned: 1 and -1, or the same number twice.
    """

    names = ("minus", "plus", "up", "down")
    labels = opposite = True
    says = staticmethod(shifted_leaves)

    @property
    def cost(self) -> Cost:
        """Minus the edge."""
        return shifted

    def rank(self, sums: Array, numbers: Array) -> Array:
        """By the edge: cutting at zero is then the best one."""
        minus, plus = numbers[0], numbers[1]
        return (plus - minus) / 2 * sums[0] + (plus + minus) / 2 * sums[1]

    def errors(self, below: Sequence[int], above: Sequence[int], up: float, numbers: Array) -> tuple[float, float]:
        """Return the weight of the sample, and that of the rows which a voter gets wrong that says `up` above.

        It is nothing if no row is wrong: integers (of v, and of v y) are weighed, not numbers subtracted.
        """
        minus, plus = numbers[:2].tolist()
        wrong = (below, above) if up > 0 else (above, below)  # where plus is wrong, and where minus is
        weight = plus * ((wrong[0][0] + wrong[0][1]) // 2) + minus * ((wrong[1][0] - wrong[1][1]) // 2)
        total = below[0] + above[0], below[1] + above[1]
        return plus * ((total[0] + total[1]) // 2) + minus * ((total[0] - total[1]) // 2), weight


# -- sums over leaves ------------------------------------------------------------------------------------------------


@formula
def _z(sums: Any) -> Any:
    return np.sqrt(np.maximum(sums[0] + sums[1], 0.0) * np.maximum(sums[0] - sums[1], 0.0))


@formula
def z(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """The normaliser Z = 2 sum over leaves of sqrt(W+ W-), in which W+ and W- are (w + w y) / 2 and (w - w y) / 2."""
    return _z(left) + _z(right)


@formula
def half_log_odds(sums: Any, smoothing: float) -> float:
    """Half the log odds, smoothed by so much weight."""
    plus, minus = max(sums[0] + sums[1], 0.0) / 2, max(sums[0] - sums[1], 0.0) / 2
    return 0.5 * log((plus + smoothing) / (minus + smoothing))


@formula
def log_odds(left: Any, right: Any, gross: Any, numbers: Any) -> tuple[float, float]:
    """Half the log odds of both sides, smoothed by a share of the total weight."""
    smoothing = numbers[0] * gross[0]
    return half_log_odds(left, smoothing), half_log_odds(right, smoothing)


class Z(Separable):
    """Real AdaBoost: the smallest 2 sum over leaves of sqrt(W+ W-); leaves vote half the log odds."""

    names = ("smoothing",)
    labels = True
    says = staticmethod(log_odds)  # of stumps; trees' leaves, of which there may be many, are of NumPy's logarithms

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
        return self.value(sums.T, gross, numbers)

    def value(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """Half the log odds."""
        s, (w, wt) = numbers[0] * gross[0], sums
        return np.asarray(0.5 * np.log((np.maximum(w + wt, 0.0) / 2 + s) / (np.maximum(w - wt, 0.0) / 2 + s)))

    def price(self, sums: Array, value: Array) -> Array:
        """W+ exp(-v) + W- exp(v), whose smallest value is 2 sqrt(W+ W-)."""
        plus, minus = np.maximum(sums[0] + sums[1], 0.0) / 2, np.maximum(sums[0] - sums[1], 0.0) / 2
        return plus * np.exp(-value) + minus * np.exp(value)


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
def mean_of(sums: Any) -> float:
    """The weighted mean of the target."""
    return float(sums[1] / sums[0]) if sums[0] > 0 else 0.0


@formula
def means(left: Any, right: Any, gross: Any, numbers: Any) -> tuple[float, float]:
    """The weighted means of both sides."""
    return mean_of(left), mean_of(right)


@formula
def squared_error(w: Any, t: Any, sums: Any) -> Any:
    """What the mean of a node with these sums leaves of a row."""
    mean = sums[1] / sums[0] if sums[0] > 0 else 0.0
    return w * ((t - mean) * (t - mean))


class LeastSquares(Separable):
    """The smallest weighted squared error of constants; leaves vote the weighted mean of the target."""

    centred = True
    residual: Residual | None = staticmethod(squared_error)
    says: Says | None = staticmethod(means)

    def span(self, weight: Array, target: Array) -> Array | None:
        """The squares: what residuals are from a mean of 0."""
        return weight * (target * target)

    @property
    def cost(self) -> Cost:
        """The squared error, up to a constant."""
        return squares

    def leaf(self, sums: Array, gross: Array, numbers: Array) -> float:
        """The weighted mean."""
        return mean_of(sums)

    def leaves_of(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """All means at once."""
        return self.value(sums.T, gross, numbers)

    def value(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """The mean."""
        return np.divide(sums[1], sums[0], out=np.zeros(np.shape(sums[0])), where=sums[0] > 0)

    def price(self, sums: Array, value: Array) -> Array:
        """The squared error, up to a constant."""
        return value * value * sums[0] - 2 * value * sums[1]


@explaining(2.0)
@formula
def gini(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """The weights times the gini indices of the two sides, less half the weight: half the squared error of labels."""
    return squares(left, right, gross, numbers) / 2


class Gini(LeastSquares):
    """CART's gini index, which for labels -1 and +1 is half the squared error; leaves vote the heavier label."""

    centred = False
    residual = says = None
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

    def vote_of(self, value: Any) -> Any:
        """The sign of the mean."""
        return 1.0 if value >= 0 else -1.0

    def price(self, sums: Array, value: Array) -> Array:
        """Half the squared error."""
        return super().price(sums, value) / 2


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
