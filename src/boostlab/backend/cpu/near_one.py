"""Weights that are known to be near 1, so that not all of them need be looked at for that."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from boostlab.backend.cpu.kernels.small_table import EXTREME

Array = npt.NDArray[Any]
Formula = Callable[..., Any]

KEPT = 4  # columns that are known at a time


class NearOne:
    """Columns of weights whose largest is known not to be extreme.

    The largest weight of a formula is found by the pass that evaluates it, once it has been asked for.
    """

    __slots__ = ("_asked", "_known", "_made")

    def __init__(self) -> None:
        self._known: tuple[weakref.ref[Array], ...] = ()
        self._made: tuple[Callable[[], Array | None], Formula] | None = None  # the last column of a formula
        self._asked: tuple[Formula, ...] = ()

    def __reduce__(self) -> Any:
        """Copy nothing: columns are known by where they are."""
        return NearOne, ()

    def note(self, column: Array, largest: float = 1.0) -> None:
        """Take note of a column and its largest value."""
        if abs(math.frexp(largest)[1]) < EXTREME:
            self._known = weakref.ref(column), *self._known[: KEPT - 1]

    def made(self, column: Array, what: Formula) -> None:
        """Take note of a column that a formula has made."""
        self._made = weakref.ref(column), what

    def looks_at(self, what: Formula) -> bool:
        """Return whether the largest value of a formula's columns was asked for."""
        return what in self._asked

    def knows(self, column: Array) -> bool:
        """Return whether a column is near 1; if that is not known, it will be of the next one of its formula."""
        if any(known() is column for known in self._known):
            return True
        if self._made is not None and self._made[0]() is column:
            self._asked = *self._asked, self._made[1]
        return False
