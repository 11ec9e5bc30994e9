"""Sums per class and slot: a row adds to the histogram of its class, and to no other.

The histograms of all classes lie behind one another, `stride` slots each, and the classes' totals behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.in_parts import adding
from boostlab.backend.cpu.kernels.workspace import integers, naturals

Array = np.ndarray[Any, Any]
U = np.uint64

BLOCK = 256  # rows: their numbers, values and places fit into the first cache, beside the histograms


@part
def add_eight_to(words: Array, base: Array, q: Array, to: Array, rows: Array, size: int, out: Array) -> None:
    """Add q[k] to the slots of row rows[k] in the histogram that starts at to[k], for k < size (see `packed_codes`)."""
    m = U(255)
    for g in range(base.size // 8):
        w, b = words[g], 8 * g
        b0, b1, b2, b3 = base[b], base[b + 1], base[b + 2], base[b + 3]
        b4, b5, b6, b7 = base[b + 4], base[b + 5], base[b + 6], base[b + 7]
        for k in range(U(size)):
            v, c, a = q[k], w[rows[k]], to[k]
            out[a + b0 + (c & m)] += v
            out[a + b1 + ((c >> U(8)) & m)] += v
            out[a + b2 + ((c >> U(16)) & m)] += v
            out[a + b3 + ((c >> U(24)) & m)] += v
            out[a + b4 + ((c >> U(32)) & m)] += v
            out[a + b5 + ((c >> U(40)) & m)] += v
            out[a + b6 + ((c >> U(48)) & m)] += v
            out[a + b7 + (c >> U(56))] += v


@part
def add_four_to(words: Array, base: Array, q: Array, to: Array, rows: Array, size: int, out: Array) -> None:
    """Do the same where a word holds four codes of two bytes."""
    m = U(65535)
    for g in range(base.size // 4):
        w, b = words[g], 4 * g
        b0, b1, b2, b3 = base[b], base[b + 1], base[b + 2], base[b + 3]
        for k in range(U(size)):
            v, c, a = q[k], w[rows[k]], to[k]
            out[a + b0 + (c & m)] += v
            out[a + b1 + ((c >> U(16)) & m)] += v
            out[a + b2 + ((c >> U(32)) & m)] += v
            out[a + b3 + (c >> U(48))] += v


@part
def add_sparse_to(slots: Array, indptr: Array, q: Array, to: Array, rows: Array, size: int, out: Array) -> None:
    """Do the same for the cells that a sparse table stores."""
    for k in range(size):
        i, v, a = rows[k], q[k], to[k]
        for c in range(indptr[i], indptr[i + U(1)]):
            out[a + U(slots[c])] += v


@part
def add_classes(
    add: Callable[..., None],
    codes: Array,
    where: Array,
    q: Array,
    classes: Array,
    members: Array,
    stride: int,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Add q of the rows first <= i < last (of members[first:last] unless that is empty) to their classes' slots."""
    some = members.size > 0
    totals = out[out.size // (stride + 1) * stride :]
    rows, to, values = naturals(BLOCK), naturals(BLOCK), integers(BLOCK)
    for start in range(first, last, BLOCK):
        size = min(BLOCK, last - start)
        for k in range(size):
            i = np.int64(members[start + k]) if some else start + k
            c, v = np.int64(classes[i]), q[i]
            rows[k], to[k], values[k] = i, c * stride, v
            totals[c] += v
        add(codes, where, values, to, rows, size, out)


def _sums(add: Callable[..., None]) -> Any:
    @adding
    def sums(
        codes: Array,
        where: Array,
        q: Array,
        classes: Array,
        members: Array,
        stride: int,
        first: int,
        last: int,
        out: Array,
    ) -> None:
        """Do as `add_classes`."""
        add_classes(add, codes, where, q, classes, members, stride, first, last, out)

    return sums


class_sums_eight, class_sums_four, class_sums_sparse = _sums(add_eight_to), _sums(add_four_to), _sums(add_sparse_to)
