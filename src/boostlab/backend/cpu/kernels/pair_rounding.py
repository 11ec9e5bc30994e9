"""Two channels of numbers, w and w t, rounded in one pass over the rows.

A row's weight and target are read once, and what is made of them stays in the first cache: the integers of both
channels, their sums, and what `exact_sums` asks of a third value, how far rows are from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import admit, part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.fixed_point import _scales, flat_sums_at
from boostlab.backend.cpu.kernels.histogram import value
from boostlab.backend.cpu.kernels.totals import largest_part, times
from boostlab.backend.cpu.kernels.workspace import BLOCK as STRETCH
from boostlab.backend.cpu.kernels.workspace import block_of_doubles, doubles, to_read

Array = np.ndarray[Any, Any]

BLOCK = 1024  # rows


@part
def note(x: Array, counts: Array, mass: Array, powers: Array, v: int, top: Array, sums: Array) -> None:
    """Add a block of values to the largest magnitude and the sums at all powers of value v (see `tops_and_sums`)."""
    here = largest_part(x, counts, mass)
    top[v] = max(top[v], here) if here == here and top[v] == top[v] else np.nan
    for p in range(powers.shape[0]):
        signed, gross = flat_sums_at(to_read(times(x, mass)), counts, 1, powers[p, v])
        sums[p, v, 0] += signed
        sums[p, v, 1] += gross


@in_parts
def moments(
    w: Array,
    t: Array,
    counts: Array,
    mass: Array,
    powers: Array,
    first: int,
    last: int,
    part: int,
    tops: Array,
    sums: Array,
) -> None:
    """Do as `tops_and_sums` does for the two values w t and w."""
    x = doubles(BLOCK)
    for start in range(first, last, BLOCK):
        end = min(start + BLOCK, last)
        by, of, mine, ws, ts = counts[start:end], mass[start:end], x[: end - start], w[start:end], t[start:end]
        for i in range(mine.size):
            mine[i] = ws[i] * ts[i]
        note(mine, by, of, powers, 0, tops[part], sums[part])
        for i in range(mine.size):
            mine[i] = ws[i]
        note(mine, by, of, powers, 1, tops[part], sums[part])


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
def round_block(form: int, w: Array, t: Array, counts: Array, mass: Array, k: int, q: Array) -> Any:
    """Write q = counts * rint(mass * value * 2^k); return how many changed, the sums of q and |q|, and this roughly."""
    scale, more = _scales(k)
    changed, signed, gross, rough, sizes = 0, np.int64(0), np.int64(0), 0.0, block_of_doubles()
    if counts.size == 0 and mass.size == 0:
        for start in range(0, q.size, STRETCH):
            end = min(start + STRETCH, q.size)
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
        return changed, signed, gross, rough
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
    return changed, signed, gross, rough


@cache
def pair_rounding(residual: Callable[..., Any]) -> Any:
    """Return the compiled rounding of two channels; residual(w, t, (0, 0)) is how far a row is from 0."""
    stamp = admit(residual)

    @in_parts
    def rounded(
        forms: Any,
        w: Array,
        t: Array,
        centre: float,
        counts: Array,
        mass: Array,
        scales: Any,
        powers: Array,
        first: int,
        last: int,
        part: int,
        q: Array,
        p: Array,
        centred: Array,
        tops: Array,
        sums: Array,
    ) -> tuple[int, int, int, float, int, int, int, float]:
        """Write t - centre (unless there is no space) and the integers of both channels of the rows first <= i < last.

        Return for each channel what `round_block` does; tops and sums, unless these are empty, are those of
        `tops_and_sums` for residuals.
        """
        x, less = doubles(BLOCK), doubles(BLOCK)
        many0, signed0, gross0, rough0 = 0 if first <= last else stamp, np.int64(0), np.int64(0), 0.0
        many1, signed1, gross1, rough1 = 0, np.int64(0), np.int64(0), 0.0
        for start in range(first, last, BLOCK):
            end = min(start + BLOCK, last)
            by, of, ws, ts = counts[start:end], mass[start:end], w[start:end], t[start:end]
            to = centred[start:end] if centred.size > 0 else less[: end - start]
            for i in range(to.size):
                to[i] = ts[i] - centre
            changed, signed, gross, rough = round_block(forms[0], ws, to, by, of, scales[0], q[start:end])
            many0, signed0, gross0, rough0 = many0 + changed, signed0 + signed, gross0 + gross, rough0 + rough
            changed, signed, gross, rough = round_block(forms[1], ws, to, by, of, scales[1], p[start:end])
            many1, signed1, gross1, rough1 = many1 + changed, signed1 + signed, gross1 + gross, rough1 + rough
            if tops.size == 0:
                continue
            mine = x[: end - start]
            for i in range(mine.size):
                mine[i] = residual(ws[i], to[i], (0.0, 0.0))
            note(mine, by, of, powers, 0, tops[part], sums[part])
        return many0, signed0, gross0, rough0, many1, signed1, gross1, rough1  # type: ignore[return-value]

    return rounded
