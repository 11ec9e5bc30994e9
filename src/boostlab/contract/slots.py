"""The slots of a sample's histogram: which column owns them, where a cut may be, and what a cut means.

Column j owns the slots starts[j] to starts[j + 1] - 1 of one flat histogram: one a bin, the last for missing values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NO_ORDER: Mapping[int, Array] = {}


@dataclass(slots=True)
class Split:
    """A feature and where its slots (bins, and missing values last) are cut."""

    feature: int
    cut: int  # the last slot that is low
    side: int  # 1 if missing values are low
    cost: float
    order: Array | None = None  # of the slots, if they are categories


class Slots:
    """The slots of one sample, and the cuts between them.

    Parameters
    ----------
    starts : array of shape (n_features + 1,)
        Where every column's slots start.
    bins : Bins
        The columns' cut points.
    masses : array of shape (n_slots,)
        How much of the sample is in every slot, as integers.
    """

    def __init__(self, starts: Array, bins: Any, masses: Array) -> None:
        self.starts, self.masses, self.n_bins = starts, masses, bins.n_bins
        self.points, self.point_starts = bins.points, bins.starts
        self.categories = sorted(bins.categorical)  # the categorical columns
        d, widths = len(self.n_bins), np.diff(starts)
        filled = masses > 0
        several = np.diff(np.append(0, np.cumsum(filled))[starts]) >= 2
        self.filled = filled & np.repeat(several, widths)  # not in constant columns
        self.categorical = np.isin(np.arange(d), self.categories)
        last = np.append(self.filled, False)[starts[1:] - 1]  # the slot of missing values, where there is one
        self.some_missing = last & (widths > 0) & ~self.categorical
        # Cuts that exist, missing values above: after every bin that another bin or a missing value follows.
        at = np.arange(starts[-1]) - np.repeat(starts[:-1], widths)
        slots = self.n_bins + self.some_missing
        for j in self.categories:
            slots[j] = self.filled[starts[j] : starts[j + 1]].sum()
        self.possible = at < np.repeat(slots - 1, widths)
        self.possible_below = (at < np.repeat(self.n_bins - 1, widths)) & np.repeat(self.some_missing, widths)
        self.nothing = not self.possible.any()  # every column is constant
        below = np.append(0, np.cumsum(masses))  # of a column without missing values, what lies below a cut
        mine = np.repeat(below[starts[:-1]], widths), np.repeat(below[starts[1:]], widths)
        self.heavier_below = 2 * (below[1:] - mine[0]) > mine[1] - mine[0]

    @property
    def n_slots(self) -> int:
        """Number of slots of all columns."""
        return int(self.starts[-1])

    @property
    def n_cuts(self) -> int:
        """Number of cuts of all columns, missing values above."""
        return int(self.possible.sum())

    @property
    def misses_numbers(self) -> bool:
        """Whether a number is missing, in columns of nothing else, too."""
        return bool((self.masses > 0)[self.starts[1:] - 1][~self.categorical].any())

    def mine(self, feature: int) -> slice:
        """Return the slots of a feature."""
        return slice(int(self.starts[feature]), int(self.starts[feature + 1]))

    def count_cuts(self) -> tuple[Array, Array]:
        """Return how many cuts every column has, missing values above and below: always the first ones."""
        above, below = (
            np.diff(np.append(0, np.cumsum(possible))[self.starts]) for possible in (self.possible, self.possible_below)
        )
        return above, below

    def split_at(self, at: int, side: int, cost: float, order: Mapping[int, Array] = NO_ORDER) -> Split:
        """Return the split after a slot of the histogram."""
        feature = int(self.starts.searchsorted(at, side="right")) - 1
        return Split(feature, at - int(self.starts[feature]), side, cost, order.get(feature))

    def below(self, split: Split, slots: Array) -> Array:
        """Return the channels' integer sums on the low side, given those per slot."""
        mine = slots[:, self.mine(split.feature)]
        if split.order is not None:
            return mine[:, split.order[: split.cut + 1]].sum(axis=1)
        return mine[:, : split.cut + 1].sum(axis=1) + split.side * mine[:, -1]

    def low(self, split: Split) -> Array:
        """Return which of the feature's slots are low."""
        return self.low_slots(split.feature, split.cut, split.side, split.order)

    def low_slots(self, feature: int, cut: int, side: int, order: Array | None = None) -> Array:
        """Return which of the feature's slots are below a cut; side 1 puts missing values there too."""
        low = np.zeros(int(self.n_bins[feature]) + 1, bool)
        if order is not None:
            low[order[: cut + 1]] = True
            return self.with_unseen(feature, low)
        low[: cut + 1] = True
        low[-1] = self.missing_low(feature, cut, side)
        return low

    def missing_low(self, feature: int, cut: int, side: int) -> bool:
        """Return whether missing values are below a numeric cut: where seen, by side, else with the heavier side."""
        if self.some_missing[feature]:
            return bool(side)
        return bool(self.heavier_below[self.starts[feature] + cut])

    def threshold(self, feature: int, cut: int) -> float:
        """Return the number that a cut stands for; the last one parts all values from missing ones."""
        at = int(self.point_starts[feature]) + cut
        return float(self.points[at]) if at < self.point_starts[feature + 1] else np.inf

    def cuts_at(self, at: Array, side: Array) -> tuple[Array, Array, Array]:
        """Return features, thresholds and whether missing values are low, for numeric cuts after slots.

        A negative slot is no cut: the feature is -1.
        """
        none, at = at < 0, np.maximum(at, 0)
        feature = self.starts.searchsorted(at, side="right") - 1
        start = self.starts[feature]
        point = np.minimum(self.point_starts[feature] + at - start, self.point_starts[feature + 1])
        ends = point == self.point_starts[feature + 1]
        threshold = np.where(ends, np.inf, np.append(self.points, np.inf)[point - ends])
        missing_low = np.where(self.some_missing[feature], side == 1, self.heavier_below[at])
        feature[none], threshold[none], missing_low[none] = -1, 0.0, False
        return feature, threshold, missing_low

    def signs(self, feature: int, sums: Array) -> Array:
        """Return which categories have a negative sum; if all agree, the lightest takes the other side."""
        all_filled = self.filled[self.mine(feature)]
        filled = np.flatnonzero(all_filled)
        negative = sums[filled] < 0
        if (negative == negative[0]).all():
            lightest = np.abs(sums[filled]).argmin()
            negative[lightest] = ~negative[lightest]
        low = np.zeros(len(all_filled), bool)
        low[filled] = negative
        return self.with_unseen(feature, low)

    def with_unseen(self, feature: int, low: Array) -> Array:
        """Return the low slots of a categorical feature, empty ones sent where missing values go."""
        unseen = ~self.filled[self.mine(feature)]
        low[unseen] = False
        low[unseen] = self._heavier_low(feature, low)
        return low

    def _heavier_low(self, feature: int, low: Array) -> bool:
        """Return whether the low slots hold more of the sample: there goes what was never seen."""
        masses = self.masses[self.mine(feature)]
        if self.filled[self.starts[feature + 1] - 1]:
            return bool(low[-1])
        return bool(2 * masses[low].sum() > masses.sum())
