"""What a round does to rows, in one pass: votes, scores, weights, and what changed (see `fused_rounds`).

The numbers are those of `vote_update.scale_side`, `vote_update.add_votes`, `histogram.follow` and the sums over codes,
to the bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.fixed_point import power_factors
from boostlab.backend.cpu.kernels.vote_update import exp_below

Array = np.ndarray[Any, Any]

BLOCK = 8192  # rows


@part
def turn(
    code: Array,
    votes: Array,
    alpha: float,
    wrong: bool,
    factor: float,
    y: Array,
    counts: Array,
    mass: Array,
    k: int,
    start: int,
    stop: int,
    F: Array,
    w: Array,
    q: Array,
    rows: Array,
    changes: Array,
) -> tuple[int, int, int]:
    """Add alpha * votes[code] to the scores of start <= i < stop; where the vote is wrong (or right: the side of fewer
    rows), w *= factor and q follows.

    Return how many rows were touched, listed in rows with their changes of q, and what the sums of q and |q| grew by.
    Integer masses are in counts, real ones in mass; both may be empty.
    """
    size, signed, gross = 0, np.int64(0), np.int64(0)
    scale, more = power_factors(k)
    side = np.int8(-1 if wrong else 1)
    for i in range(np.uint64(start), np.uint64(stop)):  # unsigned, without branches: 2.9 ns a row against 4.4
        h = votes[code[i]]
        F[i] += alpha * h
        rows[size] = i
        size += h == side * y[i]
    for m in range(np.uint64(size)):
        j = np.uint64(rows[m])
        w[j] *= factor
        x = w[j] * mass[j] if mass.size > 0 else w[j]
        times = counts[j] if counts.size > 0 else np.int64(1)
        grown = times * np.int64(np.rint(x * scale * more)) - abs(q[j])  # q has the sign of y
        changes[m] = y[j] * grown
        q[j] += changes[m]
        signed += changes[m]
        gross += grown
    return size, signed, gross  # type: ignore[return-value]


@part
def renew(y: Array, F: Array, w: Array) -> None:
    """Compute exp(-y F) up to a factor, the largest 1, as `Exponentials.renew` does."""
    top = -np.inf
    for i in range(w.size):
        w[i] = -y[i] * F[i]
        top = max(top, w[i])
    exp_below(w, top)


@part
def fewer_wrong(votes: Array, masses: Array, first: int) -> bool:
    """Return whether no more rows are voted wrong than right, given those of y = -1 and of y = +1 in every slot; the
    votes are those of the slots from `first` on.
    """
    more, at = np.int64(0), np.uint64(first)
    for s in range(np.uint64(votes.size)):
        more += votes[s] * (masses[0, at + s] - masses[1, at + s])  # wrong less right
    return more <= 0  # type: ignore[return-value]
