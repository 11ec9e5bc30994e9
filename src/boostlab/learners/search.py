"""The best split of some rows, given their sums per feature and bin."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.search import cheapest_split, sort_categories
from boostlab.contract import Channels, LearnerRows
from boostlab.contract.criterion import Criterion, Params, Separable
from boostlab.contract.slots import Split

Array = npt.NDArray[Any]


class SplitSearch:
    """Splits of one sample's columns.

    Parameters
    ----------
    rows : LearnerRows
        The sample.
    """

    def __init__(self, rows: LearnerRows) -> None:
        self.slots, self.threads = rows.slots, rows.threads

    def best(
        self, criterion: Criterion, hist: Array, total: Array, channels: Channels, params: Params, least: float = 0.0
    ) -> Split | None:
        """Return the cheapest split; ties go to the first feature, then the first cut, then missing values above.

        Parameters
        ----------
        criterion, params
            What a split costs.
        hist, total : arrays
            The integer sums of the rows to split, per channel and slot, and per channel.
        channels : Channels
            Of the whole sample.
        least : float
            Both sides must have at least this much of the last channel, which the criterion does not see.
        """
        seen = slice(None, -1) if least > 0 else slice(None)
        numbers = criterion.numbers(params)
        hist, order = self._order_categories(criterion, hist, channels.scale, seen, numbers)
        sums = hist, total, channels.scale, channels.gross[seen]
        at, side, cost = cheapest_split(criterion, self.slots, *sums, numbers, least, self.threads)
        return None if at < 0 else self.slots.split_at(at, side, cost, order)

    def most_even(
        self, criterion: Separable, hist: Array, total: Array, channels: Channels, params: Params, least: float = 0.0
    ) -> Split | None:
        """Return the split (as `best`) whose lighter side is the heaviest, by integers; None if all is on one side."""
        seen, slots = slice(None, -1) if least > 0 else slice(None), self.slots
        hist, order = self._order_categories(criterion, hist, channels.scale, seen, criterion.numbers(params))
        sums = [(criterion.weigh(hist[seen]), int(criterion.weigh(total[seen])))]
        if least > 0:
            sums.append((hist[-1], int(total[-1])))
        widths, low = np.diff(slots.starts), []
        for mine, _ in sums:
            up_to = np.cumsum(mine)
            below = up_to - np.repeat(np.append(0, up_to)[slots.starts[:-1]], widths)
            gone = np.repeat(mine[slots.starts[1:] - 1], widths)
            low.append(np.stack([below, below + gone], axis=1))  # missing values above, and below
        even = np.minimum(low[0], sums[0][1] - low[0])
        even[~np.stack([slots.possible, slots.possible_below], axis=1)] = 0
        if least > 0:
            unit = channels.scale[-1]
            even[(low[1] * unit < least) | ((sums[1][1] - low[1]) * unit < least)] = 0
        at = int(even.argmax())
        return slots.split_at(at // 2, at % 2, np.inf, order) if even.flat[at] > 0 else None

    def sides(self, split: Split, channels: Channels) -> tuple[Array, Array]:
        """Return the channels' integer sums below and above a split of the whole sample."""
        below = self.slots.below(split, channels.slots)
        return below, channels.total - below

    def _order_categories(
        self, criterion: Criterion, hist: Array, scale: Array, seen: slice, numbers: Array
    ) -> tuple[Array, dict[int, Array]]:
        """Sort the slots of categorical columns, missing values among them, so that the best subset is a cut."""
        slots = self.slots
        if not slots.categories:
            return hist, {}
        mine, starts = self.of_categories
        rank = np.zeros(slots.n_slots)
        rank[mine] = criterion.rank_columns((hist[:, mine] * scale[:, None])[seen], starts, numbers)
        hist, places = sort_categories(slots, rank, hist)
        return hist, {j: places[slots.mine(j)] for j in slots.categories}

    @cached_property
    def of_categories(self) -> tuple[Array, Array]:
        """The slots of all categorical columns, and where each column's start among them."""
        slots = self.slots
        widths = [slots.mine(j).stop - slots.mine(j).start for j in slots.categories]
        mine = np.concatenate([np.arange(slots.n_slots)[slots.mine(j)] for j in slots.categories])
        return mine, np.append(0, np.cumsum(widths))[:-1].astype(np.int64)
