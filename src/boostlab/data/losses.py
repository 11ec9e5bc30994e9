"""Exponential losses that follow the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.kernels.follow import put, wrong_logs

Array = npt.NDArray[Any]


class Exponentials:
    """exp(-y F) up to a common factor.

    A vote of alpha * h lowers -y F by alpha where h is right; with the factor exp(alpha) for all, those rows keep their
    weights to the bit and only the others need a new exponential.
    """

    HIGHEST = 40.0  # of the logarithms, before the weights are brought back to at most 1

    def __init__(self, y: Array, F: Array) -> None:
        self.y = y
        self._renew(F)

    def _renew(self, F: Array) -> None:
        logs = -self.y * F
        self.lift = -float(logs.max())
        logs += self.lift
        self.w = np.exp(logs, out=logs)
        self.w.setflags(write=False)

    def advance(self, F: Array, alpha: float, h: Array) -> None:
        """Follow scores that have become F by a vote of alpha * h."""
        n, lift = len(F), self.lift + alpha
        rows, logs = np.empty(n, np.int32 if n < 2**31 else np.int64), np.empty(n)
        size = wrong_logs(F, self.y, h, lift, rows, logs)
        logs = logs[:size]
        if logs.max(initial=0.0) < self.HIGHEST:
            w = self.w.copy()
            put(np.exp(logs, out=logs), rows[:size], w)
            w.setflags(write=False)
            self.lift, self.w = lift, w
        else:
            self._renew(F)
