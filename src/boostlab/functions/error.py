"""erf, erfc, erfcx, log_erfc and the inverses of erf and erfc.

Below 0.75 erf(x) = x + x Q(x^2), Q being `erf_rest`.  From there on, with t = (x - 4.5) / (x + 3) and a small T,
`erfcx_rest`, erfcx(x) = exp(x^2) erfc(x) = (39/64 + T(t)) / (x + 1/2).  Factors are pairs of doubles.
"""

from __future__ import annotations

from math import sqrt

from boostlab.functions.exponential import exp_parts, scaled
from boostlab.functions.logarithm import INFINITY, NAN, log, log_reduced, log_sum
from boostlab.functions.pairs import product, upper

BORDER = 0.75
SQRT_PI_HALF = 0.886226925452758
ONE_BY_SQRT_PI = 0.5641895835477563


def erf_rest_of(z: float) -> float:
    """Return erf(x) / x - 1 with z = x^2, for |x| <= 0.75."""
    # fit: erf_rest
    # degree 10 on [0.0, 0.563], error 2^-60.0876
    square = z * z
    odd = -1.5940186876554249e-07
    odd = odd * square - 1.4924197838837216e-05
    odd = odd * square - 0.0008548326190858428
    odd = odd * square - 0.026866170644431985
    odd = odd * square - 0.37612638903183715
    even = 1.1472795669785033e-08
    even = even * square + 1.6430702932225407e-06
    even = even * square + 0.00012055289640578579
    even = even * square + 0.00522397761545656
    even = even * square + 0.11283791670952613
    erf_rest = 0.1283791670955126 + z * (odd + z * even)
    # end of fit
    return erf_rest


def erfcx_parts(a: float) -> tuple[float, float]:
    """Return erfcx(a) as a pair, for a in [0.7499, 2^60]."""
    t = (a - 4.5) / (a + 3.0)
    # fit: erfcx_rest
    # degree 22 on [-1.0001, 1.0], error 2^-58.8906
    square = t * t
    odd = -3.4594441793252305e-11
    odd = odd * square + 3.5356693379001395e-10
    odd = odd * square - 2.377932564867146e-09
    odd = odd * square + 1.930056979504554e-08
    odd = odd * square - 2.3331251455873105e-07
    odd = odd * square + 3.4227502189223034e-06
    odd = odd * square - 4.889296728900035e-05
    odd = odd * square + 0.00046058802380463367
    odd = odd * square + 0.006978309455499759
    odd = odd * square + 0.014826840755765586
    odd = odd * square - 0.05696129160643243
    even = 2.7636635965733307e-11
    even = even * square - 3.6445308710875455e-10
    even = even * square + 3.0308366182306186e-09
    even = even * square - 2.266755926802363e-08
    even = even * square + 1.716213892066611e-07
    even = even * square - 1.292186467073783e-06
    even = even * square + 7.479650318283805e-06
    even = even * square + 3.8304618237927674e-05
    even = even * square - 0.0024451566636304635
    even = even * square - 0.013176936616319019
    even = even * square + 0.0020842513878967972
    erfcx_rest = 0.0030490213692070884 + t * (odd + t * even)
    # end of fit
    top = 0.609375 + erfcx_rest
    top_low = erfcx_rest - (top - 0.609375)
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
    second = ((1.0 - first) - x) - x * erf_rest_of(x * x)
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
    """Return the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.

    Examples
    --------
    >>> round(erf(1.0), 12)
    0.84270079295
    """
    a = abs(x)
    tail = 1.0 - erfc_tail(within(a, BORDER, 28.0))
    return x + x * erf_rest_of(x * x) if a < BORDER else (-tail if x < 0.0 else tail)


def erfc(x: float) -> float:
    """Return 1 - erf(x), accurate where this is small.

    Examples
    --------
    >>> erfc(10.0) < 1e-44
    True
    """
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
    rest = z * erf_rest_of(z * z)
    near, near_low = erfc_parts(z)
    left = z < -BORDER
    near = 2.0 - erfc_tail(within(-z, BORDER, 6.0)) if left else near
    u = high + low if far else near
    c = low - (u - high) if far else (0.0 if left else near_low)
    k, m = log_reduced(u)
    f = -(z + rest)
    small = abs(f) < 0.25
    f_low = -(rest + (f + z))
    y = log_sum(0.0 if small else k, f if small else m - 1.0, f_low * (1.0 - f) if small else c / u)
    square, square_low = square_parts(within(a, 0.0, 1e200))
    return (y - square_low) - square if far else y


def erfc_inverse(x: float, x_low: float, rest: float) -> float:
    """Return the y >= 0 with erf(y) = x + x_low and erfc(y) = rest: a guess, and one step of Halley's iteration."""
    inner = rest > 0.2888  # y below 0.7501
    w = sqrt(-log(within(rest, 5e-324, 1.0)))
    z = x * x
    # fit: erfinv_ratio
    # degree 7 on [0.0, 0.514859], error 2^-23.8376
    square = z * z
    odd = 0.36715581742894343
    odd = odd * square + 0.26418303769260115
    odd = odd * square + 0.09498023221647107
    odd = odd * square + 0.23202914536182123
    even = -0.3582245502013047
    even = even * square + 0.006607689920513665
    even = even * square + 0.1269684678278396
    erfinv_ratio = 0.8862268587462646 + z * (odd + z * even)
    # end of fit
    t = (w - 3.0) / (w + 3.0)
    # fit: erfcinv_gap
    # degree 10 on [-0.463415, 0.802046], error 2^-21.6204
    square = t * t
    odd = -0.028990568656645267
    odd = odd * square + 0.040356212166145974
    odd = odd * square + 0.15652140695453456
    odd = odd * square + 0.1260554265043942
    odd = odd * square - 0.25051029332782904
    even = -0.0019413286072816277
    even = even * square + 0.02768869836618623
    even = even * square - 0.12128321796251669
    even = even * square - 0.173915094529858
    even = even * square - 0.054605904077993456
    erfcinv_gap = 0.2852390215633878 + t * (odd + t * even)
    # end of fit
    y = x * erfinv_ratio if inner else w - erfcinv_gap
    square, square_low = square_parts(y)
    n, e, e_low = exp_parts(square, square_low)
    high, low = erfcx_parts(within(y, 0.7499, 28.0))
    # (erf(y) - x) exp(y^2), or what is the same, (rest - erfc(y)) exp(y^2).
    inner_miss = ((y - x) + (y * erf_rest_of(y * y) - x_low)) * scaled(e + e_low, n)
    outer_miss = (scaled(rest, n) * (e + e_low) - high) - low
    u = SQRT_PI_HALF * (inner_miss if inner else outer_miss)
    y = y - u / (1.0 + y * u)
    return y if rest > 0.0 else (INFINITY if rest == 0.0 else NAN)


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
    return y if z <= 1.0 else -y
