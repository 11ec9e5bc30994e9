"""From values to bin codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel

Array = np.ndarray[Any, Any]


BLOCK = 512  # rows that stay in the cache while all their features are read


@kernel
def encode(X: Array, cuts: Array, starts: Array, missing: Array, offset: int, codes: Array) -> None:
    """Write the bin of X[i, j], the number of cuts of feature j below it (NaN: missing[j]), as row offset + i.

    Feature j owns cuts[starts[j]:starts[j + 1]], padded with infinity to a length of 2^k - 1: binary search is then k
    steps for every row, and going right or left is the sign bit of cut - x instead of a branch that half of the time is
    guessed wrong (13 ns a cell with 255 bins against 60 ns).  X is row-major; codes[j // lanes, i, j % lanes] holds
    groups of features that share a 64-bit word.
    """
    one = np.uint64(1)
    lanes = codes.shape[2]
    values = np.empty(BLOCK, np.float64)
    low = np.empty(BLOCK, np.uint64)
    for start in range(0, X.shape[0], BLOCK):
        size = min(BLOCK, X.shape[0] - start)
        for j in range(X.shape[1]):
            base = np.uint64(starts[j])
            step = (np.uint64(starts[j + 1]) - base + one) >> one
            for i in range(size):
                values[i] = X[start + i, j]
                low[i] = base
            while step > np.uint64(0):
                for i in range(size):
                    below = np.float64(cuts[low[i] + step - one] - values[i]).view(np.int64) >> 63  # -1 or 0
                    low[i] += step & np.uint64(below)
                step = step >> one
            out = codes[j // lanes, offset + start : offset + start + size, j % lanes]
            for i in range(size):
                out[i] = low[i] - base if values[i] == values[i] else np.uint64(missing[j])
