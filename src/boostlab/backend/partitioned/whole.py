"""What the driver knows of a sample in parts: who holds the rows, what they are together, and nodes of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

from boostlab.backend.partitioned.answers import Answer, Call

Array = npt.NDArray[Any]


class Parts(Protocol):
    """All parts, wherever they are."""

    def ask(self, orders: Sequence[Call], question: Call) -> Answer:
        """Let every part carry out the orders, one after the other, and answer the question; merge the answers."""


@dataclass
class Whole:
    """What is known of the sample as a whole.

    Parameters
    ----------
    n_rows, n_examples : int
        Number of rows; the same with every row counted so often as its integer mass says.
    n : float
        The sum of the masses.
    n_classes : int
        0 where there are numbers to predict.
    bins : Bins
        The cut points of the columns.
    starts : array
        Where every column's slots start in a histogram.
    uniform : bool
        Whether every row counts once.
    """

    n_rows: int
    n_examples: int
    n: float
    n_classes: int
    bins: Any
    starts: Array
    uniform: bool = True


@dataclass(slots=True)
class PartedNode:
    """Some rows, by the number under which the parts know them."""

    number: int
    n_rows: int  # at most, until the parts have said
