"""What a round does to rows, in one pass: votes, scores, weights, and what changed (see `fused_rounds`).

The numbers are those of `vote_update.scale_voted`, `vote_update.add_votes`, `histogram.follow` and the sums over codes,
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
    side: int,
    y: Array,
    start: int,
    stop: int,
    F: Array,
    rows: Array,
    listed: Array,
) -> tuple[int, int]:
    """Add alpha * votes[code] to the scores of start <= i < stop; list the rows whose vote is `side`.

    Those of y = -1 come first in rows, those of y = 1 last, of stop - start + 1 places; listed is workspace of as many.
    Return how many of each there are.
    """
    size, mine = 0, np.int8(side)
    for i in range(np.uint64(start), np.uint64(stop)):  # unsigned, without branches: 2.9 ns a row against 4.4
        h = votes[code[i]]
        F[i] += alpha * h
        listed[size] = i
        size += h == mine
    front, back = np.uint64(0), np.uint64(stop - start)
    for m in range(np.uint64(size)):
        j = np.uint64(listed[m])
        is_minus = y[j] < 0
        rows[front], rows[back] = j, j
        front += np.uint64(is_minus)
        back -= np.uint64(not is_minus)
    return np.int64(front), size - np.int64(front)  # type: ignore[return-value]


@part
def follow(
    rows: Array, first: int, last: int, factor: float, sign: int, counts: Array, mass: Array, k: int, w: Array,
    q: Array, changes: Array,
) -> int:  # fmt: skip
    """Multiply the weights of the rows listed from first to last - 1 by the factor, and let q, of one sign, follow.

    Write by how much the magnitudes grew; return their sum.  Integer masses are in counts, real ones in mass; both may
    be empty.
    """
    gross, of_label = np.int64(0), np.int64(sign)
    scale, more = power_factors(k)
    for m in range(np.uint64(first), np.uint64(last)):
        j = np.uint64(rows[m])
        w[j] *= factor
        x = w[j] * mass[j] if mass.size > 0 else w[j]
        times = counts[j] if counts.size > 0 else np.int64(1)
        new = times * np.int64(np.rint(x * scale * more))
        grown = new - of_label * q[j]
        changes[m] = grown
        q[j] = of_label * new
        gross += grown
    return gross  # type: ignore[return-value]


@part
def renew(y: Array, F: Array, w: Array) -> None:
    """Compute exp(-y F) up to a factor, the largest 1, as `Exponentials.renew` does."""
    top = -np.inf
    for i in range(w.size):
        w[i] = -y[i] * F[i]
        top = max(top, w[i])
    exp_below(w, top)


@part
def moving_side(votes: Array, masses: Array, first: int, above: int) -> int:
    """Return the vote of the side that moves: that of fewer examples, of equal ones the vote above the cut.

    So many examples are in every slot; the votes are those of the slots from `first` on.
    """
    more, at = np.int64(0), np.uint64(first)
    for s in range(np.uint64(votes.size)):
        more += votes[s] * masses[at + s]
    return above if more == 0 else 1 if more < 0 else -1
