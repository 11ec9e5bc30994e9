"""Row functions in plain arithmetic: the same bits on every CPU, at every SIMD width, and on a GPU.

Each is a plain function of one number, written with + - * / sqrt, comparisons, integers and the
bits of a double only, and without a branch: a backend compiles it, and a loop over an array becomes SIMD code.  A
compiler must not contract a * b + c into one operation, and must round division and square root correctly.
"""

from __future__ import annotations

from boostlab.functions.error import erf, erfc, erfcinv, erfcx, erfinv, log_erfc
from boostlab.functions.exponential import exp, expit, expm1
from boostlab.functions.logarithm import log, log1p, log_expit, softplus

ROW_FUNCTIONS = (
    *(exp, expm1, log, log1p, expit, log_expit, softplus),
    *(erf, erfc, erfcx, log_erfc, erfinv, erfcinv),
)

__all__ = [
    "ROW_FUNCTIONS",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp",
    "expit",
    "expm1",
    "log",
    "log1p",
    "log_erfc",
    "log_expit",
    "softplus",
]
