"""What changes from one round to the next, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel

Array = np.ndarray[Any, Any]


@kernel
def lift_wrong(w: Array, y: Array, h: Array, factor: float, first: int, last: int) -> float:
    """Multiply w by the factor where h differs from y, for first <= i < last; return the largest such w."""
    mine, y, h = w[first:last], y[first:last], h[first:last]
    for i in range(mine.size):
        mine[i] *= factor if h[i] != y[i] else 1.0
    bits, top = mine.view(np.int64), np.int64(0)
    for i in range(mine.size):  # positive floats order like integers
        top = max(top, bits[i] if h[i] != y[i] else np.int64(0))
    return np.int64(top).view(np.float64)


@kernel
def add_votes(F: Array, alpha: float, h: Array, first: int, last: int) -> None:
    """Add alpha * h to F, for first <= i < last."""
    for i in range(first, last):
        F[i] += alpha * h[i]


@kernel
def add_names(F: Array, alphas: Array, H: Array, first: int, last: int) -> None:
    """Add alphas[t] to the score of the class H[t, i], for all t in order and first <= i < last."""
    for i in range(first, last):
        for t in range(alphas.size):
            F[i, H[t, i]] += alphas[t]
