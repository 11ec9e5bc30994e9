"""Whole runs on a pool of voters, compiled: coefficients at chosen rounds, and nothing kept in between.

An ensemble of a million rounds is large because it keeps its rounds; on a pool the sum of what each voter was given
says as much.  Voters say -1 and +1, and the complement of each belongs to the pool: its coefficient is negative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.kernels.workspace import copy, doubles

Array = np.ndarray[Any, Any]

FRESH = 1000  # rounds after which sums are computed anew, against drift
FAR = 40.0  # by how much the logarithms of weights may grow before they are computed anew
FAINT = -600.0  # logarithms of weights below count as nothing until then: subnormal numbers are slow
WIDTH = 8
TIE = 1e-13  # voters whose edges differ by no more than this are equals: the first is taken


@kernel
def signed_sums(votes: Array, q: Array, out: Array) -> None:
    """Write the sum of votes[j, i] q[i] over i, for votes of -1 and +1 (int8) and integers q."""
    for j in range(votes.shape[0]):
        mine, total = votes[j], np.int64(0)
        for i in range(q.size):
            total += q[i] if mine[i] > 0 else -q[i]
        out[j] = total


@part
def _loudest(c: Array, slack: float, largest: Array) -> int:
    """Return the first j whose |c[j]| is within slack of the largest."""
    largest[:] = 0.0
    n = c.size
    for start in range(0, n - WIDTH + 1, WIDTH):
        for p in range(WIDTH):  # side by side, so that it is one instruction
            largest[p] = max(largest[p], abs(c[start + p]))
    top = 0.0
    for p in range(WIDTH):
        top = max(top, largest[p])
    for j in range(n - n % WIDTH, n):
        top = max(top, abs(c[j]))
    first = n
    for j in range(n):  # all of them: without a way out it is vectorised
        first = min(first, j if abs(c[j]) >= top - slack else n)
    return first if first < n else 0


@kernel
def residual_path(
    mu: Array, gram: Array, penalty: float, shrinkage: float, cap: float, tol: float, marks: Array, out: Array
) -> int:
    """Run QuadBoost and write the voters' coefficients after marks[0] < marks[1] < ... rounds into the rows of out.

    mu[j] is the mean of y h_j and gram[j, k] that of h_j h_k.  With d the largest |mean of r h|, r = y - F, a round
    adds min((d - penalty) shrinkage, cap) of that voter, or its complement, and the run ends where d - penalty is
    not above tol.  Return the number of rounds; marks beyond it have the coefficients of the end.
    """
    n = mu.size
    c, a, largest = doubles(n), np.zeros(n), np.zeros(WIDTH)
    copy(mu, c)
    made = 0
    for m in range(marks.size):
        while made < marks[m]:
            k = _loudest(c, TIE, largest)
            d = abs(c[k])
            if d - penalty <= tol:
                break
            step = min((d - penalty) * shrinkage, cap)
            step = step if c[k] >= 0 else -step
            a[k] += step
            made += 1
            if made % FRESH == 0:
                copy(mu, c)
                for j in range(n):
                    if a[j] != 0.0:
                        c -= a[j] * gram[j]
            else:
                row = gram[k]
                for j in range(n):
                    c[j] -= step * row[j]
        copy(a, out[m])
    return made


@kernel
def exponential_path(right: Array, by_voter: Array, negligible: float, marks: Array, out: Array) -> int:
    """Run AdaBoost and write the voters' coefficients after marks[0] < marks[1] < ... rounds into the rows of out.

    right[i, j] is y_i h_j(x_i) (float32), by_voter its transpose (int8).  Only the rows that the last voter got wrong
    gain weight, so only they are added to the edges; from time to time weights and edges are computed anew from the
    coefficients.  Stops where the best error is within `negligible` of 1/2, and after a voter without error.  Return
    the number of rounds.
    """
    n, size = right.shape
    a, c, w, largest = np.zeros(size), np.zeros(size), np.ones(n), np.zeros(WIDTH)
    rows, changes = np.arange(n), np.empty(n)
    sides, split = _sides(by_voter)
    made, moved, gross, stopped = 0, 2 * FAR, 0.0, False
    for m in range(marks.size):
        while made < marks[m] and not stopped:
            if moved > FAR or made % FRESH == 0:
                _weigh(by_voter, a, w)
                c[:] = 0.0
                gross, moved = w.sum(), 0.0
                for i in range(n):
                    rows[i] = i
                _add(right, w, rows, n, c)
            k = _loudest(c, TIE * gross, largest)
            sign = 1 if c[k] >= 0 else -1
            wrong = sides[k, : split[k]] if sign > 0 else sides[k, split[k] :]
            error = 0.5 * (1.0 - abs(c[k]) / gross)
            if error >= 0.5 - negligible:
                stopped = True
                break
            if error < 1e-9:  # too small to be told from edges; none at all counts as half an example
                missed = 0.0
                for i in wrong:
                    missed += w[i]
                error, stopped = (missed / gross if missed > 0.0 else 0.5 / n), wrong.size == 0
            alpha = 0.5 * math.log((1.0 - error) / error)
            a[k] += sign * alpha
            moved += 2 * alpha
            made += 1
            gross = _grow(right, w, wrong, math.exp(2 * alpha) - 1.0, gross, c, rows, changes)
        copy(a, out[m])
    return made


@part
def _sides(by_voter: Array) -> tuple[Array, Array]:
    """Return for every voter the rows it gets wrong and then those it gets right, and how many the first are."""
    sides, split = np.empty(by_voter.shape, np.int64), np.empty(by_voter.shape[0], np.int64)
    for k in range(by_voter.shape[0]):
        mine, row, last = sides[k], by_voter[k], 0
        for right in range(2):
            for i in range(row.size):
                if (row[i] == 1) == (right == 1):
                    mine[last] = i
                    last += 1
            if right == 0:
                split[k] = last
    return sides, split


@part
def _grow(
    right: Array, w: Array, wrong: Array, growth: float, gross: float, c: Array, rows: Array, changes: Array
) -> float:
    """Let the weights of some rows grow, add the changes to the edges and return the new sum of the weights.

    rows and changes are workspace.
    """
    least = 1e-20 * gross
    kept = 0
    for m in range(wrong.size):
        i = wrong[m]
        x = w[i] * growth
        w[i] += x
        gross += x
        changes[kept], rows[kept] = x, i
        kept += x > least  # what is less is lost in rounding
    _add(right, changes, rows, kept, c)
    return gross


@part
def _add(right: Array, x: Array, rows: Array, size: int, c: Array) -> None:
    """Add x[m] right[rows[m]] to c for m < size, four at a time."""
    n = c.size
    whole = size - size % 4
    for m in range(0, whole, 4):
        r0, r1, r2, r3 = right[rows[m]], right[rows[m + 1]], right[rows[m + 2]], right[rows[m + 3]]
        x0, x1, x2, x3 = x[m], x[m + 1], x[m + 2], x[m + 3]
        for j in range(n):
            c[j] += (x0 * r0[j] + x1 * r1[j]) + (x2 * r2[j] + x3 * r3[j])
    for m in range(whole, size):
        r0, x0 = right[rows[m]], x[m]
        for j in range(n):
            c[j] += x0 * r0[j]


@part
def _weigh(by_voter: Array, a: Array, w: Array) -> None:
    """Write exp(-y F), up to a factor that makes the largest 1, for the vote with coefficients a."""
    w[:] = 0.0
    for j in range(a.size):
        if a[j] != 0.0:
            w -= a[j] * by_voter[j]
    w -= w.max()
    for i in range(w.size):
        w[i] = math.exp(w[i]) if w[i] > FAINT else 0.0
