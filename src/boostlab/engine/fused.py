"""Many rounds of plain rules on stumps in one compiled call, each in one pass over the rows.

It works on the very state of the general loop (scores, exponential weights, the stumps' histogram) and leaves it as
that loop would, to the bit, so that the two may take turns.  A round that is unusual is left to the general loop.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.backend.cpu.interleaved import InterleavedLayout
from boostlab.backend.cpu.kernels.fused_rounds import FACTS, rounds_of
from boostlab.backend.cpu.kernels.fused_update import BLOCK
from boostlab.backend.cpu.scales import keeps
from boostlab.backend.cpu.threads import as_team
from boostlab.contract import NEGLIGIBLE, Facts, Plain, Rule
from boostlab.contract.criterion import SIGNED
from boostlab.data.table import Table
from boostlab.engine.state import State
from boostlab.learners.stump import StumpSession

Array = npt.NDArray[Any]

PATIENCE = 50_000_000  # cells of work (some 20 ms) after which a compiled call returns, so that Ctrl-C is heard
WIDER, SMALL = 4, 1 << 17  # how much larger a histogram may be that is laid out for compiled rounds
LAID_OUT = 6  # rows whose round costs as much as one slot that is laid out for a single round (docs/speed.md)


class Host(Protocol):
    """What the fast lane needs of a training (see `engine.Training`)."""

    rule: Rule
    table: Table
    state: State
    session: Any
    draws: bool
    torn: bool

    def join(self, voters: Sequence[Any], alphas: Sequence[float], facts: Sequence[Facts], seconds: float) -> None: ...


class FusedRounds:
    """Rounds of one training.

    Parameters
    ----------
    training : Host
        Of a rule that is plain, by stumps, on rows that are not drawn.
    """

    def __init__(self, training: Host, session: StumpSession, plain: Plain) -> None:
        self._training = weakref.ref(training)  # it owns this: a circle would keep the codes until the collector comes
        self.session, self.plain = session, plain
        self.codes, self.search = session.search.codes, session.search
        self.level = -1  # after how many rounds the histogram is that of the weights; -1: of none
        self.hist = np.empty(0, np.int64)

    @property
    def training(self) -> Host:
        """The training whose rounds these are."""
        training = self._training()
        assert training is not None, "a training outlives what it owns"
        return training

    @classmethod
    def of(cls, training: Host) -> FusedRounds | None:
        """Return the fast lane for a training, if there is one."""
        session, rule = training.session, training.rule
        plain = rule.plain(training.state) if _speaks_for_itself(type(rule)) else None
        if plain is None or training.draws or not isinstance(session, StumpSession) or session.search.nothing:
            return None
        return cls(training, session, plain)

    @cached_property
    def masses(self) -> Array:
        """How many rows of y = -1 and of y = +1 are in every slot."""
        state, counts = self.training.state, self.search.rows.as_arrays[0]
        signed = state.y.astype(np.int64) * (counts if len(counts) else 1)
        return self.codes.sums(signed, sided=True)[0]

    @cached_property
    def layout(self) -> InterleavedLayout | None:
        """How compiled rounds lay the histogram out; None: as it is."""
        search = self.search
        if not isinstance(self.codes, DenseCodes):
            return None
        return InterleavedLayout(search.starts, search.filled, search.categorical, self.codes.cells.shape[2])

    @cached_property
    def shared(self) -> tuple[Array, ...]:
        """What the members of a team tell each other (see kernels/rounds.py)."""
        size, room = self.codes.team_size, self.codes.n_rows + self.codes.team_size
        by_rows = not self.codes.dense or (size > 1 and self.codes.parts_rows)
        slots = self.codes.n_slots if self.layout is None else self.layout.size
        outs = np.zeros((size if by_rows else 0, slots), np.int64)
        by_words = not by_rows and (size > 1 or self.codes.n_rows <= BLOCK)
        lists = np.empty((2, room if by_words else 0), np.int64)
        return np.empty((size, FACTS), np.int64), np.empty((size, FACTS), np.int64), outs, *lists

    def pays(self, most: int) -> bool:
        """Return whether up to `most` rounds are faster here than one after the other in the general loop.

        A call that may take many rounds always is.  A single round must be worth bringing a histogram along: columns
        of a word are laid side by side and back.
        """
        slots, laid_out = self.codes.n_slots, 0 if self.layout is None else self.layout.size
        if laid_out > WIDER * slots + SMALL:
            return False
        return most > 1 or self.codes.n_rows > slots + LAID_OUT * laid_out

    def _levelled(self) -> Follower:
        """Bring the histogram up to date, as the search for the next voter would."""
        state, search = self.training.state, self.search
        if self.level != state.t:
            search.followed(0, SIGNED, state.exponentials(), state.y, lasting=True)
            self.hist = self.codes.padded(search.followers[0].slots[0])
            self.level = state.t
        return search.followers[0]

    def _ground(self, follower: Follower) -> tuple[Any, ...]:
        """Return what the kernels change in place, and what they need for it."""
        state, rows = self.training.state, self.search.rows
        assert state.held.losses is not None
        return state.y, *rows.as_arrays, follower.power, state.held.scores.own, state.held.losses.own, follower.q

    def _settle(self, follower: Follower, total: int, gross: int, made: int) -> None:
        """Take note of the sums after so many rounds; weights or sums that left their range are made anew."""
        state = self.training.state
        follower.slots = self.hist[None, : self.codes.n_slots]
        follower.minus, follower.plus = (int(gross) - int(total)) // 2, (int(gross) + int(total)) // 2
        assert state.held.losses is not None
        within = state.held.losses.moved(0.0)
        self.level = state.t + made if within and keeps(gross, follower.least) else -1
        if not within:
            state.held.losses.renew(state.held.scores.now)

    def rounds(self, most: int) -> int:
        """Take up to `most` rounds in one compiled call; return how many: none if the next one is unusual."""
        training, state, search = self.training, self.training.state, self.search
        start, follower = time.perf_counter(), self._levelled()
        size, layout = self.codes.team_size, self.layout
        hist = self.hist if layout is None else layout.of(self.hist)
        cells = follower.rows.n_rows * len(self.search.n_bins)
        most = min(most, 1 + size * PATIENCE // (cells + 1))
        found, alphas = np.empty((most, 5), np.int64), np.empty(most)
        losses = state.held.losses
        assert losses is not None
        what = (
            self.codes.to_read,
            () if layout is None else layout.arrays,
            (search.starts, search.filled, search.categorical),
            self.session.sides,
            self._ground(follower),
            (follower.total, follower.gross),
            (losses.up, losses.down),
            self.masses,
            (self.plain.numbers, self.plain.limit - NEGLIGIBLE, losses.FAR, follower.least),
            hist,
            found,
            alphas,
        )
        rounds, shared = rounds_of(self.plain.alpha, self.codes.kind), self.shared
        training.torn = True
        made, total, whole, losses.up, losses.down = as_team(
            lambda me, numbers: rounds(me, (numbers, *shared), *what), size
        )
        if not made:
            return 0
        if layout is not None:
            layout.back(hist, self.hist)
        self._settle(follower, total, whole, made)
        found, gross = found[:made], found[:made, 4]
        wrong = (gross - self.session.worth(found[:, 3])) // 2
        errors = np.ldexp(wrong.astype(np.float64), -follower.power) / np.ldexp(
            gross.astype(np.float64), -follower.power
        )
        each = (time.perf_counter() - start) / made
        said, told = alphas[:made].tolist(), self.plain.facts
        facts = [told(state, error, alpha) for error, alpha in zip(errors.tolist(), said, strict=True)]
        training.join(self.session.voters(found), said, facts, each)
        return int(made)


def _speaks_for_itself(rule: type[Rule]) -> bool:
    """Return whether no subclass changed anything about the rule after its `plain` was written."""
    for cls in rule.__mro__:
        if "plain" in vars(cls):
            return True
        if any(hasattr(Rule, name) or hasattr(cls.__base__, name) for name in vars(cls) if not name.startswith("__")):
            return False
    return False
