"""A whole round in one pass over the rows: votes, scores, weights, and the histogram of what changed.

Blocks of rows stay in the cache from the vote to the scatter-adds.  The numbers are those of `follow.scale_side`,
`follow.add_votes`, `slots.follow` and the sums over codes, to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel, stamp_of
from boostlab.kernels.edge import best_edge
from boostlab.kernels.sparse import add_sparse
from boostlab.kernels.sums import _scales
from boostlab.kernels.words import add_eight, add_four

Array = np.ndarray[Any, Any]

BLOCK = 2048  # rows
Turn = tuple[int, int]  # what the sums of q and |q| grew by


@kernel
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

    Return how many rows were touched, listed in rows with their changes of q, then what `Turn` says.  Integer masses
    are in counts, real ones in mass; both may be empty.
    """
    size, signed, gross = 0, np.int64(0), np.int64(0)
    scale, more = _scales(k)
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


@kernel
def fewer_wrong(votes: Array, masses: Array) -> bool:
    """Return whether no more rows are voted wrong than right, given those of y = -1 and of y = +1 in every slot."""
    more = np.int64(0)
    for s in range(votes.size):
        more += votes[s] * (masses[0, s] - masses[1, s])  # wrong less right
    return more <= 0  # type: ignore[return-value]


def _march(add: Callable[..., None]) -> Any:
    """Return the round on codes of a kind: add(codes, where, changes, rows, first, last, out) sums over them."""

    @kernel
    def march(codes: Array, where: Array, row: Any, ground: Any, first: int, last: int, out: Array) -> Turn:
        """Take one round on the rows first <= i < last, and add the changes to out.

        row is (code, votes, alpha, wrong, factor), ground is (y, counts, mass, k, F, w, q); see `turn`.
        """
        code, votes, alpha, wrong, factor = row
        y, counts, mass, k, F, w, q = ground
        rows, changes = np.empty(BLOCK + 1, np.int64), np.empty(BLOCK + 1, np.int64)
        signed, gross = np.int64(0), np.int64(0)
        for start in range(first, last, BLOCK):
            stop = min(start + BLOCK, last)
            size, s, g = turn(
                code, votes, alpha, wrong, factor, y, counts, mass, k, start, stop, F, w, q, rows, changes
            )
            add(codes, where, changes, rows, 0, size, out)
            signed, gross = signed + s, gross + g
        return signed, gross  # type: ignore[return-value]

    return march


march_eight, march_four, march_sparse = _march(add_eight), _march(add_four), _march(add_sparse)


@cache
def march_on(alpha_of: Callable[..., float]) -> Any:
    """Return the compiled loop of rounds for a rule whose voters vote alpha_of(error, numbers)."""
    stamp = stamp_of(alpha_of)

    @kernel
    def rounds(
        cells: Array,
        words: Array,
        base: Array,
        starts: Array,
        filled: Array,
        categorical: Array,
        sides: int,
        ground: Any,
        sums: tuple[int, int],
        moved: tuple[float, float],
        masses: Array,
        rule: Any,
        hist: Array,
        found: Array,
        alphas: Array,
    ) -> tuple[int, int, int, float, float]:
        """Take up to alphas.size rounds on dense codes; end before an unusual one, and after one that left a range.

        sums are those of q and |q|; moved is how far the logarithms of the weights may have risen and fallen; masses[0]
        and masses[1] count the rows of y = -1 and y = +1 in every slot; rule is (numbers, limit, far, least, most):
        voters must have a weighted error below the limit, weights must not have moved so far, and the sum of |q| must
        be in [least, most).  found[t] holds the feature, the cut, the side of missing values, the edge and the sum of
        |q| of round t.  Return the number of rounds, the sums of q and |q|, and how far weights have moved.
        """
        numbers, limit, far, least, most = rule
        risen, fallen = moved
        n_rows, k = ground[0].size, ground[3]
        total, gross = sums
        lanes = cells.shape[2]
        made, left = max(0, stamp), False  # the stamp is negative: it is here for the cache
        while made < alphas.size and not left:
            place = starts, filled, categorical
            feature, cut, side, edge, _ = best_edge(hist, *place, total, sides, 0, categorical.size)
            if cut < 0:
                break
            mine = abs(edge) if sides == 0 else sides * edge
            wrong = (gross - mine) // 2
            error = math.ldexp(float(wrong), -k) / math.ldexp(float(gross), -k)
            if wrong <= 0 or not error < limit:
                break
            alpha = alpha_of(error, numbers)
            if not abs(2 * alpha) < far or not gross + wrong * (math.exp(2 * alpha) - 1.0) < most:
                break
            votes = np.empty(starts[feature + 1] - starts[feature], np.int8)
            up = np.int8(1 if edge >= 0 or sides > 0 else -1) if sides >= 0 else np.int8(-1)
            votes[:] = up
            votes[: cut + 1] = -up
            votes[-1] = -up if side == 1 else up
            few = fewer_wrong(votes, masses[:, starts[feature] : starts[feature + 1]])
            power = 2 * alpha if few else -2 * alpha
            row = cells[feature // lanes, :, feature % lanes], votes, alpha, few, math.exp(power)
            if lanes == 8:
                signed, grown = march_eight(words, base, row, ground, 0, n_rows, hist)
            else:
                signed, grown = march_four(words, base, row, ground, 0, n_rows, hist)
            found[made, 0], found[made, 1], found[made, 2] = feature, cut, side
            found[made, 3], found[made, 4] = edge, gross
            alphas[made] = alpha
            total, gross, made = total + signed, gross + grown, made + 1
            risen, fallen = risen + max(power, 0.0), fallen + max(-power, 0.0)
            left = not (risen < far and fallen < far and least <= gross < most)
        return made, total, gross, risen, fallen

    return rounds
