"""Histograms of all rows: of one integer a row, of two side by side, or of one by its sign or its class.

The cells lie in one line, word after word of columns and row after row of a word, and every thread of a team takes an
equal stretch: its histogram, that of one word of columns, stays in the first cache.  Only the words that two stretches
share are summed twice, and added.  Where rows far outnumber slots every thread takes its own rows instead, whose
integers it has just written: all sums are then added, which moves less between the caches of cores than the integers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from boostlab.backend.cpu.arrays import data_of
from boostlab.backend.cpu.compiling import inlined, part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.spin_barrier import meet
from boostlab.backend.cpu.kernels.workspace import clear, integers

Array = np.ndarray[Any, Any]
U = np.uint64

_intrinsic: Any = intrinsic
_I = ir.IntType(64)

# Rows whose values are read for one word of columns after the other: single ones need no copy, and two stay in the
# cache meanwhile.
BLOCK = {1: 1 << 30, 2: 2048}


def _adding(channels: int, signature: Any, bases: Any) -> Any:
    """Return the signature and code of adding a row's values to the slots of all columns of a word."""
    per_word, shift = len(bases.types), channels - 1
    width = 64 // per_word
    kind = ir.VectorType(_I, 2) if shift else _I

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def place(array: int, at: Any) -> Any:
            data = data_of(builder, args[array])
            return builder.bitcast(builder.gep(data, [at]), kind.as_pointer())

        twice, mask = ir.Constant(_I, shift), ir.Constant(_I, (1 << width) - 1)
        value = builder.load(place(3, builder.shl(args[4], twice)), align=8)
        for position in range(per_word):
            code = builder.and_(builder.lshr(args[1], ir.Constant(_I, width * position)), mask)
            at = place(0, builder.add(builder.extract_value(args[2], position), builder.shl(code, twice)))
            builder.store(builder.add(builder.load(at, align=8), value), at, align=8)
        return context.get_dummy_value()

    return signature, code


@_intrinsic
def _add_one(typing: Any, out: Any, word: Any, bases: Any, values: Any, k: Any) -> Any:
    """Add values[k] to out[base + code] for all columns of a word."""
    return _adding(1, types.void(out, types.uint64, bases, values, types.uint64), bases)


@_intrinsic
def _add_two(typing: Any, out: Any, word: Any, bases: Any, values: Any, k: Any) -> Any:
    """Add values[2 k] and values[2 k + 1] to out[base + 2 code] and behind it, by one vector addition a column.

    Vectors are read as such: put together of two numbers they take twice the time.
    """
    return _adding(2, types.void(out, types.uint64, bases, values, types.uint64), bases)


@inlined
def add_one(out: Array, word: int, bases: Any, values: Array, k: int) -> None:
    """Do as `_add_one`."""
    _add_one(out, word, bases, values, k)


@inlined
def add_two(out: Array, word: int, bases: Any, values: Array, k: int) -> None:
    """Do as `_add_two`."""
    _add_two(out, word, bases, values, k)


@part
def as_it_is(q: Array, p: Array, start: int, size: int, values: Array) -> Array:
    """Return one integer a row."""
    return q[start : start + size]


@part
def side_by_side(q: Array, p: Array, start: int, size: int, values: Array) -> Array:
    """Return two integers a row."""
    for k in range(size):
        values[2 * k], values[2 * k + 1] = q[start + k], p[start + k]
    return values


@part
def by_signs(q: Array, p: Array, start: int, size: int, values: Array) -> Array:
    """Return the magnitudes of negative and of positive integers."""
    for k in range(size):
        v = q[start + k]
        values[2 * k], values[2 * k + 1] = max(-v, np.int64(0)), max(v, np.int64(0))
    return values


@part
def by_classes(q: Array, p: Array, start: int, size: int, values: Array) -> Array:
    """Return the integers of rows of the class 0, and of others."""
    for k in range(size):
        v = q[start + k]
        mine = v if p[start + k] == 0 else np.int64(0)
        values[2 * k], values[2 * k + 1] = mine, v - mine
    return values


READ = {
    "one": (1, as_it_is, add_one),
    "two": (2, side_by_side, add_two),
    "sides": (2, by_signs, add_two),
    "classes": (2, by_classes, add_two),
}


@part
def eight(b: Array) -> Any:
    """Return where eight columns start."""
    return b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]


@part
def four(b: Array) -> Any:
    """Return where four columns start."""
    return b[0], b[1], b[2], b[3]


def held_by(of: str) -> int:
    """Return how many integers of workspace adding rows takes."""
    channels = READ[of][0]
    return 1 if channels == 1 else channels * BLOCK[channels]


@cache
def adding_rows(per_word: int, of: str) -> Any:
    """Return what adds some rows to the columns of some words, on codes of which a word holds so many."""
    (channels, read, add), all_bases = READ[of], eight if per_word == 8 else four
    bits, mask, block = U(64 // per_word), U((1 << (64 // per_word)) - 1), BLOCK[channels]

    @part
    def add_rows(words: Array, bases: Array, d: int, q: Array, p: Array, at: Any, values: Array, out: Array) -> None:
        """Add the rows start to end - 1 to the columns of the words first <= g < last."""
        first, last, start, end = at
        for begin in range(start, end, block):
            size = min(block, end - begin)
            mine = read(q, p, begin, size, values)
            for g in range(first, last):
                w, bases_of = words[g, begin : begin + size], bases[per_word * g : per_word * (g + 1)]
                if d >= per_word * (g + 1):
                    where = all_bases(bases_of)
                    for k in range(U(size)):
                        add(out, w[k], where, mine, k)
                    continue
                for position in range(d - per_word * g):
                    base, shift = (bases_of[position],), bits * U(position)
                    for k in range(U(size)):
                        add(out, (w[k] >> shift) & mask, base, mine, k)

    return add_rows


@cache
def whole_histogram(per_word: int, of: str) -> Any:
    """Return the compiled histogram of one or two integers a row, on codes of which a word holds so many."""
    channels, add_rows = READ[of][0], adding_rows(per_word, of)
    held = held_by(of)

    @in_parts
    def histogram(
        me: int,
        team: Array,
        size: int,
        words: Array,
        bases: Array,
        starts: Array,
        q: Array,
        p: Array,
        parts: Array,
        step: int,
        out: Array,
        own_rows: bool,
    ) -> int:
        """Write the sums of all rows as member `me` of a team of so many, for one row of q and p after the other.

        starts are those of the columns in the histogram, bases the same, in numbers, for every position; parts has a
        histogram for each member, out one for every `step` rows.  Members take rows of their own if `own_rows`, which
        only a single row of q and p can be summed by.  Return 1, or 0 if the team is broken.
        """
        groups, rows, d, values = words.shape[0], words.shape[1], starts.size - 1, integers(held)
        if own_rows:
            mine = out[0] if me == 0 else parts[me]
            clear(mine)
            place = (0, groups, rows * me // size, rows * (me + 1) // size)
            add_rows(words, bases, d, q[0], p[0], place, values, mine)
            if meet(team, size):
                return 0
            first, last = out.shape[1] * me // size, out.shape[1] * (me + 1) // size
            mine = out[0, first:last]
            for member in range(1, size):
                other = parts[member, first:last]
                for s in range(mine.size):
                    mine[s] += other[s]
            return 1
        whole = q.shape[0] * groups * rows
        at, end = whole * me // size, whole * (me + 1) // size
        while at < end:
            which, g, row = at // (groups * rows), at // rows % groups, at % rows
            stop = min(rows, row + end - at)
            many = min(max((end - at) // rows, 1), groups - g) if row == 0 else 1  # words, read at once
            to = out[which * step] if row == 0 else parts[me]
            clear(to[channels * starts[g * per_word] : channels * starts[min((g + many) * per_word, d)]])
            add_rows(words, bases, d, q[which], p[which], (g, g + many, row, stop), values, to)
            at += many * (stop - row)
        if size > 1 and meet(team, size):
            return 0
        columns = q.shape[0] * d
        for column in range(columns * me // size, columns * (me + 1) // size):
            which, j = column // d, column % d
            first, last, word = channels * starts[j], channels * starts[j + 1], (which * groups + j // per_word) * rows
            for member in range(1, size):
                begin, finish = whole * member // size, whole * (member + 1) // size
                if word < begin and begin < word + rows and begin < finish:
                    mine, other = out[which * step, first:last], parts[member, first:last]
                    for s in range(mine.size):
                        mine[s] += other[s]
        return 1

    return histogram
