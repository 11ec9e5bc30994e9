"""The row functions by mpmath, in 250 bits."""

from __future__ import annotations

from mpmath import mp, mpf, workprec

LARGEST = mpf(1.7976931348623157e308)


def erfcx(x):
    if x > 10**6:
        return (1 - 1 / (2 * x * x) + 3 / (4 * x**4) - 15 / (8 * x**6)) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x) if x > -40 else mp.inf


def log_erfc(x):
    if x > 1:
        return mp.log(erfcx(x)) - x * x
    return mp.log1p(-mp.erf(x))


def softplus(x):
    return mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x))


def expit(x):
    return mp.exp(x) / (1 + mp.exp(x)) if x < 0 else 1 / (1 + mp.exp(-x))


def newton(y, miss):
    """Return y after two steps towards a zero of miss, whose derivative is that of erf."""
    for _ in range(2):
        y = y - miss(y) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
    return y


REFERENCES = {
    "exp": mp.exp,
    "expm1": mp.expm1,
    "log": mp.log,
    "log1p": mp.log1p,
    "expit": expit,
    "softplus": softplus,
    "log_expit": lambda x: -softplus(-x),
    "erf": mp.erf,
    "erfc": lambda x: mp.erfc(x) if x < 1e5 else mpf(0),
    "erfcx": erfcx,
    "log_erfc": log_erfc,
}
INVERSES = {  # what y misses of x
    "erfinv": lambda x: lambda y: mp.erf(y) - x,
    "erfcinv": lambda x: lambda y: x - mp.erfc(y),
}


def errors(name, x, y):
    """Return the errors of values y of a row function at numbers x, in units of the last place of the true values."""
    with workprec(250):
        return [_error(name, mpf(a), b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def _error(name, x, got):
    if name in INVERSES:
        assert abs(got) < 28
        true = newton(mpf(got), INVERSES[name](x))
    else:
        true = REFERENCES[name](x)
    if abs(true) >= LARGEST + mpf(2) ** 970:  # rounds to infinity
        return 0.0 if got == (mp.inf if true > 0 else -mp.inf) else mp.inf
    assert abs(got) <= LARGEST, (name, x, got)
    exponent = max(mp.frexp(true)[1] - 53, -1074) if true else -1074
    return float(abs(mpf(got) - true) / mpf(2) ** exponent)
