"""Integers of rows and labels, a channel after the other: formed, and summed over rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.in_parts import adding, in_parts

Array = np.ndarray[Any, Any]


@in_parts
def form_channels(weight: Array, target: Array, sizes: bool, first: int, last: int, out: Array) -> None:
    """Write weight * target (the weight alone, of sizes) of the rows first <= i < last to out[label, i]."""
    for i in range(first, last):
        for label in range(out.shape[0]):
            out[label, i] = weight[i, label] if sizes else weight[i, label] * target[i, label]


@adding
def channel_totals(q: Array, first: int, last: int, out: Array) -> None:
    """Add the sums of q and of |q| over the rows first <= i < last to the channels' out."""
    for c in range(q.shape[0]):
        signed, gross, mine = np.int64(0), np.int64(0), q[c, first:last]
        for i in range(mine.size):
            signed += mine[i]
            gross += abs(mine[i])
        out[c, 0] += signed
        out[c, 1] += gross


@adding
def turned_totals(q: Array, votes: Array, first: int, last: int, out: Array) -> None:
    """Add the sums of q times the votes, -1 and +1, over the rows first <= i < last to the channels' out."""
    votes = votes[first:last]
    for c in range(q.shape[0]):
        found, mine = np.int64(0), q[c, first:last]
        for i in range(mine.size):
            found += mine[i] if votes[i] > 0 else -mine[i]
        out[c] += found
