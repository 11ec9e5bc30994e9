"""Sums of integer row values per feature and bin.

Codes are feature-major.  Two features share one pass over the rows: the row value is loaded once and the two
scatter-adds do not wait for each other (0.39 ns a cell against 0.64 ns for one feature at a time).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel

Array = np.ndarray[Any, Any]


@kernel
def histogram(codes: Array, q: Array, first: int, last: int, out: Array) -> None:
    """Write out[j, b] = sum of q over the rows with codes[j] == b, for features first <= j < last."""
    n = codes.shape[1]
    j = first
    while j + 1 < last:
        one, two = out[j], out[j + 1]
        one[:] = 0
        two[:] = 0
        a, b = codes[j], codes[j + 1]
        for i in range(n):
            v = q[i]
            one[a[i]] += v
            two[b[i]] += v
        j += 2
    if j < last:
        one = out[j]
        one[:] = 0
        a = codes[j]
        for i in range(n):
            one[a[i]] += q[i]


@kernel
def histogram_channels(codes: Array, q: Array, first: int, last: int, out: Array) -> None:
    """Write out[j, b, c] = sum of q[:, c] over the rows with codes[j] == b."""
    n, channels = q.shape
    for j in range(first, last):
        hist = out[j]
        hist[:] = 0
        code = codes[j]
        for i in range(n):
            row = hist[code[i]]
            for c in range(channels):
                row[c] += q[i, c]


@kernel
def best_edge(
    hist: Array, n_bins: Array, filled: Array, categorical: Array, total: int, sides: int
) -> tuple[int, int, int, int]:
    """Return (feature, cut, missing side, edge) of the stump with the largest edge; feature -1 if there is no cut.

    A stump that votes +1 above the cut has the edge total - 2 * (sum below).  Missing values (the slot after a
    feature's last bin) may go above (missing side 0) or below (1), and the last cut is between the values and the
    missing ones.  A categorical feature (cut -1) gives every category the sign of its own sum, unless all agree: then
    the lightest goes to the other side, since no stump is constant.  filled[j, b] says whether any row is in the slot.
    sides: 0 takes either orientation (the edge returned is signed: negative means +1 below), +1 or -1 only the one.
    Ties go to the first feature, then the first cut, then missing above, then +1 above.
    """
    feature, cut, gone, best = -1, -1, 0, np.int64(0)
    top = np.int64(-9223372036854775808)
    for j in range(hist.shape[0]):
        bins = n_bins[j]
        if categorical[j]:
            whole, least = np.int64(0), np.int64(9223372036854775807)
            slots, up, down = 0, False, False
            for b in range(bins + 1):
                if filled[j, b]:
                    slots += 1
                    whole += abs(hist[j, b])
                    least = min(least, abs(hist[j, b]))
                    up = up or hist[j, b] > 0
                    down = down or hist[j, b] < 0
            edge = whole if up and down else whole - 2 * least
            if slots > 1 and edge > top:
                top, feature, cut, gone, best = edge, j, -1, 0, edge
            continue
        left = np.int64(0)
        if not filled[j, bins]:  # nobody is missing
            for b in range(bins - 1):
                left += hist[j, b]
                edge = total - 2 * left
                worth = abs(edge) if sides == 0 else sides * edge
                if worth > top:
                    top, feature, cut, gone, best = worth, j, b, 0, edge
            continue
        absent = hist[j, bins]
        for b in range(bins):
            left += hist[j, b]
            for side in range(2 if b < bins - 1 else 1):
                edge = total - 2 * (left + side * absent)
                worth = abs(edge) if sides == 0 else sides * edge
                if worth > top:
                    top, feature, cut, gone, best = worth, j, b, side, edge
    return feature, cut, gone, best  # type: ignore[return-value]
