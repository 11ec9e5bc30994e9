"""A histogram that follows its rows: only those that changed are summed again.

After a vote of -1 and +1, exponential weights kept up to a common factor change only where the vote was wrong.  Sums
are integers, so a histogram plus the sums of the changes is, to the bit, the histogram counted anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import NOTHING, Codes, DenseCodes, Followed
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.scales import limits, next_scale
from boostlab.contract.criterion import SIGNED, SIZE, SQUARE

Array = npt.NDArray[Any]

FEW, SMALL = 4096, 100_000  # rows, and cells, that are counted anew faster than compared
WORTH = 0.7  # the share of changed rows from which on counting anew is faster


def pays_to_compare(codes: Codes) -> bool:
    """Return whether rows that did not change are worth finding."""
    return codes.n_rows >= FEW or codes.n_rows * len(codes.starts) >= SMALL


class Follower:
    """One channel (two, w and w t, if it is sided): its rows as integers, their sums, and their histogram.

    The scale stays the same from round to round as long as `scales` says.

    Parameters
    ----------
    rows, codes
        The sample.
    form : int
        What is summed: the weight (`SIZE`), weight * target (`SIGNED`) or weight^2 * target (`SQUARE`).
    sided : bool
        Whether negative and positive numbers have a histogram each.
    lasting : bool
        Whether sums are only compared, not divided by each other (see `scales.limits`).
    """

    sums = True  # whether there is a histogram

    def __init__(
        self, rows: Masses, codes: Codes, form: int = SIGNED, sided: bool = False, lasting: bool = False
    ) -> None:
        self.rows, self.codes, self.form, self.sided = rows, codes, form, sided
        self.width = 1 + sided  # number of channels
        self.q: Array | None = None  # None: nothing to compare with
        self.compared = True  # whether the rows' next integers are compared with these
        self.scaled = False  # whether there is a scale, which outlasts the integers
        self.power = self.minus = self.plus = 0
        self.turn = 0  # how often its integers were others
        self.slots = np.zeros((0, 0), np.int64)
        self.most_change = False  # whether most rows changed the last time
        self.compares = pays_to_compare(codes)  # whether changes are looked for
        self.headroom, self.least = limits(rows.n, lasting)

    @property
    def slots(self) -> Array:
        """The sums per slot, of shape (1 or 2, slots)."""
        if self.stale:
            self._sum()
        return self._slots

    @slots.setter
    def slots(self, slots: Array) -> None:
        self._slots, self.stale = slots, False

    def now(self, slots: Array, total: Array) -> None:
        """Write the channels' sums over all rows, per slot and in total, to the first places."""
        self._write(self.slots, self.minus, self.plus, slots, total)

    def among(self, members: Array, slots: Array, total: Array) -> None:
        """Write the channels' sums over some rows."""
        assert self.q is not None
        self._write(*self.codes.sums(self.q, members, self.sided), slots, total)

    def _write(self, mine: Array, minus: int, plus: int, slots: Array, total: Array) -> None:
        if self.sided:
            np.add(mine[1], mine[0], out=slots[0])
            np.subtract(mine[1], mine[0], out=slots[1])
            total[0], total[1] = plus + minus, plus - minus
        else:
            slots[0], total[0] = mine[0], plus - minus

    @property
    def grosses(self) -> list[int]:
        """The sums of magnitudes, one a channel."""
        return [self.gross] * self.width

    @property
    def total(self) -> int:
        """The sum of q."""
        return self.plus - self.minus

    @property
    def gross(self) -> int:
        """The sum of |q|."""
        return self.plus + self.minus

    def update(self, weight: Array, target: Array) -> None:
        """Take the rows' new weights and targets (per unit of mass)."""
        if self.q is None or not self._follow(weight, target):
            self.count(weight, target)

    def take(self, q: Array, power: int, signed: int, gross: int) -> None:
        """Take note of rows that were rounded elsewhere; the histogram is stale until it is asked for."""
        self.q, self.power, self.minus = q, power, (gross - signed) >> 1
        self.plus, self.stale, self.scaled = gross - self.minus, True, True
        self.turn += 1

    def release(self) -> None:
        """Let go of the integers that have been summed, where nothing is compared with them."""
        if not self.compared:
            self.q = None

    def count(self, weight: Array, target: Array, counts: Array | None = None) -> None:
        """Round all rows anew, with these integer masses or their own."""
        self.q = None  # not held beside the new one
        x = weight * weight if self.form == SQUARE else weight
        x = x if self.form == SIZE else x * target
        self.take(*self.rows.whole(x, counts, self.headroom))

    def _sum(self) -> None:
        """Count the histogram anew."""
        assert self.q is not None
        self.slots = self.codes.histogram(self.q, self.sided)

    def _changes(self, what: tuple[Any, ...], q: Array, scatter: bool) -> tuple[Followed, Array | None]:
        """Bring q up to date; return what happened, and the new histogram if it was asked for."""
        return self.codes.follow(what, self.sided, q, scatter, self._slots)

    def _follow(self, weight: Array, target: Array) -> bool:
        """Sum what changed; False if it cannot be told from the integers what scale would fit."""
        q, self.q, n = self.q, None, len(weight)  # not to be trusted until all is done
        self.turn += 1
        assert q is not None
        scatter = self.sums and self.compares and not self.most_change and not self.stale
        while True:
            what = self.form, weight, target, *self.rows.as_arrays, self.power
            new, slots = self._changes(what, q, scatter)
            power, known = next_scale(self.power, new.minus + new.plus, new.rough, self.headroom, self.least)
            if not known:
                return False
            if power == self.power:
                break
            self.power, scatter = power, False
        self.most_change = new.changed > WORTH * n
        self.minus, self.plus, self.q = new.minus, new.plus, q
        if slots is None or (self.sided and new.turned):
            self.stale = True
        else:
            self.slots = slots
        return True


class Rounded(Follower):
    """A follower without a histogram: the very integers, to be summed elsewhere."""

    sums = False


class Followers:
    """The followers of the channels of a sample, the same ones every round.

    Parameters
    ----------
    make : callable
        make(form, sided, lasting) returns a new one (see `Follower`).
    """

    def __init__(self, make: Callable[[int, bool, bool], Any]) -> None:
        self.make, self.known = make, list[Any]()

    def of(self, channel: int, form: int, sided: bool = False, lasting: bool = False) -> Any:
        """Return the follower of a channel: a new one, where another criterion's channel is asked for."""
        if channel == len(self.known):
            self.known.append(self.make(form, sided, lasting))
        follower = self.known[channel]
        if follower.form != form or follower.sided != sided:
            follower = self.known[channel] = self.make(form, sided, lasting)
        return follower


def sum_together(followers: Sequence[Any]) -> None:
    """Count the histograms of two channels in one pass, where both are stale."""
    stale = [f for f in followers if isinstance(f, Follower) and f.stale and not f.sided]
    if len(stale) == 2 and isinstance(codes := stale[0].codes, DenseCodes):
        q, p = (f.q for f in stale)
        assert q is not None
        assert p is not None
        for f, slots in zip(stale, codes.pair_histogram(q, p), strict=True):
            f.slots = slots[None]


class ClassCount:
    """A channel a class: the weights of its rows, counted anew every round.

    Parameters
    ----------
    rows, codes
        The sample.
    classes : array
        The class number of every row.
    """

    def __init__(self, rows: Masses, codes: Codes, classes: Array) -> None:
        self.rows, self.codes, self.classes = rows, codes, classes
        self.width = int(classes.max()) + 1
        self.hists = np.empty((0, 0), np.int64)  # workspace for a tree's

    def round(self, weight: Array, counts: Array | None = None) -> None:
        """Round all rows' weights, with these integer masses or their own."""
        self.q, self.power, self.whole, _ = self.rows.whole(weight, counts)

    def release(self) -> None:
        """Let go of the integers."""
        self.q = NOTHING

    def now(self, slots: Array, total: Array) -> None:
        """Write the classes' sums over all rows, per slot and in total, to the first places."""
        self._write(*self.codes.class_sums(self.q, self.classes, self.width), slots, total)
        self._grosses = total[: self.width].tolist()

    def among(self, members: Array, slots: Array, total: Array) -> None:
        """Write the classes' sums over some rows."""
        self._write(*self.codes.class_sums(self.q, self.classes, self.width, members), slots, total)

    def _write(self, mine: Array, sums: Array, slots: Array, total: Array) -> None:
        slots[: self.width], total[: self.width] = mine, sums

    @property
    def grosses(self) -> list[int]:
        """The sums of magnitudes, one a class: weights are not negative."""
        return self._grosses


def scaled(x: int, power: int) -> float:
    """Return what an integer sum is worth."""
    return math.ldexp(x, -power)
