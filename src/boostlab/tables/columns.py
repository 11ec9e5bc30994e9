"""Columns of cells, and what they become when they are read."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.tables.forms import Form, date_parts, floats, infer, read_cells

Array = npt.NDArray[Any]

_WORD = re.compile(r"[^\W\d_]{3,}")
_FLAGS = 20  # words of a text that get a column each
_COMMON, _RARE = 0.5, 0.01  # shares of the rows between which a word's occurrence may say something


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

    @property
    def holds_words(self) -> bool:
        """Whether it holds words, and not numbers."""
        return self.numbers is None

    @property
    def distinct_words(self) -> set[str]:
        """The different words; none if it holds numbers."""
        return set(self.words)

    @property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers, none missing."""
        return self.numbers is not None and not self.n_missing and bool(np.all(self.numbers % 1 == 0))

    @property
    def span(self) -> float:
        """How far the largest number is from the smallest."""
        assert self.numbers is not None
        return float(np.ptp(self.numbers))

    @property
    def holds_text(self) -> bool:
        """Whether it holds sentences: most cells differ, and have several words."""
        there = [word for word in self.words if word]
        return self.numbers is None and are_sentences(
            len(there), len(set(there)), sum(len(cell.split()) for cell in there)
        )

    @property
    def telling_words(self) -> tuple[str, ...]:
        """Words of sentences that some rows have and others do not."""
        counts: Counter[str] = Counter()
        for cell in self.words:
            counts.update(words_of(cell))
        return telling_words(counts, len(self.words))

    @property
    def varying_parts(self) -> tuple[str, ...]:
        """The parts of dates that have several values."""
        assert self.numbers is not None
        parts = date_parts(self.numbers)
        return tuple(name for name, part in parts.items() if len(np.unique(part[~np.isnan(part)])) > 1)


def are_sentences(n_cells: int, n_distinct: int, n_words: int) -> bool:
    """Whether cells that are not missing are sentences, by how many differ and how many words they have."""
    return n_cells >= 20 and n_distinct >= 0.5 * n_cells and n_words >= 3 * n_cells


def words_of(cell: str) -> set[str]:
    """Return the words of a sentence, in lower case."""
    return set(_WORD.findall(cell.casefold()))


def telling_words(counts: Counter[str], n_rows: int) -> tuple[str, ...]:
    """Return the words that some rows have and others do not, the most frequent first; the target has no say."""
    low, high = max(5.0, _RARE * n_rows), _COMMON * n_rows
    found = [word for word, count in counts.items() if low <= count <= high]
    return tuple(sorted(found, key=lambda word: (-counts[word], word))[:_FLAGS])


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was read, before its columns are interpreted."""

    columns: list[Any]  # Column, or what passes over a large file saw of one
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
    if form is None and "_" not in "".join(cells):  # in which Python sees numbers, and people codes
        with suppress(ValueError):
            return Column(name, finite(floats(cells)))  # most columns have no empty cell
    form = infer(cells, decimal_comma) if form is None else form
    found = read_cells(cells, form)
    if isinstance(found, tuple):
        return Column(name, words=found, form=form)
    return Column(name, found, form=form)


def finite(numbers: Array) -> Array:
    """Return numbers, NaN in place of infinities."""
    return np.where(np.isfinite(numbers), numbers, np.nan)
