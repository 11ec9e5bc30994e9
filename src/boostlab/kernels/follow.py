"""What changes from one round to the next, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel

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
def add_names(F: Array, alpha: float, h: Array, first: int, last: int) -> None:
    """Add alpha to the score of the class h[i], for first <= i < last."""
    for i in range(first, last):
        F[i, h[i]] += alpha
