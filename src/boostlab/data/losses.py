"""Exponential losses that follow the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.threads import gather
from boostlab.kernels.follow import raise_wrong

Array = npt.NDArray[Any]


class Exponentials:
    """exp(-y F) up to a common factor.

    A vote of alpha * h lowers -y F by alpha where h is right; with the factor exp(alpha) for all, those rows keep their
    weights to the bit and only the others need a new exponential.
    """

    HIGHEST = 2.0**60  # of the weights, before they are brought back to at most 1

    def __init__(self, y: Array, F: Array, threads: int) -> None:
        self.y, self.threads = y, threads
        self._renew(F)

    def _renew(self, F: Array) -> None:
        logs = -self.y * F
        self.lift = -float(logs.max())
        logs += self.lift
        self.w = np.exp(logs, out=logs)
        self.w.setflags(write=False)

    def advance(self, F: Array, alpha: float, h: Array) -> None:
        """Follow scores that have become F by a vote of alpha * h."""
        n, lift, w = len(F), self.lift + alpha, self.w.copy()
        tops = gather(lambda a, b: raise_wrong(F, self.y, h, lift, a, b, w), n, 8 * n, self.threads)
        if max(tops) < self.HIGHEST:
            w.setflags(write=False)
            self.lift, self.w = lift, w
        else:
            self._renew(F)
