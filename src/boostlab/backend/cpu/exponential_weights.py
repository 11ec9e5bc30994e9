"""Exponential weights that follow the scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.vote_update import exp_less, scale_side, wrong_mass
from boostlab.functions.exponential import exp

Array = npt.NDArray[Any]

CELLS = 8  # of a histogram, that an exponential costs as much as


class Exponentials:
    """exp(-y F) up to a common factor; with one score a class exp(-F_c), c the row's class.

    A vote of alpha * h lowers -y F by alpha where h is right and raises it by as much where it is wrong.  With a common
    factor the rows of one side keep their weights to the bit, and those of the other, the side of fewer rows, are
    multiplied by exp(2 alpha) or exp(-2 alpha).  A vote for a class adds alpha to its score and nothing to the others:
    there the factor is exp(alpha) or exp(-alpha).  Before such factors could carry the largest weight beyond exp(40) or
    below exp(-40) all are computed anew from the scores, the largest 1; until then a weight so small that it is not a
    normal number cannot matter.

    Parameters
    ----------
    y : array
        Labels -1 and +1, or class numbers where F has a column a class.
    F : array
        The scores.
    counts : array
        How many examples every row stands for, whole numbers; empty if that is one, or not whole.
    threads : int
        How many threads share the rows.
    """

    FAR = 40.0

    def __init__(self, y: Array, F: Array, counts: Array, threads: int = 1) -> None:
        self.y, self.counts, self.threads = y, counts, threads
        self.size = int(counts.sum()) if len(counts) else len(y)  # examples
        self.gap = 2.0 if F.ndim == 1 else 1.0  # between a right and a wrong vote, in units of alpha
        self._shown = np.empty(0)  # the weights as they were last lent
        self.renew(F)

    def renew(self, F: Array) -> None:
        """Compute all weights from the scores, the largest 1."""
        self.up = self.down = 0.0  # how far a logarithm may have risen, and fallen, since
        if not F.any():  # before the first round
            self._w = np.ones(len(F))
        else:
            self._w = -self.y * F if F.ndim == 1 else -F[np.arange(len(F)), self.y]
            top, n = self._w.item(self._w.argmax()), len(F)
            exp_less.shared(CELLS * n, self.threads, self._w, top, 0, n)
        self._shown = self._w.view()
        self._shown.setflags(write=False)

    @property
    def w(self) -> Array:
        """The weights, to look at; the next round changes them in place."""
        return self._shown

    @property
    def own(self) -> Array:
        """The weights, to be changed in place as `advance` would."""
        return self._w

    def follows(self, h: Array) -> bool:
        """Return whether these votes are labels, or numbers of classes, so that `advance` can take them."""
        return h.dtype == np.int8 if self.gap == 2.0 else h.ndim == 1

    def moved(self, power: float) -> bool:
        """Take note that one side was multiplied by exp(power); return whether the weights are where they should be."""
        self.up, self.down = self.up + max(power, 0.0), self.down + max(-power, 0.0)
        return self.up < self.FAR and self.down < self.FAR

    def advance(self, alpha: float, h: Array, F: Callable[[], Array], voter: Any = None) -> None:
        """Follow a vote of alpha * h; F returns the scores that it led to."""
        n, y, counts = len(h), self.y, self.counts
        apart = self.gap * alpha
        if abs(apart) < self.FAR:
            lost = sum(found[0] for found in wrong_mass.shared(n, self.threads, y, h, counts, 0, n))
            wrong = 2 * lost <= self.size
            power = apart if wrong else -apart
            factor = exp(power)
            scale_side.shared(n, self.threads, self._w, y, h, wrong, factor, 0, n)
            if self.moved(power):
                return
        self.renew(F())
