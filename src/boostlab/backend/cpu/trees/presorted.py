"""Full trees for labels, each grown in one compiled call from rows in the order of every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.presorted_tree import grow_ordered, put_in_order
from boostlab.backend.cpu.trees.full import Full, widths_of
from boostlab.contract import Task
from boostlab.contract.criterion import Separable
from boostlab.contract.growth import Limits

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]

SMALL = 1 << 23  # cells up to which lists of rows may be kept, at 8 bytes each
SHARE = 14  # rows with a code other than 0 for every slot: if there are more, sums per slot are faster than lists
NO_LISTS = np.empty(0, np.uint32)


class Presorted(Full):
    """Growth without a limit on leaves, from lists of the rows in the order of every column.

    Parameters
    ----------
    learner : Limits
        When to stop.
    rows : CpuSample
        The sample.
    """

    name = "presorted"

    @classmethod
    def serves(cls, learner: Limits, rows: CpuSample, criterion: Separable, task: Task) -> bool:
        """Labels by the gini index, on columns of numbers whose lists fit into memory and 32 bits a row and code."""
        if not super().serves(learner, rows, criterion, task) or criterion.by_class or rows.slots.categories:
            return False
        n, widths = rows.n_rows, widths_of(rows.slots)
        return n * len(widths) <= SMALL and n.bit_length() + int(widths.max()).bit_length() <= 32

    @classmethod
    def preference(cls, learner: Limits, rows: CpuSample, criterion: Separable, task: Task) -> int:
        """That of `full`, where lists are short; else below all others."""
        widths = widths_of(rows.slots)
        few = _starts(rows, widths)[-1] <= SHARE * widths.sum()
        return super().preference(learner, rows, criterion, task) if few else -1

    def __init__(self, learner: Limits, rows: CpuSample) -> None:
        super().__init__(learner, rows)
        n, cells = rows.n_rows, rows.codes.to_read[0]
        self.starts = _starts(rows, self.widths)
        self.lists = np.empty(self.starts[-1], np.uint32)
        put_in_order(cells, self.widths, n.bit_length(), self.starts, self.lists)
        self.copy, self.bounds = np.empty_like(self.lists), np.empty((n // 2 + 1, len(self.widths), 2), np.int32)

    def _grow_nodes(self, q: Array, mass: Array, limits: Any, grown: Any) -> tuple[int, Array]:
        """Write the nodes; return how many, and that there are no categories."""
        self.copy[:] = self.lists
        cells, bits = self.rows.codes.to_read[0], self.rows.n_rows.bit_length()
        size = grow_ordered(cells, self.copy, self.starts, self.widths, bits, q, mass, limits, grown, self.bounds)
        return size, np.empty(0, bool)


def _starts(rows: CpuSample, widths: Array) -> Array:
    """Return where every column's list starts, and where the last one ends."""
    starts = np.empty(len(widths) + 1, np.int64)
    put_in_order(rows.codes.to_read[0], widths, rows.n_rows.bit_length(), starts, NO_LISTS)
    return starts
