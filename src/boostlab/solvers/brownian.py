"""The two equations of a BrownBoost round."""

from __future__ import annotations

from math import exp, log, pi, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import erfc, log_ndtr

Array = npt.NDArray[Any]

UNDERFLOW = 500.0  # from this total time on erfc(sqrt c) is too small for a float, and logarithms are taken


class Clock:
    """The curve (alpha, t) from (0, 0) along which the potential stays constant.

    `sample` supplies sums over the rows (`total`, `largest`, `n`); a = margins plus time left; b = agreements, between
    -1 and 1.  Potentials are measured in units of the first round's, erfc(sqrt c): a tiny one is conserved, too.
    """

    def __init__(self, sample: Any, a: Array, b: Array, c: float) -> None:
        self.sample, self.a, self.b, self.c = sample, a, b, c
        self.log_unit = float(log_ndtr(-sqrt(2.0 * c))) + log(2.0)
        self.tolerance = 2e-14 * (1.0 + c)  # what rounding allows: erfc(u) is as uncertain as u^2
        self.evaluations = 0

    def excess(self, alpha: float, t: float) -> float:
        """Return how far the potential is below the first round's (so that errors do not add up); falls in t."""
        self.evaluations += 1
        u = (self.a + alpha * self.b - t) / sqrt(self.c)
        if self.c < UNDERFLOW:
            units = erfc(u) * exp(-self.log_unit)
        else:
            units = np.exp(np.minimum(log_ndtr(-sqrt(2.0) * u) + (log(2.0) - self.log_unit), UNDERFLOW))
        return float(self.sample.n - self.sample.total(units))

    def edge(self, alpha: float, t: float) -> float:
        """Return the edge of the voter at this point of the curve."""
        d = self.a + alpha * self.b - t
        logs = -d * d / self.c
        w = np.exp(logs - self.sample.largest(logs))
        signed, whole = self.sample.total(w * self.b, w)
        return float(signed / whole)

    def time(self, alpha: float) -> float:
        """Return t(alpha), the unique t on the curve: |t| <= alpha."""
        if alpha == 0.0:
            return 0.0
        low, high = -alpha * 1.0001 - 1e-12, alpha * 1.0001 + 1e-12
        return float(brentq(lambda t: self.excess(alpha, t), low, high, xtol=1e-15, rtol=1e-14))

    def newton(self, alpha: float, t: float) -> tuple[float, float] | None:
        """Return the solution of both equations near a starting point, or None."""
        total, n = self.sample.total, self.sample.n
        for _ in range(25):
            d = self.a + alpha * self.b - t
            logs = -d * d / self.c
            shift = self.sample.largest(logs)
            if self.log_unit - shift > UNDERFLOW:
                return None
            w = np.exp(logs - shift)
            E = self.excess(alpha, t)
            W, B, U, V = total(w, w * self.b, w * d * self.b, w * d * self.b * self.b)
            if abs(E) <= self.tolerance * n and abs(B) <= 1e-11 * W:
                return alpha, t
            E *= exp(self.log_unit - shift)
            bottom = 2.0 * (V * W - U * B)
            if abs(bottom) <= 1e-14 * W * W:
                return None
            alpha += (self.c * W * B + sqrt(pi * self.c) * U * E) / bottom
            t += (self.c * B * B + sqrt(pi * self.c) * V * E) / bottom
            if not (0.0 < alpha < 1e3 and abs(t) < 1e3):
                return None
        return None

    def last_step(self, alpha_beyond: float, left: float) -> tuple[float, float]:
        """Return the step that uses up the clock; at alpha_beyond the curve is past it."""
        alpha = brentq(lambda v: self.excess(v, left), 0.0, alpha_beyond, xtol=1e-15, rtol=1e-14)
        return float(alpha), left

    def search(self, left: float) -> tuple[float, float] | None:
        """Walk along the curve to the first point without an edge, or to the end of the clock."""
        step, low = 0.05 * sqrt(self.c), 0.0
        for _ in range(2000):
            high = low + step
            t = self.time(high)
            if t >= left:
                return self.last_step(high, left)
            if self.edge(high, t) <= 0.0:
                alpha = float(brentq(lambda v: self.edge(v, self.time(v)), low, high, xtol=1e-14, rtol=1e-14))
                return alpha, self.time(alpha)
            low, step = high, step * 1.02
        return None


def advance_clock(
    sample: Any, a: Array, b: Array, c: float, left: float, edge: float, last: tuple[float, float] | None
) -> tuple[float, float, int] | None:
    """Return alpha, t and the number of evaluations of one round, or None.

    Newton's method from the last round's solution and from a guess; if neither ends at a sensible point, a safe walk.
    Votes are scaled to at most 1 and alpha back.
    """
    scale = sample.largest(np.abs(b))
    if scale != 1.0:
        near = None if last is None else (last[0] * scale, last[1])
        scaled = advance_clock(sample, a, b / scale, c, left, edge / scale, near)
        return None if scaled is None else (scaled[0] / scale, *scaled[1:])
    clock = Clock(sample, a, b, c)
    guess = (sqrt(c) * edge, sqrt(c) * edge * edge)
    for start in (last, guess):
        found = clock.newton(*start) if start is not None else None
        if found is not None and found[0] > 0.0 and found[1] > 0.0:
            if found[1] >= left:
                found = clock.last_step(found[0], left)
            return *found, clock.evaluations
    walked = clock.search(left)
    return None if walked is None else (*walked, clock.evaluations)
