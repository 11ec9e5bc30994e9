"""The best split of some rows, given their sums per feature and bin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.followed_histograms import ClassCount, Follower, Panel
from boostlab.backend.cpu.kernels.split_search import (
    cheapest_split,
    cheapest_split_of_classes,
    cheapest_split_of_pairs,
    order_slots,
)
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.threads import spread
from boostlab.contract.criterion import SIGNED, SIZE, Criterion, Params, Separable
from boostlab.data.table import Table
from boostlab.learners.channels import Channels, SmallChannels
from boostlab.learners.criteria import ByClass
from boostlab.learners.small import Small
from boostlab.learners.small import tame as tame

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


class SplitSearch:
    """Sums and splits of one sample's columns.

    Column j owns the slots starts[j] to starts[j + 1] - 1 of a flat histogram: one a bin, the last for missing values.
    """

    def __init__(self, table: Table, rows: Masses) -> None:
        assert table.codes is not None
        assert table.bins is not None
        self.codes, self.bins, self.rows = table.codes, table.bins, rows
        self.n_bins, self.starts = self.bins.n_bins, table.codes.starts
        self.masses = self.codes.sums(rows.whole(np.ones(rows.n_rows))[0])[0][0]
        d, widths = len(self.n_bins), np.diff(self.starts)
        filled = self.masses > 0
        several = np.diff(np.append(0, np.cumsum(filled))[self.starts]) >= 2
        self.filled = filled & np.repeat(several, widths)  # not in constant columns
        self.categorical = np.isin(np.arange(d), sorted(self.bins.categorical))
        last = np.append(self.filled, False)[self.starts[1:] - 1]  # the slot of missing values, where there is one
        self.some_missing = last & (widths > 0) & ~self.categorical
        # Cuts that exist, missing values above: after every bin that another bin or a missing value follows.
        at = np.arange(self.starts[-1]) - np.repeat(self.starts[:-1], widths)
        slots = self.n_bins + self.some_missing
        for j in self.bins.categorical:
            slots[j] = self.filled[self.starts[j] : self.starts[j + 1]].sum()
        self.possible = at < np.repeat(slots - 1, widths)
        self.possible_below = (at < np.repeat(self.n_bins - 1, widths)) & np.repeat(self.some_missing, widths)
        self.nothing = not self.possible.any()  # every column is constant
        below = np.append(0, np.cumsum(self.masses))  # of a column of which nobody is missing, what lies below a cut
        mine = np.repeat(below[self.starts[:-1]], widths), np.repeat(below[self.starts[1:]], widths)
        self.heavier_below = 2 * (below[1:] - mine[0]) > mine[1] - mine[0]
        self.followers: list[Follower] = []  # of the channels, from round to round
        self._counter: ClassCount | None = None
        self.small = Small(self) if Small.serves(self) else None

    def channels(
        self, criterion: Criterion, weight: Array, target: Array, counts: Array | None = None, census: bool = False
    ) -> Channels:
        """Round a criterion's channels, each to a scale of its own, and sum them; they are compared with the last ones.

        Parameters
        ----------
        criterion : Criterion
            Says what to sum.
        weight, target : arrays of shape (n_rows,) or (n_rows, n_classes)
            Of a task, per unit of mass.
        counts : array, optional
            How often a draw picked each row.
        census : bool
            Whether to count the rows, too, in a last channel.
        """
        if self.small is not None and counts is None and not census and criterion.two and weight.ndim == 1:
            found = self.small.rounded(criterion, weight, target)
            if found is not None:
                return SmallChannels(self.followers[: 1 if criterion.labels else 2], *found, self.small.q)
        asked: list[tuple[int, Array, Array, bool]] = []
        parts: list[Follower | ClassCount | Panel] = []
        if criterion.by_class:
            parts.append(self.counter(target))
            self.counter(target).round(weight, counts)
        elif weight.ndim == 2:
            parts.append(Panel(self.rows, self.codes, criterion.forms, weight, target, counts))
        elif criterion.labels:
            asked = [(SIGNED, weight, target, True)]
        else:
            asked = [(form, weight, target, False) for form in criterion.forms]
        if census:
            ones = np.ones(len(weight))
            asked.append((SIZE, ones, ones, False))
        parts.extend(self.followed(c, *what, counts) for c, what in enumerate(asked))
        return Channels(parts)

    def counter(self, classes: Array) -> ClassCount:
        """Return who counts the weights of these classes, the same one every round."""
        if self._counter is None or self._counter.classes is not classes:
            self._counter = ClassCount(self.rows, self.codes, classes)
        return self._counter

    def followed(
        self,
        channel: int,
        form: int,
        weight: Array,
        target: Array,
        sided: bool = False,
        counts: Array | None = None,
        lasting: bool = False,
    ) -> Follower:
        """Round and sum one channel, compared with its last values unless the rows are drawn (see `Follower`)."""
        if counts is not None:
            follower = Follower(self.rows, self.codes, form, sided)
            follower.count(weight, target, counts)
            return follower
        follower = self.follower(channel, form, sided, lasting)
        follower.update(weight, target)
        return follower

    def follower(self, channel: int, form: int, sided: bool = False, lasting: bool = False) -> Follower:
        """Return who follows a channel, the same one every round."""
        if channel == len(self.followers):
            self.followers.append(Follower(self.rows, self.codes, form, sided, lasting))
        follower = self.followers[channel]
        if follower.form != form or follower.sided != sided:  # another criterion's
            follower = self.followers[channel] = Follower(self.rows, self.codes, form, sided, lasting)
        return follower

    def mine(self, feature: int) -> slice:
        """Return the slots of a feature."""
        return slice(int(self.starts[feature]), int(self.starts[feature + 1]))

    def best(
        self, criterion: Criterion, slots: Array, total: Array, channels: Channels, params: Params, least: float = 0.0
    ) -> Split | None:
        """Return the cheapest split; ties go to the first feature, then the first cut, then missing values above.

        Parameters
        ----------
        criterion, params
            What a split costs.
        slots, total : arrays
            The integer sums of the rows to split, per channel and slot, and per channel.
        channels : Channels
            Of the whole sample.
        least : float
            Both sides must have at least this much of the last channel, which the criterion does not see.
        """
        seen = slice(None, -1) if least > 0 else slice(None)
        scale, d = channels.scale, len(self.n_bins)
        numbers = criterion.numbers(params)
        slots, order = self._order_categories(criterion, slots, scale, seen, numbers)
        search = _kernel(criterion, len(channels.gross[seen]))
        facts = total, scale, channels.gross[seen], numbers, float(least)
        found: list[tuple[int, int, float]] = []

        def work(first: int, last: int) -> None:
            found.append(search(slots, self.starts, self.possible, self.possible_below, *facts, first, last))

        spread(work, d, 16 * slots.size, self.codes.threads)
        at, side, cost = min((f for f in found if f[0] >= 0), key=lambda f: (f[2], f[0]), default=(-1, 0, np.inf))
        if at < 0:
            return None
        return self.split_at(at, side, cost, order)

    def most_even(
        self, criterion: Separable, slots: Array, total: Array, channels: Channels, params: Params, least: float = 0.0
    ) -> Split | None:
        """Return the split (as `best`) whose lighter side is the heaviest, by integers; None if all is on one side."""
        seen = slice(None, -1) if least > 0 else slice(None)
        slots, order = self._order_categories(criterion, slots, channels.scale, seen, criterion.numbers(params))
        sums = [(criterion.weigh(slots[seen]), int(criterion.weigh(total[seen])))]
        if least > 0:
            sums.append((slots[-1], int(total[-1])))
        widths, low = np.diff(self.starts), []
        for mine, _ in sums:
            up_to = np.cumsum(mine)
            below = up_to - np.repeat(np.append(0, up_to)[self.starts[:-1]], widths)
            gone = np.repeat(mine[self.starts[1:] - 1], widths)
            low.append(np.stack([below, below + gone], axis=1))  # missing values above, and below
        even = np.minimum(low[0], sums[0][1] - low[0])
        even[~np.stack([self.possible, self.possible_below], axis=1)] = 0
        if least > 0:
            unit = channels.scale[-1]
            even[(low[1] * unit < least) | ((sums[1][1] - low[1]) * unit < least)] = 0
        at = int(even.argmax())
        return self.split_at(at // 2, at % 2, np.inf, order) if even.flat[at] > 0 else None

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

    def sides(self, split: Split, channels: Channels) -> tuple[Array, Array]:
        """Return the channels' integer sums below and above a split of the whole sample."""
        below = self.below(split, channels.slots)
        return below, channels.total - below

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

    def cuts_at(self, at: Array, side: Array) -> tuple[Array, Array, Array]:
        """Return features, thresholds and whether missing values are low, for numeric cuts after slots.

        A negative slot is no cut: the feature is -1.
        """
        none, at = at < 0, np.maximum(at, 0)
        feature = self.starts.searchsorted(at, side="right") - 1
        start = self.starts[feature]
        point = np.minimum(self.bins.starts[feature] + at - start, self.bins.starts[feature + 1])
        ends = point == self.bins.starts[feature + 1]
        threshold = np.where(ends, np.inf, np.append(self.bins.points, np.inf)[point - ends])
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
        """Return the low slots of a categorical feature, those that nobody is in sent where missing values go."""
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

    def _order_categories(
        self, criterion: Criterion, slots: Array, scale: Array, seen: slice, numbers: Array
    ) -> tuple[Array, dict[int, Array]]:
        """Sort the slots of categorical columns, missing values among them, so that the best subset is a cut."""
        order: dict[int, Array] = {}
        if not self.bins.categorical:
            return slots, order
        if criterion.ranks_alone:
            return self._order_by_numbers(criterion.rank((slots * scale[:, None])[seen], numbers), slots)
        slots = slots.copy()
        for j in self.bins.categorical:
            sums = slots[:, self.mine(j)]
            rank = criterion.rank((sums * scale[:, None])[seen], numbers)
            order[j] = np.argsort(np.where(self.filled[self.mine(j)], rank, np.inf), kind="stable")  # empty slots last
            slots[:, self.mine(j)] = sums[:, order[j]]
        return slots, order

    def _order_by_numbers(self, rank: Array, slots: Array) -> tuple[Array, dict[int, Array]]:
        """Sort the slots of categorical columns by a number a slot, where a slot's does not depend on the others."""
        order, ordered = np.empty(self.starts[-1], np.int64), np.empty_like(slots)
        order_slots(np.where(self.filled, rank, np.inf), self.starts, self.categorical, order, slots, ordered)
        return ordered, {j: order[self.mine(j)] for j in self.bins.categorical}

    def threshold(self, feature: int, cut: int) -> float:
        """Return the number that a cut stands for; the last one parts all values from missing ones."""
        at = int(self.bins.starts[feature]) + cut
        return float(self.bins.points[at]) if at < self.bins.starts[feature + 1] else np.inf


def _kernel(criterion: Criterion, n_channels: int) -> Any:
    """Return the compiled search for a criterion."""
    if isinstance(criterion, ByClass):
        return cheapest_split_of_classes(criterion.fold, criterion.close)
    return (cheapest_split_of_pairs if n_channels == 2 else cheapest_split)(criterion.cost)
