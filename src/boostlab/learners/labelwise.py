"""Criteria for weights and targets with a column a label: every leaf votes on every label.

The channels are a `Panel`'s: one a label, or one a label for each form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import formula
from boostlab.contract.criterion import SIGNED, SIZE, Cost, Criterion, Separable

Array = npt.NDArray[Any]


def _most_telling(sums: Array) -> Array:
    """Return the sums of the label in which categories differ most, to sort them by."""
    return sums[np.abs(sums).sum(axis=1).argmax()]


@formula
def hamming(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """Minus what the labels that each side says yes to are worth."""
    cost = -(np.maximum(left[0], 0.0) + np.maximum(right[0], 0.0))
    for k in range(1, len(left)):
        cost = cost - (np.maximum(left[k], 0.0) + np.maximum(right[k], 0.0))
    return cost


@formula
def yes_or_no(below: Any, above: Any, numbers: Any) -> Any:
    """Yes on a side where that is worth something."""
    return 1.0 if below > 0.0 else numbers[0], 1.0 if above > 0.0 else numbers[0]


class Hamming(Separable):
    """The largest sum of weight * target * vote, if each leaf says yes (1) or no to every label as it likes.

    `no` is -1 for AdaBoost.MH and MR, where it is the Hamming loss that becomes smallest, and 0 for AdaBoost.M2, where
    it is the pseudo-loss: the best leaves are the same.
    """

    by_label, ranks_alone = True, False

    names = ("no",)
    forms = (SIGNED,)
    says_of_label = staticmethod(yes_or_no)

    def remaining(self, total: Array, scale: Array) -> float:
        """Nothing: the cost is not strictly concave, so that most cuts gain nothing even where many would help."""
        return 0.0

    def weight(self, gross: Array) -> float:
        """Half of all labels' weights, as the cost is half of the sum."""
        return float(gross.sum() / 2)

    def impurity(self, total: Array, scale: Array) -> float:
        """Add up the labels one after another, as the search does, to the same bits."""
        cost = 0.0
        for worth in (total * scale).tolist():
            cost -= max(worth, 0.0)
        return cost

    @property
    def cost(self) -> Cost:
        """Minus half the sum, up to a constant."""
        return hamming

    def leaf(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """Yes where that is worth something."""
        return np.where(sums > 0, 1.0, numbers[0])

    def rank(self, sums: Array, numbers: Array) -> Array:
        """By the label that the categories differ in most."""
        return _most_telling(sums)


@formula
def factored(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """Minus the labels' edges, each with its own sign."""
    cost = -np.abs(right[0] - left[0])
    for k in range(1, len(left)):
        cost = cost - np.abs(right[k] - left[k])
    return cost


@formula
def opposite_signs(below: Any, above: Any, numbers: Any) -> Any:
    """-v and v, v the sign of how much more is above."""
    v = 1.0 if above - below >= 0.0 else -1.0
    return -v, v


class Factored(Criterion):
    """The largest sum over labels of |sum of weight * target * phi|: one cut phi of -1 and +1, a sign v a label.

    The vote on label l is v_l phi, so that the two leaves are opposite, as `Edge`'s are.
    """

    by_label, ranks_alone = True, False

    forms = (SIGNED,)
    says_of_label = staticmethod(opposite_signs)

    @property
    def cost(self) -> Cost:
        """Minus the edge."""
        return factored

    def signs(self, rise: Array) -> Array:
        """Return v, given by how much more is above the cut than below."""
        return np.where(rise >= 0, 1.0, -1.0)

    def leaves(self, left: Array, right: Array, gross: Array, numbers: Array) -> tuple[Array, Array]:
        """Return -v and v."""
        v = self.signs(right - left)
        return -v, v

    def rank(self, sums: Array, numbers: Array) -> Array:
        """By the label that the categories differ in most."""
        return _most_telling(sums)


@formula
def _half_z(sums: Any, k: int) -> Any:
    w, signed = sums[k], sums[k + len(sums) // 2]
    return np.sqrt(np.maximum(w + signed, 0.0) * np.maximum(w - signed, 0.0))


@formula
def hamming_z(left: Any, right: Any, gross: Any, numbers: Any) -> Any:
    """The normaliser Z = 2 sum over leaves and labels of sqrt(W+ W-)."""
    cost = _half_z(left, 0) + _half_z(right, 0)
    for k in range(1, len(left) // 2):
        cost = cost + (_half_z(left, k) + _half_z(right, k))
    return cost


class HammingZ(Separable):
    """Real-valued AdaBoost.MH: the smallest 2 sum over leaves and labels of sqrt(W+ W-), votes half the log odds."""

    by_label, ranks_alone = True, False

    names = ("smoothing",)
    forms = (SIZE, SIGNED)

    def remaining(self, total: Array, scale: Array) -> float:
        """All of Z."""
        return float(self.impurity(total, scale))

    def weigh(self, sums: Array) -> Any:
        """Return the weights of all labels together."""
        return sums[: len(sums) // 2].sum(axis=0)

    def weight(self, gross: Array) -> float:
        """All labels' weights, which both forms have."""
        return float(gross.sum() / 2)

    @property
    def cost(self) -> Cost:
        """Z, up to the normaliser."""
        return hamming_z

    def leaf(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """Half the log odds of every label, smoothed by a share of all labels' weights."""
        s = numbers[0] * self.weight(gross)
        w, signed = sums.reshape(2, -1)
        return 0.5 * np.log((np.maximum(w + signed, 0.0) / 2 + s) / (np.maximum(w - signed, 0.0) / 2 + s))

    def rank(self, sums: Array, numbers: Array) -> Array:
        """By the mean of the label that the categories differ in most."""
        w, signed = sums.reshape(2, *(len(sums) // 2, -1))
        label = np.abs(signed).sum(axis=1).argmax()
        return super().rank(np.stack([w[label], signed[label]]), numbers)
