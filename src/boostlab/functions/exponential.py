"""exp, expm1 and expit.

x = n ln 2 + r with |r| <= ln(2) / 2, and exp(x) = 2^n (1 + r + r^2 P(r)), P being `exp_rest`.
"""

from __future__ import annotations

from boostlab.functions.bits import bits, from_bits

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693147180559663  # 41 bits: its product with n is exact
LN2_LOW = 2.8235290563031577e-13
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
    # fit: exp_rest
    # degree 10 on [-0.346608, 0.346608], error 2^-61.7285
    square = r * r
    odd = 2.5109045055123555e-08
    odd = odd * square + 2.755724418195281e-06
    odd = odd * square + 0.00019841269886157912
    odd = odd * square + 0.008333333333321617
    odd = odd * square + 0.16666666666666677
    even = 2.09244917242932e-09
    even = even * square + 2.7557242588267777e-07
    even = even * square + 2.4801587360785696e-05
    even = even * square + 0.0013888888888866694
    even = even * square + 0.0416666666666667
    exp_rest = 0.5 + r * (odd + r * even)
    # end of fit
    high = 1.0 + r
    return n, high, (r - (high - 1.0)) + (square * exp_rest + (b - (r - a)) * high)


def exp(x: float) -> float:
    """Return e^x.

    Examples
    --------
    >>> exp(1.0)
    2.718281828459045
    """
    # Nearly every formula calls it: `exp_parts` and `scaled` are written out, which a compiler takes 0.2 s less for.
    x = -746.0 if x < -746.0 else x  # 0 from here on
    x = 710.0 if x > 710.0 else x  # infinite from here on
    n = (x * LOG2_E + TO_INTEGER) - TO_INTEGER
    a = x - n * LN2_HIGH
    b = n * LN2_LOW
    r = a - b
    # fit: exp_rest
    # degree 10 on [-0.346608, 0.346608], error 2^-61.7285
    square = r * r
    odd = 2.5109045055123555e-08
    odd = odd * square + 2.755724418195281e-06
    odd = odd * square + 0.00019841269886157912
    odd = odd * square + 0.008333333333321617
    odd = odd * square + 0.16666666666666677
    even = 2.09244917242932e-09
    even = even * square + 2.7557242588267777e-07
    even = even * square + 2.4801587360785696e-05
    even = even * square + 0.0013888888888866694
    even = even * square + 0.0416666666666667
    exp_rest = 0.5 + r * (odd + r * even)
    # end of fit
    high = 1.0 + r
    y = high + ((r - (high - 1.0)) + (square * exp_rest + ((a - r) - b) * high))
    half = 0.5 * n + TO_EXPONENT
    rest = (n - (half - TO_EXPONENT)) + TO_EXPONENT
    return y * from_bits((bits(half) & 0x7FF) << 52) * from_bits((bits(rest) & 0x7FF) << 52)


def expm1(x: float) -> float:
    """Return e^x - 1, accurate near 0."""
    tiny = abs(x) < 5e-17
    kept = x
    x = -40.0 if x < -40.0 else x  # -1 from here on
    x = 710.0 if x > 710.0 else x
    n, high, low = exp_parts(x, 0.0)
    one = scaled(1.0, -n)
    less = high - one  # 1 is subtracted before the scaling; what is rounded away goes into the lower part
    back = less - high
    lost = (high - (less - back)) - (one + back)
    return kept if tiny else scaled(less + (lost + low), n)


def expit(x: float) -> float:
    """Return 1 / (1 + e^-x).

    Examples
    --------
    >>> expit(0.0), expit(-800.0)
    (0.5, 0.0)
    """
    d = -abs(x)
    d = -746.0 if d < -746.0 else d
    n, high, low = exp_parts(d, 0.0)
    e = scaled(high + low, n)
    total = 1.0 + e
    lost = e - (total - 1.0)  # what 1 + e has rounded away; 1 - e / 2 is near enough to 1 / (1 + e)
    below = scaled((high + (low - high * lost * (1.0 - 0.5 * e))) / total, n)
    return below if x < 0.0 else 1.0 / total
