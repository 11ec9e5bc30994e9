"""What changes from one round to the next, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel
from boostlab.kernels.sums import _scales

Array = np.ndarray[Any, Any]


@kernel
def wrong_logs(F: Array, y: Array, h: Array, lift: float, rows: Array, logs: Array) -> int:
    """List the rows where h differs from y, and lift - y F there; return how many they are.

    There must be room for one more: what is written there says nothing.
    """
    at = 0
    for i in range(F.size):
        rows[at] = i
        logs[at] = lift - y[i] * F[i]
        at += h[i] != y[i]
    return at


@kernel
def put(values: Array, rows: Array, out: Array) -> None:
    """Write values to the listed rows of out."""
    for k in range(rows.size):
        out[rows[k]] = values[k]


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
def follow(x: Array, counts: Array, k: int, first: int, last: int, q: Array, rows: Array) -> int:
    """Bring q = counts * rint(x * 2^k) up to date for first <= i < last; return how many rows changed.

    They are listed in rows[first:].  The memory of x is used up: it holds the changes of q.
    """
    changes = x.view(np.int64)
    scale, more = _scales(k)
    at = first
    for i in range(first, last):
        times = counts[i] if counts.size > 0 else np.int64(1)
        new = times * np.int64(np.rint(x[i] * scale * more))
        changes[i] = new - q[i]
        rows[at] = i
        at += new != q[i]
        q[i] = new
    return at - first
