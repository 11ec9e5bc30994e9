"""Formulas of RobustBoost's curve: the equations and their slopes at a point, and what makes a look at it certain.

That is quick potentials, and bounds of the edge on a stretch.
"""

from __future__ import annotations

from boostlab.contract import exp, formula
from boostlab.solvers.brownian import erfc_in_units

MISSED = 3.1e-7  # how far `nearly_erfc` is from erfc at most


@formula
def least_at(
    y: float, F: float, h: float,
    unit: float, floor: float, low: float, high: float, q_low: float, q_high: float,
    begin: float, drift: float, per_wide: float, per_narrow: float,
) -> float:  # fmt: skip
    """A lower bound of b w for all ds in [low, high] and q = e^(-dt) in [q_low, q_high].

    The distance x - mu is q a + ds b - 2 rho, a = m - (theta - 2 rho) e^(1-t): linear in q and ds.
    """
    a, b = y * F - begin, y * unit * h
    near = min(q_low * a, q_high * a) + min(low * b, high * b) - drift
    far = max(q_low * a, q_high * a) + max(low * b, high * b) - drift
    u = near * (per_narrow if near < 0.0 else per_wide)  # <= (x - mu) / sigma
    v = far * (per_wide if far < 0.0 else per_narrow)
    nearest, farthest = max(u, min(v, 0.0)), max(abs(u), abs(v))
    x = farthest if b > 0.0 else nearest
    return b * exp(-x * x) if (u if b > 0.0 else v) > floor else 0.0


@formula
def nearly_erfc(x: float) -> float:
    """erfc(x), but for `MISSED` (Abramowitz & Stegun 1964, 7.1.28), in a seventh of the time."""
    a = abs(x)
    p = 0.0002765672 + a * 0.0000430638
    p = 1.0 + a * (0.0705230784 + a * (0.0422820123 + a * (0.0092705272 + a * (0.0001520143 + a * p))))
    p = p * p * p * p
    p = p * p * p * p
    return 2.0 - 1.0 / p if x < 0.0 else 1.0 / p


@formula
def potentials_and_least_at(
    y: float, F: float, h: float,
    unit: float, floor: float, low: float, high: float, q_low: float, q_high: float,
    begin: float, drift: float, per_wide: float, per_narrow: float,
    height: float, middle: float,
    decay_1: float, mu_1: float, per_1: float, decay_2: float, mu_2: float, per_2: float,
) -> tuple[float, float, float]:  # fmt: skip
    """The potentials after two steps of the same ds, at two times, but for `MISSED`; and `least_at`."""
    m, move = y * F, middle * (y * unit * h)
    u, v = max((decay_1 * m + move - mu_1) * per_1, floor), max((decay_2 * m + move - mu_2) * per_2, floor)
    least = least_at(y, F, h, unit, floor, low, high, q_low, q_high, begin, drift, per_wide, per_narrow)
    return height * nearly_erfc(u), height * nearly_erfc(v), least


@formula
def sums_at(
    y: float, F: float, h: float,
    unit: float, ds: float, decay: float, mu: float, per: float, floor: float, height: float,
    speed: float, widen: float,
) -> tuple[float, float, float, float, float, float]:  # fmt: skip
    """The potential, w, w b, w u_t, w u b^2 and w u b u_t after a step; u_t is the derivative of u by the time."""
    b = y * unit * h
    u = (decay * y * F + ds * b - mu) * per
    u_t = ds * b * per - speed + widen * u
    slope = exp(-u * u)
    w = slope if u > floor else 0.0
    wu = w * u * b
    return height * erfc_in_units(max(u, floor), slope, 1.0), w, w * b, w * u_t, wu * b, wu * u_t


@formula
def sums_and_bounds_at(
    y: float, F: float, h: float,
    unit: float, ds: float, decay: float, mu: float, per: float, floor: float, height: float,
    speed: float, widen: float,
    low: float, high: float, q_low: float, q_high: float, begin: float, drift: float,
    per_wide: float, per_narrow: float,
    middle: float, decay_1: float, mu_1: float, per_1: float, decay_2: float, mu_2: float, per_2: float,
) -> tuple[float, float, float, float, float, float, float, float, float]:  # fmt: skip
    """`sums_at`, and `potentials_and_least_at`, by one look at the rows."""
    P, W, B, S, U, V = sums_at(y, F, h, unit, ds, decay, mu, per, floor, height, speed, widen)
    below, above, least = potentials_and_least_at(
        y, F, h, unit, floor, low, high, q_low, q_high, begin, drift, per_wide, per_narrow,
        height, middle, decay_1, mu_1, per_1, decay_2, mu_2, per_2,
    )  # fmt: skip
    return P, W, B, S, U, V, below, above, least
