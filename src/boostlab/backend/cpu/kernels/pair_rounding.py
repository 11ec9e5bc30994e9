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
from boostlab.backend.cpu.kernels.fixed_point import flat_sums_at, power_factors
from boostlab.backend.cpu.kernels.histogram import value
from boostlab.backend.cpu.kernels.totals import largest_part, times
from boostlab.backend.cpu.kernels.workspace import BLOCK as STRETCH
from boostlab.backend.cpu.kernels.workspace import block_of_doubles, clear, doubles, to_read

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
    """Do as `tops_and_sums` does for the values w t of all tasks, then for their w; both have a row a task."""
    x, n_tasks = doubles(BLOCK), w.shape[0]
    for task in range(n_tasks):
        for start in range(first, last, BLOCK):
            end = min(start + BLOCK, last)
            by, of, mine = counts[start:end], mass[start:end], x[: end - start]
            ws, ts = w[task, start:end], t[task, start:end]
            for i in range(mine.size):
                mine[i] = ws[i] * ts[i]
            note(mine, by, of, powers, task, tops[part], sums[part])
            for i in range(mine.size):
                mine[i] = ws[i]
            note(mine, by, of, powers, n_tasks + task, tops[part], sums[part])


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


@cache
def pair_rounding(residual: Callable[..., Any]) -> Any:
    """Return the compiled rounding of two channels; residual(w, t, (0, 0)) is how far a row is from 0."""
    stamp = admit(residual)

    @in_parts
    def rounded(
        forms: Any,
        w: Array,
        t: Array,
        centres: Array,
        counts: Array,
        mass: Array,
        scales: Any,
        powers: Array,
        first: int,
        last: int,
        part: int,
        q: Array,
        p: Array,
        facts: Any,
        tops: Array,
        sums: Array,
    ) -> int:
        """Write the integers of both channels, w and w (t - centre), of the rows first <= i < last.

        Arrays of rows have a row a task.  facts are integers and a float for each part, task and channel: what
        `round_block` adds and returns.  tops and sums, unless these are empty, are those of `tops_and_sums` for
        residuals.
        """
        x, less, (whole, rough) = doubles(BLOCK), doubles(BLOCK), facts
        for task in range(w.shape[0]):
            clear(whole[part, task, 0])
            clear(whole[part, task, 1])
            rough[part, task, 0] = rough[part, task, 1] = 0.0
            for start in range(first, last, BLOCK):
                end = min(start + BLOCK, last)
                by, of, ws, ts = counts[start:end], mass[start:end], w[task, start:end], t[task, start:end]
                to = less[: end - start]
                for i in range(to.size):
                    to[i] = ts[i] - centres[task]
                for channel in range(2):
                    out = q[task, start:end] if channel == 0 else p[task, start:end]
                    mine = whole[part, task, channel]
                    rough[part, task, channel] += round_block(
                        forms[channel], ws, to, by, of, scales[channel], out, mine
                    )
                if tops.size == 0:
                    continue
                far = x[: end - start]
                for i in range(far.size):
                    far[i] = residual(ws[i], to[i], (0.0, 0.0))
                note(far, by, of, powers, task, tops[part], sums[part])
        return stamp

    return rounded
