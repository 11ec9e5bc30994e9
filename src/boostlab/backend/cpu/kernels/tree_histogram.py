"""The histogram that trees grow by: the channels of a slot lie side by side.

Slot s of channel c is at C s + c.  Trees by two sums add both channels of a cell by one vector addition; for labels
these are the weights of the two sides, for numbers w and w t.  Trees by classes add a row's weight to the channel of
its class.  A group of columns that share a word is summed for a block of rows, so that its histogram stays in the first
cache (two channels of eight columns: 32 KB) and the rows' values in the second; the words of rows that come next are
prefetched, because a node's rows are far apart in memory.

Words are a flat array: word g of row i is at i step + g apart.  Of a large table a row's words lie side by side there:
a node of few rows reads one or two cache lines a row, not one a word (see `DenseCodes.by_rows` and `row_blocks`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import inlined, kernel, part
from boostlab.backend.cpu.in_parts import adding
from boostlab.backend.cpu.kernels.channel_rounding import value
from boostlab.backend.cpu.kernels.fixed_point import power_factors
from boostlab.backend.cpu.kernels.prefetch import soon
from boostlab.backend.cpu.kernels.row_blocks import (
    AHEAD,
    BLOCK,
    CHUNK,
    FAR,
    RowBlock,
    ask,
    new_block,
    read_strip,
    read_word,
    words_at_once,
)
from boostlab.backend.cpu.kernels.whole_histogram import add_two, eight, four
from boostlab.backend.cpu.kernels.workspace import clear, doubles, integers

Array = np.ndarray[Any, Any]
U = np.uint64

SCAN = 512  # rows that are brought up to date before those that changed may be added


@part
def look_ahead(members: Array, some: bool, step: int, first: int, last: int, block: RowBlock) -> int:
    """Write where the words of the rows begin that come after a block; return how many there are.

    Rows that follow each other are not looked for: processors ask for these themselves.
    """
    size = min(BLOCK, last - first) if some and step > 1 else 0
    for k in range(size):
        block.following[k] = U(members[first + k]) * U(step)
    return size


# -- what rows add -------------------------------------------------------------------------------------------------


@inlined
def put_labels(source: Any, tree: int, i: int, k: int, block: RowBlock) -> None:
    """Write what row i adds, its weight by sides, as row k of a block."""
    v = source[0][tree, i]
    block.values[2 * k], block.values[2 * k + 1] = max(-v, np.int64(0)), max(v, np.int64(0))


@inlined
def put_numbers(source: Any, tree: int, i: int, k: int, block: RowBlock) -> None:
    """Write a row's two numbers."""
    block.values[2 * k], block.values[2 * k + 1] = source[0][tree, i], source[1][tree, i]


@inlined
def put_classes(source: Any, tree: int, i: int, k: int, block: RowBlock) -> None:
    """Write a row's weight and its class."""
    block.values[k], block.classes[k] = source[0][tree, i], U(source[1][tree, i])


@inlined
def ask_for_one(source: Any, tree: int, i: int) -> None:
    """Ask for what row i adds."""
    soon(source[0][tree], i)


@inlined
def ask_for_two(source: Any, tree: int, i: int) -> None:
    """Ask for both numbers of row i."""
    soon(source[0][tree], i)
    soon(source[1][tree], i)


def gathering(put: Callable[..., Any], ask_for: Callable[..., Any]) -> Any:
    """Return what writes rows to a block, and what they add."""

    @part
    def gather(
        source: Any, tree: int, members: Array, some: bool, step: int, first: int, size: int, block: RowBlock
    ) -> None:
        """Write the rows members[first : first + size] (or first to first + size - 1), and what they add."""
        rows = block.rows
        if some and step > 1:  # a large table's, which are far apart
            for k in range(size):
                ask_for(source, tree, U(members[min(first + k + FAR, members.size - 1)]))
                i = U(members[first + k])
                rows[k] = i * U(step)
                put(source, tree, i, k, block)
            return
        for k in range(size):
            i = U(members[first + k]) if some else U(first + k)
            rows[k] = i * U(step)
            put(source, tree, i, k, block)

    return gather


gather_labels, gather_numbers = gathering(put_labels, ask_for_one), gathering(put_numbers, ask_for_two)
gather_classes = gathering(put_classes, ask_for_two)


# -- adding a block ------------------------------------------------------------------------------------------------


@inlined
def add_pair(out: Array, word: int, bases: Any, block: RowBlock, k: int, n_channels: int) -> None:
    """Add the two values of row k to the slots of all columns of a word; bases are in numbers."""
    add_two(out, word, bases, block.values, k)


@inlined
def add_class_to_column(out: Array, code: int, bases: Any, block: RowBlock, k: int, n_channels: int) -> None:
    """Add the weight of row k to the channel of its class, in the slot of one column."""
    out[bases[0] + code * n_channels + block.classes[k]] += block.values[k]


@inlined
def add_class_to_eight(out: Array, word: int, bases: Any, block: RowBlock, k: int, n_channels: int) -> None:
    """Do the same in eight columns."""
    b0, b1, b2, b3, b4, b5, b6, b7 = bases
    c, o, v, K, m = word, block.classes[k], block.values[k], n_channels, U(255)
    out[b0 + o + (c & m) * K] += v
    out[b1 + o + ((c >> U(8)) & m) * K] += v
    out[b2 + o + ((c >> U(16)) & m) * K] += v
    out[b3 + o + ((c >> U(24)) & m) * K] += v
    out[b4 + o + ((c >> U(32)) & m) * K] += v
    out[b5 + o + ((c >> U(40)) & m) * K] += v
    out[b6 + o + ((c >> U(48)) & m) * K] += v
    out[b7 + o + (c >> U(56)) * K] += v


@inlined
def add_class_to_four(out: Array, word: int, bases: Any, block: RowBlock, k: int, n_channels: int) -> None:
    """Do the same in four columns."""
    b0, b1, b2, b3 = bases
    c, o, v, K, m = word, block.classes[k], block.values[k], n_channels, U(65535)
    out[b0 + o + (c & m) * K] += v
    out[b1 + o + ((c >> U(16)) & m) * K] += v
    out[b2 + o + ((c >> U(32)) & m) * K] += v
    out[b3 + o + (c >> U(48)) * K] += v


def adding_block(per_word: int, add_row: Callable[..., Any], add_cell: Callable[..., Any]) -> Any:
    """Return what adds a block to some words; add_row adds a row to all columns of a word, add_cell to one."""
    all_bases = eight if per_word == 8 else four
    bits, mask = U(64 // per_word), U((1 << (64 // per_word)) - 1)

    @part
    def add_cells(w: Array, b: Array, columns: int, K: int, block: RowBlock, size: int, out: Array) -> None:
        """Add a block to the first columns of a word, one after the other."""
        for position in range(columns):
            base, shift = (b[position],), bits * U(position)
            for k in range(U(size)):
                add_cell(out, (w[k] >> shift) & mask, base, block, k, U(K))

    @part
    def add_word(w: Array, b: Array, columns: int, K: int, block: RowBlock, size: int, out: Array) -> None:
        """Add a block to the columns of a word, which are read where they are."""
        if columns < per_word:
            read_word(w, block, size)
            add_cells(block.words, b, columns, K, block, size, out)
            return
        where, rows = all_bases(b), block.rows
        for k in range(U(size)):
            soon(w, rows[k + U(AHEAD)])
            add_row(out, w[rows[k]], where, block, k, U(K))

    @part
    def add_strip(
        words: Array,
        g: int,
        wide: int,
        bases: Array,
        d: int,
        K: int,
        block: RowBlock,
        size: int,
        to_come: Any,
        out: Array,
    ) -> None:
        """Add a block to the columns of a strip of words, and ask for other rows' words, a few at a time."""
        rows, many, first = to_come
        each, asked = -(-many * CHUNK // max(wide * size, 1)), 0
        read_strip(words[g:], block, size)
        for at in range(wide):
            w, columns = block.words[at * BLOCK : at * BLOCK + size], d - per_word * (g + at)
            b = bases[per_word * (g + at) : per_word * (g + at + 1)]
            if columns < per_word:
                add_cells(w, b, columns, K, block, size, out)
                continue
            where = all_bases(b)
            for start in range(0, size, CHUNK):
                some = min(asked + each, many)
                ask(words, rows, asked, some, first)
                asked = some
                for k in range(U(start), U(min(start + CHUNK, size))):
                    add_row(out, w[k], where, block, k, U(K))

    @part
    def add(
        words: Array,
        step: int,
        apart: int,
        bases: Array,
        d: int,
        n_channels: int,
        block: RowBlock,
        size: int,
        more: int,
        first: int,
        last: int,
        out: Array,
    ) -> None:
        """Add the first `size` rows of a block to the columns of the words first <= g < last.

        Meanwhile the words of the next block are asked for, of which `more` rows are known.
        """
        g = first
        while g < last:
            wide = words_at_once(step, apart, g, last)
            if wide == 1:
                b = bases[per_word * g : per_word * (g + 1)]
                add_word(words[g * apart :], b, d - per_word * g, n_channels, block, size, out)
            elif g + wide < last:  # the same rows' next strip comes first
                to_come = block.rows, size, g + wide
                add_strip(words, g, wide, bases, d, n_channels, block, size, to_come, out)
            else:
                to_come = block.following, more, first
                add_strip(words, g, wide, bases, d, n_channels, block, size, to_come, out)
            g += wide

    return add


ADD_PAIRS = {8: adding_block(8, add_pair, add_pair), 4: adding_block(4, add_pair, add_pair)}
ADD_CLASSES = {
    8: adding_block(8, add_class_to_eight, add_class_to_column),
    4: adding_block(4, add_class_to_four, add_class_to_column),
}


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
        block, fresh, sizes = new_block(), integers(SCAN), doubles(SCAN)
        rows, values, plain = block.rows, block.values, counts.size == 0 and mass.size == 0
        changed, turned, size = 0, 0, 0
        signed, gross, rough = np.int64(0), np.int64(0), 0.0
        for start in range(first, last, SCAN):
            many = min(SCAN, last - start)
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
            for m in range(0, SCAN, 4):  # sums that need not wait for each other
                rough += (sizes[m] + sizes[m + 1]) + (sizes[m + 2] + sizes[m + 3])
            changed -= size
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
            if size > BLOCK - SCAN or start + SCAN >= last:
                if out.size > 0:
                    add(words, 1, w.size, bases, d, 2, block, size, 0, 0, words.size // w.size, out)
                size = 0
        minus = np.int64((np.uint64(gross) - np.uint64(signed)) >> np.uint64(1))  # the difference may be beyond 2^63
        return changed, turned, minus, gross - minus, rough  # type: ignore[return-value]

    return follow
