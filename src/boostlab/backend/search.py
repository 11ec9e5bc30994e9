"""Searches of a histogram that has come back from the rows, wherever these lie: a few thousand integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.in_parts import parts_of
from boostlab.backend.cpu.kernels import split_search as kernels
from boostlab.backend.cpu.kernels.label_channels import subtract
from boostlab.backend.cpu.kernels.stump_search import best_edge
from boostlab.contract.criterion import Criterion
from boostlab.contract.slots import Slots

Array = npt.NDArray[Any]
Place = tuple[int, int, int, int]  # feature, cut, side of missing values, edge


def cheapest_split(
    criterion: Criterion,
    slots: Slots,
    hist: Array,
    total: Array,
    scale: Array,
    gross: Array,
    numbers: Array,
    least: float,
    threads: int,
) -> tuple[int, int, float]:
    """Return (slot, side, cost) of the cheapest cut; the slot is negative if there is none.

    Ties go to the first feature, then the first cut, then missing values above.

    Parameters
    ----------
    criterion, numbers
        What a split costs.
    slots : Slots
        Where cuts may be.
    hist, total : arrays
        The integer sums of the rows to split, per channel and slot, and per channel.
    scale, gross : arrays
        What a unit is worth in each channel, and the sums of magnitudes over the sample.
    least : float
        Both sides must have at least this much of the last channel, which the criterion does not see.
    threads : int
        How many threads may share the work.
    """
    if criterion.by_class:
        search = kernels.cheapest_split_of_classes(criterion.fold, criterion.close)
    elif len(gross) == 2:
        search = kernels.cheapest_split_of_pairs(criterion.cost)
    else:
        search = kernels.cheapest_split(criterion.cost)
    facts = slots.starts, slots.possible, slots.possible_below, total, scale, gross, numbers, float(least)
    found = search.shared(16 * hist.size, threads, hist, *facts, 0, len(slots.n_bins))
    cost, at, side = min([(cost, at, side) for at, side, cost in found if at >= 0], default=(np.inf, -1, 0))
    return at, side, cost


def largest_edge(slots: Slots, hist: Array, total: int, sides: int, threads: int) -> Place:
    """Return the stump with the largest edge, compared as the integers they are (see `kernels.stump_search`)."""
    what = hist, slots.starts, slots.filled, slots.categorical, total, sides
    found = best_edge.shared(4 * hist.size, threads, *what, 0, len(slots.n_bins))
    best = max(found, key=lambda f: f[4])  # the first of them, if several are
    return best[0], best[1], best[2], best[3]


def take_away(slots: Array, others: Array, threads: int) -> None:
    """Subtract some rows' sums per channel and slot from those of more rows, in place."""
    if parts_of(slots.size, threads) == 1 or not (slots.flags.c_contiguous and others.flags.c_contiguous):
        np.subtract(slots, others, out=slots)
    else:
        subtract.shared(slots.size, threads, slots.reshape(-1), others.reshape(-1), 0, slots.size)


def sort_categories(slots: Slots, rank: Array, hist: Array) -> tuple[Array, Array]:
    """Sort the slots of categorical columns by rank, empty ones last; return the histogram, and the order."""
    order, ordered = np.empty(slots.n_slots, np.int64), np.empty_like(hist)
    kernels.order_slots(np.where(slots.filled, rank, np.inf), slots.starts, slots.categorical, order, hist, ordered)
    return ordered, order
