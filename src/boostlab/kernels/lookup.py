"""Scores of a stump ensemble from one table per feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel

Array = np.ndarray[Any, Any]


@kernel
def lookup_scores(
    X: Array,
    features: Array,
    starts: Array,
    cuts: Array,
    values: Array,
    missing: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Add to out[i, c] the value of every used feature's interval, for rows first <= i < last.

    Feature k of the list owns cuts[starts[k]:starts[k + 1]], one value row more than it has cuts (they start at
    starts[k] + k), and missing[k] for NaN.
    """
    outputs = values.shape[1]
    for i in range(first, last):
        for k in range(features.size):
            x = X[i, features[k]]
            low, size = starts[k], starts[k + 1] - starts[k]
            while size > 0:
                half = size >> 1
                if cuts[low + half] < x:
                    low += half + 1
                    size -= half + 1
                else:
                    size = half
            row = values[low + k] if x == x else missing[k]
            for c in range(outputs):
                out[i, c] += row[c]


@kernel
def weighted_votes(votes: Array, alphas: Array, out: Array) -> None:
    """Add sum_t alphas[t] * votes[t] to out, voter by voter, skipping the silent ones."""
    for t in range(alphas.size):
        alpha = alphas[t]
        if alpha != 0.0:
            row = votes[t]
            for i in range(out.size):
                out[i] += alpha * row[i]
