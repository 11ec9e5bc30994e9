"""What `best_first` asks of codes, dense or sparse: the arrays its kernels read, and the histograms of all rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import FOLLOWED, Codes, DenseCodes, Followed
from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.backend.cpu.kernels.tree_histogram import label_changes
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.sparse_codes import SparseCodes

Array = npt.NDArray[Any]
Write = Callable[[Array], object]  # writes the histograms of all rows, each to its tree's first place


class GrowthCodes(Protocol):
    """The codes of a table as growth sees them."""

    def arrays(self, n_channels: int) -> tuple[Any, ...]:
        """Return what kernels read (see kernels/growth_arrays.py)."""

    def follower(self, rows: Masses) -> Follower:
        """Return what follows the rows of labels."""

    def root(self, follower: Follower) -> Write:
        """Return what writes the histogram of all rows of labels, as the follower has it."""

    def roots(self, q: Array, p: Array) -> Write | None:
        """Return what writes the histograms of two integers a row; None where growth sums them as other nodes."""


def growth_codes(codes: Codes) -> GrowthCodes:
    """Return what growth asks of these codes."""
    if isinstance(codes, SparseCodes):
        return SparseGrowth(codes)
    assert isinstance(codes, DenseCodes)
    return DenseGrowth(codes)


class DenseGrowth:
    """Dense codes; words are laid out once for all threads that grow trees of their own."""

    def __init__(self, codes: DenseCodes) -> None:
        self.codes, self.words = codes, codes.for_nodes

    def arrays(self, n_channels: int) -> tuple[Any, ...]:
        """Return cells, words, and where histograms start."""
        bases = (self.codes.read[1] * np.uint64(n_channels)).astype(np.uint64)
        return self.codes.cells, *self.words, bases

    def follower(self, rows: Masses) -> Follower:
        """Return one whose histogram is the root's."""
        return LabelFollower(rows, self.codes)

    def root(self, follower: Follower) -> Write:
        """Return what copies the histogram."""
        return partial(_write, follower.slots[0])

    def roots(self, q: Array, p: Array) -> Write:
        """Return what sums all rows."""
        return partial(self.codes.whole_of_each, "two", q, p)


class SparseGrowth:
    """Sparse codes."""

    def __init__(self, codes: SparseCodes) -> None:
        self.codes = codes

    def arrays(self, n_channels: int) -> tuple[Any, ...]:
        """Return the stored cells by rows and by columns."""
        codes = self.codes
        return codes.slots, codes.by_rows, codes.row_of, codes.code_of, codes.by_columns, codes.zero

    def follower(self, rows: Masses) -> Follower:
        """Return one that has a histogram a side."""
        return Follower(rows, self.codes, sided=True)

    def root(self, follower: Follower) -> Write:
        """Return what copies both histograms, side by side."""
        return partial(_write, follower.slots.T.reshape(-1))

    def roots(self, q: Array, p: Array) -> None:
        """Return None: all rows are summed as fast as those of a node are."""


def _write(root: Array, hists: Array) -> None:
    """Write the histogram of all rows to the first place."""
    hists[0] = root


class LabelFollower(Follower):
    """A follower of labels whose histogram has both sides of a slot side by side (see kernels/tree_histogram.py)."""

    def __init__(self, rows: Masses, codes: DenseCodes) -> None:
        super().__init__(rows, codes, sided=True)
        self.dense, self.per_word, self.numbers = codes, codes.cells.shape[2], 2 * codes.n_slots
        self.reads = codes.words.reshape(-1), codes.read[1] * np.uint64(2), len(codes.starts) - 1

    def _sum(self) -> None:
        assert self.q is not None
        self.slots = self.dense.whole("sides", self.q, self.q)[None]

    def _changes(self, what: tuple[Any, ...], q: Array, scatter: bool) -> tuple[Followed, Array | None]:
        n, codes = len(q), self.codes
        cells, shape = (n * codes.width, (self.numbers,)) if scatter else (FOLLOWED * n, (0,))
        changes, found = label_changes(self.per_word).added(cells, codes.threads, shape, *self.reads, *what, 0, n, q)
        changed, turned, minus, plus = (sum(f[i] for f in found) for i in range(4))
        slots = np.add(self.slots, changes, out=self.slots) if scatter else None
        return Followed(changed, turned, minus, plus, sum(f[4] for f in found)), slots
