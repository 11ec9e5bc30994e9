"""The leaf of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel

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
    for i in range(X.shape[0]):
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
        out[offset + i] = node
