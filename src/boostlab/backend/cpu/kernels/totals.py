"""The sum of one number a row, masses included, in one call: on some hundred rows the calls cost more than the sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.kernels.fixed_point import flat_fixed_sums, flat_sums_at, largest_of
from boostlab.backend.cpu.kernels.workspace import doubles, to_read

Array = np.ndarray[Any, Any]


@part
def times(x: Array, mass: Array) -> Array:
    """Return mass * x; x itself where there are no masses."""
    if mass.size == 0:
        return x
    product = doubles(x.size)
    for i in range(x.size):
        product[i] = x[i] * mass[i]
    return product


@part
def both_totals(x: Array, counts: Array, mass: Array, size: float) -> tuple[float, float]:
    """Return what `totals_of` does."""
    k, signed, gross = flat_fixed_sums(to_read(times(x, mass)), counts, 1, size)
    if gross < 0:
        return np.nan, np.nan
    return math.ldexp(float(signed), -k), math.ldexp(float(gross), -k)


@kernel
def totals_of(x: Array, counts: Array, mass: Array, size: float) -> tuple[float, float]:
    """Return the sums of mass * x and of mass * |x| as `fixed_sums` makes them; NaN where x is not finite.

    Integer masses are in counts, real ones in mass, and both may be empty; size is the number of values, counts
    included.
    """
    return both_totals(x, counts, mass, size)


@kernel
def totals_of_each(values: Array, counts: Array, mass: Array, size: float, out: Array) -> None:
    """Write the sum of mass * x for each row x of values to out; NaN where it is not finite."""
    for v in range(values.shape[0]):
        out[v] = both_totals(values[v], counts, mass, size)[0]


@kernel
def largest_part(values: Array, counts: Array, mass: Array, first: int, last: int, out: Array) -> None:
    """Write the largest |mass * x| among some rows to out, for each row x of values; NaN where one is not finite.

    Rows that count for nothing (counts of 0) do not matter.
    """
    for v in range(values.shape[0]):
        x = values[v, first:last]
        out[v] = largest_of(to_read(times(x, mass[first:last])))
        if counts.size > 0 and mass.size == 0 and out[v] > 0.0:
            by, top = counts[first:last], 0.0
            for i in range(x.size):
                top = max(top, abs(x[i]) if by[i] > 0 else 0.0)
            out[v] = top


@kernel
def sums_part(values: Array, counts: Array, mass: Array, powers: Array, first: int, last: int, out: Array) -> None:
    """Write the sums of q and |q| among some rows to out, q = counts * rint(mass * x * 2^k), for each x of values."""
    for v in range(values.shape[0]):
        x = values[v, first:last]
        signed, gross = flat_sums_at(to_read(times(x, mass[first:last])), counts[first:last], 1, powers[v])
        out[v, 0], out[v, 1] = signed, gross
