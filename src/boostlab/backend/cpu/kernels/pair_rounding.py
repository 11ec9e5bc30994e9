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
from boostlab.backend.cpu.kernels.channel_rounding import round_block
from boostlab.backend.cpu.kernels.fixed_point import flat_sums_at
from boostlab.backend.cpu.kernels.totals import largest_part, times
from boostlab.backend.cpu.kernels.workspace import clear, doubles, to_read

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
