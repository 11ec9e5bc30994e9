"""The histogram that trees grow by: the channels of a slot lie side by side.

Slot s of channel c is at C s + c.  Trees by two sums add both channels of a cell by one vector addition; for labels
these are the weights of the two sides, for numbers w and w t.  Trees by classes add a row's weight to the channel of
its class.  A group of columns that share a word is summed for a block of rows, so that its histogram stays in the first
cache (two channels of eight columns: 32 KB) and the rows' values in the second; the words of rows that come next are
prefetched, because a node's rows are far apart in memory.

Words are a flat array: word g of row i is at i step + g apart.  Of a large table a row's words lie side by side there:
a node of few rows reads one or two cache lines a row, not one a word (see `DenseCodes.by_rows`).
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.in_parts import adding
from boostlab.backend.cpu.kernels.channel_rounding import value
from boostlab.backend.cpu.kernels.fixed_point import power_factors
from boostlab.backend.cpu.kernels.prefetch import soon
from boostlab.backend.cpu.kernels.whole_histogram import add_two
from boostlab.backend.cpu.kernels.workspace import clear, doubles, integers, naturals

Array = np.ndarray[Any, Any]
U = np.uint64

BLOCK = 2048  # rows
AHEAD = 16  # rows


class RowBlock(NamedTuple):
    """Some rows of a node (where their words begin), and what they add: two values each, or one and its class."""

    rows: Array
    classes: Array
    values: Array


@part
def new_block() -> RowBlock:
    """Return workspace for a block."""
    block = RowBlock(naturals(BLOCK + AHEAD), naturals(BLOCK), integers(2 * BLOCK + 2))
    for row in range(BLOCK, BLOCK + AHEAD):
        block.rows[row] = 0  # that are prefetched after the last
    return block


# -- what rows add -------------------------------------------------------------------------------------------------


@part
def gather_labels(
    source: Any, tree: int, members: Array, some: bool, step: int, first: int, size: int, block: RowBlock
) -> None:
    """Write the rows members[first : first + size] (or first to first + size - 1) and their weights, by sides."""
    q, rows, values = source[0][tree], block.rows, block.values
    for k in range(size):
        i = U(members[first + k]) if some else U(first + k)
        v = q[i]
        rows[k] = i * U(step)
        values[2 * k], values[2 * k + 1] = max(-v, np.int64(0)), max(v, np.int64(0))


@part
def gather_numbers(
    source: Any, tree: int, members: Array, some: bool, step: int, first: int, size: int, block: RowBlock
) -> None:
    """Write the rows and their two numbers."""
    q, p, rows, values = source[0][tree], source[1][tree], block.rows, block.values
    for k in range(size):
        i = U(members[first + k]) if some else U(first + k)
        rows[k] = i * U(step)
        values[2 * k], values[2 * k + 1] = q[i], p[i]


@part
def gather_classes(
    source: Any, tree: int, members: Array, some: bool, step: int, first: int, size: int, block: RowBlock
) -> None:
    """Write the rows, their weights and their classes."""
    q, of, rows, classes, values = source[0][tree], source[1][tree], block.rows, block.classes, block.values
    for k in range(size):
        i = U(members[first + k]) if some else U(first + k)
        rows[k], classes[k], values[k] = i * U(step), U(of[i]), q[i]


# -- adding a block ------------------------------------------------------------------------------------------------


@part
def _add_pairs_of_column(w: Array, bits: int, position: int, base: int, block: RowBlock, size: int, out: Array) -> None:
    """Add a block to one column of a word."""
    rows, values = block.rows, block.values
    shift, mask, one = U(bits * position), (U(1) << U(bits)) - U(1), U(1)
    for k in range(U(size)):
        at = base + (((w[rows[k]] >> shift) & mask) << one)
        out[at] += values[U(2) * k]
        out[at + one] += values[U(2) * k + one]


@part
def add_pairs_of_eight(
    words: Array,
    apart: int,
    bases: Array,
    d: int,
    n_channels: int,
    block: RowBlock,
    size: int,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Add the first `size` rows of a block to the columns of the words first <= g < last; bases are in numbers."""
    rows, values = block.rows, block.values
    for g in range(first, last):
        w, b = words[g * apart :], bases[8 * g : 8 * g + 8]
        if d - 8 * g < 8:
            for position in range(d - 8 * g):
                _add_pairs_of_column(w, 8, position, b[position], block, size, out)
            continue
        eight = b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
        for k in range(U(size)):
            soon(w, rows[k + U(AHEAD)])
            add_two(out, w[rows[k]], eight, values, k)


@part
def add_pairs_of_four(
    words: Array,
    apart: int,
    bases: Array,
    d: int,
    n_channels: int,
    block: RowBlock,
    size: int,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Do the same where a word holds four codes of two bytes."""
    rows, values = block.rows, block.values
    for g in range(first, last):
        w, b = words[g * apart :], bases[4 * g : 4 * g + 4]
        if d - 4 * g < 4:
            for position in range(d - 4 * g):
                _add_pairs_of_column(w, 16, position, b[position], block, size, out)
            continue
        four = b[0], b[1], b[2], b[3]
        for k in range(U(size)):
            soon(w, rows[k + U(AHEAD)])
            add_two(out, w[rows[k]], four, values, k)


@part
def _add_classes_of_column(
    w: Array, bits: int, position: int, base: int, n_channels: int, block: RowBlock, size: int, out: Array
) -> None:
    """Add a block to one column of a word."""
    rows, classes, values, K = block.rows, block.classes, block.values, U(n_channels)
    shift, mask = U(bits * position), (U(1) << U(bits)) - U(1)
    for k in range(U(size)):
        out[base + ((w[rows[k]] >> shift) & mask) * K + classes[k]] += values[k]


@part
def add_classes_of_eight(
    words: Array,
    apart: int,
    bases: Array,
    d: int,
    n_channels: int,
    block: RowBlock,
    size: int,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Add the weights of a block's rows to the channels of their classes."""
    rows, classes, values, K, m = block.rows, block.classes, block.values, U(n_channels), U(255)
    for g in range(first, last):
        w, b = words[g * apart :], bases[8 * g : 8 * g + 8]
        if d - 8 * g < 8:
            for position in range(d - 8 * g):
                _add_classes_of_column(w, 8, position, b[position], n_channels, block, size, out)
            continue
        b0, b1, b2, b3, b4, b5, b6, b7 = b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
        for k in range(U(size)):
            soon(w, rows[k + U(AHEAD)])
            c, o, v = w[rows[k]], classes[k], values[k]
            out[b0 + o + (c & m) * K] += v
            out[b1 + o + ((c >> U(8)) & m) * K] += v
            out[b2 + o + ((c >> U(16)) & m) * K] += v
            out[b3 + o + ((c >> U(24)) & m) * K] += v
            out[b4 + o + ((c >> U(32)) & m) * K] += v
            out[b5 + o + ((c >> U(40)) & m) * K] += v
            out[b6 + o + ((c >> U(48)) & m) * K] += v
            out[b7 + o + (c >> U(56)) * K] += v


@part
def add_classes_of_four(
    words: Array,
    apart: int,
    bases: Array,
    d: int,
    n_channels: int,
    block: RowBlock,
    size: int,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Do the same where a word holds four codes of two bytes."""
    for g in range(first, last):
        for position in range(min(4, d - 4 * g)):
            _add_classes_of_column(
                words[g * apart :], 16, position, bases[4 * g + position], n_channels, block, size, out
            )


ADD_PAIRS = {8: add_pairs_of_eight, 4: add_pairs_of_four}
ADD_CLASSES = {8: add_classes_of_eight, 4: add_classes_of_four}


@kernel
def class_totals(q: Array, classes: Array, out: Array) -> None:
    """Add the rows' weights to their classes."""
    for i in range(q.size):
        out[classes[i]] += q[i]


# -- all rows, from round to round ---------------------------------------------------------------------------------


@cache
def label_changes(per_word: int) -> Any:
    """Return the compiled sums of what changed."""
    add = ADD_PAIRS[per_word]

    @adding
    def follow(
        words: Array,
        bases: Array,
        d: int,
        form: int,
        w: Array,
        t: Array,
        counts: Array,
        mass: Array,
        power: int,
        first: int,
        last: int,
        q: Array,
        out: Array,
    ) -> tuple[int, int, int, int, float]:
        """Do what `follow` of kernels/histogram.py does for two sides.

        Return how many rows changed, how many their sign, the sums of -q where q < 0 and of q where q > 0, and of |q|
        in floating point.
        """
        scale, more = power_factors(power)
        block, fresh, sizes = new_block(), integers(BLOCK), doubles(BLOCK)
        rows, values, plain = block.rows, block.values, counts.size == 0 and mass.size == 0
        changed, turned = 0, 0
        signed, gross, rough = np.int64(0), np.int64(0), 0.0
        for start in range(first, last, BLOCK):
            many = min(BLOCK, last - start)
            ws, ts, qs = w[start : start + many], t[start : start + many], q[start : start + many]
            if plain:
                for m in range(many):
                    v = value(form, ws[m], ts[m]) * scale * more
                    fresh[m], sizes[m] = np.int64(np.rint(v)), abs(v)
            else:
                for m in range(many):
                    x, i = value(form, ws[m], ts[m]), start + m
                    v = (x * mass[i] if mass.size > 0 else x) * scale * more
                    times = counts[i] if counts.size > 0 else np.int64(1)
                    fresh[m], sizes[m] = times * np.int64(np.rint(v)), times * abs(v)
            clear(sizes[many:])
            for m in range(0, BLOCK, 4):  # sums that need not wait for each other
                rough += (sizes[m] + sizes[m + 1]) + (sizes[m + 2] + sizes[m + 3])
            size = 0
            for m in range(many):
                new, old = fresh[m], qs[m]
                low = (new < 0) | ((new == 0) & (old < 0))
                change = abs(new) - abs(old)
                rows[size] = U(start + m)
                values[2 * size], values[2 * size + 1] = change * low, change * (not low)
                size += new != old
            for m in range(many):
                new, old = fresh[m], qs[m]
                signed += new
                gross += abs(new)
                turned += ((new < 0) & (old > 0)) | ((new > 0) & (old < 0))
                qs[m] = new
            changed += size
            if out.size > 0:
                add(words, w.size, bases, d, 2, block, size, 0, words.size // w.size, out)
        minus = np.int64((np.uint64(gross) - np.uint64(signed)) >> np.uint64(1))  # the difference may be beyond 2^63
        return changed, turned, minus, gross - minus, rough  # type: ignore[return-value]

    return follow
