"""What changes from one round to the next, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel
from boostlab.kernels.sums import _scales

Array = np.ndarray[Any, Any]


@kernel
def lift_wrong(w: Array, y: Array, h: Array, factor: float, first: int, last: int) -> float:
    """Multiply w by the factor where h differs from y, for first <= i < last; return the largest such w."""
    top = 0.0
    for i in range(first, last):
        wrong = h[i] != y[i]
        w[i] *= factor if wrong else 1.0
        top = max(top, w[i] if wrong else 0.0)
    return top


@kernel
def add_votes(F: Array, alpha: float, h: Array, first: int, last: int) -> None:
    """Add alpha * h to F, for first <= i < last."""
    for i in range(first, last):
        F[i] += alpha * h[i]


@kernel
def measure(x: Array, counts: Array, k: int, first: int, last: int) -> tuple[int, int, float]:
    """Return the sums of q and of |q|, q = counts * rint(x * 2^k), and the latter in floating point."""
    scale, more = _scales(k)
    signed, gross, rough = np.int64(0), np.int64(0), 0.0
    for i in range(first, last):
        v = x[i] * scale * more
        times = counts[i] if counts.size > 0 else np.int64(1)
        q = times * np.int64(np.rint(v))
        signed += q
        gross += abs(q)
        rough += times * abs(v)
    return signed, gross, rough  # type: ignore[return-value]


@kernel
def follow(x: Array, counts: Array, k: int, first: int, last: int, q: Array, rows: Array, changes: Array) -> int:
    """Bring q = counts * rint(x * 2^k) up to date for first <= i < last; return how many rows changed.

    They are listed in rows[first:], and their changes of q in changes[first:], which may be the memory of x.
    """
    scale, more = _scales(k)
    at = first
    for i in range(first, last):
        times = counts[i] if counts.size > 0 else np.int64(1)
        new = times * np.int64(np.rint(x[i] * scale * more))
        rows[at], changes[at] = i, new - q[i]
        at += new != q[i]
        q[i] = new
    return at - first
