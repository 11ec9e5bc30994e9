"""The search for a stump on a large dense table, whose rows a team of threads shares (see `kernels.shared_rounds`).

A search is one compiled call: the channels' integers are brought up to date, the rows that changed are summed, and the
columns are searched.  The general loop asks for one search after the other, compiled rounds for many.
"""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import Codes, DenseCodes
from boostlab.backend.cpu.exact_sums import address
from boostlab.backend.cpu.followed_histograms import Follower, Followers
from boostlab.backend.cpu.in_parts import parts_of
from boostlab.backend.cpu.kernels import shared_rounds as shared
from boostlab.backend.cpu.kernels import usual_rounds as of
from boostlab.backend.cpu.kernels.prepared import copy_to_each
from boostlab.backend.cpu.kernels.small_table import MAGNITUDE
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.small import start
from boostlab.backend.cpu.summing import Summing
from boostlab.backend.cpu.threads import at_once
from boostlab.backend.cpu.usual import PreparedCalls
from boostlab.contract.criterion import SIGNED, Criterion, explains
from boostlab.contract.rows import Cut, Place
from boostlab.contract.slots import Slots

if TYPE_CHECKING:
    from boostlab.backend.cpu.sample import CpuSample

Array = npt.NDArray[Any]

NO_ROWS = np.empty(0, np.int64)
NO_COSTS = np.empty((0, shared.LINE))
NOTHING_TOLD = np.empty((1, 0))


class Searched(NamedTuple):
    """What a search looks at of a sample (which refers to its searches)."""

    codes: Codes
    slots: Slots
    masses: Masses
    followers: Followers
    n_rows: int


class SharedSearch(PreparedCalls):
    """The integers of a criterion's channels, their histogram, and the search in it.

    Parameters
    ----------
    rows : Searched
        The sample, or what is searched of it.
    criterion : Criterion
        Of one channel, or of two whose leaves are a formula.
    sides : int
        Which side of a cut may vote +1: 0 either, +1 or -1 only the one.
    """

    @staticmethod
    def can(rows: Any, criterion: Criterion) -> bool:
        """Return whether a sample can be searched so by a criterion: dense tables, two channels of numbers only."""
        if not isinstance(rows.codes, DenseCodes) or rows.slots.nothing:
            return False
        if criterion.two:
            return criterion.says is not None and not rows.slots.categories
        return criterion.forms == (SIGNED,)

    def __init__(self, rows: Any, criterion: Criterion, sides: int) -> None:
        assert isinstance(rows.codes, DenseCodes)
        codes = self.codes = rows.codes
        self._size = parts_of(rows.n_rows * codes.width, at_once(codes.threads))
        PreparedCalls.__init__(self, rows, criterion, sides)
        self.channels, size, line = len(criterion.forms), self._size, shared.LINE
        self.facts, self.rough = np.zeros((size, line), np.int64), np.zeros((size, line))
        self.finds = np.empty((size, line), np.int64)
        self.forms = (MAGNITUDE, SIGNED) if criterion.labels and self.channels == 2 else criterion.forms
        self.followers: dict[int, Follower] = {}
        self.release()

    def release(self) -> None:
        """Let go of workspace until more is asked for."""
        self.arrays: dict[str, Array] = {}  # that calls look at, and that may be others the next time
        self.places: dict[str, list[tuple[Array, Array]]] = {}  # where calls have their addresses
        self.sums, self.hist, self.calls = (np.empty(0, np.int64) for _ in range(3))
        self.turns: list[int] = []  # of the followers, for which the histogram is that of the integers
        self.held = []

    @property
    def size(self) -> int:
        return self._size

    @property
    def compared(self) -> bool:
        """Whether integers are compared with the last ones; of targets that are numbers nearly all change."""
        return self.criterion.residual is None

    # -- the integers ------------------------------------------------------------------------------------------------

    def follow(self) -> bool:
        """Find the followers of the channels; return whether they have scales."""
        known, criterion = self.rows.followers, self.criterion
        if self.channels == 1:
            self.followers = {0: known.of(0, SIGNED, False, True)}
        elif criterion.labels:  # one follows the magnitudes of both sides
            self.followers = {1: known.of(0, SIGNED, True)}
        else:
            self.followers = {c: known.of(c, form) for c, form in enumerate(criterion.forms)}
        return all(f.scaled for f in self.followers.values())

    def scale(self, weight: Array, target: Array) -> None:
        """Let the followers find scales to begin with, as they do in the general way."""
        for f in reversed(self.followers.values()):
            if not f.scaled:
                f.count(weight, target)
                f.q = f.q if self.channels == 1 else None

    def take_over(self) -> None:
        """Take the channels' integers and scales over; they are summed anew if the histogram is not theirs."""
        held: Array = self.arrays.get("q", NO_ROWS)
        followers = self.followers.values()
        current = self.turns == [f.turn for f in followers] and all(f.q is not None for f in followers)
        shape = (2, self.rows.n_rows)[2 - self.channels :]
        for f in followers:  # theirs, if they have been taken by another search
            theirs = f.q if f.q is None or self.channels == 1 else f.q.base
            held = held if theirs is None or theirs.shape != shape else theirs
        for f in followers:  # not held beside these
            f.q = None
        if not held.size:
            held = np.empty(shape, np.int64)
        self.look_at("q", held)
        self.ints[:, of.ANEW] = not (current and self.compared and len(self.hist))
        self.ints[:, of.KNOWN] = self.ints[:, of.KNOWN_OF] = self.ints[:, of.KNOWN_OF + 1] = 0
        start(self.ints[0, of.FACTS : of.TOTAL], self.followers)
        self.ints[1:, of.FACTS : of.TOTAL] = self.ints[0, of.FACTS : of.TOTAL]

    def hand_back(self) -> bool:
        """Hand integers and scales back; return whether all scales are known."""
        ints = self.ints[0]
        for c, f in self.followers.items():
            power, signed, gross = ints[of.FACTS + c : of.TOTAL - 2 : 2].tolist()
            if ints[of.KNOWN_OF + c]:
                q = self.arrays["q"]
                f.take(q if self.channels == 1 else q[c], power, signed, gross)
            if not (ints[of.KNOWN_OF + c] and self.compared):
                f.q = None
        known = bool(ints[of.KNOWN])
        self.turns = [f.turn for f in self.followers.values()] if known else []
        return known

    def look_at(self, name: str, new: Array) -> None:
        """Let calls look at another array of the same kind."""
        if self.arrays.get(name) is not new:
            self.arrays[name] = new
            for numbers, at in self.places.get(name, ()):
                numbers[at] = address(new)

    def locate(self, *where: Array) -> None:
        """Note where prepared calls, and what else is given, have the addresses of the arrays that may change."""
        for name, x in self.arrays.items():
            flat = [numbers.reshape(-1) for numbers in (self.calls, *where)]
            self.places[name] = [(numbers, np.flatnonzero(numbers == address(x))) for numbers in flat]

    # -- calls -------------------------------------------------------------------------------------------------------

    def make_space(self) -> None:
        """Make space for a histogram and for the members' sums."""
        codes, size = self.codes, self.size
        slots = codes.n_slots + codes.spare if self.channels == 1 else 2 * codes.n_slots
        self.sums, self.hist = np.empty((size, slots), np.int64), np.empty(slots, np.int64)
        self.places = {}
        super().make_space()

    def prepare_search(self) -> None:
        """Prepare rounding and search of the weights w and the targets t."""
        rows, codes, slots, n, d = self.rows, self.codes, self.rows.slots, self.rows.n_rows, self.codes.starts.size - 1
        what = self.arrays["w"], self.arrays["t"], *rows.masses.as_arrays
        whom = self.ints, self.arrays["q"], self.facts, self.rough, self.sums
        per_word, (words, base) = codes.cells.shape[2], codes.read
        if self.channels == 1:
            round_rows = shared.one_channel(per_word)
            self.call(of.ROUND, round_rows, (self.criterion.forms[0], words, base, *what, NO_ROWS, 0, n, *whom))
            places, found = (slots.starts, slots.filled, slots.categorical), (self.sums, self.hist, self.finds)
            self.call(of.SEARCH, shared.search_edges, (*places, self.sides, 0, d, self.ints, *found))
            costs = NO_COSTS
        else:
            round_rows, bases = shared.two_channels(per_word), base * np.uint64(2)
            self.call(of.ROUND, round_rows, (*self.forms, words, bases, d, *what, 0, n, *whom))
            criterion, costs = self.criterion, np.empty((self.size, shared.LINE))
            assert criterion.says is not None
            search = shared.search_of_pairs(criterion.cost, explains(criterion.cost), criterion.says)
            given = 0, d, self.ints, self.floats, self.numbers, self.sums, self.hist, self.finds, costs
            self.call(of.SEARCH, search, (slots.starts, *slots.count_cuts(), *given))
        settled = self.facts, self.rough, self.forms[0], self.channels, self.ints
        self.call(of.SETTLE_ROUND, shared.settle_round, settled)
        changing = n if self.compared else -1
        self.call(of.SETTLE_SEARCH, shared.settle_search, (changing, self.finds, costs, self.ints))

    # -- one search --------------------------------------------------------------------------------------------------

    def find(self, weight: Array, target: Array, numbers: Array) -> Array | None:
        """Search once; return what was found (see `usual_rounds`), or None if there is no scale."""
        if not self.follow():
            self.scale(weight, target)
        weight, target = np.ascontiguousarray(weight, np.float64), np.ascontiguousarray(target)
        if target.dtype != np.int8:
            target = np.ascontiguousarray(target, np.float64)
        new = not len(self.hist) or self.arrays["t"].dtype != target.dtype
        if new:
            self.make_space()
            self.turns = []
            others = [address(x) for x in self.rows.masses.as_arrays]  # calls tell arrays apart by their addresses
            target = target.copy() if address(target) in others else target
            weight = weight.copy() if address(weight) in (*others, address(target)) else weight
        self.take_over()
        for name, x in (("w", weight), ("t", target)):
            if new or address(self.arrays[name]) != address(x):
                self.look_at(name, _to_write(x))
        if new:
            self.numbers = np.zeros((self.size, len(numbers) + 1))
            self.ints[:, of.MINE : of.TAKES] = 0
            self.ints[:, of.TAKES : of.TAKES + len(numbers)] = np.arange(len(numbers))
            self.prepare_search()
            copy_to_each(self.calls)
            self.locate()
        self.numbers[:, : len(numbers)] = numbers
        found = np.empty((1, of.PLACE - of.FOUND), np.int64)
        self.take(found, NOTHING_TOLD)
        known = self.hand_back()
        if not self.compared:
            self.arrays.pop("q")  # not held until the next round
        return self.ints[0, of.FOUND : of.PLACE].copy() if known else None


def _to_write(x: Array) -> Array:
    """Return an array as kernels are compiled for it; they do not write to it."""
    kind = ctypes.c_double if x.dtype == np.float64 else ctypes.c_int8
    seen: Array = np.ctypeslib.as_array((kind * x.size).from_address(address(x)))
    return seen


class SharedSums(Summing):
    """Searches on large dense tables, each in one compiled call.

    Parameters
    ----------
    sample : CpuSample
        The rows, and the followers that hold the scales from round to round.
    """

    name = "shared"

    def __init__(self, sample: CpuSample) -> None:
        super().__init__(sample)
        self.searched = Searched(sample.codes, sample.slots, sample.masses, sample.followers, sample.n_rows)
        self.searches = dict[tuple[Criterion, int], SharedSearch]()

    @classmethod
    def serves(cls, sample: CpuSample) -> bool:
        return sample.table.codes is not None and isinstance(sample.codes, DenseCodes) and not sample.slots.nothing

    def _search(self, criterion: Criterion, sides: int) -> SharedSearch:
        """Return the search by a criterion, the same one every round."""
        if (criterion, sides) not in self.searches:
            self.searches[criterion, sides] = SharedSearch(self.searched, criterion, sides)
        return self.searches[criterion, sides]

    def release(self) -> None:
        """Let go of workspace until more is asked for."""
        for search in self.searches.values():
            search.release()

    def edge(self, weight: Array, target: Array, sides: int) -> tuple[Follower, Place] | None:
        """Round and sum weight * target; return its follower, and what `kernels.stump_search.best_edge` finds."""
        search = self._search(ONE_CHANNEL, sides)
        found = search.find(weight, target, np.empty(0))
        if found is None:
            return None
        (follower,) = search.followers.values()
        follower.slots = search.hist[None, : search.codes.n_slots]
        feature, cut, side, edge, *_ = found.tolist()
        return follower, (feature, cut, side, edge)

    def best(self, criterion: Criterion, weight: Array, target: Array, numbers: Array) -> Cut | None:
        """Return the cheapest cut under a criterion of two channels; None if the general way must be gone."""
        if weight.ndim > 1 or not criterion.two or not SharedSearch.can(self.searched, criterion):
            return None
        search = self._search(criterion, 0)
        found = search.find(weight, target, numbers)
        if found is None or found[0] < 0:
            return None
        facts = search.ints[0, of.FACTS : of.TOTAL - 2].tolist()
        units = math.ldexp(1.0, -facts[0]), math.ldexp(1.0, -facts[1])
        whole = math.ldexp(facts[4], -facts[0]), math.ldexp(facts[5], -facts[1])
        feature, cut, side, a, b = found[:5].tolist()
        leaves = tuple(found[5:].view(np.float64).tolist())
        return Cut(feature, cut, side, (a, b), (facts[2] - a, facts[3] - b), units, whole, leaves)


class OneChannel(Criterion):
    """One channel, compared as the integers that it is."""

    forms = (SIGNED,)
    opposite = True


ONE_CHANNEL = OneChannel()
