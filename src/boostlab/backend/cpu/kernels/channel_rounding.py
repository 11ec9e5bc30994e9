"""A channel of numbers rounded in place: what its integers become, and what is known of them then."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.fixed_point import power_factors
from boostlab.backend.cpu.kernels.workspace import BLOCK, block_of_doubles
from boostlab.contract.criterion import SIZE, SQUARE

Array = np.ndarray[Any, Any]


@part
def value(form: int, w: float, t: float) -> float:
    """Return what a row with the weight w and the target t adds to a channel."""
    x = w * w if form == SQUARE else w
    return x if form == SIZE else x * t


@part
def sum_roughly(x: Array, size: int) -> float:
    """Return the sum of the first `size` numbers: eight by eight, which need not wait for each other."""
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(0, size - 7, 8):
        a, b, c, d = a + x[i], b + x[i + 1], c + x[i + 2], d + x[i + 3]
        e, f, g, h = e + x[i + 4], f + x[i + 5], g + x[i + 6], h + x[i + 7]
    for i in range(size - size % 8, size):
        a += x[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@part
def round_block(form: int, w: Array, t: Array, counts: Array, mass: Array, k: int, q: Array, whole: Array) -> float:
    """Write q = counts * rint(mass * value * 2^k); add how many changed and the sums of q and |q|, and return this
    roughly.
    """
    scale, more = power_factors(k)
    changed, signed, gross, rough, sizes = 0, np.int64(0), np.int64(0), 0.0, block_of_doubles()
    if counts.size == 0 and mass.size == 0:
        for start in range(0, q.size, BLOCK):
            end = min(start + BLOCK, q.size)
            ws, ts, qs = w[start:end], t[start:end], q[start:end]
            for i in range(qs.size):
                v = value(form, ws[i], ts[i]) * scale * more
                sizes[i] = abs(v)
                new = np.int64(np.rint(v))
                changed += new != qs[i]
                qs[i] = new
                signed += new
                gross += abs(new)
            rough += sum_roughly(sizes, qs.size)
        add_facts(whole, changed, signed, gross)
        return rough
    for i in range(q.size):
        x = value(form, w[i], t[i])
        v = (x * mass[i] if mass.size > 0 else x) * scale * more
        many = counts[i] if counts.size > 0 else np.int64(1)
        new = many * np.int64(np.rint(v))
        changed += new != q[i]
        q[i] = new
        signed += new
        gross += abs(new)
        rough += many * abs(v)
    add_facts(whole, changed, signed, gross)
    return rough


@part
def add_facts(whole: Array, changed: int, signed: int, gross: int) -> None:
    """Add what is known of a block to what is known of those before."""
    whole[0] += changed
    whole[1] += signed
    whole[2] += gross
