"""Stumps on small dense tables: a round is two compiled calls, with everything else prepared once a session.

The stumps are those of the general way (`stump`, `search`), to the bit; where something is unusual (a first round, a
scale that cannot be told from the integers, extreme weights) a round goes that way.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import ALL
from boostlab.backend.cpu.channels import SmallChannels
from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.backend.cpu.in_parts import NOTHING_TOLD
from boostlab.backend.cpu.kernels.small_table import (
    ABSENT,
    EXTREME,
    MAGNITUDE,
    no_leaves,
    round_two,
    stump_of_edge,
    stump_of_pairs,
    votes_of_cut,
)
from boostlab.backend.cpu.summing import Summing
from boostlab.contract.criterion import SIGNED, Criterion, explains
from boostlab.contract.rows import Cut, Place

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]
Two = tuple[int, int]
ByChannel = dict[int, Follower]  # by channel

ROWS, CELLS = 1 << 14, 1 << 18  # of a table that is small
FACTS = 8  # of up to two channels: their k, the sums of q, the sums of |q|, headroom and least (see `scales`)


class Small(Summing):
    """One or two channels of a table so small that all rows are rounded and summed anew every round.

    Parameters
    ----------
    sample : CpuSample
        The rows, and the followers that hold the scales from round to round.
    """

    name = "anew"

    def __init__(self, sample: CpuSample) -> None:
        super().__init__(sample)
        codes, self.slots, self.rows, self.followers = sample.codes, sample.slots, sample.masses, sample.followers
        self.read, self.spare, self.cells = codes.read, codes.spare, codes.to_read[0]
        self._cuts, self._cuts_below = self.slots.count_cuts()
        self.q = np.empty((2, codes.n_rows), np.int64)
        self.own = self.q[0], self.q[1]
        self._hist = np.empty((1, codes.n_slots + codes.spare), np.int64)
        self._shown = self._hist[:, : codes.n_slots]
        self._pairs = np.empty(0, np.int64)  # the sums of two channels, of a word's columns
        self.total, self.worth = np.zeros(2, np.int64), np.zeros(4)  # of two channels: sums; units, sums of magnitudes
        self.facts = np.zeros(FACTS, np.int64)
        self.known = np.zeros((1, 1), np.int64)  # whether there is a k
        self.place, self.leaves = np.zeros(3, np.int64), np.zeros(3)  # of the last stump
        self.found = np.empty((1, 7), np.int64)
        self._edge: tuple[Any, tuple[Any, ...]] | None = None  # the search of one channel

    @classmethod
    def serves(cls, sample: CpuSample) -> bool:
        """Return whether a table is so small that a third of a round of the general loop is the interpreter's."""
        codes = sample.codes
        n = codes.n_rows
        return codes.one_thread and n < ROWS and n * len(codes.starts) < CELLS

    def edge(self, weight: Array, target: Array, sides: int) -> tuple[Follower, Place] | None:
        """Round and sum weight * target; return its follower, and what `kernels.stump_search.best_edge` finds."""
        follower, facts = self.followers.of(0, SIGNED, False, True), self.facts
        if not follower.scaled:
            self._count(follower, weight, target, self.own[0])
        else:
            facts[0], facts[6], facts[7] = follower.power, follower.headroom, follower.least
            what = SIGNED, ABSENT, _shown(weight), target, *self.rows.as_arrays, self.q, facts
            round_two.alone(*what, found=self.known)
            if not self.known[0, 0]:
                return None
            power, _, signed, _, gross, *_ = facts.tolist()
            follower.take(self.own[0], power, signed, gross)
        self.total[0] = follower.total
        if self._edge is None or self._edge[1][-2] != sides:
            self._edge = self.edge_search(sides, self.total)
        search, given = self._edge
        search.alone(*given, found=self.found)
        follower.slots = self._shown
        feature, cut, side, edge, *_ = self.found[0].tolist()
        return follower, (feature, cut, side, edge)

    def edge_search(self, sides: int, total: Array) -> tuple[Any, tuple[Any, ...]]:
        """Return the sums and search of one channel and its arguments, given where its sum will be."""
        slots, (words, base) = self.slots, self.read
        places = slots.starts, slots.filled, slots.categorical
        return stump_of_edge(self.spare), (words, base, *places, self.own[0], ALL, total, sides, self._hist[0])

    def best(self, criterion: Criterion, weight: Array, target: Array, numbers: Array) -> Cut | None:
        """Return the cheapest cut under a criterion of two channels; None if the general way must be gone."""
        if not self.numeric or not criterion.two or weight.ndim > 1:
            return None
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
        leaves: Any = None if criterion.says is None else tuple(self.found[0, 5:].view(np.float64).tolist())
        return Cut(feature, cut, side, (a, b), (total[0] - a, total[1] - b), (unit0, unit1), whole, leaves)

    def search(self, criterion: Criterion, numbers: Array, total: Array, worth: Array) -> tuple[Any, tuple[Array, ...]]:
        """Return the sums and search of two channels and its arguments, given where the channels' sums will be."""
        if not len(self._pairs):
            self._pairs = np.empty(2 * self.spare * int(np.diff(self.slots.starts).max()), np.int64)
        search = stump_of_pairs(criterion.cost, self.spare, explains(criterion.cost), criterion.says or no_leaves)
        columns = self.slots.starts, self._cuts, self._cuts_below
        return search, (self.read[0], *columns, self.q, total, worth, numbers, self._pairs)

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

    @property
    def of_edge(self) -> tuple[ByChannel, Two]:
        """The follower of one channel that is only compared, and what it sums."""
        return {0: self.followers.of(0, SIGNED, False, True)}, (SIGNED, ABSENT)

    def channels(self, criterion: Criterion, weight: Array, target: Array) -> SmallChannels | None:
        """Return two channels of a row each, whose sums per slot are made when they are asked for."""
        found = self.rounded(criterion, weight, target) if criterion.two else None
        return None if found is None else SmallChannels([*self.followers_of(criterion)[0].values()], *found, self.q)

    def followers_of(self, criterion: Criterion) -> tuple[ByChannel, Two]:
        """Return the followers of a criterion's channels (one for both, where these are labels), and what these sum."""
        forms = criterion.forms
        if len(forms) == 1:
            return self.of_edge
        if criterion.labels:
            return {1: self.followers.of(0, SIGNED, True)}, (MAGNITUDE, SIGNED)
        return {c: self.followers.of(c, form) for c, form in enumerate(forms)}, (forms[0], forms[1])

    def rounded(self, criterion: Criterion, weight: Array, target: Array) -> tuple[Two, Two, Two] | None:
        """Round a criterion's channels; return their scales, and their sums and sums of magnitudes."""
        return self._rounded(*self.followers_of(criterion), weight, target)

    def _rounded(self, followers: ByChannel, forms: Two, weight: Array, target: Array) -> tuple[Two, Two, Two] | None:
        new = [c for c, follower in followers.items() if not follower.scaled]
        if new and (len(new) < len(followers) or (forms[1] != ABSENT and tame(weight, weight.max()) is not weight)):
            return None
        if new:  # a first round
            for c, follower in sorted(followers.items(), reverse=True):
                self._count(follower, weight, target, self.own[c])
                self.facts[c:6:2] = follower.power, follower.total, follower.gross
            if forms[0] == MAGNITUDE:
                np.abs(self.own[1], out=self.own[0])
                self.facts[:6:2] = self.facts[[1, 5, 5]]
        else:
            start(self.facts, followers)
            what = *forms, _shown(weight), target, *self.rows.as_arrays, self.q, self.facts
            round_two.alone(*what, found=self.known)
            if not self.known[0, 0]:
                return None
            self.take(followers, self.facts)
        k0, k1, s0, s1, g0, g1, _, _ = self.facts.tolist()
        return (k0, k1), (s0, s1), (g0, g1)

    def take(self, followers: ByChannel, facts: Array) -> None:
        """Let the followers of channels take note of their integers."""
        for c, follower in followers.items():
            follower.take(self.own[c], *facts[c:6:2].tolist())


def start(facts: Array, followers: ByChannel) -> None:
    """Write the scales that channels are to be rounded at, and when these are kept."""
    for c, follower in followers.items():
        facts[c], facts[6], facts[7] = follower.power, follower.headroom, follower.least


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
