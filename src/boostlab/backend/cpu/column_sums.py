"""Formulas of columns that are handed in, such as scores that are only looked at: their values and exact sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.formula_sums import FormulaSums
from boostlab.backend.cpu.formulas import evaluation, given_in_order, tables_of, values_of
from boostlab.backend.cpu.masses import Masses
from boostlab.contract.formula import n_values

Array = npt.NDArray[Any]
Formula = Callable[..., Any]

MANY = 1 << 14  # values, from which on a formula's are not held for all rows at once


class ColumnSums:
    """Values and sums of formulas over a sample whose columns are handed in by name.

    Parameters
    ----------
    masses : Masses
        How much every row counts, and how many threads share the rows.
    """

    def __init__(self, masses: Masses) -> None:
        self.masses, self.threads = masses, masses.threads
        self._sums = FormulaSums(masses, masses.threads)
        self._powers: dict[Formula, Array] = {}  # of two, that a formula's values were last rounded at

    def values(self, what: Formula, columns: Mapping[str, Array], numbers: Sequence[Any]) -> Array:
        """Return a formula's values, of shape (values, rows)."""
        found: Array = values_of(what, columns, numbers, self.threads)
        return found

    def totals(self, what: Formula, columns: Mapping[str, Array], numbers: Sequence[Any]) -> Sequence[float]:
        """Return the sum of mass * x for each of a formula's values x; many rows' are never held at once."""
        n = n_values(what)
        if n * self.masses.n_rows <= MANY:
            return self.masses.totals(self.values(what, columns, numbers))
        loop = evaluation(what, tuple(columns), tables_of(columns))
        guess = self._powers.get(what, np.empty((0, n), np.int64))
        given = given_in_order(what, columns, numbers)
        found, self._powers[what] = self._sums.totals(loop, given, (n,), guess)
        return found
