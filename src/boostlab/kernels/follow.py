"""What changes from one round to the next, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel

Array = np.ndarray[Any, Any]


@kernel
def wrong_mass(y: Array, h: Array, counts: Array, first: int, last: int) -> int:
    """Return how many rows first <= i < last are voted wrong, each counted so often (once if counts is empty)."""
    wrong = np.int64(0)
    for i in range(first, last):
        wrong += (counts[i] if counts.size > 0 else np.int64(1)) * (h[i] != y[i])
    return wrong  # type: ignore[return-value]


@kernel
def scale_side(w: Array, y: Array, h: Array, wrong: bool, factor: float, first: int, last: int) -> None:
    """Multiply w by the factor where h is wrong (or where it is right), for first <= i < last."""
    for i in range(first, last):
        w[i] *= factor if (h[i] != y[i]) == wrong else 1.0


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
