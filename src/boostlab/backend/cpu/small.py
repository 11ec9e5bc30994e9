"""Stumps on small dense tables: a round is two compiled calls, with everything else prepared once a session.

The stumps are those of the general way (`stump`, `search`), to the bit; where something is unusual (a first round, a
scale that cannot be told from the integers, extreme weights) a round goes that way.
"""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import ALL
from boostlab.backend.cpu.followed_histograms import FEW, SMALL, Follower
from boostlab.backend.cpu.kernels.small_table import (
    EXTREME,
    round_one,
    round_two,
    stump_of_edge,
    stump_of_pairs,
    votes_of_cut,
)
from boostlab.contract.criterion import SIGNED, Criterion
from boostlab.contract.rows import Cut, Place

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]
Two = tuple[int, int]

MAGNITUDE = -1  # the first of two channels is the second one's magnitudes: labels


class Small:
    """One or two channels of a table so small that all rows are rounded and summed anew every round.

    Parameters
    ----------
    sample : CpuSample
        Whose followers hold the scales from round to round.
    """

    def __init__(self, sample: CpuSample) -> None:
        codes, self.slots, self.rows = sample.codes, sample.slots, sample.masses
        self._sample = weakref.ref(sample)  # it owns this: no circle keeps both alive
        self.read, self.lanes, self.cells = codes.read, codes.spare, codes.to_read[0]
        self.numeric = not self.slots.categories
        self._cuts, self._cuts_below = self.slots.count_cuts()
        self.q = np.empty((2, codes.n_rows), np.int64)
        self.own = self.q[0], self.q[1]
        self._hist = np.empty((1, codes.n_slots + codes.spare), np.int64)
        self._shown = self._hist[:, : codes.n_slots]
        self._hists = np.empty((0, 2), np.int64)

    @property
    def sample(self) -> CpuSample:
        """Whose followers these are."""
        sample = self._sample()
        assert sample is not None, "a sample outlives what it owns"
        return sample

    @staticmethod
    def serves(sample: CpuSample) -> bool:
        """Return whether a table is small: then followers would count anew every round, too."""
        codes = sample.codes
        n = codes.n_rows
        return codes.one_thread and n < FEW and n * len(codes.starts) < SMALL

    def edge(self, weight: Array, target: Array, sides: int) -> tuple[Follower, Place] | None:
        """Round and sum weight * target; return who follows it, and what `kernels.edge.best_edge` finds."""
        slots, follower = self.slots, self.sample.follower(0, SIGNED, False, True)
        if follower.q is None:
            self._count(follower, weight, target, self.own[0])
        else:
            what = SIGNED, _shown(weight), target, *self.rows.as_arrays, follower.power, follower.room, follower.least
            power, signed, gross = round_one(*what, self.own[0])
            if gross < 0:
                return None
            follower.take(self.own[0], power, signed, gross)
        places = slots.starts, slots.filled, slots.categorical
        found = stump_of_edge(self.lanes)(*self.read, *places, self.own[0], ALL, follower.total, sides, self._hist[0])
        follower.slots = self._shown
        return follower, found[:4]

    def best(self, criterion: Criterion, weight: Array, target: Array, numbers: Array) -> Cut | None:
        """Return the cheapest cut under a criterion of two channels; None if the general way must be gone."""
        found = self.rounded(criterion, weight, target)
        if found is None:
            return None
        powers, total, gross = found
        if not len(self._hists):
            self._hists = np.empty((self._hist.size, 2), np.int64)
        unit0, unit1 = math.ldexp(1.0, -powers[0]), math.ldexp(1.0, -powers[1])
        whole = math.ldexp(gross[0], -powers[0]), math.ldexp(gross[1], -powers[1])
        feature, cut, side, a, b = stump_of_pairs(criterion.cost, self.lanes)(
            *(*self.read, self.slots.starts, self._cuts, self._cuts_below),
            *(self.q, total, (unit0, unit1), whole, numbers, self._hists),
        )
        if feature < 0:
            return None
        left, right = (a * unit0, b * unit1), ((total[0] - a) * unit0, (total[1] - b) * unit1)
        return Cut(feature, cut, side, np.array(left), np.array(right), np.array(whole))

    def _count(self, follower: Follower, weight: Array, target: Array, q: Array) -> None:
        """Let a follower choose a scale."""
        follower.count(weight, target)
        assert follower.q is not None
        q[:] = follower.q
        follower.q = q

    def votes(self, feature: int, cut: int, left: float, right: float, missing: float) -> Array:
        """Return the votes of a stump with these leaves, labels as int8."""
        gone = int(self.slots.n_bins[feature])  # the slot of missing values
        labels = abs(left) == abs(missing) == 1.0 and (abs(right) == 1.0 or cut + 1 == gone)
        out = np.empty(self.rows.n_rows, np.int8 if labels else np.float64)
        votes_of_cut(self.cells, feature, cut, gone, left, right, missing, out)
        return out

    def rounded(self, criterion: Criterion, weight: Array, target: Array) -> tuple[Two, Two, Two] | None:
        """Round two channels; return their scales, and their sums and sums of magnitudes."""
        sample = self.sample
        if criterion.labels:
            first = second = sample.follower(0, SIGNED, True)
            forms = MAGNITUDE, SIGNED
        else:
            forms = criterion.forms[0], criterion.forms[1]
            first, second = sample.follower(0, forms[0]), sample.follower(1, forms[1])
        if first.q is None and second.q is None and tame(weight, weight.max()) is weight:  # a first round
            self._count(second, weight, target, self.own[1])
            if first is second:
                np.abs(self.own[1], out=self.own[0])
                return (first.power,) * 2, (first.gross, first.total), (first.gross,) * 2
            self._count(first, weight, target, self.own[0])
            return (first.power, second.power), (first.total, second.total), (first.gross, second.gross)
        if first.q is None or second.q is None:
            return None
        scales = (first.power, second.power), first.room, first.least
        k0, k1, s0, s1, g0, g1 = round_two(forms, _shown(weight), target, *self.rows.as_arrays, *scales, self.q)
        if g0 < 0 or g1 < 0:
            return None
        if first is not second:
            first.take(self.own[0], k0, s0, g0)
        second.take(self.own[1], k1, s1, g1)
        return (k0, k1), (s0, s1), (g0, g1)


def tame(weight: Array, largest: float) -> Array:
    """Return weights whose squares can be formed: scaled by a power of two if the largest is extreme."""
    power = math.frexp(largest)[1]
    return weight if abs(power) < EXTREME else np.ldexp(weight, -power)


def _shown(weight: Array) -> Array:
    """Return weights as kernels are compiled for them: not to be written to."""
    if weight.flags.writeable:
        weight = weight.view()
        weight.flags.writeable = False
    return weight
