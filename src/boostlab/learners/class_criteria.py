"""Criteria for the labels of several classes: a channel a class, and leaves that vote a class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import formula
from boostlab.contract.criterion import TINY, Close, Fold, Separable

Array = npt.NDArray[Any]


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

    def value(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """Of two classes, the share of the second less that of the first."""
        whole = sums[0] + sums[1]
        return np.divide(sums[1] - sums[0], whole, out=np.zeros(np.shape(whole)), where=whole > 0)

    def vote_of(self, value: Any) -> Any:
        """The second of two classes where it has more."""
        return self.name_type(2)(value > 0)

    def price(self, sums: Array, value: Array) -> Array:
        """Of two classes, half the squared error of -1 and +1, which is the gini index."""
        whole = sums[0] + sums[1]
        return (value * value * whole - 2 * value * (sums[1] - sums[0]) - whole) / 2

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
        return self.rank_columns(sums, np.zeros(1, np.int64), numbers)

    def rank_columns(self, sums: Array, starts: Array, numbers: Array) -> Array:
        """Do so for several columns: LAPACK is asked once."""
        ends = np.append(starts[1:], sums.shape[1])
        weight, widths = sums.sum(axis=0), ends - starts
        shares = sums * (weight > 0) / np.maximum(weight, TINY)
        mean = np.add.reduceat(sums, starts, axis=1) / np.maximum(np.add.reduceat(weight, starts), TINY)
        apart = shares - np.repeat(mean, widths, axis=1)
        scatter = [(weight[a:b] * apart[:, a:b]) @ apart[:, a:b].T for a, b in zip(starts, ends, strict=True)]
        axes = np.linalg.eigh(scatter)[1][:, :, -1]
        largest = np.abs(axes).argmax(axis=1)[:, None]
        axes = np.where(np.take_along_axis(axes, largest, 1) > 0, axes, -axes)
        return (np.repeat(axes, widths, axis=0).T * shares).sum(axis=0)


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
