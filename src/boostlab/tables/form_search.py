"""The form of a column whose cells come in batches: the one that `forms.infer` gives for all of them at once.

Whether a cell is a number of a form, its shape says (digits written as 0), and columns have few shapes; dates are tried
one by one.  Cells that are plain numbers are not even given a shape: if other cells come after them, the search says so
(`late`) and is repeated with `shapes=True`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boostlab.tables.columns import Array
from boostlab.tables.forms import (
    BOOLEAN,
    MISSING,
    MISSING_NUMBER,
    WORDS,
    Form,
    date_forms,
    is_boolean,
    is_moment,
    looks_like_date,
    number_form,
    plain_numbers,
)

_ZEROS = str.maketrans("123456789", "0" * 9)
_MOST_SHAPES = 5_000  # more are no numbers of one form
_FIRST = 50  # different cells that must look like dates


class FormSearch:
    """The search for one column's form.

    Parameters
    ----------
    decimal_comma : bool
        As for `infer`.
    shapes : bool, default=False
        Whether to look at the shapes of plain numbers, too.
    """

    def __init__(self, decimal_comma: bool, shapes: bool = False) -> None:
        self.decimal_comma, self.always = decimal_comma, shapes
        self.plain, self.unshaped, self.some = True, False, False
        self.shapes: dict[str, None] | None = {}
        self.digits = True  # in all cells that are not missing
        self.first: dict[str, None] = {}
        self.dates = list(date_forms())
        self.words: set[str] | None = set()

    def see(self, cells: Sequence[str]) -> Array | None:
        """Look at cells; return them as plain numbers while all cells so far are."""
        numbers = plain_numbers(cells) if self.plain else None
        self.plain = numbers is not None
        if numbers is not None and not self.always:
            self.unshaped = self.unshaped or len(cells) > 0
            self.some = self.some or not np.isnan(numbers).all()
            return numbers
        distinct = dict.fromkeys(cells)
        there = [cell for cell in distinct if cell.casefold() not in MISSING_NUMBER]
        if self.words is not None:
            self.words |= {cell.casefold() for cell in distinct if cell.casefold() not in MISSING}
            self.words = self.words if len(self.words) <= 2 else None
        if self.digits:
            self.digits = all(any(map(str.isdigit, cell)) or "inf" in cell.casefold() for cell in there)
        if self.digits:
            self._see_shapes(there)
            self._see_dates(there)
        return numbers

    @property
    def late(self) -> bool:
        """Whether cells without a shape turned out not to be plain numbers, or to be no numbers at all."""
        return self.unshaped and not (self.plain and self.some)

    def _see_shapes(self, there: Sequence[str]) -> None:
        if self.shapes is not None:
            self.shapes.update(dict.fromkeys(cell.translate(_ZEROS) for cell in there))
            self.shapes = self.shapes if len(self.shapes) <= _MOST_SHAPES else None

    def _see_dates(self, there: Sequence[str]) -> None:
        for cell in there:
            if len(self.first) == _FIRST or not self.dates:
                break
            self.first[cell] = None
            if not looks_like_date(cell):
                self.dates = []
        self.dates = [form for form in self.dates if all(is_moment(cell, form) for cell in there)]

    def form(self) -> Form:
        """Return the form of all cells that were seen."""
        if self.plain and self.unshaped:
            return Form()
        if self.digits and (self.shapes is None or self.shapes):
            found = None if self.shapes is None else number_form([*self.shapes], self.decimal_comma)
            if found is not None:
                return found
            if self.dates:
                return Form("date", date=self.dates[0])
        return BOOLEAN if self.words is not None and is_boolean(self.words) else WORDS
