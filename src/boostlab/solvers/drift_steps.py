"""RobustBoost's solver, one look at the rows at a time: what it asks for next, given what a look has found.

The general loop (`drifting`) and compiled rounds (`drift_rounds`) both take these steps.
"""

from __future__ import annotations

from math import atanh, pi, sqrt

from boostlab.contract import AGAIN, TAKEN, UNUSUAL, exp, formula

CLOSE = 0.02  # a start that far from the solution (relatively) has looked at the curve of the solution
NEAR = 1e-7  # a Newton step so small leaves an error of its square
MOST_LOOKS = 20
TUBE = 0.1  # of dt: how far a parabola may be from the curve
SHORT = 0.02  # of sigma: before a solution, a stretch of the curve that is not looked at any closer
BEGUN, LEAST_SHARE = 0.6, 0.1  # which share of ds the first stretch is, and the smallest of what is left


@formula
def mu_at(t: float, lead: float, drift: float) -> float:
    """The centre of the potential, (theta - 2 rho) e^(1-t) + 2 rho: lead and drift are theta - 2 rho and 2 rho."""
    return lead * exp(1.0 - t) + drift


@formula
def sigma_at(t: float, spread: float) -> float:
    """The width of the potential; spread is sigma_f^2 + 1."""
    return sqrt(spread * exp(2.0 * (1.0 - t)) - 1.0)


@formula
def time_at(t: float, dt: float, lead: float, drift: float, spread: float) -> tuple[float, float, float]:
    """A time as formulas of rows know it: the decay since t, mu and 1/sigma."""
    return exp(-dt), mu_at(t + dt, lead, drift), 1.0 / sigma_at(t + dt, spread)


@formula
def adaboost_step(edge: float) -> float:
    """AdaBoost's coefficient, if not every vote is right."""
    return atanh(min(edge, 1.0 - 1e-6))


@formula
def parabola(share: float, dt: float) -> float:
    """The time at a share of ds, on the parabola from (0, 0) whose top is (ds, dt)."""
    return dt * (1.0 - (1.0 - share) * (1.0 - share))


@formula
def newton_at(
    t: float, ds: float, dt: float, lead: float, drift: float, spread: float
) -> tuple[float, float, float, float, float, float]:
    """A point as Newton's formula knows it: the decay, mu, 1/sigma, 2 rho / sigma, 1/sigma^2, and sigma.

    sigma is 0 where nothing is to be looked for.
    """
    rest = 1.0 - t
    variance = spread * exp(2.0 * (rest - dt)) - 1.0
    if not (0.0 < ds < 1e3 and 0.0 < dt <= 2.0 * rest and t + dt < 1.5 and variance > 0.0):
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    sigma = sqrt(variance)
    return exp(-dt), mu_at(t + dt, lead, drift), 1.0 / sigma, drift / sigma, 1.0 / variance, sigma


@formula
def newton_step(
    ds: float, dt: float, sigma: float, height: float, target: float,
    P: float, W: float, B: float, S: float, U: float, V: float,
) -> tuple[int, float, float]:  # fmt: skip
    """What the sums at a point say of the solution: near it (`TAKEN`), or far (`AGAIN`), and the point to go to.

    They say `UNUSUAL` where there is no such point.
    """
    if W <= 0.0:
        return UNUSUAL, ds, dt
    slope = -2.0 / sqrt(pi) * height
    E, E_s, E_t, B_s, B_t = P - target, slope * B / sigma, slope * S, -2.0 * U / sigma, -2.0 * V
    bottom = E_s * B_t - E_t * B_s
    if abs(bottom) <= 1e-14 * W * W:
        return UNUSUAL, ds, dt
    more, later = 0.0, 0.0
    for _ in range(2):  # the second time with E's own curvature: it hardly has a slope in ds
        now = E + slope / sigma * more * (0.5 * B_s * more + B_t * later)
        more, later = (E_t * B - B_t * now) / bottom, (B_s * now - E_s * B) / bottom
    if max(abs(more), abs(later)) > NEAR:
        return AGAIN, ds + more, dt + later
    # Where time lowers the potential is not on the curve.
    return TAKEN if E_t > 0.0 else UNUSUAL, ds + more, dt + later


@formula
def stretch_between(
    t: float, ds_low: float, dt_low: float, ds_high: float, dt_high: float, spread: float
) -> tuple[float, float, float, float, float, float]:
    """A stretch of the curve between two points: ds and the decay at its ends, and 1/sigma at the first and last."""
    per_wide, per_narrow = 1.0 / sigma_at(t + dt_low, spread), 1.0 / sigma_at(t + dt_high, spread)
    return ds_low, ds_high, exp(-dt_high), exp(-dt_low), per_wide, per_narrow


@formula
def middle_of(dt: float, rest: float) -> tuple[float, float]:
    """Two times around the curve at half of ds, if its top is at dt."""
    middle, wide = parabola(0.5, dt), TUBE * dt
    return middle - wide, min(middle + wide, rest)


@formula
def begun_until(dt: float, rest: float) -> float:
    """When the first stretch of the curve has ended."""
    return min(parabola(BEGUN, dt) + TUBE * dt, rest)


@formula
def piece_between(low: float, high: float, wide: float, ds: float, dt: float, rest: float) -> tuple[float, float]:
    """When the curve is between low and high, if it is in a tube so wide around the parabola."""
    return max(parabola(low / ds, dt) - wide, 0.0), min(parabola(high / ds, dt) + wide, rest)


@formula
def is_around(below: float, above: float, target: float, missed: float) -> int:
    """Whether the curve passes between two times, given quick potentials at both: `TAKEN` if it does, `UNUSUAL` if not.

    Where these may have missed it they say `AGAIN`.
    """
    if below + missed <= target <= above - missed:
        return TAKEN
    return UNUSUAL if below - missed > target or above + missed < target else AGAIN


@formula
def next_piece(
    low: float, high: float, share: float, wide: float, least: float, ds: float, short: float
) -> tuple[int, float, float, float, float]:
    """What a look at the piece from low to high says of the next one: that, its share of what is left, and the tube.

    All has been looked at if it says `TAKEN`; the pieces get too small if it says `UNUSUAL`.
    """
    if least > 0.0:
        low, wide = high, 0.7 * wide
    else:
        share *= 0.6
    if ds - low <= short:
        return TAKEN, low, high, share, wide
    said = AGAIN if share > LEAST_SHARE else UNUSUAL
    return said, low, low + share * (ds - low), share, wide
