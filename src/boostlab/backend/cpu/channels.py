"""The channels of a criterion: what it sums over rows in memory, as integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.followed_histograms import ClassCount, Follower, scaled, sum_together
from boostlab.backend.cpu.panel import Panel
from boostlab.contract.criterion import Separable

Array = npt.NDArray[Any]


class CpuChannels:
    """What a criterion sums, as integers: per slot, in total, in magnitude; and what a unit is worth.

    Parameters
    ----------
    parts : list of Follower, ClassCount or Panel
        Each gives one or more channels.
    """

    def __init__(self, parts: Sequence[Follower | ClassCount | Panel]) -> None:
        self.parts, self.width = parts, sum(p.width for p in parts)
        self.slots, self.total = self.empty()
        scale, gross, first = list[float](), list[float](), 0
        sum_together(parts)
        for p in parts:
            p.now(self.slots[first:], self.total[first:])
            scale += [math.ldexp(1.0, -p.power)] * p.width
            gross += [math.ldexp(g, -p.power) for g in p.grosses]
            first += p.width
        self.scale, self.gross = np.array(scale), np.array(gross)

    def sums(self, members: Array) -> tuple[Array, Array]:
        """Return the channels' sums over some rows, per slot and in total."""
        (slots, total), first = self.empty(), 0
        for p in self.parts:
            p.among(members, slots[first:], total[first:])
            first += p.width
        return slots, total

    def turned(self, votes: Array) -> Array:
        """Return the channels' sums over the sample, with the rows' signs turned where votes are -1, in numbers."""
        panel: Any = self.parts[0]
        sums: Array = panel.turned(votes) * self.scale[: panel.width]
        return sums

    def empty(self) -> tuple[Array, Array]:
        """Return workspace for sums, per slot and in total."""
        return np.empty((self.width, self.parts[0].codes.n_slots), np.int64), np.empty(self.width, np.int64)

    def release(self) -> None:
        """Let go of the rows' integers."""
        for p in self.parts:
            p.release()

    def weight(self, criterion: Separable, gross: Array) -> float:
        """Return the weight of the sample, given the gross sums of the channels that the criterion sees."""
        first = self.parts[0]
        if isinstance(first, ClassCount):  # rounded once, as in compiled growth, not class by class
            return scaled(first.whole, first.power)
        return criterion.weight(gross)

    def errors(self, criterion: Separable, leaves: list[Array]) -> tuple[float, float]:
        """Return the weight of the sample and of the rows that are wrong, given the leaves' integer sums."""
        sums = [criterion.error(total) for total in leaves]
        power = self.parts[0].power
        return scaled(sum(w for w, _ in sums), power), scaled(sum(w for _, w in sums), power)


class SmallChannels(CpuChannels):
    """Two channels of a small table, whose sums per slot are made when they are asked for.

    Parameters
    ----------
    parts : list of Follower
        As for `CpuChannels`.
    powers, total, gross : pairs of int
        The channels' scales, sums, and sums of magnitudes.
    q : array of shape (2, n_rows)
        The rows' integers.
    """

    def __init__(
        self, parts: Sequence[Follower], powers: Sequence[int], total: Sequence[int], gross: Sequence[int], q: Array
    ) -> None:
        self.parts, self.width, self.q = parts, 2, q
        self.total = np.array(total)
        self.scale = np.array([math.ldexp(1.0, -k) for k in powers])
        self.gross = np.array([math.ldexp(g, -k) for g, k in zip(gross, powers, strict=True)])

    def release(self) -> None:
        """The integers are compared with the next ones."""

    @cached_property
    def slots(self) -> Array:  # type: ignore[override]
        """The sums per slot."""
        (slots, total), first = self.empty(), 0
        for p in self.parts:
            p.now(slots[first:], total[first:])
            first += p.width
        return slots
