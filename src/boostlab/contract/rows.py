"""Where rows live: the few operations by which everything else in the library reaches them.

Whether rows lie in this process, on a GPU or on forty machines is known to a backend only.  What comes back is small:
a few numbers, one histogram, a count.
"""

from __future__ import annotations

from typing import Any, Protocol

from boostlab.contract.rule import Column, Formula


class Rows(Protocol):
    """The rows of a training sample.

    ==========================  =========================================  ==================
    operation                   what it gives                              what travels
    ==========================  =========================================  ==================
    each, keep, weigh           a column, kept where the rows are          numbers
    total, largest, smallest    exact sums, extremes                       a few integers
    histogram                   integer sums a channel and slot            d × bins integers
    part                        two nodes, kept where the rows are         a split
    advance                     scores moved by a vote                     a voter
    draw                        counts a row, in the canonical order       integers
    ==========================  =========================================  ==================
    """

    n_rows: int
    n: float

    def each(self, what: Formula, /, *numbers: Any) -> Column:
        """Return a formula's value for every row."""

    def keep(self, name: str, what: Formula | Column | float, /, *numbers: Any) -> None:
        """Remember a column by name."""

    def column(self, name: str, /) -> Column:
        """Return a column by its name."""

    def weigh(self, what: Formula | Column, /, *numbers: Any) -> Column:
        """Return the exponentials of a formula, scaled so that the largest is 1."""

    def scaled_exp(self, what: Formula | Column, /, *numbers: Any) -> tuple[Column, float]:
        """Return w and t with exp(formula) = e^t w, the largest w being 1."""

    def total(self, what: Formula | Column, /, *numbers: Any) -> Any:
        """Return exact sums over the sample."""

    def largest(self, what: Formula | Column, /, *numbers: Any) -> float:
        """Return the largest value."""

    def smallest(self, what: Formula | Column, /, *numbers: Any) -> float:
        """Return the smallest value."""
