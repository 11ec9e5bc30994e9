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
        self._w = np.exp(logs, out=logs)

    @property
    def w(self) -> Array:
        """The weights, to look at; the next round changes them in place."""
        w = self._w.view()
        w.setflags(write=False)
        return w

    def advance(self, F: Array, alpha: float, h: Array) -> None:
        """Follow scores that have become F by a vote of alpha * h."""
        lift, size = self.lift + alpha, int(np.count_nonzero(h != self.y)) + 1
        rows, logs = np.empty(size, np.int32 if len(F) < 2**31 else np.int64), np.empty(size)
        wrong_logs(F, self.y, h, lift, rows, logs)
        rows, logs = rows[:-1], logs[:-1]
        if logs.max(initial=0.0) < self.HIGHEST:
            put(np.exp(logs, out=logs), rows, self._w)
            self.lift = lift
        else:
            self._renew(F)
