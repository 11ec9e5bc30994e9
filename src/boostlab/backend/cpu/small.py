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
from boostlab.backend.cpu.in_parts import NOTHING_TOLD
from boostlab.backend.cpu.kernels.small_table import (
    EXTREME,
    no_leaves,
    round_one,
    round_two,
    stump_of_edge,
    stump_of_pairs,
    votes_of_cut,
)
from boostlab.contract.criterion import SIGNED, Criterion, explains
from boostlab.contract.rows import Cut, Place

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]
Two = tuple[int, int]

FACTS = 8  # of two channels: their k, the sums of q, the sums of |q|, room and least (see `scales`)
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
        base = codes.read[1].reshape(-1, self.lanes)
        self._hists, self._pairs = np.empty(0, np.int64), (2 * (base - base[:, :1])).ravel()
        self.total, self.worth = np.zeros(2, np.int64), np.zeros(4)  # of two channels: sums; units, sums of magnitudes
        self.facts = np.zeros(FACTS, np.int64)
        self.known = np.zeros((1, 1), np.int64)  # whether there is a k
        self.place, self.leaves = np.zeros(3, np.int64), np.zeros(3)  # of the last stump
        self.found = np.empty((1, 7), np.int64)

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
        unit0, unit1 = math.ldexp(1.0, -powers[0]), math.ldexp(1.0, -powers[1])
        whole = math.ldexp(gross[0], -powers[0]), math.ldexp(gross[1], -powers[1])
        self.total[:], self.worth[:] = total, (unit0, unit1, *whole)
        search, given = self.search(criterion, numbers, self.total, self.worth)
        search.alone(*given, found=self.found)
        feature, cut, side, a, b = self.found[0, :5].tolist()
        if feature < 0:
            return None
        left, right = (a * unit0, b * unit1), ((total[0] - a) * unit0, (total[1] - b) * unit1)
        leaves: Any = None if criterion.says is None else tuple(self.found[0, 5:].view(np.float64).tolist())
        return Cut(feature, cut, side, left, right, whole, leaves)

    def search(self, criterion: Criterion, numbers: Array, total: Array, worth: Array) -> tuple[Any, tuple[Array, ...]]:
        """Return the sums and search of two channels and its arguments, given where the channels' sums will be."""
        if not len(self._hists):
            self._hists = np.empty(2 * self._hist.size, np.int64)
        search = stump_of_pairs(criterion.cost, self.lanes, explains(criterion.cost), criterion.says or no_leaves)
        columns = self.slots.starts, self._cuts, self._cuts_below
        return search, (self.read[0], self._pairs, *columns, self.q, total, worth, numbers, self._hists)

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
        self.place[:], self.leaves[:] = (feature, cut, gone), (left, right, missing)
        votes_of_cut.alone(self.cells, self.place, self.leaves, out, found=NOTHING_TOLD)
        return out

    def two(self, criterion: Criterion) -> tuple[Follower, Follower, Two]:
        """Return who follows two channels (one for both, where these are labels), and what the channels sum."""
        sample = self.sample
        if criterion.labels:
            one = sample.follower(0, SIGNED, True)
            return one, one, (MAGNITUDE, SIGNED)
        forms = criterion.forms[0], criterion.forms[1]
        return sample.follower(0, forms[0]), sample.follower(1, forms[1]), forms

    def rounded(self, criterion: Criterion, weight: Array, target: Array) -> tuple[Two, Two, Two] | None:
        """Round two channels; return their scales, and their sums and sums of magnitudes."""
        first, second, forms = self.two(criterion)
        if first.q is None and second.q is None and tame(weight) is weight:  # a first round
            self._count(second, weight, target, self.own[1])
            if first is second:
                np.abs(self.own[1], out=self.own[0])
                return (first.power,) * 2, (first.gross, first.total), (first.gross,) * 2
            self._count(first, weight, target, self.own[0])
            return (first.power, second.power), (first.total, second.total), (first.gross, second.gross)
        if first.q is None or second.q is None:
            return None
        start(self.facts, first, second)
        what = *forms, _shown(weight), target, *self.rows.as_arrays, self.q, self.facts
        round_two.alone(*what, found=self.known)
        if not self.known[0, 0]:
            return None
        self.take(first, second, self.facts)
        k0, k1, s0, s1, g0, g1, _, _ = self.facts.tolist()
        return (k0, k1), (s0, s1), (g0, g1)

    def take(self, first: Follower, second: Follower, facts: Array) -> None:
        """Let those who follow two channels take note of their integers."""
        k0, k1, s0, s1, g0, g1, _, _ = facts.tolist()
        if first is not second:
            first.take(self.own[0], k0, s0, g0)
        second.take(self.own[1], k1, s1, g1)


def start(facts: Array, first: Follower, second: Follower) -> None:
    """Write the scales that two channels are to be rounded at, and when these are kept."""
    facts[0], facts[1], facts[6], facts[7] = first.power, second.power, first.room, first.least


def tame(weight: Array) -> Array:
    """Return weights whose squares can be formed: scaled by a power of two if the largest is extreme."""
    power = math.frexp(weight.max())[1]
    return weight if abs(power) < EXTREME else np.ldexp(weight, -power)


def _shown(weight: Array) -> Array:
    """Return weights as kernels are compiled for them: not to be written to."""
    if weight.flags.writeable:
        weight = weight.view()
        weight.flags.writeable = False
    return weight
