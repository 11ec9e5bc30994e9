"""The sample and the vote so far: what rules and monitors see, and what a round changes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Reweigh, Rule, Step
from boostlab.data.losses import Exponentials
from boostlab.data.matrix import canonical_order
from boostlab.data.rows import Rows
from boostlab.data.table import Table
from boostlab.data.threads import is_worth, spread
from boostlab.ensemble import Bound, Round, coefficients
from boostlab.kernels.follow import add_names, add_votes
from boostlab.kernels.lookup import weighted_votes

Array = npt.NDArray[Any]

TOGETHER = 16  # rounds of votes for classes that are added in one pass


class Scores:
    """The running vote on one set of rows; votes are added, never predicted again."""

    def __init__(self, rule: Rule, n_rows: int, n_classes: int, threads: int = 1) -> None:
        shape = (n_rows,) if rule.n_outputs == "one" else (n_rows, n_classes)
        self.rule, self.threads = rule, threads
        self._F: Array | None = np.zeros(shape)
        self._lent = False  # whether somebody may still look at this F
        self._shown: Array | None = None  # this F as it was lent
        self._votes: Array | None = None  # one row a voter: int8 while all votes are labels
        self._alphas: Array | None = None
        self._kept = 0
        self._named: list[tuple[float, Array]] = []  # votes for classes that are still to be added, oldest first

    @property
    def F(self) -> Array:
        """The scores now, to look at and to keep: later rounds do not change them."""
        now, self._lent = self.now, True
        if self._shown is None or self._shown.base is not now:
            self._shown = now.view()
            self._shown.setflags(write=False)
        return self._shown

    @property
    def own(self) -> Array:
        """The scores, for whoever adds votes in place."""
        if self._lent:
            self._F, self._lent, self._shown = self.now.copy(), False, None
        return self.now

    def _add_named(self) -> None:
        """Let the votes for classes speak that have not yet: some rounds' at once, a row after the other."""
        named, self._named = self._named, []
        assert self._F is not None
        if self._lent:
            self._F, self._lent = self._F.copy(), False
        F, alphas, H = self._F, np.array([alpha for alpha, _ in named]), np.stack([h for _, h in named])
        spread(lambda a, b: add_names(F, alphas, H, a, b), len(F), H.size, self.threads)

    @property
    def now(self) -> Array:
        """The scores, to look at and not to keep."""
        if self._named:
            self._add_named()
        if self._F is None:
            assert self._alphas is not None
            self._F, self._lent = np.zeros(self.votes.shape[1]), False
            weighted_votes(self.votes, self._alphas, self._F)
        return self._F

    @property
    def votes(self) -> Array:
        """The kept voters' votes, one row each."""
        assert self._votes is not None, "this rule does not keep votes"
        votes = self._votes[: self._kept]
        votes.setflags(write=False)
        return votes

    def keep(self, h: Array) -> None:
        """Remember a voter's votes, for rules that look back."""
        labels = bool(((h == 1.0) | (h == -1.0)).all())
        if self._votes is None:
            self._votes = np.empty((16, len(h)), np.int8 if labels else np.float64)
        elif self._kept == len(self._votes):
            self._votes = np.concatenate([self._votes, np.empty_like(self._votes)])
        if not labels and self._votes.dtype == np.int8:
            self._votes = self._votes.astype(np.float64)
        self._votes[self._kept] = h
        self._kept += 1

    def advance(self, answer: Step | Reweigh, h: Array) -> None:
        """Let one more voter speak."""
        if isinstance(answer, Reweigh):
            self._F, self._alphas = None, answer.alphas  # summed up when somebody asks
            return
        if answer.each is not None:
            self._F, self._lent = self.now * answer.each.decays + answer.each.alphas * h, False
        elif answer.decay == 1.0 and type(self.rule).combine is Rule.combine:
            if self._F is not None and h.ndim < self._F.ndim:  # the numbers of classes
                self._named.append((answer.alpha, h))
                if len(self._named) == TOGETHER:
                    self._add_named()
                return
            F, h = self.own.reshape(-1), np.ascontiguousarray(h).reshape(-1)
            if not is_worth(F.size, self.threads):
                add_votes(F, answer.alpha, h, 0, F.size)
                return
            spread(lambda a, b: add_votes(F, answer.alpha, h, a, b), F.size, F.size, self.threads)
        else:
            F = self.F if answer.decay == 1.0 else answer.decay * self.F
            self._F, self._lent = self.rule.combine(F, answer.alpha, h), False


class State:
    """The sample and the vote so far, as rules and monitors see them (see `contract.State`)."""

    def __init__(self, rule: Rule, table: Table, rows: Rows, codes: Array, n_classes: int, horizon: int) -> None:
        self.table, self.rows, self.codes, self.n_classes, self.horizon = table, rows, codes, n_classes, horizon
        self._order: Array | None = None
        self.n, self.size = rows.n, max(rows.n, float(rows.n_examples))
        self.y = np.where(codes == 1, np.int8(1), np.int8(-1)) if n_classes else codes  # no classes: numbers
        self.scores = Scores(rule, rows.n_rows, n_classes, table.threads)
        self.rounds: list[Round] = []
        self.bound, self.standing = Bound(rule.comes_back), 0.0
        self.losses: Exponentials | None = None
        self.y.setflags(write=False)
        self.codes.setflags(write=False)
        self.own = SimpleNamespace()
        self.rng: np.random.Generator
        self.total: Callable[..., Any] = rows.total
        self.largest: Callable[[Array], float] = rows.largest
        self.smallest: Callable[[Array], float] = rows.smallest

    @property
    def mass(self) -> Array:
        """The mass of every row."""
        return self.rows.masses

    @property
    def F(self) -> Array:
        """The scores so far."""
        return self.scores.F

    @property
    def t(self) -> int:
        """Number of rounds kept."""
        return len(self.rounds)

    @property
    def votes(self) -> Array:
        """The votes of the voters so far, one row each."""
        return self.scores.votes[: self.t]

    @property
    def alphas(self) -> Array:
        """The coefficients now."""
        return coefficients(self.rounds)

    def canonical_order(self) -> Array:
        """Return an order of the rows that depends on their content only."""
        if self._order is None:
            mass = None if self.rows.uniform else self.rows.masses
            self._order = canonical_order(self.table.X, self.codes, mass, self.table.threads)
        return self._order

    def weigh(self, logs: Array) -> Array:
        """Return exp(logs), scaled so that the largest is 1."""
        logs = logs - self.largest(logs)
        return np.exp(logs, out=logs)

    def exponentials(self) -> Array:
        """Return exp(-y F) or exp(-F_c) up to a common factor, computed anew only where the last voter was wrong."""
        if self.losses is None:
            F = self.scores.now
            y = self.y if F.ndim == 1 else self.codes
            self.losses = Exponentials(y, F, self.rows.as_arrays[0], self.table.threads)
        return self.losses.w

    def follow_losses(self, rule: Rule, answer: Step | Reweigh, h: Array) -> None:
        """Keep the exponentials up to date, where a rule has asked for them."""
        if self.losses is not None:
            if isinstance(answer, Step) and answer.decay == 1.0 and rule.additive and self.losses.follows(h):
                self.losses.advance(answer.alpha, h, lambda: self.scores.now)
            else:
                self.losses = None
