"""The two equations of a RobustBoost round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import atanh, e, exp, pi, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import erfc, erfcinv

Array = npt.NDArray[Any]

SHORT = 0.02  # of the first step of a walk: no step is shorter


@dataclass(frozen=True)
class Process:
    """The potential of a margin m at time t, from 0 to 1, and how its centre mu and width sigma move.

    Both forms lie in [0, 1], so that eps is a share of the examples: far below mu the potential is 1, and at t = 1 it
    counts the margins that miss the goal.

    Parameters
    ----------
    eps : float
        The potential of m = 0 at t = 0.
    theta, sigma_f : float
        mu and sigma at t = 1.
    clip : bool
        Whether the potential stays at 1 below mu, where examples are given up.
    """

    eps: float
    theta: float
    sigma_f: float
    clip: bool

    @property
    def rho(self) -> float:
        """The drift."""
        width = sqrt(e * e * (self.sigma_f**2 + 1) - 1)
        return (float(erfcinv(self.eps / self.height)) * width + e * self.theta) / (2 * (e - 1))

    @property
    def height(self) -> float:
        """The potential of a margin at mu: 1 with clipping, else 1/2."""
        return 1.0 if self.clip else 0.5

    def mu(self, t: float) -> float:
        """Return the centre."""
        return (self.theta - 2 * self.rho) * exp(1 - t) + 2 * self.rho

    def sigma(self, t: float) -> float:
        """Return the width."""
        return sqrt((self.sigma_f**2 + 1) * exp(2 * (1 - t)) - 1)

    def standard(self, m: Array, t: float) -> Array:
        """Return (m - mu) / sigma."""
        return (m - self.mu(t)) / self.sigma(t)

    def potential(self, m: Array, t: float) -> Array:
        """Return height (1 - erf((m - mu) / sigma)), and 1 below mu if clipped."""
        u = self.standard(m, t)
        return self.height * erfc(np.maximum(u, 0.0) if self.clip else u)

    def log_weight(self, m: Array, t: float) -> Array:
        """Return the logarithm of the potential's slope, up to a common factor."""
        u = self.standard(m, t)
        return np.where(u > 0, -u * u, -np.inf) if self.clip else -u * u


class Drift:
    """The curve (ds, dt) from (0, 0) along which the total potential stays what it is.

    `sample` supplies sums over the rows (`total`, `largest`, `n`); m = decayed margins at time t; b = agreements,
    between -1 and 1.
    """

    def __init__(self, sample: Any, process: Process, m: Array, b: Array, t: float) -> None:
        self.sample, self.process, self.m, self.b, self.t, self.rest = sample, process, m, b, t, 1.0 - t
        self.target = sample.n * process.eps  # what the first round started with: errors do not add up
        self.evaluations = 0

    def moved(self, ds: float, dt: float) -> Array:
        """Return the margins after a step."""
        return self.m * exp(-dt) + ds * self.b

    def excess(self, ds: float, dt: float) -> float:
        """Return the total potential after a step less what it should be."""
        self.evaluations += 1
        return float(self.sample.total(self.process.potential(self.moved(ds, dt), self.t + dt))) - self.target

    def edge(self, ds: float, dt: float) -> float:
        """Return the edge of the voter after a step; -1 where every example has been given up."""
        logs = self.process.log_weight(self.moved(ds, dt), self.t + dt)
        top = self.sample.largest(logs)
        if top == -np.inf:
            return -1.0
        w = np.exp(logs - top)
        signed, whole = self.sample.total(w * self.b, w)
        return float(signed / whole)

    def time(self, ds: float, since: float = 0.0, tol: float = 1e-15) -> float | None:
        """Return the first dt from `since` on that brings the potential back; None if it stays below until t = 1.

        Time may lower the potential as well, when sigma shrinks around margins beyond mu: it is looked for in steps.
        """
        low, step = since, self.rest / 64
        if self.excess(ds, low) >= 0.0:
            return low
        while low < self.rest:
            high = min(low + step, self.rest)
            if self.excess(ds, high) >= 0.0:
                return _root(lambda dt: self.excess(ds, dt), low, high, tol)
            low, step = high, min(1.5 * step, self.rest / 10)
        return None

    def newton(self, ds: float, dt: float) -> tuple[float, float] | None:
        """Return the solution of both equations near a starting point, or None."""
        p, total, n = self.process, self.sample.total, self.sample.n
        for _ in range(20):
            if not (0.0 < ds < 1e3 and 0.0 < dt <= 2.0 * self.rest and self.t + dt < 1.5):
                return None
            x, t = self.moved(ds, dt), self.t + dt
            variance = (p.sigma_f**2 + 1) * exp(2 * (1 - t)) - 1
            if variance <= 0.0:
                return None
            u, sigma = (x - p.mu(t)) / sqrt(variance), sqrt(variance)
            w = np.exp(-u * u) * (u > 0) if p.clip else np.exp(-u * u)
            u_s = self.b / sigma
            u_t = (ds * self.b - x + p.mu(t) - 2 * p.rho) / sigma + u * (variance + 1) / variance
            E = self.excess(ds, dt)
            W, B, E_s, E_t = total(w, w * self.b, w * u_s, w * u_t)
            if W <= 0.0:
                return None
            if abs(E) <= 1e-14 * n and abs(B) <= 1e-11 * W:
                return ds, dt
            B_s, B_t = total(-2 * u * w * self.b * u_s, -2 * u * w * self.b * u_t)
            slope = -2 / sqrt(pi) * p.height
            E_s, E_t = slope * E_s, slope * E_t
            bottom = E_s * B_t - E_t * B_s
            if abs(bottom) <= 1e-14 * W * W:
                return None
            ds += (E_t * B - B_t * E) / bottom
            dt += (B_s * E - E_s * B) / bottom
        return None

    def last_step(self, low: float, high: float) -> tuple[float, float]:
        """Return a step to t = 1 beyond which the curve goes when ds passes from low to high.

        It keeps the potential, if it can; else the potential has fallen by itself, and the step makes the best of it.
        """
        if self.excess(low, self.rest) >= 0.0 > self.excess(high, self.rest):
            return _root(lambda ds: self.excess(ds, self.rest), low, high), self.rest
        if self.edge(low, self.rest) <= 0.0:
            return high, self.rest
        for _ in range(100):
            if self.edge(high, self.rest) <= 0.0:
                return _root(lambda ds: self.edge(ds, self.rest), low, high), self.rest
            low, high = high, high + (high - low)
        return high, self.rest

    def least(self, low: tuple[float, float], high: tuple[float, float]) -> float:
        """Return a lower bound of sum of b w, up to a positive factor, for all (ds, dt) between two points.

        With q = e^(-dt) the distance x - mu is q a + ds b - 2 rho, a = m - (theta - 2 rho) e^(1-t): linear in q and ds.
        """
        p, q = self.process, (exp(-high[1]), exp(-low[1]))
        a = self.m - (p.theta - 2 * p.rho) * exp(self.rest)
        near = np.minimum(q[0] * a, q[1] * a) + np.minimum(low[0] * self.b, high[0] * self.b) - 2 * p.rho
        far = np.maximum(q[0] * a, q[1] * a) + np.maximum(low[0] * self.b, high[0] * self.b) - 2 * p.rho
        wide, narrow = p.sigma(self.t + low[1]), p.sigma(self.t + high[1])
        u = near / np.where(near < 0, narrow, wide)  # <= (x - mu) / sigma
        v = far / np.where(far < 0, wide, narrow)
        most, fewest = -(np.clip(0.0, u, v) ** 2), -(np.maximum(np.abs(u), np.abs(v)) ** 2)
        if p.clip:
            most, fewest = np.where(v > 0, most, -np.inf), np.where(u > 0, fewest, -np.inf)
        logs = np.where(self.b > 0, fewest, most)
        top = self.sample.largest(logs)
        self.evaluations += 1
        return 0.0 if top == -np.inf else float(self.sample.total(self.b * np.exp(logs - top)))

    def search(self, found: tuple[float, float] | None = None) -> tuple[float, float] | None:
        """Walk along the curve to the first point without an edge, or to the end of time.

        A step is as long as it is certain that the edge stays positive: clipped weights jump, so that the edge may be
        gone, come back, and be gone again.  Nothing is certain near a root; there steps are at least SHORT.

        Parameters
        ----------
        found : a solution of both equations, which is taken unless the edge is gone before
        """
        low, since, step = 0.0, 0.0, 0.05 * self.process.sigma(self.t)
        short, blur, end = SHORT * step, 1e-6 * self.rest, (np.inf, 0.0) if found is None else found
        for _ in range(2000):
            if end[0] - low <= short:
                return end
            high = min(low + step, end[0])
            near = self.time(high, since, blur)
            until = self.rest if near is None else min(near + blur, self.rest)
            if self.least((low, since), (high, until)) > 0.0:
                step *= 1.5
            elif high - low > short:
                step = (high - low) / 2
                continue
            elif (dt := self.time(high, since)) is not None and self.edge(high, dt) <= 0.0:
                return self._crossing(low, high, since)
            if near is None:
                return self.last_step(low, high)
            low, since = high, max(since, near - blur)
        return None

    def _crossing(self, low: float, high: float, since: float) -> tuple[float, float]:
        """Return where the edge changes its sign; with clipping it may jump, and then this is where it jumps."""

        def along(ds: float) -> float:
            dt = self.time(ds, since)
            return 1.0 if dt is None else self.edge(ds, dt)

        ds = _root(along, low, high) if along(low) > 0.0 else low
        dt = self.time(ds, since)
        return self.last_step(low, ds) if dt is None else (ds, dt)


def _root(f: Callable[[float], float], low: float, high: float, tol: float = 1e-15) -> float:
    return float(brentq(f, low, high, xtol=tol, rtol=1e-14))


def advance_drift(
    sample: Any, process: Process, m: Array, b: Array, t: float, edge: float, last: tuple[float, float] | None
) -> tuple[float, float, int] | None:
    """Return ds, dt and the number of evaluations of one round, or None.

    Newton's method from the last round's solution, from AdaBoost's step and from the end of time; then a walk, which
    takes its solution unless the edge is gone before.  Votes are scaled to at most 1 and ds back.
    """
    scale = sample.largest(np.abs(b))
    if scale != 1.0:
        near = None if last is None else (last[0] * scale, last[1])
        scaled = advance_drift(sample, process, m, b / scale, t, edge / scale, near)
        return None if scaled is None else (scaled[0] / scale, *scaled[1:])
    drift = Drift(sample, process, m, b, t)
    rest, alpha = drift.rest, atanh(min(edge, 1 - 1e-6))
    for start in (last, (alpha, min(alpha * alpha, rest)), (sqrt(rest), rest)):
        found = drift.newton(*start) if start is not None else None
        if found is not None and found[0] > 0.0 and found[1] > 0.0:
            break
    else:
        found = None
    if found is not None and found[1] >= rest:
        found = None  # the clock runs out first
    walked = drift.search(found)
    return None if walked is None else (*walked, drift.evaluations)
