"""Channels of weights and targets that have a column a label."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import NOTHING, Codes, DenseCodes
from boostlab.backend.cpu.exact_sums import NO_GUESS, exact_sums
from boostlab.backend.cpu.formulas import shown
from boostlab.backend.cpu.in_parts import parts_of
from boostlab.backend.cpu.kernels.label_channels import (
    channel_totals,
    form_channels,
    round_channels,
    signs_between,
    sums_of_members,
    turned_totals,
)
from boostlab.backend.cpu.label_histograms import sums_of
from boostlab.backend.cpu.masses import Masses
from boostlab.contract.criterion import SIZE

Array = npt.NDArray[Any]

SMALL = 100_000  # cells from which on channels are summed faster two by two than all in one call
CELLS = 2  # of a histogram, that a value costs as much as
NO_SIGNS = np.empty(0, np.int64)


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
    guess : int array of shape (any, 1)
        Powers of two that the last round was rounded at.
    """

    def __init__(
        self,
        rows: Masses,
        codes: Codes,
        forms: tuple[int, ...],
        weight: Array,
        target: Array,
        counts: Array | None,
        guess: Array = NO_GUESS,
    ) -> None:
        n, labels = weight.shape
        self.codes, self.labels, self.width, self.guess = codes, labels, len(forms) * labels, guess
        w, t, sizes = shown(weight), shown(target), np.array([form == SIZE for form in forms])
        if counts is None and rows.uniform:
            self._round(w, t, sizes)
            return
        x = np.empty((self.width, n))
        for f, size in enumerate(sizes.tolist()):
            form_channels.shared(CELLS * w.size, codes.threads, w, t, size, 0, n, x[f * labels : (f + 1) * labels])
        q, self.power, _, _ = rows.whole(x.T, counts)
        self.q = np.ascontiguousarray(q.T)
        if labels == 2:
            self.between = [self._between(a, b) for a, b in zip(self.q[::2], self.q[1::2], strict=True)]
        found = self._added(channel_totals, (self.width, 2))
        self.totals, self.grosses = found[:, 0], found[:, 1].tolist()

    def _round(self, w: Array, t: Array, sizes: Array) -> None:
        """Round the channels by one pass, where the last round's power of two serves; as `Masses.whole` does."""
        threads, n = self.codes.threads, w.shape[1]
        rounded_at: int | None = None
        self.q = np.empty((self.width, n), np.int64)

        def one_pass(powers: Array) -> tuple[Array, Array]:
            nonlocal rounded_at
            n_sums, n_totals = 2 * len(powers), 2 * self.width
            cells = CELLS * (1 + len(powers)) * self.q.size
            parts = min(parts_of(cells, threads), n)
            tops, found = np.zeros(parts), np.zeros((parts, n_sums + n_totals + 2 * len(sizes)), np.int64)
            round_channels.in_so_many(parts, w, t, sizes, powers, 0, n, self.q, tops, found)
            rounded_at = int(powers[-1, 0]) if len(powers) else None
            whole = found.sum(axis=0)
            totals, self.between = whole[n_sums:][:n_totals], whole[n_sums + n_totals :].reshape(-1, 2).tolist()
            self.totals, self.grosses = totals[::2], totals[1::2].tolist()
            return tops.max(keepdims=True), whole[:n_sums].reshape(-1, 1, 2)

        ((self.power, _, _),), self.guess = exact_sums(one_pass, 1, float(self.q.size), self.guess)
        if rounded_at != self.power:
            one_pass(np.array([[self.power]]))

    def now(self, slots: Array, total: Array) -> None:
        """Write the channels' sums over all rows, per slot and in total, to the first places."""
        total[: self.width] = self.totals
        if isinstance(self.codes, DenseCodes) and self.codes.n_rows * self.codes.width >= SMALL:
            signs = self._mirrors()
            if len(signs):
                first = slots[: self.width : 2]
                self.codes.histograms(self.q[::2], first)
                np.multiply(first, signs[:, None], out=slots[1 : self.width : 2])
            else:
                self.codes.histograms(self.q, slots)
        else:
            slots[: self.width], _ = sums_of(self.codes, self.by_rows)

    def _mirrors(self) -> Array:
        """Return how often each form's second label is the first one: once or minus once; nothing if one is not.

        Of two classes one is what the other is not: mostly w t of one label is minus that of the other.
        """
        if self.labels != 2:
            return NO_SIGNS
        signs = [-1 if differ else 1 for differ, _ in self.between]
        return NO_SIGNS if any(a and b for a, b in self.between) else np.array(signs)

    def _between(self, q: Array, p: Array) -> list[int]:
        """Return whether some integers of two channels differ, and whether some are not opposite."""
        found = signs_between.shared(CELLS * len(q), self.codes.threads, q, p, 0, len(q))
        return [any(part[i] for part in found) for i in (0, 1)]

    def release(self) -> None:
        """Let go of the integers."""
        self.q = NOTHING

    def among(self, members: Array, slots: Array, total: Array) -> None:
        """Write the channels' sums over some rows."""
        codes = self.codes
        if not isinstance(codes, DenseCodes):
            slots[: self.width], total[: self.width] = sums_of(codes, self.by_rows, members)
            return
        words, bases = codes.read
        stretches, cells = (self.width + 1) // 2 * len(words), len(members) * codes.width * self.width
        given = words.reshape(-1), bases * np.uint64(2), codes.starts, self.q, members, 0, stretches, slots
        sums_of_members(codes.cells.shape[2]).shared(cells, codes.threads, *given)
        total[: self.width] = slots[: self.width, : codes.starts[1]].sum(axis=1)  # every row is in a slot of a column

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
