"""The two equations of a RobustBoost round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import e, inf, sqrt

from scipy.optimize import brentq

from boostlab.contract import AGAIN, TAKEN, State, erfc, exp, formula
from boostlab.functions import erfcinv
from boostlab.solvers.drift_bounds import MISSED, least_at, potentials_and_least_at, sums_and_bounds_at, sums_at
from boostlab.solvers.drift_steps import (
    BEGUN,
    CLOSE,
    MOST_LOOKS,
    SHORT,
    TUBE,
    adaboost_step,
    begun_until,
    is_around,
    middle_of,
    mu_at,
    newton_at,
    newton_step,
    next_piece,
    piece_between,
    sigma_at,
    stretch_between,
    time_at,
)

STEP, LEAST_STEP = 0.05, 0.001  # of sigma: the first step of a walk along the curve, and the shortest


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
        return _drift(self.eps / self.height, self.theta, self.sigma_f)

    @property
    def height(self) -> float:
        """The potential of a margin at mu: 1 with clipping, else 1/2."""
        return 1.0 if self.clip else 0.5

    @property
    def floor(self) -> float:
        """The smallest u = (m - mu) / sigma that counts."""
        return 0.0 if self.clip else -inf

    @property
    def moves(self) -> tuple[float, float, float]:
        """How mu and sigma move, as formulas know it (see `drift_steps.mu_at`): lead, drift and spread."""
        return self.theta - 2 * self.rho, 2 * self.rho, self.sigma_f**2 + 1

    def mu(self, t: float) -> float:
        """Return the centre."""
        return mu_at(t, *self.moves[:2])

    def sigma(self, t: float) -> float:
        """Return the width."""
        return sigma_at(t, self.moves[2])


@lru_cache(64)
def _drift(share: float, theta: float, sigma_f: float) -> float:
    """Return rho, which every formula of a round asks for."""
    width = sqrt(e * e * (sigma_f**2 + 1) - 1)
    return (erfcinv(share) * width + e * theta) / (2 * (e - 1))


@formula
def potential(y: float, F: float, mu: float, sigma: float, floor: float, height: float) -> float:
    """height (1 - erf(u)) of u = (m - mu) / sigma, or of the floor below it."""
    u = (y * F - mu) / sigma
    return height * erfc(max(u, floor))


@formula
def log_weight(y: float, F: float, mu: float, sigma: float, floor: float) -> float:
    """-u^2, the logarithm of the potential's slope up to a common factor."""
    u = (y * F - mu) / sigma
    return -u * u if u > floor else -inf


@formula
def potential_at(
    y: float, F: float, h: float,
    unit: float, ds: float, decay: float, mu: float, sigma: float, floor: float, height: float,
) -> float:  # fmt: skip
    """The potential after a step."""
    return potential(y, decay * F + ds * unit * h, mu, sigma, floor, height)


@formula
def log_weight_at(
    y: float, F: float, h: float,
    unit: float, ds: float, decay: float, mu: float, sigma: float, floor: float,
) -> float:  # fmt: skip
    """The logarithm of the weight after a step."""
    return log_weight(y, decay * F + ds * unit * h, mu, sigma, floor)


@formula
def edge_at(
    y: float, F: float, h: float,
    unit: float, ds: float, decay: float, mu: float, sigma: float, floor: float, top: float,
) -> tuple[float, float]:  # fmt: skip
    """w and w b after a step, in units of exp(top)."""
    w = exp(log_weight_at(y, F, h, unit, ds, decay, mu, sigma, floor) - top)
    return w, w * y * unit * h


@dataclass
class Drift:
    """The curve (ds, dt) from (0, 0) along which the total potential stays what it is.

    Parameters
    ----------
    s : State
        Holds the rows, and the votes in question.
    process : Process
        The potential.
    t : float
        The time now.
    scale : float
        The largest size of a vote: b = y h / scale lies between -1 and 1.
    """

    s: State
    process: Process
    t: float
    scale: float = 1.0
    evaluations: int = 0

    def __post_init__(self) -> None:
        self.rest, self.moves = 1.0 - self.t, self.process.moves
        # What was seen from a starting point: that, where it was looked at, and what was found.
        self.looked: tuple[float, float, tuple[float, float, float], Sequence[float]] | None = None
        self.target = self.s.n * self.process.eps  # what the first round started with: errors do not add up

    def step(self, ds: float, dt: float) -> tuple[float, ...]:
        """Return a step as formulas know it."""
        p, t = self.process, self.t + dt
        return 1.0 / self.scale, ds, exp(-dt), p.mu(t), p.sigma(t), p.floor

    def excess(self, ds: float, dt: float) -> float:
        """Return the total potential after a step less what it should be."""
        self.evaluations += 1
        return float(self.s.total(potential_at, *self.step(ds, dt), self.process.height)) - self.target

    def edge(self, ds: float, dt: float) -> float:
        """Return the edge of the voter after a step; -1 where every example has been given up."""
        top = self.s.largest(log_weight_at, *self.step(ds, dt))
        if top == -inf:
            return -1.0
        whole, signed = self.s.total(edge_at, *self.step(ds, dt), top)
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

    def shortened(self, found: tuple[float, float], share: float) -> tuple[float, float]:
        """Return the point of the curve at a share of a solution's ds; at the end of time if none comes before."""
        ds = share * found[0]
        dt = self.time(ds)
        return ds, found[1] if dt is None else min(dt, found[1])

    def newton(self, ds: float, dt: float, looks: bool = False) -> tuple[float, float] | None:
        """Return the solution of both equations near a starting point, or None.

        The first pass over the rows looks at the curve to the starting point as well, if it is asked to (see
        `is_first`).
        """
        p, self.looked = self.process, None
        for _ in range(MOST_LOOKS):
            decay, mu, per, speed, widen, sigma = newton_at(self.t, ds, dt, *self.moves)
            if sigma == 0.0:
                return None
            self.evaluations += 1
            numbers = 1.0 / self.scale, ds, decay, mu, per, p.floor, p.height, speed, widen
            if looks and dt < self.rest:
                middle, stretch = self.first_look(ds, dt)
                all_numbers = *numbers, *stretch[2:], *self.looks_at(*middle)
                *sums, below, above, least = self.s.total(sums_and_bounds_at, *all_numbers)
                self.looked, looks = (ds, dt, middle, (below, above, least)), False
            else:
                sums = self.s.total(sums_at, *numbers)
            said, ds, dt = newton_step(ds, dt, sigma, p.height, self.target, *sums)
            if said != AGAIN:
                return (ds, dt) if said == TAKEN else None
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
        """Return a lower bound of sum of b w for all (ds, dt) between two points."""
        self.evaluations += 1
        return float(self.s.total(least_at, *self.between(low, high)))

    def between(self, low: tuple[float, float], high: tuple[float, float]) -> tuple[float, ...]:
        """Return a stretch of the curve as formulas know it."""
        lead, drift, spread = self.moves
        *box, per_wide, per_narrow = stretch_between(self.t, *low, *high, spread)
        return 1.0 / self.scale, self.process.floor, *box, lead * exp(self.rest), drift, per_wide, per_narrow

    def looks_at(self, ds: float, before: float, after: float) -> tuple[float, ...]:
        """Return ds and two times as formulas know them."""
        return ds, *time_at(self.t, before, *self.moves), *time_at(self.t, after, *self.moves)

    def around_and_least(
        self, ds: float, before: float, after: float, stretch: tuple[float, ...]
    ) -> tuple[bool, float]:
        """Return whether the curve passes ds between two times, and `least` of a stretch, by one look at the rows.

        The potential is below its target at the one time, and above at the other.
        """
        numbers = *stretch, self.process.height, *self.looks_at(ds, before, after)
        return self.seen(ds, before, after, self.s.total(potentials_and_least_at, *numbers))

    def seen(self, ds: float, before: float, after: float, found: Sequence[float]) -> tuple[bool, float]:
        """Return the same, given what a look has found."""
        self.evaluations += 1
        below, above, least = found
        said = is_around(below, above, self.target, MISSED * self.process.height * self.s.n)
        if said == AGAIN:
            return self.excess(ds, before) <= 0.0 <= self.excess(ds, after), float(least)
        return said == TAKEN, float(least)

    def first_look(self, ds: float, dt: float) -> tuple[tuple[float, float, float], tuple[float, ...]]:
        """Return where `is_first` looks first: half of ds, two times around there, and a stretch of the curve."""
        stretch = self.between((0.0, 0.0), (BEGUN * ds, begun_until(dt, self.rest)))
        return (0.5 * ds, *middle_of(dt, self.rest)), stretch

    def is_first(self, ds: float, dt: float) -> bool:
        """Return whether the edge is certain to be positive on the curve before a solution of both equations.

        The curve is near the parabola whose top is the solution, because its slope is proportional to the edge: this
        is verified in the middle.  Then pieces of a tube around it, each nearer to the solution, are looked at.  The
        first look is that from the starting point, where it was close to the solution and all is well there.
        """
        around, least = False, 0.0
        at_ds, at_dt, middle, found = self.looked or (inf, inf, (0.0, 0.0, 0.0), ())
        if abs(at_ds - ds) <= CLOSE * ds and abs(at_dt - dt) <= CLOSE * dt:
            around, least = self.seen(*middle, found)
        if not around or least <= 0.0:
            at_ds, (middle, stretch) = ds, self.first_look(ds, dt)
            around, least = self.around_and_least(*middle, stretch)
        low, high, share, wide, short = 0.0, BEGUN * at_ds, BEGUN, TUBE * dt, SHORT * self.process.sigma(self.t)
        said = TAKEN if ds <= short else AGAIN
        while around and said == AGAIN:
            said, low, high, share, wide = next_piece(low, high, share, wide, least, ds, short)
            if said == AGAIN:
                start, end = piece_between(low, high, wide, ds, dt, self.rest)
                least = self.least((low, start), (high, end))
        return around and said == TAKEN

    def search(self, found: tuple[float, float] | None = None) -> tuple[float, float] | None:
        """Follow the curve to the first point without an edge, or to the end of time.

        A step is as long as it is certain that the edge stays positive: clipped weights jump, so that the edge may be
        gone, come back, and be gone again.  Nothing is certain near a root; there steps are at least LEAST_STEP.

        Parameters
        ----------
        found : a solution of both equations, which is taken unless the edge is gone before
        """
        sigma = self.process.sigma(self.t)
        low, since, step = 0.0, 0.0, STEP * sigma
        short, blur, end = LEAST_STEP * sigma, 1e-6 * self.rest, (inf, 0.0) if found is None else found
        for _ in range(2000):
            if end[0] - low <= short:
                if abs(end[1] - since) <= TUBE * end[1]:
                    return end
                end = (inf, 0.0)  # another curve
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

    def advance(self, edge: float, last: tuple[float, float] | None) -> tuple[float, float] | None:
        """Return the round's solution, the first on the curve, or None.

        Newton's method from the last round's solution, as it grows with the edge, from AdaBoost's step and from the end
        of time.  Unless its solution is certain to be the first, the curve is followed.

        Parameters
        ----------
        edge : float
            Of the voter, at the start.
        last : tuple, optional
            ds / edge and dt / edge^2 of the last round.
        """
        rest, alpha = self.rest, adaboost_step(edge)
        starts = [(alpha, min(alpha * alpha, rest)), (sqrt(rest), rest)]
        if last is not None:
            starts.insert(0, (last[0] * edge, min(last[1] * edge * edge, rest)))
        for start in starts:
            found = self.newton(*start, looks=last is not None and start is starts[0])
            if found is not None and found[0] > 0.0 and found[1] > 0.0:
                break
        if found is not None and (found[0] <= 0.0 or not 0.0 < found[1] < rest):
            found = None  # of no use, or the clock runs out first
        return found if found is not None and self.is_first(*found) else self.search(found)


def _root(f: Callable[[float], float], low: float, high: float, tol: float = 1e-15) -> float:
    return float(brentq(f, low, high, xtol=tol, rtol=1e-14))
