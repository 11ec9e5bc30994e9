"""The best stump of one channel: opposite votes, compared as the integers they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel

Array = np.ndarray[Any, Any]


@kernel
def best_edge(
    hist: Array, starts: Array, filled: Array, categorical: Array, total: int, sides: int
) -> tuple[int, int, int, int]:
    """Return (feature, cut, missing side, edge) of the stump with the largest edge; feature -1 if there is no cut.

    Feature j owns the slots starts[j] to starts[j + 1] - 1, the last of them for missing values.  A stump that votes +1
    above the cut has the edge total - 2 * (sum below).  Missing values may go above (missing side 0) or below (1), and
    the last cut is between the values and the missing ones.  A categorical feature (cut -1) gives every category the
    sign of its own sum, unless all agree: then the lightest goes to the other side, since no stump is constant.
    filled[s] says whether any row is in the slot.  sides: 0 takes either orientation (the edge returned is signed:
    negative means +1 below), +1 or -1 only the one.  Ties go to the first feature, then the first cut, then missing
    above, then +1 above.
    """
    feature, cut, gone, best = -1, -1, 0, np.int64(0)
    top = np.int64(-9223372036854775808)
    for j in range(starts.size - 1):
        first, last = starts[j], starts[j + 1] - 1  # the slot of missing values is `last`
        if categorical[j]:
            whole, least = np.int64(0), np.int64(9223372036854775807)
            slots, up, down = 0, False, False
            for s in range(first, last + 1):
                if filled[s]:
                    slots += 1
                    whole += abs(hist[s])
                    least = min(least, abs(hist[s]))
                    up = up or hist[s] > 0
                    down = down or hist[s] < 0
            edge = whole if up and down else whole - 2 * least
            if slots > 1 and edge > top:
                top, feature, cut, gone, best = edge, j, -1, 0, edge
            continue
        left = np.int64(0)
        if not filled[last]:  # nobody is missing
            for s in range(first, last - 1):
                left += hist[s]
                edge = total - 2 * left
                worth = abs(edge) if sides == 0 else sides * edge
                if worth > top:
                    top, feature, cut, gone, best = worth, j, s - first, 0, edge
            continue
        for s in range(first, last):
            left += hist[s]
            for side in range(2 if s < last - 1 else 1):
                edge = total - 2 * (left + side * hist[last])
                worth = abs(edge) if sides == 0 else sides * edge
                if worth > top:
                    top, feature, cut, gone, best = worth, j, s - first, side, edge
    return feature, cut, gone, best  # type: ignore[return-value]
