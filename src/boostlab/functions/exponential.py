"""exp, expm1 and expit.

x = n ln 2 + r with |r| <= ln(2) / 2, and exp(x) = 2^n (1 + r + r^2 P(r)).
"""

from __future__ import annotations

from boostlab.functions.bits import bits, from_bits
from boostlab.functions.polynomials import exp_rest

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471803691238  # 33 bits: its product with n is exact
LN2_LOW = 1.9082149292705877e-10
TO_INTEGER = 6755399441055744.0  # 1.5 * 2^52: a double of this size has no places after the point
TO_EXPONENT = 6755399441056767.0  # the same and 1023: the last bits are an exponent's


def scaled(y: float, n: float) -> float:
    """Return y 2^n for a whole n in [-2044, 2046], rounded once: two factors, as a result may be subnormal."""
    half = 0.5 * n + TO_EXPONENT
    rest = (n - (half - TO_EXPONENT)) + TO_EXPONENT
    return y * from_bits((bits(half) & 0x7FF) << 52) * from_bits((bits(rest) & 0x7FF) << 52)


def exp_parts(x: float, low: float) -> tuple[float, float, float]:
    """Return n, high and low with exp(x + low) = 2^n (high + low), for |x| < 1400 and |low| < 0.001."""
    n = (x * LOG2_E + TO_INTEGER) - TO_INTEGER
    a = x - n * LN2_HIGH
    b = low - n * LN2_LOW
    r = a + b
    high = 1.0 + r
    return n, high, (r - (high - 1.0)) + (r * r * exp_rest(r) + (b - (r - a)))


def exp(x: float) -> float:
    """Return e^x."""
    x = -746.0 if x < -746.0 else x  # 0 from here on
    x = 710.0 if x > 710.0 else x  # infinite from here on
    n, high, low = exp_parts(x, 0.0)
    return scaled(high + low, n)


def expm1(x: float) -> float:
    """Return e^x - 1, accurate near 0."""
    tiny = abs(x) < 5e-17
    whole = x
    x = -40.0 if x < -40.0 else x  # -1 from here on
    x = 710.0 if x > 710.0 else x
    n = (x * LOG2_E + TO_INTEGER) - TO_INTEGER
    a = x - n * LN2_HIGH
    b = n * LN2_LOW
    r = a - b
    one = 1.0 - scaled(1.0, -n)  # 1 is subtracted before the scaling
    high = one + r
    low = (r - (high - one)) + (r * r * exp_rest(r) + ((a - r) - b))
    return whole if tiny else scaled(high + low, n)


def expit(x: float) -> float:
    """Return 1 / (1 + e^-x)."""
    d = -abs(x)
    d = -746.0 if d < -746.0 else d
    n, high, low = exp_parts(d, 0.0)
    e = scaled(high + low, n)
    total = 1.0 + e
    lost = e - (total - 1.0)  # what 1 + e has rounded away; 1 - e / 2 is near enough to 1 / (1 + e)
    below = scaled((high + (low - high * lost * (1.0 - 0.5 * e))) / total, n)
    return below if x < 0.0 else 1.0 / total
