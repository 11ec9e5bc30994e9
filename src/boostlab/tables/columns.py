"""Columns of cells, and what they become when they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.tables.forms import Form, infer, read_cells

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Column:
    """A column as it was read: numbers (NaN where missing) or words (empty where missing)."""

    name: str
    numbers: Array | None = None
    words: tuple[str, ...] = ()
    form: Form = field(default_factory=Form)

    @property
    def n_missing(self) -> int:
        """How many cells are empty."""
        return int(np.isnan(self.numbers).sum()) if self.numbers is not None else self.words.count("")

    @property
    def n_distinct(self) -> int:
        """How many different values it has."""
        if self.numbers is not None:
            return len(np.unique(self.numbers[~np.isnan(self.numbers)]))
        return len(set(self.words) - {""})


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was read, before anybody has thought about it."""

    columns: list[Column]
    n_rows: int
    remarks: list[str] = field(default_factory=list)  # what was assumed in reading it


@dataclass(frozen=True, eq=False)
class RawSheet:
    """The cells of a table: text without blanks around it, or numbers where the file has types."""

    names: list[str]
    cells: list[Sequence[str] | Array]
    n_rows: int
    remarks: list[str] = field(default_factory=list)
    decimal_comma: bool = False

    def column(self, j: int, form: Form | None = None) -> Column:
        """Return a column, read by a form; by the one that fits its cells if none is given."""
        return read_column(self.names[j], self.cells[j], form, self.decimal_comma)

    def sheet(self) -> Sheet:
        """Return all columns, each by the form that fits."""
        return Sheet([self.column(j) for j in range(len(self.names))], self.n_rows, self.remarks)


def read_column(
    name: str, cells: Sequence[str] | Array, form: Form | None = None, decimal_comma: bool = False
) -> Column:
    """Return a column of cells.

    Parameters
    ----------
    name : str
    cells : sequence of str, or array of float
        As in a `RawSheet`.
    form : Form, optional
        How to read them; None is the form that fits all cells.
    decimal_comma : bool, default=False
        As for `infer`.
    """
    if isinstance(cells, np.ndarray):
        if form is None or form.kind == "number":
            return Column(name, finite(cells))
        cells = ["" if math.isnan(value) else f"{value:.12g}" for value in cells.tolist()]
    if form is None and not any("_" in cell for cell in cells):  # in which Python sees numbers, and people codes
        with suppress(ValueError):
            return Column(name, finite(np.array(cells, dtype=np.float64)))  # most columns have no empty cell
    form = infer(cells, decimal_comma) if form is None else form
    found = read_cells(cells, form)
    if isinstance(found, tuple):
        return Column(name, words=found, form=form)
    return Column(name, found, form=form)


def finite(numbers: Array) -> Array:
    """Return numbers, NaN in place of infinities."""
    return np.where(np.isfinite(numbers), numbers, np.nan)
