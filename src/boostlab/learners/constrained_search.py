"""The best split of some rows among those that constraints allow.

Every cut is priced at once by NumPy: constraints need both sides' values, which the compiled searches do not keep.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Channels, LearnerRows
from boostlab.contract.constraints import WHOLE, Constraints, Region
from boostlab.contract.criterion import Criterion, Params, Separable
from boostlab.contract.slots import Split
from boostlab.learners.search import SplitSearch

Array = npt.NDArray[Any]


class ConstrainedSearch(SplitSearch):
    """Splits of one sample's columns that keep to constraints.

    Parameters
    ----------
    rows : LearnerRows
        The sample.
    constraints : Constraints
        On its columns.
    """

    def __init__(self, rows: LearnerRows, constraints: Constraints) -> None:
        super().__init__(rows)
        slots = self.slots
        self.constraints = constraints
        self.direction = constraints.of_cuts(slots)
        self.column = np.repeat(np.arange(len(slots.n_bins)), np.diff(slots.starts))
        n_sides = 2 if slots.possible_below.any() else 1  # missing values above, and below
        self.possible = np.stack([slots.possible, slots.possible_below], axis=1)[:, :n_sides]

    def cheapest(
        self,
        criterion: Criterion,
        hist: Array,
        total: Array,
        channels: Channels,
        params: Params,
        least: float = 0.0,
        region: Region = WHOLE,
    ) -> Split | None:
        """Return the cheapest split (see `SplitSearch.best`) that is allowed in a node's region."""
        left, right, facts, allowed, order = self._cuts(criterion, hist, total, channels, params, least, region)
        with np.errstate(all="ignore"):  # of cuts that there are not
            price, rise = self._priced(criterion, left, right, facts, region)
        price = np.where(allowed & (self.direction[:, None] * rise >= 0), price, np.inf)
        at = int(price.argmin())  # the first: ties go to the first feature, the first cut, missing values above
        if not price.flat[at] < np.inf:
            return None
        n_sides = price.shape[1]
        return self.slots.split_at(at // n_sides, at % n_sides, float(price.flat[at]), order)

    def _priced(
        self, criterion: Criterion, left: Array, right: Array, facts: tuple[Array, Array], region: Region
    ) -> tuple[Array, Array]:
        """Return what every cut costs, and by how much its upper side has more."""
        if region.bounded:
            assert isinstance(criterion, Separable)
            below, above = (region.clip(criterion.value(side, *facts)) for side in (left, right))
            return criterion.price(left, below) + criterion.price(right, above), above - below
        price = _cost(criterion, left, right, *facts)
        return price, criterion.rise(left, right, *facts) if self.direction.any() else np.zeros(1)

    def evenest(
        self,
        criterion: Separable,
        hist: Array,
        total: Array,
        channels: Channels,
        params: Params,
        least: float = 0.0,
        region: Region = WHOLE,
    ) -> Split | None:
        """Return the split (as `SplitSearch.most_even`) that is allowed in a node's region."""
        left, right, facts, allowed, order = self._cuts(criterion, hist, total, channels, params, least, region)
        if self.direction.any():
            with np.errstate(all="ignore"):
                rise = criterion.rise(left, right, *facts)
            allowed = allowed & (self.direction[:, None] * rise >= 0)
        even = np.where(allowed, np.minimum(*(criterion.weigh(side) for side in (left, right))), 0.0)
        at = int(even.argmax())
        n_sides = even.shape[1]
        return self.slots.split_at(at // n_sides, at % n_sides, np.inf, order) if even.flat[at] > 0 else None

    def _cuts(
        self,
        criterion: Criterion,
        hist: Array,
        total: Array,
        channels: Channels,
        params: Params,
        least: float,
        region: Region,
    ) -> tuple[Array, Array, tuple[Array, Array], Array, dict[int, Array]]:
        """Return the sums left and right of every cut, the gross sums and numbers that a criterion takes beside them,
        whether a cut is allowed, and the order of categories.
        """
        seen, numbers = slice(None, -1) if least > 0 else slice(None), criterion.numbers(params)
        hist, order = self._order_categories(criterion, hist, channels.scale, seen, numbers)
        left, right, allowed = self._sides(hist, total, channels.scale, least, region)
        return left[seen], right[seen], (channels.gross[seen], numbers), allowed, order

    def _sides(
        self, hist: Array, total: Array, scale: Array, least: float, region: Region
    ) -> tuple[Array, Array, Array]:
        """Return the channels' sums below and above every cut, and which cuts there are."""
        slots, widths = self.slots, np.diff(self.slots.starts)
        up_to = np.cumsum(hist, axis=1)
        before = np.concatenate([np.zeros((len(hist), 1), np.int64), up_to], axis=1)[:, slots.starts[:-1]]
        low = (up_to - np.repeat(before, widths, axis=1))[:, :, None]
        if self.possible.shape[1] == 2:
            gone = np.repeat(hist[:, slots.starts[1:] - 1], widths, axis=1)[:, :, None]
            low = np.concatenate([low, low + gone], axis=2)
        unit = scale[:, None, None]
        left, right = low * unit, (total[:, None, None] - low) * unit
        allowed, beside = self.possible, self.constraints.beside(region.path)
        if beside is not None:
            allowed = allowed & beside[self.column][:, None]
        if least > 0:
            allowed = allowed & (left[-1] >= least) & (right[-1] >= least)
        return left, right, allowed


def _cost(criterion: Criterion, left: Array, right: Array, gross: Array, numbers: Array) -> Any:
    """Return what every cut costs."""
    if not criterion.by_class:
        return criterion.cost(left, right, gross, numbers)
    folds = [np.zeros(left.shape[1:]), np.zeros(left.shape[1:])]
    for one in zip(left, right, strict=True):
        folds = [criterion.fold(fold, weight) for fold, weight in zip(folds, one, strict=True)]
    return criterion.close(folds[0], left.sum(axis=0), folds[1], right.sum(axis=0))
