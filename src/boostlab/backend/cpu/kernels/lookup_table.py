"""Scores of a stump ensemble from one table per feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.functions import bits
from boostlab.backend.cpu.kernels.workspace import copy, doubles, naturals, total

Array = np.ndarray[Any, Any]


@part
def _interval(cuts: Array, low: int, high: int, x: float) -> int:
    """Return the first place in low..high whose cut is not below x (high if all are)."""
    size = high - low
    while size > 0:
        half = size >> 1
        if cuts[low + half] < x:
            low += half + 1
            size -= half + 1
        else:
            size = half
    return low


BLOCK = 512  # rows that stay in the cache while all features are looked up


@kernel
def lookup_scores(
    X: Array, features: Array, starts: Array, cuts: Array, values: Array, missing: Array, offset: int, out: Array
) -> None:
    """Add to out[offset + i, c] the value of every used feature's interval, for all rows i of X.

    Feature k of the list owns cuts[starts[k]:starts[k + 1]], one value row more than it has cuts (they start at
    starts[k] + k), and missing[k] for NaN.
    """
    one, outputs = np.uint64(1), values.shape[1]
    x, low = doubles(BLOCK), naturals(BLOCK)
    sums = np.empty((outputs, BLOCK), np.int64)
    for start in range(0, X.shape[0], BLOCK):
        size = min(BLOCK, X.shape[0] - start)
        sums[:] = 0
        for k in range(features.size):
            j = features[k]
            for i in range(size):
                x[i] = X[start + i, j]
                low[i] = np.uint64(starts[k])
            left = np.uint64(starts[k + 1] - starts[k])
            while left > np.uint64(0):  # as many steps for every row, and a sign bit instead of a branch
                half = (left + one) >> one
                for i in range(size):
                    below = bits(cuts[low[i] + half - one] - x[i]) >> 63  # -1 or 0
                    low[i] += half & np.uint64(below)
                left -= half
            for c in range(outputs):
                for i in range(size):
                    known = x[i] == x[i]
                    sums[c, i] += values[low[i] + np.uint64(k), c] if known else missing[k, c]
        for i in range(size):
            for c in range(outputs):
                out[offset + start + i, c] += sums[c, i]


@kernel
def lookup_sparse(
    data: Array,
    indices: Array,
    indptr: Array,
    place: Array,
    starts: Array,
    cuts: Array,
    values: Array,
    missing: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Do the same for the rows first <= i < last of a CSR matrix: the score of zeros, corrected where there are none.

    place[j] is the number of feature j in the list, or -1.
    """
    outputs = values.shape[1]
    zeros = np.empty((starts.size - 1, outputs), values.dtype)
    for k in range(starts.size - 1):
        copy(values[_interval(cuts, starts[k], starts[k + 1], 0.0) + k], zeros[k])
    for i in range(first, last):
        for p in range(indptr[i], indptr[i + 1]):
            k = place[indices[p]]
            if k >= 0:
                x = data[p]
                row = values[_interval(cuts, starts[k], starts[k + 1], x) + k] if x == x else missing[k]
                for c in range(outputs):
                    out[i, c] += row[c] - zeros[k, c]
    for c in range(outputs):
        whole = total(zeros[:, c])
        for i in range(first, last):
            out[i, c] += whole


@kernel
def stump_votes(X: Array, features: Array, cuts: Array, starts: Array, leaves: Array, offset: int, out: Array) -> None:
    """Write to out[t, offset + i] what stump t says of row i of X.

    cuts[t] is its threshold and what it says up to it, above it, and of NaN; on categories it has
    leaves[starts[t]:starts[t + 1]] instead, one a category, the last for NaN.
    """
    for t in range(features.size):
        j, size = features[t], starts[t + 1] - starts[t]
        if size > 0:
            for i in range(X.shape[0]):
                x = X[i, j]
                out[t, offset + i] = leaves[starts[t] + (np.int64(x) if x == x else size - 1)]
        else:
            threshold, left, right, missing = cuts[t, 0], cuts[t, 1], cuts[t, 2], cuts[t, 3]
            for i in range(X.shape[0]):
                x = np.float64(X[i, j])
                out[t, offset + i] = (left if x <= threshold else right) if x == x else missing


@kernel
def weighted_votes(votes: Array, alphas: Array, out: Array) -> None:
    """Add sum_t alphas[t] * votes[t] to out, voter by voter, skipping the silent ones."""
    for t in range(alphas.size):
        alpha = alphas[t]
        if alpha != 0.0:
            row = votes[t]
            for i in range(out.size):
                out[i] += alpha * row[i]
