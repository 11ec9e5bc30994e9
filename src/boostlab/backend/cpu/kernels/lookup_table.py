"""Scores of a stump ensemble from one table per feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.functions import bits
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.fixed_point import power_factors
from boostlab.backend.cpu.kernels.workspace import clear, copy, doubles, integers, naturals, total

Array = np.ndarray[Any, Any]
U = np.uint64


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
ABREAST = 4  # columns that are read at a time: one by itself takes three times as long
FEW = 64  # cuts, of all outputs, of which each is compared with every row: a step of the search costs as much as 12


@part
def _add_steps(x: Array, cuts: Array, values: Array, c: int, low: int, k: int, missing: int, sums: Array) -> None:
    """Add to every row the value of its interval between the few cuts of feature k, which start at `low`.

    It is that of the first interval and what every cut below the number adds: four comparisons a load, no gathers.
    """
    last, top = cuts.size, cuts.size - 1
    base = values[low + k, c]
    for i in range(U(x.size)):
        sums[i] += base if x[i] == x[i] else missing
    for m in range(low, last, 4):  # after the last cut it comes again, and adds nothing
        c0, c1, c2, c3 = cuts[m], cuts[min(m + 1, top)], cuts[min(m + 2, top)], cuts[min(m + 3, top)]
        v1, v2 = values[m + k + 1, c], values[min(m + 2, last) + k, c]
        v3, v4 = values[min(m + 3, last) + k, c], values[min(m + 4, last) + k, c]
        d0, d1, d2, d3 = v1 - values[m + k, c], v2 - v1, v3 - v2, v4 - v3
        for i in range(U(x.size)):
            z = x[i]
            few = (d0 if c0 < z else 0) + (d1 if c1 < z else 0)
            sums[i] += few + ((d2 if c2 < z else 0) + (d3 if c3 < z else 0))


@part
def _add_found(x: Array, cuts: Array, values: Array, k: int, start: int, missing: Array, sums: Array) -> None:
    """Do the same for many cuts, by binary search, for every output."""
    one, low = U(1), naturals(x.size)
    for i in range(x.size):
        low[i] = U(start)
    left = U(cuts.size - start)
    while left > U(0):  # as many steps for every row, and a sign bit instead of a branch
        half = (left + one) >> one
        for i in range(x.size):
            below = bits(cuts[low[i] + half - one] - x[i]) >> 63  # -1 or 0
            low[i] += half & U(below)
        left -= half
    for c in range(values.shape[1]):
        for i in range(x.size):
            sums[c * BLOCK + i] += values[low[i] + U(k), c] if x[i] == x[i] else missing[k, c]


@in_parts
def lookup_scores(
    X: Array,
    features: Array,
    starts: Array,
    cuts: Array,
    values: Array,
    missing: Array,
    power: int,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Write to out[i, c] the sum of 2^-power times the value of every used feature's interval, for first <= i < last.

    Feature k of the list owns cuts[starts[k]:starts[k + 1]], one value row more than it has cuts (they start at
    starts[k] + k), and missing[k] for NaN.
    """
    outputs, ends = values.shape[1], features.size - 1
    scale, more = power_factors(-power)
    x, sums = doubles(ABREAST * BLOCK), integers(outputs * BLOCK)
    for start in range(first, last, BLOCK):
        size = min(BLOCK, last - start)
        clear(sums)
        for k in range(features.size):
            if k % ABREAST == 0:
                j0, j1 = U(features[k]), U(features[min(k + 1, ends)])
                j2, j3 = U(features[min(k + 2, ends)]), U(features[min(k + 3, ends)])
                for i in range(U(size)):
                    r = U(start) + i
                    x[i], x[U(BLOCK) + i] = X[r, j0], X[r, j1]
                    x[U(2 * BLOCK) + i], x[U(3 * BLOCK) + i] = X[r, j2], X[r, j3]
            at = k % ABREAST * BLOCK
            mine, own = x[at : at + size], cuts[: starts[k + 1]]
            if outputs * (starts[k + 1] - starts[k]) <= FEW:
                for c in range(outputs):
                    _add_steps(mine, own, values, c, starts[k], k, missing[k, c], sums[c * BLOCK :])
            else:
                _add_found(mine, own, values, k, starts[k], missing, sums)
        for c in range(outputs):
            for i in range(size):
                out[start + i, c] = np.float64(sums[c * BLOCK + i]) * scale * more


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
