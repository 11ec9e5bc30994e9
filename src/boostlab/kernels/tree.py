"""Growing and walking trees: sums over some rows, parting rows, and the leaf of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel

Array = np.ndarray[Any, Any]


@kernel
def histogram_of(codes: Array, q: Array, members: Array, first: int, last: int, out: Array) -> None:
    """Write out[j, b, c] = sum of q[i, c] over the `members` i with codes[j, i] == b, for first <= j < last."""
    channels = q.shape[1]
    for j in range(first, last):
        hist = out[j]
        hist[:] = 0
        code = codes[j]
        for m in range(members.size):
            i = members[m]
            row = hist[code[i]]
            for c in range(channels):
                row[c] += q[i, c]


@kernel
def part_rows(code: Array, low: Array, members: Array, space: Array) -> int:
    """Reorder `members` so that rows whose code is low come first, order kept; return how many they are."""
    lows, highs = 0, 0
    for m in range(members.size):
        i = members[m]
        if low[code[i]]:
            members[lows] = i  # never overtakes the reader
            lows += 1
        else:
            space[highs] = i
            highs += 1
    for m in range(highs):
        members[lows + m] = space[m]
    return lows


@kernel
def walk(
    X: Array,
    feature: Array,
    threshold: Array,
    missing_low: Array,
    children: Array,
    starts: Array,
    lows: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Write the leaf of every row: from the root, low goes to children[node, 0], until the feature is -1.

    Category nodes own lows[starts[node]:starts[node + 1]], one truth value a category; numeric nodes own nothing.
    """
    for i in range(first, last):
        node = 0
        while feature[node] >= 0:
            x = X[i, feature[node]]
            if x != x:
                low = missing_low[node]
            elif starts[node] < starts[node + 1]:
                low = lows[starts[node] + np.int64(x)]
            else:
                low = x <= threshold[node]
            node = children[node, 0] if low else children[node, 1]
        out[i] = node
