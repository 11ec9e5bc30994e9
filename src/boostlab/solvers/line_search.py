"""The first valley of a sum of exponentials along a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from boostlab.contract import AGAIN, TAKEN, UNUSUAL, State, exp, formula, log

FARTHEST = 30.0  # AdaBoost's alpha of a voter with a weighted error of 1e-26
FLAT = 1e-14  # no slope: the falling and the rising part of the sum cancel to rounding
NEAR = 1e-8  # a Newton step so small, relative to the answer, leaves an error of its square
LEAST, MOST = 1e-100, 1e100  # between which a sum is neither lost nor infinite
MOST_LOOKS = 200
Formula = Callable[..., Any]


@formula
def slopes(E: float, q: float, bend: float) -> tuple[float, float, float, float, float]:
    """exp(E), how fast it falls, how fast it rises, and how fast these two change; q = -E' and bend = q'."""
    x = exp(min(E, 600.0))
    change = x * (q * q - bend)
    return x, x * max(q, 0.0), x * max(-q, 0.0), change if q > 0.0 else 0.0, change if q < 0.0 else 0.0


@formula
def toward_valley(
    a: float, low: float, high: float, guess: float, fall: float, rise: float, less: float, more: float
) -> tuple[int, float, float, float]:
    """What the sums at `a` say of the valley, and where to look next: a, and what is known to fall and to rise.

    It is at a if they say `TAKEN`, and there is none up to `FARTHEST` if they say `UNUSUAL`.  The step is Newton's on
    log(fall / rise), which for AdaBoost's loss is a straight line.
    """
    slope = (fall - rise) / max(fall + rise, 1e-300)
    if abs(slope) <= FLAT or (a == 0.0 and slope < 0.0):
        return TAKEN, a, low, high
    if a == FARTHEST and slope > 0.0:
        return UNUSUAL, a, low, high
    if a == 0.0:
        return AGAIN, min(guess, FARTHEST), low, high
    low, high = (a, high) if slope > 0.0 else (low, a)
    step = inf  # beyond all that is known
    if fall > 0.0 and rise > 0.0:
        step = log(fall / rise) / max(less / fall + more / rise, 1e-300)
    elif high < inf:
        step = (fall - rise) / max(less + more, 1e-300)
    if abs(step) <= NEAR * a:
        return TAKEN, a + step, low, high
    farthest = min(1.3 * a, FARTHEST)
    if low < a + step < high:
        return AGAIN, a + step if high < inf else min(a + step, farthest), low, high
    return AGAIN, 0.5 * (low + high) if high < inf else farthest, low, high


@dataclass
class Line:
    """The sum over the rows of exp(E_i(a)).

    Parameters
    ----------
    s : State
        Holds the rows.
    exponent, terms : formulas
        E(a), with the numbers a, *numbers; and `slopes` of E(a) - level, with the numbers a, level, *numbers.
    numbers : tuple of floats
        What else they take.
    level : float
        About the largest E; found anew where the sum leaves the range of floats.
    """

    s: State
    exponent: Formula
    terms: Formula
    numbers: tuple[float, ...]
    level: float
    evaluations: int = 0

    def at(self, a: float) -> tuple[float, ...]:
        """Return the five sums of `terms`."""
        self.evaluations += 1
        sums: tuple[float, ...] = self.s.total(self.terms, a, self.level, *self.numbers)
        if not LEAST < sums[0] < MOST:
            self.level = self.s.largest(self.exponent, a, *self.numbers)
            sums = self.s.total(self.terms, a, self.level, *self.numbers)
        return sums

    def first_valley(self, guess: float, falls: bool = False) -> tuple[float | None, float]:
        """Return where the sum first stops falling, and the logarithm of the sum there.

        Newton's method from the guess, between what is known to fall and to rise (see `toward_valley`).

        Parameters
        ----------
        guess : float
            A positive number near the answer.
        falls : bool
            Whether the sum is known to fall at 0.

        Returns
        -------
        a : float or None
            0 where the sum does not fall at 0; None where it still falls at `FARTHEST`.
        log_sum : float
        """
        low, high, a = 0.0, inf, min(guess, FARTHEST) if falls else 0.0
        for _ in range(MOST_LOOKS):
            whole, *sums = self.at(a)
            log_sum = self.level + log(whole)
            said, a, low, high = toward_valley(a, low, high, guess, *sums)
            if said != AGAIN:
                return (a if said == TAKEN else None), log_sum
        return a, log_sum
