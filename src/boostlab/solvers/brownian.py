"""The two equations of a BrownBoost round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import pi, sqrt

from scipy.optimize import brentq

from boostlab.contract import AGAIN, TAKEN, UNUSUAL, State, erfc, exp, formula
from boostlab.functions import erfcinv, log_erfc
from boostlab.functions.error import BORDER, erfc_parts, erfcx_parts, within

MOST = 500.0  # the logarithm of a potential or weight, in units: larger ones are far from the curve
NEAR = 2e-7  # a Newton step so small leaves an error of its square
MOST_LOOKS = 25
LATE = 1e-9  # so close to its end the clock runs out


@formula
def erfc_in_units(x: float, w: float, one: float) -> float:
    """erfc(x) in units, from w = exp(-x^2) and 1 in these units: no matter how small it is."""
    a = abs(x)
    high, low = erfcx_parts(within(a, BORDER, 1e18))
    tail = w * (high + low)
    near, _ = erfc_parts(within(x, -BORDER, BORDER))
    return one * near if a < BORDER else (2.0 * one - tail if x < 0.0 else tail)


@formula
def potential_at(
    y: float, F: float, h: float, per: float, unit: float, log_unit: float, one: float, alpha: float, rest: float
) -> float:
    """The potential of the margin after alpha, with `rest` of the time left."""
    x = y * (per * F + alpha * unit * h) + rest
    return erfc_in_units(x, exp(min(-x * x - log_unit, MOST)), one)


@formula
def sums_at(
    y: float, F: float, h: float, per: float, unit: float, log_unit: float, one: float, alpha: float, rest: float
) -> tuple[float, float, float, float, float]:
    """The potential, w, w b, w x b and w x b^2 there; b = y h."""
    b = y * unit * h
    x = per * y * F + alpha * b + rest
    w = exp(min(-x * x - log_unit, MOST))
    return erfc_in_units(x, w, one), w, w * b, w * x * b, w * x * b * b


@formula
def log_weight_at(y: float, F: float, h: float, per: float, unit: float, alpha: float, rest: float) -> float:
    """-x^2."""
    x = y * (per * F + alpha * unit * h) + rest
    return -x * x


@formula
def edge_at(
    y: float, F: float, h: float, per: float, unit: float, top: float, alpha: float, rest: float
) -> tuple[float, float]:
    """w and w b there, in units of exp(top)."""
    w = exp(log_weight_at(y, F, h, per, unit, alpha, rest) - top)
    return w, w * y * unit * h


@formula
def newton_step(
    alpha: float, t: float, n: float, P: float, W: float, B: float, U: float, V: float
) -> tuple[int, float, float]:
    """What the sums at a point say of the solution: near it (`TAKEN`), or far (`AGAIN`), and the point to go to.

    They say `UNUSUAL` where there is no such point.
    """
    E, bottom, more, later = 0.5 * sqrt(pi) * (n - P), V * W - U * B, 0.0, 0.0
    if exp(-MOST) > W or abs(bottom) <= 1e-14 * W * W:
        return UNUSUAL, alpha, t
    for _ in range(2):  # the second time with E's own curvature: it hardly has a slope in alpha
        now = E - V * more * more + 2.0 * U * more * later
        more, later = (0.5 * W * B + U * now) / bottom, (0.5 * B * B + V * now) / bottom
    alpha, t = alpha + more, t + later
    if not (0.0 < alpha < 1e3 and abs(t) < 1e3):
        return UNUSUAL, alpha, t
    return TAKEN if max(abs(more), abs(later)) <= NEAR else AGAIN, alpha, t


@lru_cache(64)
def time_for(error: float) -> float:
    """Return the total time at whose end the error is at most so large: a round asks for it several times."""
    return erfcinv(error) ** 2


@lru_cache(64)
def unit_for(root: float) -> tuple[float, float]:
    """Return erfc(sqrt(c)) and its logarithm."""
    return erfc(root), log_erfc(root)


@lru_cache(64)
def one_for(log_unit: float) -> float:
    """Return 1 in units of which this is the logarithm."""
    return exp(min(-log_unit, MOST))


@dataclass
class Clock:
    """The curve (alpha, t) from (0, 0) along which the potential stays constant.

    All is in units of sqrt(c): x = (y F + left) / sqrt(c) + alpha b - t.  Potentials and weights are in units of the
    first round's potential, erfc(sqrt(c)): a tiny one is conserved, too.

    Parameters
    ----------
    s : State
        Holds the rows, and the votes in question.
    c, left : float
        The total time and what is left of it.
    scale : float
        The largest size of a vote: b = y h / scale lies between -1 and 1.
    """

    s: State
    c: float
    left: float
    scale: float = 1.0
    evaluations: int = 0

    def __post_init__(self) -> None:
        root = sqrt(self.c)
        self.rest = self.left / root
        self.unit, self.log_unit = unit_for(root)
        self.line = 1.0 / root, 1.0 / self.scale
        self.numbers = *self.line, self.log_unit, one_for(self.log_unit)

    def excess(self, alpha: float, t: float) -> float:
        """Return how far the potential is below the first round's (so that errors do not add up); falls in t."""
        self.evaluations += 1
        return float(self.s.n - self.s.total(potential_at, *self.numbers, alpha, self.rest - t))

    def edge(self, alpha: float, t: float) -> float:
        """Return the edge of the voter at this point of the curve."""
        top = self.s.largest(log_weight_at, *self.line, alpha, self.rest - t)
        whole, signed = self.s.total(edge_at, *self.line, top, alpha, self.rest - t)
        return float(signed / whole)

    def time(self, alpha: float) -> float:
        """Return t(alpha), the unique t on the curve: |t| <= alpha."""
        if alpha == 0.0:
            return 0.0
        low, high = -alpha * 1.0001 - 1e-12, alpha * 1.0001 + 1e-12
        return float(brentq(lambda t: self.excess(alpha, t), low, high, xtol=1e-15, rtol=1e-14))

    def shortened(self, found: tuple[float, float], share: float) -> tuple[float, float]:
        """Return the point of the curve at a share of a solution's alpha, where the potential is conserved as well."""
        alpha = share * found[0]
        return alpha, min(self.time(alpha), found[1])

    def newton(self, alpha: float, t: float) -> tuple[float, float] | None:
        """Return the solution of both equations near a starting point, or None."""
        for _ in range(MOST_LOOKS):
            self.evaluations += 1
            sums = self.s.total(sums_at, *self.numbers, alpha, self.rest - t)
            said, alpha, t = newton_step(alpha, t, self.s.n, *sums)
            if said != AGAIN:
                return (alpha, t) if said == TAKEN else None
        return None

    def last_step(self, alpha_beyond: float) -> tuple[float, float]:
        """Return the step that uses up the clock; at alpha_beyond the curve is past it."""
        alpha = brentq(lambda v: self.excess(v, self.rest), 0.0, alpha_beyond, xtol=1e-15, rtol=1e-14)
        return float(alpha), self.rest

    def search(self) -> tuple[float, float] | None:
        """Follow the curve to the first point without an edge, or to the end of the clock."""
        step, low = 0.05, 0.0
        for _ in range(2000):
            high = low + step
            t = self.time(high)
            if t >= self.rest:
                return self.last_step(high)
            if self.edge(high, t) <= 0.0:
                alpha = float(brentq(lambda v: self.edge(v, self.time(v)), low, high, xtol=1e-14, rtol=1e-14))
                return alpha, self.time(alpha)
            low, step = high, step * 1.02
        return None

    def advance(self, edge: float, last: tuple[float, float] | None) -> tuple[float, float] | None:
        """Return the round's solution, or None.

        Newton's method from the last round's solution, as it grows with the edge, and from a guess; if neither ends at
        a sensible point, a safe search.

        Parameters
        ----------
        edge : float
            Of the voter, at the start.
        last : tuple, optional
            alpha / edge and t / edge^2 of the last round.
        """
        for a, b in (last, (1.0, 1.0)) if last is not None else ((1.0, 1.0),):
            found = self.newton(a * edge, b * edge * edge)
            if found is not None and found[1] > 0.0:
                return self.last_step(found[0]) if found[1] >= self.rest - LATE / sqrt(self.c) else found
        return self.search()
