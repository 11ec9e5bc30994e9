"""The sum of one number a row, masses included, in one call: on some hundred rows the calls cost more than the sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.kernels.compiled import kernel
from boostlab.kernels.sums import fixed_sums

Array = np.ndarray[Any, Any]


@kernel
def totals_of(x: Array, counts: Array, mass: Array, size: float) -> tuple[float, float]:
    """Return the sums of mass * x and of mass * |x| as `fixed_sums` makes them; NaN where x is not finite.

    Integer masses are in counts, real ones in mass, and both may be empty; size is the number of values, counts
    included.
    """
    if mass.size > 0:
        k, signed, gross = fixed_sums((x * mass).reshape(-1, 1), counts, size)
    else:
        k, signed, gross = fixed_sums(x.reshape(-1, 1), counts, size)
    if gross < 0:
        return np.nan, np.nan
    return math.ldexp(float(signed), -k), math.ldexp(float(gross), -k)
