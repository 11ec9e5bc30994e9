"""What makes a split good: a cost of sums over rows (the criteria themselves are in `learners.criteria`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Params = Mapping[str, float]
Cost = Callable[[Any, Any, Any, Any], Any]
Residual = Callable[[Any, Any, Any], Any]
Fold = Callable[[Any, Any], Any]
Close = Callable[[Any, Any, Any, Any], Any]
Says = Callable[[Any, Any, Any, Any], tuple[float, float]]

TINY = 2.2250738585072014e-308  # the smallest normal float: 0 / TINY is 0

TIES = 1.5 * 2.0**18  # so many times all weights, added to a number and taken away again, round it to 2^-34 of them

PERFECT = 16.0  # times all weights: more than an edge can be, even of weights that are multiplied by 8

SIZE, SIGNED, SQUARE = 0, 1, 2  # what a channel sums: w, w t or w^2 t

NONE = np.empty(0)


def explaining(part: float) -> Callable[[Cost], Cost]:
    """Mark a cost that is minus what the means of both sides explain, divided by so much: its search can skip cuts."""

    def mark(cost: Cost) -> Cost:
        cost.explains = part  # type: ignore[attr-defined]
        return cost

    return mark


def explains(cost: Cost) -> float:
    """Return by how much a cost divides what the means of both sides explain; 0 where it is another cost."""
    return getattr(cost, "explains", 0.0)


class Criterion:
    """Base of all criteria."""

    names: tuple[str, ...] = ()  # of the numbers, in the task's params
    forms: tuple[int, ...] = (SIZE, SIGNED)  # what to sum, where weight and target have one column
    labels = False  # whether the target is -1 and +1: then one sum, of two sides, serves for w and w t
    ranks_alone = True  # whether a category's rank depends on its own sums only, not on the other categories'
    by_label = False  # whether weights and targets have a column a label
    by_class = False  # whether the target is the number of a class, and there is a channel a class
    opposite = False  # whether leaves vote -1 and +1
    residual: Residual | None = None  # of criteria for numbers: how far a row is from its node (see `remaining`)
    says: Says | None = None  # `leaves` as a formula of the same, where kernels may ask for it
    says_of_label: Any = None  # by label: what both sides vote, as a formula of a label's sums below and above

    @property
    def two(self) -> bool:
        """Whether there are two channels, where weight and target have one column."""
        return len(self.forms) == 2 and not self.by_class

    def numbers(self, params: Params) -> Array:
        """Return the numbers that the cost needs beside the sums."""
        return np.array([params[name] for name in self.names], np.float64) if self.names else NONE

    @property
    def cost(self) -> Cost:
        """The function cost(left, right, gross, numbers)."""
        raise NotImplementedError

    @property
    def fold(self) -> Fold:
        """Of a criterion by class, the function fold(so far, the weight of one more class): a side's cost."""
        raise NotImplementedError

    @property
    def close(self) -> Close:
        """Of a criterion by class, the function close(left fold, left weight, right fold, right weight): the cost."""
        raise NotImplementedError

    def leaves(self, left: Any, right: Any, gross: Any, numbers: Array) -> tuple[Any, Any]:
        """Return what the winning cut's two sides vote."""
        if self.says is None:
            raise NotImplementedError
        return self.says(left, right, gross, numbers)

    def rank(self, sums: Array, numbers: Array) -> Array:
        """Return a number for each category, given its sums, in whose order a cut should be looked for."""
        return sums[1] * (sums[0] > 0) / np.maximum(sums[0], TINY)  # the mean of the target

    def rank_columns(self, sums: Array, starts: Array, numbers: Array) -> Array:
        """Return the same for several columns, whose categories lie behind one another from `starts` on."""
        if self.ranks_alone:
            return self.rank(sums, numbers)
        return np.concatenate([self.rank(mine, numbers) for mine in np.split(sums, starts[1:], axis=1)])

    def rise(self, left: Array, right: Array, gross: Array, numbers: Array) -> Array:
        """Return for every cut a number that has the sign of the vote above less the vote below."""
        raise NotImplementedError


class Separable(Criterion):
    """A criterion whose cost is a sum over leaves, and whose leaves do not look at each other: trees can use it too."""

    centred = False  # whether only differences of the target matter, and leaves vote the target
    heaviest = False  # whether leaves vote their heaviest label, so that `error` is known

    def span(self, weight: Array, target: Array) -> Array | None:
        """Return per row what impurities are made of: gains far below its sum are rounding.  None: the weight."""
        return None

    def weight(self, gross: Array) -> float:
        """Return the total weight, given the channels' gross sums."""
        return float(gross[0])

    def leaf(self, sums: Array, gross: Array, numbers: Array) -> Any:
        """Return what a leaf with these sums votes."""
        raise NotImplementedError

    def leaves_of(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """Return what leaves vote, given a row of sums each."""
        return np.array([self.leaf(s, gross, numbers) for s in sums])

    def error(self, total: Array) -> tuple[int, int]:
        """Return a leaf's weight and the weight it gets wrong, given its integer sums."""
        raise NotImplementedError

    def remaining(self, total: Array, scale: Array) -> float:
        """Return what a split into pure leaves would gain, given a node's integer sums.

        A node without any is pure.  Where there is some, a split without gain may open the way to it (XOR).  Of
        criteria for numbers it is the largest `residual` of a row: the same in any order, and nothing where targets
        are equal.
        """
        raise NotImplementedError

    def weigh(self, sums: Array) -> Any:
        """Return the integer weights, given integer sums a channel; all of a node's rows have one."""
        return sums[0]

    def impurity(self, total: Array, scale: Array) -> Any:
        """Return what a leaf with these integer sums costs."""
        sums = total * scale
        return self.cost(sums, np.zeros_like(sums), sums, np.zeros(len(self.names)))

    def value(self, sums: Array, gross: Array, numbers: Array) -> Array:
        """Return by what leaves are compared, the sums having the channels first: a vote, or what it is made of."""
        raise NotImplementedError

    def vote_of(self, value: Any) -> Any:
        """Return what a leaf of this value votes: a function that does not fall."""
        return value

    def price(self, sums: Array, value: Array) -> Array:
        """Return what leaves cost that have these values instead of their own."""
        raise NotImplementedError

    def rise(self, left: Array, right: Array, gross: Array, numbers: Array) -> Array:
        """Return the value above less the value below."""
        return self.value(right, gross, numbers) - self.value(left, gross, numbers)

    def leaves(self, left: Any, right: Any, gross: Any, numbers: Array) -> tuple[Any, Any]:
        """Both sides' votes."""
        if self.says is not None:
            return self.says(left, right, gross, numbers)
        return self.leaf(left, gross, numbers), self.leaf(right, gross, numbers)
