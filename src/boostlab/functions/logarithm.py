"""log, log1p, softplus and log_expit.

x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and with s = f / (2 + f)
log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 R(s^2)), R being `log_rest`.
"""

from __future__ import annotations

from boostlab.functions.bits import bits, from_bits
from boostlab.functions.exponential import LN2_HIGH, LN2_LOW, exp

INFINITY = float("inf")
NAN = float("nan")
SQRT_HALF = 0x3FE6A09E667F3BCD  # bits of sqrt(1/2)
TO_ONE = 0x3FF0000000000000 - SQRT_HALF
MANTISSA = 0x000FFFFFFFFFFFFF
INTEGER = 0x4330000000000000  # bits of 2^52


def log_reduced(x: float) -> tuple[float, float]:
    """Return k and m with x = 2^k m and m in [sqrt(1/2), sqrt(2)), for a positive and normal x."""
    i = bits(x) + TO_ONE
    k = from_bits(((i >> 52) & 0x7FF) | INTEGER) - 4503599627371519.0  # 2^52 + 1023
    return k, from_bits((i & MANTISSA) + SQRT_HALF)


def log_sum(k: float, f: float, low: float) -> float:
    """Return k ln 2 + log(1 + f + low) for 1 + f in [sqrt(1/2), sqrt(2)] and a low that is tiny beside 1 + f."""
    s = f / (2.0 + f)
    z = s * s
    # fit: log_rest
    # degree 6 on [0.0, 0.0294431], error 2^-56.6211
    square = z * z
    odd = 0.15331585960092398
    odd = odd * square + 0.22222211068328085
    odd = odd * square + 0.39999999999898384
    even = 0.14618008831373527
    even = even * square + 0.1818289354886713
    even = even * square + 0.285714286264267
    log_rest = 0.666666666666667 + z * (odd + z * even)
    # end of fit
    half = 0.5 * f * f
    near = f - half
    rest = ((f - near) - half) + (s * (half + z * log_rest) + (low + k * LN2_LOW))
    whole = k * LN2_HIGH
    high = whole + near
    # The larger of the two comes first: k ln 2, or k is 0.
    return high + ((near - (high - whole)) + rest)


def log(x: float) -> float:
    """Return the natural logarithm.

    Examples
    --------
    >>> log(10.0)
    2.302585092994046
    """
    subnormal = x < 2.2250738585072014e-308
    k, m = log_reduced(x * 18014398509481984.0 if subnormal else x)  # 2^54
    y = log_sum(k - 54.0 if subnormal else k, m - 1.0, 0.0)
    y = y if x < INFINITY else x
    return y if x > 0.0 else (-INFINITY if x == 0.0 else NAN)


def log1p(x: float) -> float:
    """Return log(1 + x), accurate near 0.

    Examples
    --------
    >>> log1p(1e-20)
    1e-20
    """
    near = abs(x) < 0.25
    u = 1.0 + x
    v = u - x  # what u has of the 1
    k, m = log_reduced(u)
    low = ((1.0 - v) + (x - (u - v))) / (u if u > 0.0 else 1.0)
    y = log_sum(0.0 if near else k, x if near else m - 1.0, 0.0 if near else low)
    y = x if abs(x) < 5e-17 else y
    y = y if x < INFINITY else x
    return y if x > -1.0 else (-INFINITY if x == -1.0 else NAN)


def softplus(x: float) -> float:
    """Return log(1 + e^x): the logistic loss of a margin -x.

    Examples
    --------
    >>> softplus(0.0), softplus(800.0)
    (0.6931471805599453, 800.0)
    """
    y = log1p(exp(-abs(x)))
    return x + y if x > 0.0 else y


def log_expit(x: float) -> float:
    """Return log(1 / (1 + e^-x))."""
    return -softplus(-x)
