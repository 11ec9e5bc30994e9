"""The cut points of columns that come in blocks: exact, in a few passes, whatever the order and size of the blocks.

A cut lies after the value at which the mass of the rows up to it reaches a share of the whole.  Values are looked for
as 64-bit keys in their order.  The first pass counts the rows of every stretch of 2^48 keys; each further one divides
the stretches in which a share is reached, until they hold so few rows that these are gathered.  Counts and masses are
integers, so that the cuts are those of the whole table to the bit (see `bins.Bins.fit`).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.cut_counts import count_keys, gather_keys

Array = npt.NDArray[Any]

SIGN = np.uint64(1 << 63)
COARSE = 48  # bits of a stretch in the first pass, at least
FEW = 4096  # rows of a stretch that are gathered, at most
NOTHING = np.uint64(2**64 - 1)  # above all keys of numbers
NO_MASS = np.empty(0, np.int64)  # every row counts once


def keys_of(x: Array) -> Array:
    """Return 64-bit integers in the order of the numbers, -0.0 being 0.0; no NaN."""
    bits = (np.asarray(x, np.float64) + 0.0).view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def numbers_of(keys: Array) -> Array:
    """Return the numbers that keys stand for."""
    keys = np.asarray(keys, np.uint64)
    return np.where(keys & SIGN, keys ^ SIGN, ~keys).view(np.float64)


@dataclass
class _Stretches:
    """Stretches of keys of one width, in order, each with the mass before it and the first key after it."""

    low: Array
    bits: int  # a stretch has 2^bits keys
    before: Array
    after: Array  # NOTHING: no key

    @classmethod
    def all_keys(cls, counters: int) -> _Stretches:
        """Return the stretch of all keys, with about so many counters for the first pass."""
        whole = cls(np.zeros(1, np.uint64), 64, np.zeros(1, np.int64), np.full(1, NOTHING))
        whole.open(max(65 - counters.bit_length(), COARSE))
        return whole

    def open(self, bits: int) -> None:
        """Prepare counters, each for 2^bits keys."""
        self.split = bits
        size = len(self.low) << (self.bits - bits)
        self.rows, self.mass = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.first = np.full(size, NOTHING)

    def places(self, keys: Array) -> tuple[Array, Array]:
        """Return the stretch of every key, and whether it is in one."""
        stretch = self.low.searchsorted(keys, side="right").astype(np.int64) - 1
        if self.bits == 64:
            return stretch, np.ones(len(keys), bool)
        offset = keys - self.low[np.maximum(stretch, 0)]
        return stretch, (stretch >= 0) & (offset >> np.uint64(self.bits) == 0)

    def count(self, words: Array, mass: Array) -> None:
        """Count rows, given the bits of their numbers, and masses where they do not count once each."""
        width, split = np.uint64(self.bits), np.uint64(self.split)
        count_keys(words, mass, self.low, width, split, self.rows, self.mass, self.first)

    def gather(self, words: Array, mass: Array) -> tuple[Array, Array]:
        """Return the keys of the rows in the stretches, and their masses if they have any."""
        keys, masses = np.empty(len(words), np.uint64), np.empty(len(mass), np.int64)
        n = gather_keys(words, mass, self.low, np.uint64(self.bits), keys, masses)
        return keys[:n].copy(), masses[:n].copy()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the counters behind: what travels is where to count."""
        return {k: v for k, v in self.__dict__.items() if k not in ("rows", "mass", "first")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "split" in state:
            self.open(state["split"])

    def counted(self) -> tuple[Array, ...]:
        """Return the counters that are not empty: their numbers, rows, mass and first keys."""
        at = np.flatnonzero(self.rows)
        return at, self.rows[at], self.mass[at], self.first[at]

    def add(self, at: Array, rows: Array, mass: Array, first: Array) -> None:
        """Add what another counted."""
        self.rows[at] += rows
        self.mass[at] += mass
        self.first[at] = np.minimum(self.first[at], first)

    def reached(self) -> Array:
        """Return the mass up to the end of every counter."""
        per = 1 << (self.bits - self.split)
        return (self.before[:, None] + np.cumsum(self.mass.reshape(-1, per), axis=1)).reshape(-1)

    def keys(self, at: Any) -> Any:
        """Return the first key that belongs to counters."""
        per = self.bits - self.split
        offset = np.asarray(at, np.uint64) & np.uint64((1 << per) - 1)
        return self.low[np.asarray(at) >> per] + (offset << np.uint64(self.split))

    def next_key(self, at: int) -> Any:
        """Return the first key above a counter that the column has."""
        per = self.bits - self.split
        stretch = at >> per
        later = np.flatnonzero(self.rows[at + 1 : (stretch + 1) << per])
        return self.first[at + 1 + later[0]] if len(later) else self.after[stretch]

    def within(self, at: Array, reached: Array) -> _Stretches | None:
        """Return counters as stretches; None if there are none."""
        if not len(at):
            return None
        after = np.array([self.next_key(int(i)) for i in at], np.uint64)
        return _Stretches(self.keys(at), self.split, reached[at] - self.mass[at], after)


@dataclass
class Seen:
    """What one look at some values of a column gives; looks at different rows add up, in any order."""

    whole: int  # mass
    known: Array | None  # distinct keys, while they are few
    counted: tuple[Array, ...] | None  # counters that are not empty
    gathered: tuple[Array, Array] | None  # keys and masses

    def with_(self, other: Seen, limit: int) -> Seen:
        """Return what both saw."""
        known = None
        if self.known is not None and other.known is not None:
            known = _few_keys(self.known, other.known, limit)
        counted, gathered = self.counted or other.counted, self.gathered or other.gathered
        if self.counted is not None and other.counted is not None:
            counted = _added(self.counted, other.counted)
        if self.gathered is not None and other.gathered is not None:
            gathered = _joined([self.gathered, other.gathered])
        return Seen(self.whole + other.whole, known, counted, gathered)


def _known_keys(known: Array | None, x: Array, limit: int) -> Array | None:
    """Return the distinct keys with those of more values; None once there are too many, which a few values tell."""
    start, size = 0, 4 * limit
    while known is not None and start < len(x):
        known = _few_keys(known, keys_of(x[start : start + size]), limit)
        start, size = start + size, 4 * size
    return known


def _few_keys(a: Array, b: Array, limit: int) -> Array | None:
    keys = np.union1d(a, b)
    return keys if len(keys) <= limit else None


def _joined(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    keys, mass = (np.concatenate([p[i] for p in parts]) for i in (0, 1))
    return keys, mass


def _added(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
    at, place = np.unique(np.concatenate([a[0], b[0]]), return_inverse=True)
    rows, mass, first = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64), np.full(len(at), NOTHING)
    np.add.at(rows, place, np.concatenate([a[1], b[1]]))
    np.add.at(mass, place, np.concatenate([a[2], b[2]]))
    np.minimum.at(first, place, np.concatenate([a[3], b[3]]))
    return at, rows, mass, first


class CutSearch:
    """The search for one column's cuts.

    Parameters
    ----------
    limit : int
        The largest number of bins.
    counters : int, optional
        Of the first pass, about.
    gathered : int, optional
        Rows that are gathered, about.
    """

    def __init__(self, limit: int, counters: int = 1 << 16, gathered: int = 1 << 23) -> None:
        self.limit = limit
        self.most_rows = min(FEW, max(gathered // limit, 16))  # of a stretch that is gathered
        self.known: Array | None = np.empty(0, np.uint64)  # distinct keys, while they are few
        self.whole = 0  # mass
        self.found: dict[int, tuple[int, int]] = {}  # by the number of a share: its key, and the next one
        self.stretches: _Stretches | None = _Stretches.all_keys(max(counters, 16))
        self.few: _Stretches | None = None  # whose rows are gathered
        self.gathered: list[tuple[Array, Array]] = []

    @property
    def done(self) -> bool:
        """Whether another pass is of no use."""
        return self.stretches is None and self.few is None

    def see(self, x: Array, mass: Array | None, first: bool) -> None:
        """Look at a block's values."""
        words, mass = np.ascontiguousarray(x).view(np.uint64), NO_MASS if mass is None else mass
        if first:
            there = ~np.isnan(x)
            self.whole += int(mass[there].sum()) if len(mass) else int(there.sum())
            if self.known is not None:
                self.known = _known_keys(self.known, x[there], self.limit)
        if self.stretches is not None:
            self.stretches.count(words, mass)
        if self.few is not None:
            self.gathered.append(self.few.gather(words, mass))

    def blank(self) -> CutSearch:
        """Return what another needs to look at values for this search."""
        other = copy.copy(self)
        other.whole, other.gathered, other.found = 0, [], {}
        other.known = None if self.known is None else self.known[:0]
        return other

    def report(self) -> Seen:
        """Return what was seen since `blank`."""
        counted = None if self.stretches is None else self.stretches.counted()
        return Seen(self.whole, self.known, counted, _joined(self.gathered) if self.gathered else None)

    def hear(self, seen: Seen, first: bool) -> None:
        """Take note of what others saw."""
        self.whole += seen.whole
        if first and self.known is not None:
            self.known = None if seen.known is None else _few_keys(self.known, seen.known, self.limit)
        if self.stretches is not None and seen.counted is not None:
            self.stretches.add(*seen.counted)
        if seen.gathered is not None:
            self.gathered.append(seen.gathered)

    def advance(self, counters: int) -> None:
        """Draw conclusions from a pass, and prepare the next one with about so many counters."""
        if self.known is not None:
            self.stretches = self.few = None
            return
        if self.few is not None:
            self._resolve(self.few)
        st, self.stretches, self.few = self.stretches, None, None
        if st is None:
            return
        wanted = np.array([k for k in range(1, self.limit) if k not in self.found])
        reached = st.reached()
        # Masses rise along the counters, and a share is reached in the first that has as much.
        at = np.searchsorted(reached.astype(np.float64) / np.float64(self.whole), wanted / self.limit)
        if st.split == 0:
            for k, i in zip(wanted.tolist(), at.tolist(), strict=True):
                self.found[k] = int(st.keys(i)), int(st.next_key(i))
            return
        chosen = np.unique(at)
        few = st.rows[chosen] <= self.most_rows
        self.few = st.within(chosen[few], reached)
        self.stretches = st.within(chosen[~few], reached)
        if self.stretches is not None:
            bits = max(int(counters // len(self.stretches.low)).bit_length() - 1, 1)
            self.stretches.open(max(self.stretches.bits - bits, 0))

    def _resolve(self, few: _Stretches) -> None:
        """Find the shares that are reached among gathered rows."""
        keys, mass = _joined(self.gathered)
        mass = mass if len(mass) else np.ones(len(keys), np.int64)
        self.gathered = []
        order = np.argsort(keys, kind="stable")
        keys, mass = keys[order], mass[order]
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.empty(0, np.int64)
        keys, mass = keys[first], np.add.reduceat(mass, first) if len(first) else mass
        stretch = few.places(keys)[0]
        ends = np.flatnonzero(np.append(stretch[1:] != stretch[:-1], True))  # the last key of every stretch
        sums = np.cumsum(mass)
        gap = few.before[stretch[ends]] - np.append(0, sums[ends[:-1]])  # the mass between what was gathered
        reached = sums + gap[np.searchsorted(ends, np.arange(len(keys)))]
        following = np.append(keys[1:], NOTHING)
        following[ends] = few.after[stretch[ends]]
        whole = np.float64(self.whole)
        wanted = np.array([k for k in range(1, self.limit) if k not in self.found])
        at = np.searchsorted(reached / whole, wanted / self.limit)
        for k, i in zip(wanted.tolist(), at.tolist(), strict=True):
            # A share that no gathered row reaches, or that is reached before its stretch, is another stretch's.
            if i < len(keys) and few.before[stretch[i]] / whole < k / self.limit:
                self.found[k] = int(keys[i]), int(following[i])

    def cuts(self) -> tuple[Array, int]:
        """Return the cut points and the number of distinct values, or one more than the limit if there are more."""
        if self.known is not None:
            low, high = self.known[:-1], self.known[1:]
            return midpoints(numbers_of(low), numbers_of(high)), len(self.known)
        pairs = sorted({pair for pair in self.found.values() if pair[1] != int(NOTHING)})
        low, high = (np.array([pair[i] for pair in pairs], np.uint64) for i in (0, 1))
        return midpoints(numbers_of(low), numbers_of(high)), self.limit + 1


def midpoints(low: Array, high: Array) -> Array:
    """Return a number m with low <= m < high, halfway where floats allow."""
    middle = low / 2 + high / 2  # halves first: the sum of two huge numbers would overflow
    return np.where((low <= middle) & (middle < high), middle, low) + 0.0  # no negative zeros
