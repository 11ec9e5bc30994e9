"""The sum of one number a row, masses included, in one call: on some hundred rows the calls cost more than the sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.functions import bits, from_bits
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.fixed_point import INFINITE, MAGNITUDE, flat_fixed_sums, flat_sums_at, largest_of
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


@in_parts
def totals_of_each(values: Array, counts: Array, mass: Array, size: float, out: Array) -> None:
    """Write the sum of mass * x for each row x of values to out; NaN where it is not finite."""
    for v in range(values.shape[0]):
        out[v] = both_totals(values[v], counts, mass, size)[0]


@part
def largest_part(x: Array, counts: Array, mass: Array) -> float:
    """Return the largest |mass * x|; NaN where one is not finite.  Rows that count for nothing do not matter."""
    top = largest_of(to_read(times(x, mass)))
    if counts.size > 0 and mass.size == 0 and top > 0.0:
        top = 0.0
        for i in range(x.size):
            top = max(top, abs(x[i]) if counts[i] > 0 else 0.0)
    return top


@in_parts
def tops_and_sums(
    values: Array, counts: Array, mass: Array, powers: Array, first: int, last: int, part: int, tops: Array, sums: Array
) -> None:
    """Write what a part of the rows comes to, for each row x of values: the largest |mass * x| (NaN where one is not
    finite), and the sums of q and |q|, q = counts * rint(mass * x * 2^k), for each row of powers.
    """
    for v in range(values.shape[0]):
        x, by, of = values[v, first:last], counts[first:last], mass[first:last]
        tops[part, v] = largest_part(x, by, of)
        for p in range(powers.shape[0]):
            sums[part, p, v, 0], sums[part, p, v, 1] = flat_sums_at(to_read(times(x, of)), by, 1, powers[p, v])


@part
def largest_with(x: Array, sign: float) -> float:
    """Return the largest sign * x, minus infinity if there is none; NaN if one is.

    As integers, whose order is that of the numbers if those below 0 are turned: so vectors are compared.
    """
    top, bad = -1 - INFINITE, False
    for i in range(x.size):
        here = sign * x[i]
        as_integer = bits(here)
        bad |= here != here
        top = max(top, as_integer ^ ((as_integer >> 63) & MAGNITUDE))
    return np.nan if bad else from_bits(top ^ ((top >> 63) & MAGNITUDE))
