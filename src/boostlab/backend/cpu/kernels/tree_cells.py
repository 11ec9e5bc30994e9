"""The cells of a table as trees grow by them: what depends on whether they are dense codes or those that are stored.

A table's columns are groups, whose cells are summed together: a word's of dense codes, all of a sparse table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.growth_arrays import PackedCodes, StoredCodes
from boostlab.backend.cpu.kernels.node_rows import part_stretch
from boostlab.backend.cpu.kernels.prefetch import soon
from boostlab.backend.cpu.kernels.row_blocks import AHEAD, BLOCK
from boostlab.backend.cpu.kernels.sparse_histogram import give_zero, part_stored
from boostlab.backend.cpu.kernels.tree_histogram import (
    ADD_CLASSES,
    ADD_PAIRS,
    add_class_to_column,
    add_pair,
    look_ahead,
)
from boostlab.backend.cpu.kernels.tree_search import SlotColumns
from boostlab.backend.cpu.kernels.workspace import clear

Array = np.ndarray[Any, Any]
U = np.uint64

ORIGIN = (U(0),)  # stored slots are those of the whole histogram


@dataclass(frozen=True)
class Cells:
    """What trees do with cells; all but the first are functions that kernels may call."""

    arrays: Any  # the names of the table's arrays
    groups: Callable[..., Any]  # how many there are, and of how many columns
    add: Callable[..., Any]  # sum rows in the columns of some groups
    complete: Callable[..., Any]  # give a column's sums over a node's rows what its cells did not show
    divide: Callable[..., Any]  # part a stretch of a node's rows by a column


def cells_of(codes: str, gather: Callable[..., Any], classes: bool = False) -> Cells:
    """Return the cells of a kind of codes (see `Codes.kind`), whose rows add what gather writes to a block."""
    if codes == "sparse":
        return stored_cells(gather, add_class_to_column if classes else add_pair)
    per_word = 8 if codes == "eight" else 4
    return packed_cells(per_word, gather, (ADD_CLASSES if classes else ADD_PAIRS)[per_word])


# -- dense codes ---------------------------------------------------------------------------------------------------


def packed_cells(per_word: int, gather: Callable[..., Any], add: Callable[..., Any]) -> Cells:
    """Return the cells of dense codes, of which a word holds so many."""

    @part
    def groups(codes: PackedCodes, columns: SlotColumns) -> tuple[int, int]:
        return codes.cells.shape[0], per_word

    @part
    def add_rows(
        codes: PackedCodes,
        columns: SlotColumns,
        source: Any,
        tree: int,
        some: bool,
        at: Any,
        rows: Array,
        block: Any,
        out: Array,
    ) -> None:
        """Sum the rows start to end - 1 of some words' columns anew."""
        first, last, start, end, K = at
        d = columns.cuts.size
        clear(out[K * columns.starts[min(first * per_word, d)] : K * columns.starts[min(last * per_word, d)]])
        while start < end:
            many = min(BLOCK, end - start)
            gather(source, tree, rows, some, codes.step, start, many, block)
            more = look_ahead(rows, some, codes.step, start + many, end, block)
            add(codes.words, codes.step, codes.apart, codes.bases, d, K, block, many, more, first, last, out)
            start += many

    @part
    def complete(codes: PackedCodes, columns: SlotColumns, j: int, totals: Array, hist: Array) -> None:
        """Every cell has been looked at."""

    @part
    def divide(
        codes: PackedCodes, j: int, low: Array, members: Array, space: Array, first: int, last: int, stay: bool
    ) -> int:
        code = codes.cells[j // per_word, :, j % per_word]
        return part_stretch(code, low, members, space, first, last, stay)

    return Cells(PackedCodes, groups, add_rows, complete, divide)


# -- stored cells --------------------------------------------------------------------------------------------------


def stored_cells(gather: Callable[..., Any], add_cell: Callable[..., Any]) -> Cells:
    """Return the cells of sparse codes; add_cell adds a row to a slot."""

    @part
    def groups(codes: StoredCodes, columns: SlotColumns) -> tuple[int, int]:
        return 1, columns.cuts.size

    @part
    def add_block(codes: StoredCodes, block: Any, size: int, K: int, out: Array) -> None:
        """Add a block to the slots that its rows have."""
        slots, by_rows, rows = codes.slots, codes.by_rows, block.rows
        for k in range(U(size)):
            soon(slots, U(by_rows[rows[min(k + U(AHEAD), U(size - 1))]]))
            i = rows[k]
            for p in range(U(by_rows[i]), U(by_rows[i + U(1)])):
                add_cell(out, U(slots[p]), ORIGIN, block, k, U(K))

    @part
    def add_rows(
        codes: StoredCodes,
        columns: SlotColumns,
        source: Any,
        tree: int,
        some: bool,
        at: Any,
        rows: Array,
        block: Any,
        out: Array,
    ) -> None:
        """Sum the stored cells of the rows start to end - 1 anew."""
        _, _, start, end, K = at
        clear(out)
        while start < end:
            many = min(BLOCK, end - start)
            gather(source, tree, rows, some, 1, start, many, block)
            add_block(codes, block, many, K, out)
            start += many

    @part
    def complete(codes: StoredCodes, columns: SlotColumns, j: int, totals: Array, hist: Array) -> None:
        if columns.starts[j] < columns.starts[j + 1]:
            give_zero(hist, columns.starts[j], columns.starts[j + 1], codes.zero[j], totals)

    @part
    def divide(
        codes: StoredCodes, j: int, low: Array, members: Array, space: Array, first: int, last: int, stay: bool
    ) -> int:
        begin, end = codes.by_columns[j], codes.by_columns[j + 1]
        stored = codes.row_of[begin:end], codes.code_of[begin:end]
        return part_stored(*stored, low, low[codes.zero[j]], members, space, first, last, stay)

    return Cells(StoredCodes, groups, add_rows, complete, divide)
