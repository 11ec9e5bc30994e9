"""Exponential losses that follow the scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.threads import gather
from boostlab.kernels.follow import lift_wrong

Array = npt.NDArray[Any]


class Exponentials:
    """exp(-y F) up to a common factor; with one score a class exp(-F_c), c the row's class.

    A vote of alpha * h lowers -y F by alpha where h is right; with the factor exp(alpha) for all, those rows keep their
    weights to the bit, and the others are multiplied by exp(2 alpha).  A vote for a class adds alpha to its score and
    nothing to the others: there the factor is exp(alpha).  When the largest weight leaves its range all are computed
    anew from the scores; until then a weight so small that it is not a normal number cannot matter.

    Parameters
    ----------
    y : array
        Labels -1 and +1, or class numbers where F has a column a class.
    F : array
        The scores.
    """

    HIGHEST = math.exp(40.0)  # before the weights are brought back to at most 1

    def __init__(self, y: Array, F: Array, threads: int = 1) -> None:
        self.y, self.threads, self.gap = y, threads, 2.0 if F.ndim == 1 else 1.0
        self.renew(F)

    def renew(self, F: Array) -> None:
        """Compute all weights from the scores, the largest 1."""
        logs = -self.y * F if F.ndim == 1 else -F[np.arange(len(F)), self.y]
        logs -= logs.max()
        self._w = np.exp(logs, out=logs)

    @property
    def w(self) -> Array:
        """The weights, to look at; the next round changes them in place."""
        w = self._w.view()
        w.setflags(write=False)
        return w

    @property
    def own(self) -> Array:
        """The weights, for whoever changes them in place as `advance` would."""
        return self._w

    @classmethod
    def factor(cls, alpha: float, gap: float = 2.0) -> float:
        """Return exp(gap alpha), what the weights are multiplied by where a vote is wrong; infinity if too much."""
        return math.exp(gap * alpha) if gap * alpha < math.log(cls.HIGHEST) else math.inf

    def advance(self, alpha: float, h: Array, F: Callable[[], Array]) -> None:
        """Follow a vote of alpha * h; F returns the scores that it led to."""
        factor, n = self.factor(alpha, self.gap), len(h)
        if factor < self.HIGHEST:
            tops = gather(lambda a, b: lift_wrong(self._w, self.y, h, factor, a, b), n, n, self.threads)
            if max(tops) < self.HIGHEST:
                return
        self.renew(F())
