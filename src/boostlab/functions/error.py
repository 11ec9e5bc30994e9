"""erf, erfc, erfcx, log_erfc and the inverses of erf and erfc.

Below 0.75 erf(x) = x + x Q(x^2).  From there on erfcx(x) = exp(x^2) erfc(x) = (39/64 + T(t)) / (x + 1/2) with
t = (x - 4.5) / (x + 3), whose T is below 0.05 in magnitude.  What is multiplied or divided is kept as a pair of doubles.
"""

from __future__ import annotations

from math import sqrt

from boostlab.functions.exponential import exp_parts, scaled
from boostlab.functions.logarithm import INFINITY, NAN, log, log_reduced, log_sum
from boostlab.functions.pairs import product, upper
from boostlab.functions.polynomials import erf_rest, erfcinv_gap, erfcx_rest, erfinv_ratio

BORDER = 0.75
SQRT_PI_HALF = 0.886226925452758
ONE_BY_SQRT_PI = 0.5641895835477563


def erfcx_parts(a: float) -> tuple[float, float]:
    """Return erfcx(a) as a pair, for a in [0.7499, 2^60]."""
    t = erfcx_rest((a - 4.5) / (a + 3.0))
    top = 0.609375 + t
    top_low = t - (top - 0.609375)
    below = a + 0.5
    below_low = 0.5 - (below - a)
    inverse = 1.0 / below
    high = upper(top * inverse)
    b = upper(below)
    left = ((top - high * b) - high * (below - b)) + (top_low - high * below_low)
    return high, left * inverse


def square_parts(a: float) -> tuple[float, float]:
    """Return a^2 as a pair."""
    b = upper(a)
    return b * b, (a - b) * (a + b)


def erfc_parts(x: float) -> tuple[float, float]:
    """Return erfc(x) = 1 - x - x Q as a pair, for |x| <= 0.75."""
    first = 1.0 - x
    second = ((1.0 - first) - x) - x * erf_rest(x * x)
    high = first + second
    return high, second - (high - first)


def within(a: float, least: float, most: float) -> float:
    """Return the number of [least, most] nearest to a; NaN stays."""
    a = least if a < least else a
    return most if a > most else a


def erfc_tail(a: float) -> float:
    """Return erfc(a) for a in [0.75, 28]."""
    high, low = erfcx_parts(a)
    square, square_low = square_parts(a)
    n, e, e_low = exp_parts(-square, -square_low)
    return scaled(product(e, e_low, high, low), n)


def erf(x: float) -> float:
    """Return the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
    a = abs(x)
    tail = 1.0 - erfc_tail(within(a, BORDER, 28.0))
    return x + x * erf_rest(x * x) if a < BORDER else (-tail if x < 0.0 else tail)


def erfc(x: float) -> float:
    """Return 1 - erf(x), accurate where this is small."""
    a = abs(x)
    tail = erfc_tail(within(a, BORDER, 28.0))
    high, _ = erfc_parts(x)
    return high if a < BORDER else (2.0 - tail if x < 0.0 else tail)


def erfcx(x: float) -> float:
    """Return exp(x^2) erfc(x)."""
    a = abs(x)
    high, low = erfcx_parts(within(a, BORDER, 1e18))
    tail = high + low if a < 1e9 else ONE_BY_SQRT_PI / (1.0 if a < 1e9 else a)
    square, square_low = square_parts(within(a, 0.0, 27.0))
    n, e, e_low = exp_parts(square, square_low)
    near, near_low = erfc_parts(x)
    inner = a < BORDER
    growing = scaled(product(e, e_low, near if inner else 2.0, near_low if inner else 0.0), n)
    return growing if inner else (growing - tail if x < 0.0 else tail)


def log_erfc(x: float) -> float:
    """Return log(erfc(x)), also where erfc(x) is too small for a double."""
    a = abs(x)
    far = x >= BORDER
    high, low = erfcx_parts(within(a, BORDER, 1e18))
    # log(erfc(x)) as it stands, or log(erfcx(x)) - x^2, or log1p(-erf(x)).
    z = within(x, -6.0, BORDER)  # erfc(-6) is 2
    rest = z * erf_rest(z * z)
    near, near_low = erfc_parts(z)
    left = z < -BORDER
    near = 2.0 - erfc_tail(within(-z, BORDER, 6.0)) if left else near
    u = high if far else near
    c = low if far else (0.0 if left else near_low)
    k, m = log_reduced(u)
    f = -(z + rest)
    small = abs(f) < 0.25
    f_low = -(rest + (f + z))
    y = log_sum(0.0 if small else k, f if small else m - 1.0, f_low * (1.0 - f) if small else c / u)
    square, square_low = square_parts(within(a, 0.0, 1e200))
    return (y - square_low) - square if far else y


def erfc_inverse(x: float, x_low: float, z: float) -> float:
    """Return the y >= 0 with erf(y) = x + x_low and erfc(y) = z: a guess, and one step of Halley's iteration."""
    inner = z > 0.2888  # y below 0.7501
    w = sqrt(-log(within(z, 5e-324, 1.0)))
    y = x * erfinv_ratio(x * x) if inner else w - erfcinv_gap((w - 3.0) / (w + 3.0))
    square, square_low = square_parts(y)
    n, e, e_low = exp_parts(square, square_low)
    high, low = erfcx_parts(within(y, 0.7499, 28.0))
    # (erf(y) - x) exp(y^2), or what is the same, (z - erfc(y)) exp(y^2).
    inner_miss = ((y - x) + (y * erf_rest(y * y) - x_low)) * scaled(e + e_low, n)
    outer_miss = (scaled(z, n) * (e + e_low) - high) - low
    u = SQRT_PI_HALF * (inner_miss if inner else outer_miss)
    y = y - u / (1.0 + y * u)
    return y if z > 0.0 else (INFINITY if z == 0.0 else NAN)


def erfinv(x: float) -> float:
    """Return the y with erf(y) = x, for x in [-1, 1]."""
    a = abs(x)
    y = erfc_inverse(a, 0.0, 1.0 - a)
    return -y if x < 0.0 else (y if x > 0.0 else x)


def erfcinv(z: float) -> float:
    """Return the y with erfc(y) = z, for z in [0, 2]."""
    rest = z if z < 1.0 else 2.0 - z
    x = 1.0 - rest
    y = erfc_inverse(x, (1.0 - x) - rest, rest)
    return y if z < 1.0 else -y
