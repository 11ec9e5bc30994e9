"""Integers of rows and labels, a channel after the other: formed, and summed over rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.in_parts import adding, in_parts
from boostlab.backend.cpu.kernels.fixed_point import _scales
from boostlab.backend.cpu.kernels.pair_rounding import note
from boostlab.backend.cpu.kernels.workspace import BLOCK, block_of_doubles

Array = np.ndarray[Any, Any]


@in_parts
def form_channels(weight: Array, target: Array, sizes: bool, first: int, last: int, out: Array) -> None:
    """Write weight * target (the weight alone, of sizes) of the rows first <= i < last; all have a row a label."""
    for label in range(out.shape[0]):
        w, t, mine = weight[label, first:last], target[label, first:last], out[label, first:last]
        for i in range(mine.size):
            mine[i] = w[i] if sizes else w[i] * t[i]


@in_parts
def round_channels(
    weight: Array,
    target: Array,
    sizes: Array,
    powers: Array,
    counts: Array,
    mass: Array,
    first: int,
    last: int,
    part: int,
    q: Array,
    tops: Array,
    sums: Array,
    totals: Array,
) -> None:
    """Do as `tops_and_sums` does for the values of all channels together, of the rows first <= i < last.

    Write the integers at the last of the powers to q, a row a channel: a channel a label for each form, which is the
    weight alone or weight * target.  Write the channels' sums of q and of |q| to the part's totals.  Counts and mass
    are empty.
    """
    room, labels, n_powers = block_of_doubles(), weight.shape[0], powers.shape[0]
    others = powers[: max(n_powers - 1, 0)]
    scale, more = _scales(powers[n_powers - 1, 0] if n_powers > 0 else 0)
    for c in range(q.shape[0]):
        label, size_only = c % labels, sizes[c // labels]
        signed, gross = np.int64(0), np.int64(0)
        for start in range(first, last, BLOCK):
            end = min(start + BLOCK, last)
            w, t, x, to = weight[label, start:end], target[label, start:end], room[: end - start], q[c, start:end]
            for i in range(x.size):
                x[i] = w[i] if size_only else w[i] * t[i]
            note(x, counts, mass, others, 0, tops[part], sums[part])
            if n_powers == 0:
                continue
            for i in range(x.size):
                new = np.int64(np.rint(x[i] * scale * more))
                to[i] = new
                signed += new
                gross += abs(new)
        totals[part, c, 0], totals[part, c, 1] = signed, gross
        if n_powers > 0:
            sums[part, n_powers - 1, 0, 0] += signed
            sums[part, n_powers - 1, 0, 1] += gross


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
