"""The first valley of a sum of exponentials along a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

Array = npt.NDArray[Any]

FARTHEST = 30.0  # AdaBoost's alpha of a voter with a weighted error of 1e-26
FLAT = 1e-14  # no slope: the falling and the rising part of the sum cancel to rounding


def first_valley(sample: Any, along: Callable[[float], tuple[Array, Array]], guess: float) -> tuple[float | None, int]:
    """Return where the sum over the rows of exp(E_i(a)) first stops falling, and the number of evaluations.

    Steps away from the guess until the sum rises, then closes in (Brent's method on the slope, which never leaves its
    bracket).

    Parameters
    ----------
    sample : State
        Supplies sums over the rows (`total`) and `weigh`.
    along : callable
        Returns E(a) and -E'(a), one number a row each.
    guess : float
        A positive number near the answer.

    Returns
    -------
    a : float or None
        0 where the sum does not fall at 0; None where it still falls at `FARTHEST`.
    evaluations : int
    """
    seen: dict[float, float] = {}

    def fall(a: float) -> float:
        """Return how steeply the sum falls: 1 where every term falls, -1 where every term rises."""
        if a not in seen:
            E, q = along(a)
            w = sample.weigh(E)
            signed, gross = sample.total(w * q, w * np.abs(q))
            seen[a] = float(signed / gross) if gross > 0 else 0.0
        return seen[a]

    if fall(0.0) <= FLAT:
        return 0.0, len(seen)
    low, high = 0.0, min(guess, FARTHEST)
    while fall(high) > FLAT and high < FARTHEST:
        low, high = high, min(1.3 * high, FARTHEST)
    if fall(high) > FLAT:
        return None, len(seen)
    if fall(high) >= -FLAT:
        return high, len(seen)
    return float(brentq(fall, low, high, xtol=1e-15, rtol=1e-14)), len(seen)
