"""The cheapest split of some rows, given their sums per feature and bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.rows import Rows
from boostlab.data.table import Table
from boostlab.data.threads import spread
from boostlab.kernels.histogram import histogram, histogram_channels
from boostlab.voters.criteria import Criterion, Params

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Sums:
    """Integer sums of some rows' channels: per feature, slot and channel, and in total."""

    slots: Array
    total: Array


@dataclass(slots=True)
class Split:
    """A feature and which of its slots (bins, and missing values last) are low."""

    feature: int
    cut: int
    low: Array
    cost: float
    left: Array  # the channels' sums on the low side
    right: Array


class SplitSearch:
    """Sums and splits of one sample's columns.

    Every feature has a slot for each bin and one more, after the last bin, for missing values.
    """

    def __init__(self, table: Table, rows: Rows) -> None:
        assert table.codes is not None
        assert table.bins is not None
        self.codes, self.bins, self.rows, self.threads = table.codes, table.bins, rows, table.threads
        self.n_bins = self.bins.n_bins
        self.space: dict[int, Array] = {}  # histograms, by number of channels, re-used every round
        self.masses = self.histogram(rows.whole(np.ones(rows.n_rows))[0]).copy()
        self.filled = self.masses > 0
        d = len(self.n_bins)
        self.filled[self.filled.sum(axis=1) < 2] = False  # constant columns, or nothing but missing values
        self.categorical = np.isin(np.arange(d), sorted(self.bins.categorical))
        self.some_missing = self.filled[np.arange(d), self.n_bins] & ~self.categorical
        self.mostly_low = 2 * np.cumsum(self.masses, axis=1) > self.masses.sum(axis=1, keepdims=True)
        # Cuts that exist, missing values above: after every bin that another bin or a missing value follows.
        slots = np.where(self.categorical, self.filled.sum(axis=1), self.n_bins + self.some_missing)
        at = np.arange(self.filled.shape[1] - 1)
        self.possible = at < (slots - 1)[:, None]
        self.possible_below = (at < (self.n_bins - 1)[:, None]) & self.some_missing[:, None]

    def shape(self, channels: int) -> tuple[int, ...]:
        """Return the shape of a histogram."""
        shape = (len(self.n_bins), int(self.n_bins.max(initial=0)) + 1)
        return shape if channels == 1 else (*shape, channels)

    def histogram(self, q: Array) -> Array:
        """Sum integers per feature and slot, into space that the next call uses again."""
        channels = q.shape[1] if q.ndim > 1 else 1
        if channels not in self.space:
            self.space[channels] = np.zeros(self.shape(channels), np.int64)
        hist, d = self.space[channels], len(self.codes)
        kernel = histogram if q.ndim == 1 else histogram_channels
        spread(lambda a, b: kernel(self.codes, q, a, b, hist), d, q.size * d, self.threads)
        return hist

    def whole(self, channels: Array, counts: Array | None) -> tuple[Array, Array, Array, Array]:
        """Return the channels as integers, their sums and gross sums, and the scale of each."""
        parts = [self.rows.whole(channels[:, c], counts) for c in range(channels.shape[1])]
        q = np.stack([p[0] for p in parts], axis=1)
        scale = np.ldexp(1.0, [-p[1] for p in parts])
        return q, np.array([p[2] for p in parts]), np.array([p[3] for p in parts]), scale

    def best(
        self, criterion: Criterion, sums: Sums, scale: Array, gross: Array, params: Params, least: float = 0.0
    ) -> Split | None:
        """Return the cheapest split; ties go to the first feature, then the first cut, then missing values above.

        Parameters
        ----------
        criterion, params
            What a split costs.
        sums : Sums
            Of the rows to split; used up.
        scale, gross : arrays
            What the integers are worth, and the gross sums over the sample.
        least : float
            Both sides must have at least this much of the last channel, which the criterion does not see.
        """
        seen = slice(None, -1) if least > 0 else slice(None)
        slots, total = sums.slots, sums.total
        order = self._order_categories(criterion, slots, scale, seen)
        absent = slots[np.arange(len(slots)), self.n_bins]
        below = np.cumsum(slots, axis=1, out=slots)[:, :-1]  # integers, so both sides are exact

        def cost(low: Array, possible: Array) -> Array:
            left, right = low * scale, (total - low) * scale
            costs = criterion.cost(left[..., seen], right[..., seen], gross[seen], params)
            if least > 0:
                possible = possible & (left[..., -1] >= least) & (right[..., -1] >= least)
            return np.where(possible, costs, np.inf)

        costs = [cost(below, self.possible)]
        if self.some_missing.any():
            costs.append(cost(below + absent[:, None], self.possible_below))
        best = np.stack(costs, axis=-1)
        feature, cut, side = (int(i) for i in np.unravel_index(best.argmin(), best.shape))
        if best[feature, cut, side] == np.inf:
            return None
        sum_low = below[feature, cut] + side * absent[feature]
        low = self.low_slots(feature, cut, side, order.get(feature))
        cheapest = float(best[feature, cut, side])
        return Split(feature, cut, low, cheapest, (sum_low * scale)[seen], ((total - sum_low) * scale)[seen])

    def low_slots(self, feature: int, cut: int, side: int, order: Array | None = None) -> Array:
        """Return which slots are below a cut; side 1 puts missing values there too."""
        low = np.zeros(self.filled.shape[1], bool)
        if order is not None:
            low[order[: cut + 1]] = True
            low[~self.filled[feature]] = self._heavier_low(feature, low)
        else:
            low[: cut + 1] = True
            low[self.n_bins[feature]] = self.missing_low(feature, cut, side)
        return low

    def missing_low(self, feature: int, cut: int, side: int) -> bool:
        """Return whether missing values are below a numeric cut: where seen, by side, else with the heavier side."""
        return bool(side if self.some_missing[feature] else self.mostly_low[feature, cut])

    def signs(self, feature: int, sums: Array) -> Array:
        """Return which categories have a negative sum; if all agree, the lightest takes the other side."""
        filled = np.flatnonzero(self.filled[feature])
        negative = sums[filled] < 0
        if (negative == negative[0]).all():
            lightest = np.abs(sums[filled]).argmin()
            negative[lightest] = ~negative[lightest]
        low = np.zeros(self.filled.shape[1], bool)
        low[filled] = negative
        low[~self.filled[feature]] = self._heavier_low(feature, low)
        return low

    def _heavier_low(self, feature: int, low: Array) -> bool:
        """Return whether the low slots hold more of the sample: there goes what was never seen."""
        last, masses = self.n_bins[feature], self.masses[feature]
        if self.filled[feature, last]:
            return bool(low[last])
        return bool(2 * masses[low].sum() > masses.sum())

    def _order_categories(self, criterion: Criterion, slots: Array, scale: Array, seen: slice) -> dict[int, Array]:
        """Sort the slots of categorical columns, missing values among them, so that the best subset is a cut."""
        order = {}
        for j in self.bins.categorical:
            rank = np.where(self.filled[j], criterion.rank((slots[j] * scale)[:, seen]), np.inf)  # empty slots last
            order[j] = np.argsort(rank, kind="stable")
            slots[j] = slots[j, order[j]]
        return order

    def threshold(self, feature: int, cut: int) -> float:
        """Return the number that a cut stands for; the last one parts all values from missing ones."""
        cuts = self.bins.cuts[feature]
        return float(cuts[cut]) if cut < len(cuts) else np.inf


def tame(weight: Array) -> Array:
    """Return weights whose squares can be formed: scaled by a power of two if the largest is extreme."""
    power = int(np.frexp(weight.max())[1])
    return weight if abs(power) < 100 else np.ldexp(weight, -power)
