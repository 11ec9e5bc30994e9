"""Channels of weights and targets that have a column a label."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import Codes, DenseCodes
from boostlab.backend.cpu.kernels.label_channels import channel_totals, form_channels, turned_totals
from boostlab.backend.cpu.label_histograms import sums_of
from boostlab.backend.cpu.masses import Masses, as_matrix
from boostlab.contract.criterion import SIZE

Array = npt.NDArray[Any]

SMALL = 100_000  # cells from which on channels are summed faster two by two than all in one call
CELLS = 2  # of a histogram, that a value costs as much as


class Panel:
    """Channels of one scale, counted anew every round.

    Parameters
    ----------
    rows, codes
        The sample.
    forms : tuple of int
        What is summed, as for a `Follower`: a channel a label for the first form, then those for the next.
    weight, target : arrays of shape (n_rows, n_labels)
        Per unit of mass.
    counts : array, optional
        How often a draw picked each row.
    """

    def __init__(
        self, rows: Masses, codes: Codes, forms: tuple[int, ...], weight: Array, target: Array, counts: Array | None
    ) -> None:
        n, labels = weight.shape
        self.codes, self.width = codes, len(forms) * labels
        x, w, t = np.empty((self.width, n)), as_matrix(weight), as_matrix(target)
        for f, form in enumerate(forms):
            given = w, t, form == SIZE, 0, n, x[f * labels : (f + 1) * labels]
            form_channels.shared(CELLS * w.size, codes.threads, *given)
        if counts is None and rows.uniform:
            self.q, self.power, _, _ = rows.whole(x)
        else:
            q, self.power, _, _ = rows.whole(x.T, counts)
            self.q = np.ascontiguousarray(q.T)
        found = self._added(channel_totals, (self.width, 2))
        self.totals, self.grosses = found[:, 0], found[:, 1].tolist()

    def now(self, slots: Array, total: Array) -> None:
        """Write the channels' sums over all rows, per slot and in total, to the first places."""
        total[: self.width] = self.totals
        if isinstance(self.codes, DenseCodes) and self.codes.n_rows * self.codes.width >= SMALL:
            self.codes.histograms(self.q, slots)
        else:
            slots[: self.width], _ = sums_of(self.codes, self.by_rows)

    def among(self, members: Array, slots: Array, total: Array) -> None:
        """Write the channels' sums over some rows."""
        slots[: self.width], total[: self.width] = sums_of(self.codes, self.by_rows, members)

    def turned(self, votes: Array) -> Array:
        """Return the channels' sums over the sample, with the rows' signs turned where votes are -1."""
        return self._added(turned_totals, (self.width,), votes)

    @cached_property
    def by_rows(self) -> Array:
        """A row's integers side by side."""
        return np.ascontiguousarray(self.q.T)

    def _added(self, kernel: Any, shape: tuple[int, ...], *given: Array) -> Array:
        cells = CELLS * self.q.size
        sums: Array = kernel.added(cells, self.codes.threads, shape, self.q, *given, 0, self.q.shape[1])[0]
        return sums
