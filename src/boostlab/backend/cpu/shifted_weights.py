"""Exponential weights that follow the scores up to a shift: a vote changes those on one of its sides only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.exponential_weights import CELLS, Exponentials
from boostlab.backend.cpu.kernels.vote_update import exp_of, mass_voted, of_both_labels, scale_voted

Array = npt.NDArray[Any]


class ScoreShift:
    """How far scores F = G + shift are from those that weights v = exp(-y G) are of, and how far these may have moved.

    A vote of alpha * h moves the scores by alpha where h = 1 and by -alpha elsewhere: by 2 alpha * side on one side, of
    fewer rows, and all of them by -alpha * side, which is left to the shift.  The weights exp(-y F) are v times one
    number for each label.
    """

    FAR = 40.0  # how far logarithms of weights may have moved
    MOST = 2.0  # how far the shift may go: the sums of both labels share a scale

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin anew: G is F."""
        self.shift = self.far = 0.0
        self._factors = 0.0, (1.0, 1.0)  # of which shift, and these

    def serves(self, alpha: float) -> bool:
        """Return whether weights can follow such a vote."""
        return abs(2 * alpha) < self.FAR

    def follow(self, alpha: float, side: int) -> bool:
        """Take note of a vote whose side 1 or -1 was moved; return whether the weights are where they should be."""
        self.shift, self.far = self.shift - alpha * side, self.far + abs(2 * alpha)
        return self.within

    @property
    def within(self) -> bool:
        """Whether the weights need not be made anew."""
        return self.far < self.FAR and abs(self.shift) <= self.MOST

    @property
    def factors(self) -> tuple[float, float]:
        """What v is multiplied by where y = -1, and where y = 1."""
        if self._factors[0] != self.shift:
            self._factors = self.shift, (exp_of(self.shift), exp_of(-self.shift))
        return self._factors[1]

    @staticmethod
    def side(voted: int, size: int, above: int) -> int:
        """Return which side moves, if so many of so many examples are voted 1: of equal sides the one above the cut."""
        return above if 2 * voted == size else 1 if 2 * voted < size else -1

    @staticmethod
    def moves(alpha: float) -> tuple[float, float]:
        """Return what weights on the side that moves are multiplied by: where the vote is right, and where wrong."""
        return exp_of(-2 * alpha), exp_of(2 * alpha)


class ShiftedExponentials(Exponentials):
    """exp(-y F) up to a common factor, as `Exponentials` keeps it, but for a shift of the scores (see `ScoreShift`).

    Where a stump's cut is far from the middle this changes few rows, where one factor for both labels changes nearly
    half of them.  Parameters are those of `Exponentials`, for labels -1 and +1.
    """

    def __init__(self, y: Array, F: Array, counts: Array, threads: int = 1) -> None:
        self.at = ScoreShift()
        super().__init__(y, F, counts, threads)

    def renew(self, F: Array) -> None:
        """Compute all weights from the scores, the largest 1."""
        super().renew(F)
        self.at.renew()
        self._whole: Array | None = None

    @property
    def v(self) -> Array:
        """The weights without the shift, to look at."""
        return self._shown

    @property
    def w(self) -> Array:
        """The weights: made when they are asked for, the same array until the next vote."""
        if self._whole is None:
            n, whole = len(self._w), np.empty_like(self._w)
            of_both_labels.shared(CELLS * n, self.threads, self._w, self.y, *self.at.factors, 0, n, whole)
            whole.setflags(write=False)
            self._whole = whole
        return self._whole

    @property
    def own(self) -> Array:
        """The weights without the shift, to be changed in place as `advance` would."""
        self._whole = None
        return self._w

    def advance(self, alpha: float, h: Array, F: Callable[[], Array], voter: Any = None) -> None:
        """Follow a vote of alpha * h, of this voter; F returns the scores that it led to."""
        if self.at.serves(alpha):
            n, w = len(h), self.own
            voted = sum(found[0] for found in mass_voted.shared(n, self.threads, h, self.counts, 0, n))
            side = ScoreShift.side(voted, self.size, voter.above)
            scale_voted.shared(CELLS * n, self.threads, w, self.y, h, side, *ScoreShift.moves(alpha), 0, n)
            if self.at.follow(alpha, side):
                return
        self.renew(F())
