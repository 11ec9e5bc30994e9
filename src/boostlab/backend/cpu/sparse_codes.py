"""The codes of a sparse table: cells whose code is not that of zero, by columns and by rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import Codes
from boostlab.backend.cpu.code_kernels import SPARSE, Kernels
from boostlab.backend.cpu.kernels.sparse_histogram import restore_zeros, slots_by_rows

Array = npt.NDArray[Any]
Columns = tuple[Array, Array, Array]  # the rows and codes of the cells, column after column, and where each starts


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
        self._code, self._written = np.zeros(self.n_rows, np.uint32), slice(0)  # of one column, for `reading`
        self.read, self.width = rows, 1 + 2 * len(rows[0]) // max(self.n_rows, 1)

    @property
    def _kernels(self) -> Kernels:
        return SPARSE

    @classmethod
    def of(cls, columns: Columns, n_rows: int, zero: Array, starts: Array, threads: int) -> SparseCodes:
        """Add the rows to the columns (row numbers, codes, and where each column starts)."""
        row_of, code_of, by_columns = columns
        slots, by_rows = np.empty(len(row_of), _index_type(starts[-1])), np.empty(n_rows + 1, np.int64)
        slots_by_rows(row_of, code_of, by_columns, starts, by_rows, slots)
        return cls(columns, (slots, by_rows), zero, starts, threads)

    @property
    def kind(self) -> str:
        """Cells by rows and by columns."""
        return "sparse"

    @property
    def to_read(self) -> tuple[Array, ...]:
        """Slots by rows, cells by columns, the codes of zero, and a column of zeros to write on and clear again."""
        self._code[self.row_of[self._written]] = 0
        self._written = slice(0)
        return *self.read, self.row_of, self.code_of, self.by_columns, self.zero, self._code

    def reading(self, feature: int, table: Array) -> tuple[Array, Array]:
        """Return 0 for zeros and code + 1 for the other cells, and the table in that order.

        The codes are to be read before the next call, which writes over them.
        """
        self._code[self.row_of[self._written]] = 0
        self._written = stored = slice(self.by_columns[feature], self.by_columns[feature + 1])
        self._code[self.row_of[stored]] = self.code_of[stored].astype(np.uint32) + np.uint32(1)
        return self._code, np.concatenate([table[self.zero[feature], None], table])

    def column(self, feature: int) -> Array:
        """Return the codes of one column."""
        code = np.full(self.n_rows, self.zero[feature], np.int64)
        stored = slice(self.by_columns[feature], self.by_columns[feature + 1])
        code[self.row_of[stored]] = self.code_of[stored]
        return code

    def complete(self, slots: Array, totals: list[int]) -> Array:
        """Give the zeros what is missing to the totals."""
        for half, total in zip(slots, totals, strict=True):
            restore_zeros(half, self.starts, self.zero, total)
        return slots

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


def _index_type(size: int) -> Any:
    return np.int32 if size < 2**31 else np.int64
