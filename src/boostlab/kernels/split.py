"""The cheapest split under any cost, from integer sums per slot."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel, stamp_of

Array = np.ndarray[Any, Any]


@cache
def cheapest_split(cost: Callable[..., Any]) -> Any:
    """Return the compiled search for a cost(left, right, gross, numbers)."""
    stamp = stamp_of(cost)

    @kernel
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
        channels = slots.shape[0]
        seen = channels - 1 if least > 0.0 else channels
        low = np.zeros(channels, np.int64)
        left, right = np.empty(seen, np.float64), np.empty(seen, np.float64)
        at, where, best = stamp, 0, np.inf
        for j in range(first, last):
            absent = starts[j + 1] - 1
            low[:] = 0
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

    return search
