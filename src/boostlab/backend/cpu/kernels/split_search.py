"""The cheapest split under any cost, from integer sums per slot."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import admit, kernel, part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.workspace import clear, copy, doubles, integers
from boostlab.backend.cpu.kernels.workspace import total as sum_of

Array = np.ndarray[Any, Any]


@part
def search_channels(
    cost: Callable[..., Any],
    slots: Array,
    starts: Array,
    possible: Array,
    possible_below: Array,
    total: Array,
    scale: Array,
    gross: Array,
    numbers: Array,
    least: float,
    first: int,
    last: int,
) -> tuple[int, int, float]:
    """Return (slot, side, cost) as `cheapest_split` does, for a cost of any number of channels."""
    channels = slots.shape[0]
    seen = channels - 1 if least > 0.0 else channels
    low = integers(channels)
    left, right = doubles(seen), doubles(seen)
    at, where, best = -1, 0, np.inf
    for j in range(first, last):
        absent = starts[j + 1] - 1
        clear(low)
        for s in range(starts[j], absent):
            for c in range(channels):
                low[c] += slots[c, s]
            if not possible[s]:
                continue
            for side in range(2 if possible_below[s] else 1):
                if least > 0.0:
                    c = channels - 1
                    below = low[c] + side * slots[c, absent]
                    if below * scale[c] < least or (total[c] - below) * scale[c] < least:
                        continue
                for c in range(seen):
                    below = low[c] + side * slots[c, absent]
                    left[c] = below * scale[c]
                    right[c] = (total[c] - below) * scale[c]
                price = cost(left, right, gross, numbers)
                if price < best:
                    at, where, best = s, side, price
    return at, where, best


@cache
def cheapest_split(cost: Callable[..., Any]) -> Any:
    """Return the compiled search for a cost(left, right, gross, numbers)."""
    stamp = admit(cost)

    @in_parts
    def search(
        slots: Array,
        starts: Array,
        possible: Array,
        possible_below: Array,
        total: Array,
        scale: Array,
        gross: Array,
        numbers: Array,
        least: float,
        first: int,
        last: int,
    ) -> tuple[int, int, float]:
        """Return (slot, side, cost) of the cheapest cut of the features first <= j < last; slot < 0 if there is none.

        slots[c, s] is the sum of channel c in slot s.  A cut after slot s has everything of its feature up to s on the
        left; side 1 moves the missing values (the feature's last slot) to the left as well.  possible and
        possible_below say which cuts there are with missing values right and left.  With least > 0 both sides must
        have that much of the last channel, which the cost does not see.
        """
        facts = slots, starts, possible, possible_below, total, scale, gross, numbers
        at, where, best = search_channels(cost, *facts, least, first, last)
        return (at if at >= 0 else stamp), where, best

    return search


@kernel
def order_slots(rank: Array, starts: Array, categorical: Array, order: Array, slots: Array, ordered: Array) -> None:
    """Sort the slots of categorical columns by rank, equals in their order; write who comes where, and their sums."""
    for c in range(slots.shape[0]):
        copy(slots[c], ordered[c])
    for j in range(starts.size - 1):
        if not categorical[j]:
            continue
        start = starts[j]
        for s in range(start, starts[j + 1]):
            k = s
            while k > start and rank[start + order[k - 1]] > rank[s]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = s - start
        for s in range(start, starts[j + 1]):
            for c in range(slots.shape[0]):
                ordered[c, s] = slots[c, start + order[s]]


@part
def search_pairs(
    cost: Callable[..., Any],
    slots: Array,
    starts: Array,
    possible: Array,
    possible_below: Array,
    total: Array,
    scale: Array,
    gross: Array,
    numbers: Array,
    least: float,
    first: int,
    last: int,
) -> tuple[int, int, float]:
    """Return (slot, side, cost) as `cheapest_split` does, for a cost of two channels: all cuts of a feature at once.

    Costs are computed without branches into an array, so that LLVM may vectorise them (about 4 ns a cut against 25).
    The last of three channels is the one for `least`.
    """
    widest = 1
    for j in range(first, last):
        widest = max(widest, starts[j + 1] - starts[j])
    below = np.empty((3, widest), np.int64)
    prices = np.empty((2, widest))
    whole, census = (gross[0], gross[1]), slots.shape[0] - 1
    at, where, best = -1, 0, np.inf
    for j in range(first, last):
        start, size = starts[j], starts[j + 1] - 1 - starts[j]
        if size <= 0:
            continue
        for c in range(slots.shape[0]):
            low = np.int64(0)
            for s in range(size):
                low += slots[c, start + s]
                below[c, s] = low
        sides = 2 if possible_below[start] else 1
        for side in range(sides):
            for c in range(slots.shape[0]):
                if side == 1:
                    for s in range(size):
                        below[c, s] += slots[c, start + size]
            for s in range(size):
                a, b = below[0, s], below[1, s]
                left = a * scale[0], b * scale[1]
                right = (total[0] - a) * scale[0], (total[1] - b) * scale[1]
                prices[side, s] = cost(left, right, whole, numbers)
            if least > 0.0:
                for s in range(size):
                    c = below[census, s]
                    if c * scale[census] < least or (total[census] - c) * scale[census] < least:
                        prices[side, s] = np.inf
        for s in range(size):
            if possible[start + s] and prices[0, s] < best:
                at, where, best = start + s, 0, prices[0, s]
            if sides == 2 and possible_below[start + s] and prices[1, s] < best:
                at, where, best = start + s, 1, prices[1, s]
    return at, where, best


@cache
def cheapest_split_of_pairs(cost: Callable[..., Any]) -> Any:
    """Return the compiled search for a cost of two channels, as `cheapest_split`."""
    stamp = admit(cost)

    @in_parts
    def search(
        slots: Array,
        starts: Array,
        possible: Array,
        possible_below: Array,
        total: Array,
        scale: Array,
        gross: Array,
        numbers: Array,
        least: float,
        first: int,
        last: int,
    ) -> tuple[int, int, float]:
        """Return (slot, side, cost) as `cheapest_split` does."""
        facts = slots, starts, possible, possible_below, total, scale, gross, numbers
        at, where, best = search_pairs(cost, *facts, least, first, last)
        return (at if at >= 0 else stamp), where, best

    return search


@part
def search_classes(
    fold: Callable[..., Any],
    close: Callable[..., Any],
    slots: Array,
    starts: Array,
    possible: Array,
    possible_below: Array,
    total: Array,
    scale: Array,
    least: float,
    first: int,
    last: int,
) -> tuple[int, int, float]:
    """Return (slot, side, cost) as `cheapest_split` does, for channels that are one a class and all of one scale.

    A side's channels are folded one after another, all cuts of a feature at once; then close(left, left weight, right,
    right weight) is the cost.
    """
    widest, census = 1, slots.shape[0] - 1
    seen = census if least > 0.0 else slots.shape[0]
    for j in range(first, last):
        widest = max(widest, starts[j + 1] - starts[j])
    below, weight = integers(widest), integers(widest)
    left, right = doubles(widest), doubles(widest)
    whole, unit = sum_of(total[:seen]), scale[0]
    at, where, best = -1, 0, np.inf
    for j in range(first, last):
        start, size = starts[j], starts[j + 1] - 1 - starts[j]
        if size <= 0:
            continue
        for side in range(2 if possible_below[start] else 1):
            left[:size], right[:size], weight[:size] = 0.0, 0.0, 0
            for c in range(seen):
                mine, low = slots[c, start : start + size + 1], np.int64(0)
                if side == 1:
                    low = mine[size]
                for s in range(size):
                    low += mine[s]
                    below[s] = low
                all_ = total[c]
                for s in range(size):
                    b = below[s]
                    left[s] = fold(left[s], b * unit)
                    right[s] = fold(right[s], (all_ - b) * unit)
                    weight[s] += b
            for s in range(size):
                w = weight[s]
                left[s] = close(left[s], w * unit, right[s], (whole - w) * unit)
            if least > 0.0:
                n = side * slots[census, start + size]
                for s in range(size):
                    n += slots[census, start + s]
                    if n * scale[census] < least or (total[census] - n) * scale[census] < least:
                        left[s] = np.inf
            allowed = possible if side == 0 else possible_below
            for s in range(size):
                if allowed[start + s] and left[s] < best:
                    at, where, best = start + s, side, left[s]
    return at, where, best


@cache
def cheapest_split_of_classes(fold: Callable[..., Any], close: Callable[..., Any]) -> Any:
    """Return the compiled search for a cost that folds the classes, by the arguments of `cheapest_split`."""
    stamp = admit(fold, close)

    @in_parts
    def search(
        slots: Array,
        starts: Array,
        possible: Array,
        possible_below: Array,
        total: Array,
        scale: Array,
        gross: Array,
        numbers: Array,
        least: float,
        first: int,
        last: int,
    ) -> tuple[int, int, float]:
        """Return (slot, side, cost) of the cheapest cut."""
        facts = slots, starts, possible, possible_below, total, scale
        at, side, cost = search_classes(fold, close, *facts, least, first, last)
        return at if at >= 0 else stamp, side, cost

    return search
