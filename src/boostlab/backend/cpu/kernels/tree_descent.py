"""The leaf of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel

Array = np.ndarray[Any, Any]


@kernel
def walk(
    X: Array,
    feature: Array,
    threshold: Array,
    missing_low: Array,
    children: Array,
    starts: Array,
    lows: Array,
    offset: int,
    out: Array,
) -> None:
    """Write the leaf of every row i to out[offset + i]: low goes to children[node, 0], until the feature is -1.

    Category nodes own lows[starts[node]:starts[node + 1]], one truth value a category; numeric nodes own nothing.
    """
    numeric, one = lows.size == 0, np.uint64(1)
    for i in range(X.shape[0]):
        row, node = X[i], np.uint64(0)  # places without a sign need no look at whether they are negative
        j = feature[node]
        while j >= 0:
            x = row[np.uint64(j)]
            low = x <= threshold[node]
            if x != x:
                low = missing_low[node]
            elif not numeric and starts[node] < starts[node + one]:
                low = lows[starts[node] + np.int64(x)]
            node = np.uint64(children[node, np.uint64(not low)])
            j = feature[node]
        out[offset + i] = node
