"""Sums of several integers a row: a row adds all of them to each of its slots, side by side.

A slot's sums lie next to one another, so that adding a row's integers is a few vector instructions, where one histogram
after another would scatter every integer on its own.  The totals lie behind the slots.  Column after column is summed,
whose histogram stays in the first cache, for a block of rows, whose integers stay in the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from boostlab.backend.cpu.arrays import data_of
from boostlab.backend.cpu.compiling import inlined
from boostlab.backend.cpu.in_parts import adding
from boostlab.backend.cpu.kernels.workspace import naturals, to_read, to_write

Array = np.ndarray[Any, Any]
U = np.uint64

_intrinsic: Any = intrinsic

BLOCK = 512  # rows


@_intrinsic
def _add_pair(typing: Any, out: Any, at: Any, values: Any, k: Any) -> Any:
    """Add values[k] and values[k + 1] to out[at] and out[at + 1] by one vector addition.

    Left to the compiler, every row asks whether the two arrays overlap: twice the time.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def place(array: int) -> Any:
            data = data_of(builder, args[array])
            pair = ir.VectorType(ir.IntType(64), 2).as_pointer()
            return builder.bitcast(builder.gep(data, [args[array + 1]]), pair)

        to, new = place(0), builder.load(place(2), align=8)
        builder.store(builder.add(builder.load(to, align=8), new), to, align=8)
        return context.get_dummy_value()

    return types.void(out, types.uint64, values, types.uint64), code


@inlined
def add_row(out: Array, at: Any, values: Array, k: Any, width: Any) -> None:
    """Add so many values from the k-th on to out, from `at` on."""
    end = k + width - (width & U(1))
    while k < end:
        _add_pair(out, at, values, k)
        at += U(2)
        k += U(2)
    if width & U(1):
        out[at] += values[k]


@adding
def panel_sums(words: Array, base: Array, q: Array, members: Array, first: int, last: int, out: Array) -> None:
    """Add q[i] to out[slot] for all slots of the rows first <= i < last (of members[first:last] unless that is empty).

    A word holds the codes of as many columns as `base` has entries a group of words.
    """
    some, K, last_slot = members.size > 0, U(q.shape[1]), out.shape[0] - 1
    values, sums, rows = to_read(q), to_write(out), naturals(BLOCK)
    per_word = base.size // words.shape[0]
    bits = U(64 // per_word)
    mask = (U(1) << bits) - U(1)
    for start in range(first, last, BLOCK):
        size = U(min(BLOCK, last - start))
        for m in range(size):
            rows[m] = U(members[U(start) + m]) if some else U(start) + m
            add_row(sums, U(last_slot) * K, values, rows[m] * K, K)
        for g in range(words.shape[0]):
            word = words[g]
            for position in range(per_word):
                first_slot, shift = base[g * per_word + position], bits * U(position)
                for m in range(size):
                    i = rows[m]
                    add_row(sums, (first_slot + ((word[i] >> shift) & mask)) * K, values, i * K, K)


@adding
def sparse_panel_sums(slots: Array, indptr: Array, q: Array, members: Array, first: int, last: int, out: Array) -> None:
    """Do the same for the cells that a sparse table stores."""
    some, K, last_slot = members.size > 0, U(q.shape[1]), out.shape[0] - 1
    values, sums = to_read(q), to_write(out)
    for m in range(first, last):
        i = U(members[m]) if some else U(m)
        add_row(sums, U(last_slot) * K, values, i * K, K)
        for cell in range(indptr[i], indptr[i + U(1)]):
            add_row(sums, U(slots[cell]) * K, values, i * K, K)
