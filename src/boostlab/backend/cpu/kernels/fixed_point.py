"""Fixed-point sums over rows.

A float x becomes the integer rint(x * 2^k); integers add up to the same bits in any order and on any number of threads.
Layout: flat passes without branches, so that LLVM vectorises them (about 0.3 ns a row and pass).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.functions import bits, from_bits
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.workspace import to_read, to_write

Array = np.ndarray[Any, Any]

SAFE = 1000  # 2.0**k is exact and finite for |k| up to here; beyond, the scale is applied in two steps
SMALL = 2.0**51  # the integer nearest to a number below lies in the last bits of its sum with ROUND
ROUND = 1.5 * 2.0**52
ROUND_BITS = bits(ROUND)
MAGNITUDE, INFINITE = 0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000  # bits: all but the sign, and of infinity


@part
def largest_of(x: Array) -> float:
    """Return max |x_i| of a flat array, or NaN if any x_i is NaN or infinite."""
    top = 0
    for i in range(x.size):
        top = max(top, bits(x[i]) & MAGNITUDE)  # without the sign, floats order like integers
    return np.nan if top >= INFINITE else from_bits(top)


@part
def power_factors(k: int) -> tuple[float, float]:
    """Return two factors whose product is 2^k, the second 1 unless k is extreme."""
    if abs(k) <= SAFE:
        return math.ldexp(1.0, k), 1.0
    return math.ldexp(1.0, k // 2), math.ldexp(1.0, k - k // 2)


@part
def flat_sums_at(x: Array, counts: Array, width: int, k: int) -> tuple[int, int]:
    """Return the sums of q and of |q|, q = counts * rint(x * 2^k), of a flat array with `width` values a row."""
    signed, gross = np.int64(0), np.int64(0)
    scale, more = power_factors(k)
    if counts.size > 0:
        for i in range(counts.size):
            for c in range(width):
                q = counts[i] * np.int64(np.rint(x[i * width + c] * scale * more))
                signed += q
                gross += abs(q)
    elif largest_of(x) * scale * more < SMALL:
        # An addition makes vectors of integers of vectors of doubles on any CPU, a conversion with AVX-512 only.
        for i in range(x.size):
            q = bits(x[i] * scale * more + ROUND) - ROUND_BITS
            signed += q
            gross += abs(q)
    else:
        for i in range(x.size):
            q = np.int64(np.rint(x[i] * scale * more))
            signed += q
            gross += abs(q)
    return signed, gross  # type: ignore[return-value]


@part
def top_and_sums_at(x: Array, k: int, j: int) -> tuple[float, int, int, int, int]:
    """Return the largest |x|, and what `flat_sums_at` does at 2^k and at 2^j, by reading x once.

    The top is NaN where a value is not finite, or so large that the sums are not those.
    """
    (scale, more), (scale_j, more_j) = power_factors(k), power_factors(j)
    top, signed, gross, signed_j, gross_j = 0, np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(x.size):
        v, size = x[i], abs(x[i])
        top = max(top, bits(size))
        signed += bits(v * scale + ROUND)
        gross += bits(size * scale + ROUND)
        signed_j += bits(v * scale_j + ROUND)
        gross_j += bits(size * scale_j + ROUND)
    all_rounds = x.size * ROUND_BITS
    found = from_bits(top)  # of the bits of infinity and NaN the comparison is false
    small = more == 1.0 and more_j == 1.0 and found * scale < SMALL and found * scale_j < SMALL
    signed, gross, signed_j, gross_j = (
        signed - all_rounds,
        gross - all_rounds,
        signed_j - all_rounds,
        gross_j - all_rounds,
    )
    return found if small else np.nan, signed, gross, signed_j, gross_j  # type: ignore[return-value]


@part
def flat_fixed_sums(x: Array, counts: Array, width: int, size: float) -> tuple[int, int, int]:
    """Do what `fixed_sums` does for a flat array with `width` values a row."""
    top = largest_of(x)
    if top != top:
        return 0, 0, -1
    if counts.size > 0:
        top = 0.0
        for i in range(counts.size):
            if counts[i] > 0:
                for c in range(width):
                    top = max(top, abs(x[i * width + c]))
    if top == 0.0:
        return 0, 0, 0
    k = 61 - math.frexp(size)[1] - math.frexp(top)[1]
    while True:
        signed, gross = flat_sums_at(x, counts, width, k)
        if gross >= np.int64(1) << 60:
            return k, signed, gross
        # Rounding has hidden at most half a unit a value: shift as far as even that cannot overflow, and look again.
        hidden = gross + np.int64(0.5 * size) + 1
        while hidden < np.int64(1) << 61:
            hidden <<= 1
            k += 1


@part
def flat_fixed(x: Array, counts: Array, width: int, k: int, out: Array) -> None:
    """Write q = counts * rint(x * 2^k) to out, both flat arrays with `width` values a row."""
    scale, more = power_factors(k)
    if counts.size == 0:
        for i in range(x.size):
            out[i] = np.int64(np.rint(x[i] * scale * more))
    else:
        for i in range(counts.size):
            for c in range(width):
                out[i * width + c] = counts[i] * np.int64(np.rint(x[i * width + c] * scale * more))


@kernel
def sums_at(x: Array, counts: Array, k: int) -> tuple[int, int]:
    """Return the sums of q and of |q|, q = counts * rint(x * 2^k), for x of shape (rows, any)."""
    return flat_sums_at(to_read(x), counts, x.shape[1], k)


@kernel
def fixed_sums(x: Array, counts: Array, size: float) -> tuple[int, int, int]:
    """Choose k for x of shape (rows, any) and return k and the sums of q and of |q|, q = counts * rint(x * 2^k).

    counts is empty where every row counts once; size is the number of values, counts included.  k makes the sum of |q|
    lie in [2^60, 2^62), and comes from order-free facts only: size * max|x| first, then the integer sum itself.
    If x holds NaN or infinity the sum of |q| returned is -1.
    """
    return flat_fixed_sums(to_read(x), counts, x.shape[1], size)


@kernel
def fixed(x: Array, counts: Array, k: int, out: Array) -> None:
    """Write q = counts * rint(x * 2^k) to out; both have shape (rows, any)."""
    flat_fixed(to_read(x), counts, x.shape[1], k, to_write(out))


@kernel
def fixed_and_sums(x: Array, counts: Array, size: float, headroom: int, out: Array) -> tuple[int, int, int]:
    """Write q to out and return what `fixed_sums` does, with a k that is less by `headroom`."""
    values, width = to_read(x), x.shape[1]
    k, signed, gross = flat_fixed_sums(values, counts, width, size)
    if headroom > 0 and gross > 0:
        k -= headroom
        signed, gross = flat_sums_at(values, counts, width, k)
    if gross >= 0:
        flat_fixed(values, counts, width, k, to_write(out))
    return k, signed, gross


@in_parts
def fixed_part(x: Array, k: int, first: int, last: int, out: Array) -> tuple[int, int]:
    """Write q = rint(x * 2^k) to out, for first <= i < last; return the sums of q and of |q|."""
    scale, more = power_factors(k)
    signed, gross, x, out = np.int64(0), np.int64(0), x[first:last], out[first:last]
    for i in range(x.size):
        q = np.int64(np.rint(x[i] * scale * more))
        out[i] = q
        signed += q
        gross += abs(q)
    return signed, gross  # type: ignore[return-value]
