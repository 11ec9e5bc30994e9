"""Many rounds of plain rules on stumps in one compiled call, each in one pass over the rows.

It works on the very state of the general loop (scores, exponential weights, the stumps' histogram) and leaves it as
that loop would, to the bit, so that the two may take turns.  A round that is unusual is left to the general loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.backend.cpu.interleaved import InterleavedLayout
from boostlab.backend.cpu.kernels.fused_rounds import FACTS, LINE, rounds_of
from boostlab.backend.cpu.kernels.fused_update import BLOCK
from boostlab.backend.cpu.scales import keeps
from boostlab.backend.cpu.shifted_weights import ShiftedExponentials
from boostlab.contract import NEGLIGIBLE, Facts, Plain
from boostlab.contract.criterion import SIGNED

if TYPE_CHECKING:
    from boostlab.backend.cpu.rows import CpuRows

Array = npt.NDArray[Any]

PATIENCE = 50_000_000  # cells of work (some 20 ms) after which a compiled call returns, so that Ctrl-C is heard
AT_MOST = 10_000  # rounds of a call, however small the table is
WIDER, SMALL = 4, 1 << 17  # how much larger a histogram may be that is laid out for compiled rounds
LAID_OUT = 6  # rows whose round costs as much as one slot that is laid out for a single round (docs/speed.md)


def in_a_call(most: int, size: int, cells: int) -> int:
    """Return how many of so many rounds one call takes, whose cells so many threads share."""
    return min(most, AT_MOST, 1 + size * PATIENCE // (cells + 1))


class MadeRounds(NamedTuple):
    """The stumps of many rounds."""

    places: Array  # feature, cut, side of missing values, and more, a row each
    leaves: Array | None  # what the sides vote; None: -1 and +1, by the edges, which are the fourth of the places
    alphas: list[float]
    facts: Mapping[str, Any] | list[Facts]  # a column a fact, or those of each
    decays: list[float] | None = None  # by which the rounds multiplied earlier coefficients, if they did

    @property
    def largest(self) -> list[float]:
        """The largest magnitude of every stump's votes."""
        if self.leaves is None:
            return [1.0] * len(self.alphas)
        found: list[float] = np.abs(self.leaves.reshape(len(self.leaves), -1)).max(axis=1).tolist()
        return found


class FusedRounds:
    """Rounds of one training.

    Parameters
    ----------
    rows : CpuRows
        The sample and the vote on it.
    plain : Plain
        The rule's step as a formula.
    sides : int
        Which side of a cut may vote +1: 0 either, +1 or -1 only the one.
    """

    @staticmethod
    def serves(rows: CpuRows) -> bool:
        """Return whether it can take a training's rounds: slots must show all rows, which say where missing ones go."""
        return not rows.slots.nothing and not rows.hides_rows

    def __init__(self, rows: CpuRows, plain: Plain, sides: int) -> None:
        self.rows, self.plain, self.sides = rows, plain, sides
        self.codes, self.slots = rows.codes, rows.slots
        self.level = -1  # after how many rounds the histogram is that of the weights; -1: of none
        self.hist = np.empty(0, np.int64)

    @cached_property
    def masses(self) -> Array:
        """How many examples are in every slot."""
        counts = self.rows.masses.as_arrays[0]
        return self.codes.sums(counts.astype(np.int64))[0][0] if len(counts) else self.codes.sums_of_equals(1)

    @cached_property
    def layout(self) -> InterleavedLayout | None:
        """How compiled rounds lay the histogram out; None: as it is."""
        slots = self.slots
        if not isinstance(self.codes, DenseCodes):
            return None
        return InterleavedLayout(slots.starts, slots.filled, slots.categorical, self.codes.cells.shape[2])

    @cached_property
    def shared(self) -> tuple[Array, ...]:
        """What the members of a team tell each other (see kernels/fused_rounds.py)."""
        size, listed = self.codes.team_size, self.codes.n_rows + self.codes.team_size
        by_rows = not self.codes.dense or (size > 1 and self.codes.parts_rows)
        slots = self.codes.n_slots if self.layout is None else self.layout.size
        outs = _lines(size if by_rows else 0, 2 * slots)
        by_words = not by_rows and (size > 1 or self.codes.n_rows <= BLOCK)
        lists = np.empty((2, listed if by_words else 0), np.int64)
        return _lines(size, FACTS), outs, *lists

    def pays(self, most: int) -> bool:
        """Return whether up to `most` rounds are faster here than one after the other in the general loop.

        A call that may take many rounds always is.  A single round must be worth bringing a histogram along: columns
        of a word are laid side by side and back.
        """
        slots, laid_out = self.codes.n_slots, 0 if self.layout is None else self.layout.size
        if laid_out > WIDER * slots + SMALL:
            return False
        return most > 1 or self.codes.n_rows > slots + LAID_OUT * laid_out

    def release(self) -> None:
        """Let go of workspace until more rounds are asked for: there is little."""

    def _levelled(self, t: int) -> Follower:
        """Bring the histogram up to date after t rounds, as the search for the next voter would."""
        rows, weights = self.rows, self.weights
        if self.level != t:
            follower: Follower = rows.followed(0, SIGNED, weights.v, rows.y, sided=True)
            self.hist = np.array(follower.slots)
            self.level = t
        follower = rows.followers.known[0]
        return follower

    @property
    def weights(self) -> ShiftedExponentials:
        """The weights, which are kept up to a shift."""
        weights = self.rows.weights()
        assert isinstance(weights, ShiftedExponentials)
        return weights

    def _settle(self, follower: Follower, minus: int, plus: int, t: int) -> None:
        """Take note of the sums after t rounds; weights or sums that left their range are made anew."""
        if minus < 0:  # no scale was found: all is to be counted anew
            follower.q, self.level = None, -1
            return
        follower.slots = self.hist
        follower.minus, follower.plus = int(minus), int(plus)
        within = self.weights.at.within
        self.level = t if within and keeps(minus + plus, follower.least) else -1
        if not within:
            self.weights.renew(self.rows.scores.now)

    def rounds(self, state: Any, most: int) -> MadeRounds | None:
        """Take up to `most` rounds in one compiled call; None if the next one is unusual."""
        t = state.t
        rows, slots, follower = self.rows, self.slots, self._levelled(t)
        size, layout, weights = self.codes.team_size, self.layout, self.weights
        hist = self.hist.reshape(-1)
        if layout is not None:
            hist = np.concatenate([layout.of(self.hist[side]) for side in (0, 1)])
        most = in_a_call(most, size, rows.n_rows * len(slots.n_bins))
        found, steps, at = np.empty((most, 4), np.int64), np.empty((most, 2)), weights.at
        what = (
            self.codes.to_read,
            () if layout is None else layout.arrays,
            (slots.starts, slots.filled, slots.categorical, *slots.count_cuts()),
            (1.0, -1.0) if self.sides == 0 else (float(self.sides), float(self.sides)),
            (rows.y, *rows.masses.as_arrays, follower.power, rows.scores.own, weights.own, follower.q),
            (follower.minus, follower.plus),
            (at.shift, at.far),
            self.masses,
            (self.plain.numbers, self.plain.limit - NEGLIGIBLE, at.FAR, at.MOST, follower.headroom, follower.least),
            hist,
            found,
            steps,
        )
        rounds, shared = rounds_of(self.plain.alpha, self.codes.kind), self.shared
        shared[0][:] = 0  # a round that others have told of is never one of the last call
        told = rounds.together(size, lambda numbers, _: ((numbers, *shared), *what))
        made, power, minus, plus, at.shift, at.far = told
        if not made:
            return None
        follower.power = power
        if layout is not None:
            for side, laid in enumerate(hist.reshape(2, -1)):
                layout.back(laid, self.hist[side])
        self._settle(follower, minus, plus, t + made)
        errors, alphas = (column.tolist() for column in steps[:made].T)
        return MadeRounds(found[:made], None, alphas, self.plain.facts(state, errors, alphas))


def _lines(size: int, numbers: int) -> Array:
    """Return zeros, at least so many a row, whose rows are whole cache lines."""
    width = -(-numbers // LINE) * LINE
    space = np.zeros(size * width + LINE, np.int64)
    return space[-(space.ctypes.data // space.itemsize) % LINE :][: size * width].reshape(size, width)
