"""Integer sums per slot of a histogram: over all rows, over some, and over those that changed.

Every kind of codes brings its own scatter (`add_eight`, `add_four`, `add_sparse`); here rows are lined up for it, in
blocks that stay in the cache.  A sided histogram has two halves: the magnitudes of negative numbers, then those of
positive ones.  For labels that is all there is to know of w and w y, at the price of one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boostlab.backend.cpu.in_parts import adding
from boostlab.backend.cpu.kernels.channel_rounding import round_block, value
from boostlab.backend.cpu.kernels.fixed_point import power_factors
from boostlab.backend.cpu.kernels.packed_codes import add_eight, add_four
from boostlab.backend.cpu.kernels.sparse_histogram import add_sparse
from boostlab.backend.cpu.kernels.workspace import clear, integers, total

Array = np.ndarray[Any, Any]

BLOCK = 8192  # rows


def _sums(add: Callable[..., None]) -> Any:
    @adding
    def sums(
        codes: Array, where: Array, q: Array, members: Array, sided: bool, first: int, last: int, out: Array
    ) -> tuple[int, int]:
        """Add q of the rows first <= i < last (of members[first:last] unless that is empty) to their slots.

        Return the sums of -q where q < 0 and of q where q > 0.
        """
        some = members.size > 0
        minus, plus = np.int64(0), np.int64(0)
        low_rows, low_values = integers(BLOCK + 1), integers(BLOCK + 1)
        rows, values = integers(BLOCK + 1), integers(BLOCK + 1)
        if not sided and not some:
            for i in range(first, last):
                minus += max(-q[i], np.int64(0))
                plus += max(q[i], np.int64(0))
            add(codes, where, q, rows[:0], first, last, out)  # not the members: one more type is one more to compile
            return minus, plus  # type: ignore[return-value]
        half = out.size // 2 if sided else 0
        for start in range(first, last, BLOCK):
            a, b = 0, 0
            for m in range(start, min(start + BLOCK, last)):
                i = members[m] if some else m
                v = q[i]
                minus += max(-v, np.int64(0))
                plus += max(v, np.int64(0))
                low_rows[a], low_values[a] = i, -v
                rows[b], values[b] = i, v
                a += sided & (v < 0)
                b += (not sided) | (v > 0)
            if sided:
                add(codes, where, low_values, low_rows, 0, a, out[:half])
            add(codes, where, values, rows, 0, b, out[half:])
        return minus, plus  # type: ignore[return-value]

    return sums


def _follow(add: Callable[..., None]) -> Any:
    @adding
    def follow(
        codes: Array,
        where: Array,
        form: int,
        w: Array,
        t: Array,
        counts: Array,
        mass: Array,
        k: int,
        sided: bool,
        first: int,
        last: int,
        q: Array,
        out: Array,
    ) -> tuple[int, int, int, int, int, int, float]:
        """Bring q up to date for first <= i < last, and add what changed to the slots (if out has any).

        q is counts * rint(mass * value * 2^k); integer masses are in counts, real ones in mass, and both may be empty.
        Return how many rows changed; how many their sign (if any did, a sided histogram is to be counted anew); the
        sums of the changes, of both halves or 0 and of all; the sums of -q where q < 0 and of q where q > 0, and of
        |q| in floating point.
        """
        signed, gross, rough = np.int64(0), np.int64(0), 0.0
        if out.size == 0 and not sided:  # rows that changed are only counted
            facts, counts, mass = integers(3), counts[first:last], mass[first:last]
            clear(facts)
            rough = round_block(form, w[first:last], t[first:last], counts, mass, k, q[first:last], facts)
            signed, gross = facts[1], facts[2]
            minus = np.int64((np.uint64(gross) - np.uint64(signed)) >> np.uint64(1))
            return facts[0], 0, 0, 0, minus, gross - minus, rough  # type: ignore[return-value]
        scale, more = power_factors(k)
        half = out.size // 2 if sided else 0
        low_rows, low_values = integers(BLOCK + 1), integers(BLOCK + 1)
        rows, values = integers(BLOCK + 1), integers(BLOCK + 1)
        changed, turned, below, above = 0, 0, np.int64(0), np.int64(0)
        for start in range(first, last, BLOCK):
            a, b = 0, 0
            for i in range(start, min(start + BLOCK, last)):
                x = value(form, w[i], t[i])
                v = (x * mass[i] if mass.size > 0 else x) * scale * more
                times = counts[i] if counts.size > 0 else np.int64(1)
                new, old = times * np.int64(np.rint(v)), q[i]
                q[i] = new
                signed += new
                gross += abs(new)
                rough += times * abs(v)
                other = new != old
                if sided:
                    low = (new < 0) | ((new == 0) & (old < 0))
                    turned += ((new < 0) & (old > 0)) | ((new > 0) & (old < 0))
                    low_rows[a], rows[b] = i, i
                    low_values[a] = values[b] = abs(new) - abs(old)
                    a += other & low
                    b += other & (not low)
                else:
                    rows[b], values[b] = i, new - old
                    b += other
            changed += a + b
            if out.size > 0:
                below += total(low_values[:a])
                above += total(values[:b])
                if sided:
                    add(codes, where, low_values, low_rows, 0, a, out[:half])
                add(codes, where, values, rows, 0, b, out[half:])
        minus = np.int64((np.uint64(gross) - np.uint64(signed)) >> np.uint64(1))  # the difference may be beyond 2^63
        return changed, turned, below, above, minus, gross - minus, rough  # type: ignore[return-value]

    return follow


sums_eight, sums_four, sums_sparse = _sums(add_eight), _sums(add_four), _sums(add_sparse)
follow_eight, follow_four, follow_sparse = _follow(add_eight), _follow(add_four), _follow(add_sparse)
