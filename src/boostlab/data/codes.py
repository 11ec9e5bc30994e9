"""A binned table: which slot of its column every cell is in, and sums of row values per slot.

Column j owns the slots starts[j] to starts[j + 1] - 1 of one flat histogram: one a bin, the last for missing values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.threads import spread, spread_sums
from boostlab.kernels.march import march_eight, march_four, march_sparse
from boostlab.kernels.sparse import restore_zeros, slots_by_rows, sparse_sums
from boostlab.kernels.words import look_up, part_rows, sums_of_eight, sums_of_four

Array = npt.NDArray[Any]
Columns = tuple[Array, Array, Array]  # the rows and codes of the cells, column after column, and where each starts

Turn = tuple[int, int, float]  # see kernels/march.py

ALL = np.empty(0, np.int32)  # stands for all rows


class Codes:
    """What dense and sparse codes have in common."""

    dense: bool

    def __init__(self, n_rows: int, starts: Array, threads: int) -> None:
        self.n_rows, self.starts, self.threads = n_rows, starts, threads

    @property
    def n_slots(self) -> int:
        """Number of slots of all columns."""
        return int(self.starts[-1])

    def reading(self, feature: int, table: Array) -> tuple[Array, Array]:
        """Return codes of one column's cells, and the table (one entry a slot of the column) in their order."""
        raise NotImplementedError

    def sums(self, q: Array, members: Array | None = None) -> Array:
        """Return the sums of integers per slot, one integer a row or, where they are given, one a member."""
        raise NotImplementedError

    def march(self, row: tuple[Any, ...], ground: tuple[Any, ...], hist: Array) -> Turn:
        """Take one round on all rows (see kernels/march.py), and bring the histogram up to date."""
        raise NotImplementedError

    def padded(self, slots: Array) -> Array:
        """Return a copy of a histogram with the room that `march` needs."""
        return slots.copy()

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """What compiled rounds read, of dense codes: cells, words, and where the slots of every lane start."""
        raise NotImplementedError

    def take(self, rows: Array) -> Codes:
        """Return the codes of some rows."""
        raise NotImplementedError

    def column(self, feature: int) -> Array:
        """Return the codes of one column."""
        width = int(self.starts[feature + 1] - self.starts[feature])
        return self.look_up(feature, np.arange(width, dtype=np.int64))

    def look_up(self, feature: int, table: Array) -> Array:
        """Return for every row the table's entry for its slot."""
        code, table = self.reading(feature, table)
        out = np.empty(self.n_rows, table.dtype)
        spread(lambda a, b: look_up(code, table, a, b, out), self.n_rows, self.n_rows * 2, self.threads)
        return out

    def part(self, feature: int, low: Array, members: Array, space: Array) -> int:
        """Reorder the members so that rows in a low slot of the column come first; return how many they are."""
        code, low = self.reading(feature, low)
        return int(part_rows(code, low, members, space))


class DenseCodes(Codes):
    """A byte a cell (two where a column has more than 255 bins), in groups of columns that share a 64-bit word."""

    dense = True

    def __init__(self, cells: Array, starts: Array, threads: int = 1) -> None:
        super().__init__(cells.shape[1], starts, threads)
        self.cells = cells  # of shape (groups, rows, lanes)
        self.words = cells.view(np.uint64)[..., 0]
        lanes = cells.shape[2]
        self._sums, self._march = (sums_of_eight, march_eight) if lanes == 8 else (sums_of_four, march_four)
        # Columns that only fill up the last word have a slot each behind the others: adds to the same would wait.
        self._base = self.n_slots + np.arange(len(cells) * lanes, dtype=np.uint64) % np.uint64(lanes)
        self._base[: len(starts) - 1] = starts[:-1]

    @staticmethod
    def room(n_rows: int, n_features: int, widest: int) -> Array:
        """Return space for the cells of a table whose columns have at most `widest` slots."""
        lanes, kind = (8, np.uint8) if widest <= 256 else (4, np.uint16)
        return np.zeros((-(-n_features // lanes), n_rows, lanes), kind)

    def reading(self, feature: int, table: Array) -> tuple[Array, Array]:
        """Return one column's cells and the table as it is."""
        lanes = self.cells.shape[2]
        return self.cells[feature // lanes, :, feature % lanes], table

    def sums(self, q: Array, members: Array | None = None) -> Array:
        """Return the sums of integers per slot, one integer a row or, where they are given, one a member."""
        size, rows = (self.n_rows, ALL) if members is None else (len(members), members)

        def work(first: int, last: int, out: Array) -> None:
            self._sums(self.words, self._base, q, rows, first, last, out)

        return self._spread(work, size, size * len(self._base))[: self.n_slots]

    def _spread(self, work: Any, size: int, cells: int) -> Array:
        return spread_sums(work, size, cells, self.n_slots + self.cells.shape[2], self.threads)

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """What compiled rounds read: cells, words, and where the slots of every lane start."""
        return self.cells, self.words, self._base

    def padded(self, slots: Array) -> Array:
        """Return a copy of a histogram with the room that `march` needs."""
        return np.append(slots, np.zeros(self.cells.shape[2], np.int64))

    def march(self, row: tuple[Any, ...], ground: tuple[Any, ...], hist: Array) -> Turn:
        """Take one round on all rows, and bring the histogram up to date."""
        turns: list[Turn] = []

        def work(first: int, last: int, out: Array) -> None:
            turns.append(self._march(self.words, self._base, row, ground, first, last, out))

        hist += self._spread(work, self.n_rows, self.n_rows * len(self._base) // 2)
        return _together(turns)

    def take(self, rows: Array) -> DenseCodes:
        """Return the codes of some rows (their numbers)."""
        return DenseCodes(np.ascontiguousarray(self.cells[:, rows]), self.starts, self.threads)


class SparseCodes(Codes):
    """The cells whose code is not that of zero: by columns, and by rows as slots of the histogram.

    A column without such cells is constant and has no slots.
    """

    dense = False

    def __init__(
        self, columns: Columns, rows: tuple[Array, Array], zero: Array, starts: Array, threads: int = 1
    ) -> None:
        super().__init__(len(rows[1]) - 1, starts, threads)
        self.row_of, self.code_of, self.by_columns = columns
        self.slots, self.by_rows = rows
        self.zero = zero  # the code of zero in every column

    @classmethod
    def of(cls, columns: Columns, n_rows: int, zero: Array, starts: Array, threads: int) -> SparseCodes:
        """Add the rows to the columns (row numbers, codes, and where each column starts)."""
        row_of, code_of, by_columns = columns
        slots, by_rows = np.empty(len(row_of), _index_type(starts[-1])), np.empty(n_rows + 1, np.int64)
        slots_by_rows(row_of, code_of, by_columns, starts, by_rows, slots)
        return cls(columns, (slots, by_rows), zero, starts, threads)

    def reading(self, feature: int, table: Array) -> tuple[Array, Array]:
        """Return 0 for zeros and code + 1 for the other cells, and the table in that order."""
        code = np.zeros(self.n_rows, np.uint32)
        stored = slice(self.by_columns[feature], self.by_columns[feature + 1])
        code[self.row_of[stored]] = self.code_of[stored].astype(np.uint32) + np.uint32(1)
        return code, np.concatenate([table[self.zero[feature], None], table])

    def column(self, feature: int) -> Array:
        """Return the codes of one column."""
        code = np.full(self.n_rows, self.zero[feature], np.int64)
        stored = slice(self.by_columns[feature], self.by_columns[feature + 1])
        code[self.row_of[stored]] = self.code_of[stored]
        return code

    def sums(self, q: Array, members: Array | None = None) -> Array:
        """Return the sums of integers per slot, one integer a row or, where they are given, one a member."""
        size, rows = (self.n_rows, ALL) if members is None else (len(members), members)
        cells = 2 * len(self.slots) * size // max(self.n_rows, 1)

        def work(first: int, last: int, out: Array) -> None:
            sparse_sums(self.slots, self.by_rows, q, rows, first, last, out)

        out = spread_sums(work, size, cells, self.n_slots, self.threads)
        restore_zeros(out, self.starts, self.zero, q.sum())
        return out

    def march(self, row: tuple[Any, ...], ground: tuple[Any, ...], hist: Array) -> Turn:
        """Take one round on all rows, and bring the histogram up to date."""
        turns: list[Turn] = []

        def work(first: int, last: int, out: Array) -> None:
            turns.append(march_sparse(self.slots, self.by_rows, row, ground, first, last, out))

        changes = spread_sums(work, self.n_rows, len(self.slots) + self.n_rows, self.n_slots, self.threads)
        signed, grown, top = _together(turns)
        restore_zeros(changes, self.starts, self.zero, signed)
        hist += changes
        return signed, grown, top

    def take(self, rows: Array) -> SparseCodes:
        """Return the codes of some rows."""
        counts = np.diff(self.by_rows)[rows]
        ends = np.cumsum(counts)
        cells = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.by_rows[rows] - (ends - counts), counts)
        slots = self.slots[cells]
        column = np.searchsorted(self.starts, slots, side="right") - 1
        order = np.argsort(column, kind="stable")
        row_of = np.repeat(np.arange(len(rows), dtype=self.row_of.dtype), counts)[order]
        code_of = (slots - self.starts[column])[order].astype(self.code_of.dtype)
        by_columns = np.searchsorted(column[order], np.arange(len(self.zero) + 1))
        columns = row_of, code_of, by_columns.astype(np.int64)
        return SparseCodes(columns, (slots, np.append(0, ends).astype(np.int64)), self.zero, self.starts, self.threads)


def _together(turns: list[Turn]) -> Turn:
    signed, grown, tops = zip(*turns, strict=True)
    return sum(map(int, signed)), sum(map(int, grown)), max(tops)


def _index_type(size: int) -> Any:
    return np.int32 if size < 2**31 else np.int64
