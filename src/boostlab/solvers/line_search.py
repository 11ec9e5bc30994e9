"""The first valley of a sum of exponentials along a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from boostlab.contract import State, exp, formula, log

FARTHEST = 30.0  # AdaBoost's alpha of a voter with a weighted error of 1e-26
FLAT = 1e-14  # no slope: the falling and the rising part of the sum cancel to rounding
NEAR = 1e-8  # a Newton step so small, relative to the answer, leaves an error of its square
Formula = Callable[..., Any]


@formula
def slopes(E: float, q: float, bend: float) -> tuple[float, float, float, float, float]:
    """exp(E), how fast it falls, how fast it rises, and how fast these two change; q = -E' and bend = q'."""
    x = exp(min(E, 600.0))
    change = x * (q * q - bend)
    return x, x * max(q, 0.0), x * max(-q, 0.0), change if q > 0.0 else 0.0, change if q < 0.0 else 0.0


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
        if not 1e-100 < sums[0] < 1e100:
            self.level = self.s.largest(self.exponent, a, *self.numbers)
            sums = self.s.total(self.terms, a, self.level, *self.numbers)
        return sums

    def first_valley(self, guess: float, falls: bool = False) -> tuple[float | None, float]:
        """Return where the sum first stops falling, and the logarithm of the sum there.

        Newton's method on log(fall / rise), which for AdaBoost's loss is a straight line, from the guess and between
        what is known to fall and to rise.

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
        low, high, a = 0.0, float("inf"), min(guess, FARTHEST) if falls else 0.0
        for _ in range(200):
            whole, fall, rise, less, more = self.at(a)
            slope, log_sum = (fall - rise) / max(fall + rise, 1e-300), self.level + log(whole)
            if abs(slope) <= FLAT or (a == 0.0 and slope < 0.0):
                return a, log_sum
            if a == FARTHEST and slope > 0.0:
                return None, log_sum
            if a == 0.0:
                a = min(guess, FARTHEST)
                continue
            low, high = (a, high) if slope > 0.0 else (low, a)
            step = float("nan")
            if fall > 0.0 and rise > 0.0:
                step = log(fall / rise) / max(less / fall + more / rise, 1e-300)
            elif high < float("inf"):
                step = (fall - rise) / max(less + more, 1e-300)
            if abs(step) <= NEAR * a:
                return a + step, log_sum
            farthest = min(1.3 * a, FARTHEST)
            if low < a + step < high:
                a = a + step if high < float("inf") else min(a + step, farthest)
            else:
                a = 0.5 * (low + high) if high < float("inf") else farthest
        return a, log_sum
