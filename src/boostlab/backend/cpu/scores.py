"""The running vote on one set of rows in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.formulas import CELLS, values_of
from boostlab.backend.cpu.kernels.lookup_table import weighted_votes
from boostlab.backend.cpu.kernels.vote_update import add_names, add_to_decayed, add_votes
from boostlab.backend.cpu.threads import spread
from boostlab.contract import Reweigh, Rule, Step

Array = npt.NDArray[Any]

BLOCK = 2048  # rows
TOGETHER = 16  # rounds of votes for classes that are added in one pass


class Scores:
    """The running vote on one set of rows; votes are added, never predicted again."""

    def __init__(self, rule: Rule, n_rows: int, n_classes: int, threads: int = 1) -> None:
        self.rule, self.threads = rule, threads
        # One score a class: a class's scores lie side by side, so that loops over rows make vectors.
        self._F: Array | None = np.zeros(n_rows) if rule.n_outputs == "one" else np.zeros((n_classes, n_rows)).T
        self._lent = False  # whether this F may still be looked at
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

    def map(self, function: Callable[..., Array], *numbers: Any) -> Array:
        """Return a function of the scores and of numbers, evaluated where the rows are: here."""
        return function(self.F, *numbers)

    @property
    def own(self) -> Array:
        """The scores, to add votes to in place."""
        if self._lent:
            self._F, self._lent, self._shown = self.now.copy("K"), False, None
        return self.now

    def _add_named(self) -> None:
        """Add the votes for classes that are still to be added: some rounds' at once, a row after the other."""
        named, self._named = self._named, []
        assert self._F is not None
        if self._lent:
            self._F, self._lent = self._F.copy("K"), False
        F, alphas, H = self._F, np.array([alpha for alpha, _ in named]), np.stack([h for _, h in named])
        add_names.shared(H.size, self.threads, F, alphas, H, 0, len(F))

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

    def join(self, answer: Step | Reweigh, h: Array) -> None:
        """Add a voter's votes, and keep them where the rule looks back."""
        if self.rule.keeps_votes:
            self.keep(h)
        self.advance(answer, h)

    def advance(self, answer: Step | Reweigh, h: Array) -> None:
        """Add a voter's votes."""
        if isinstance(answer, Reweigh):
            self._F, self._alphas = None, answer.alphas  # summed up when asked for
            return
        if answer.each is not None:
            self._F, self._lent = self.now * answer.each.decays + answer.each.alphas * h, False
        elif adds(self.rule) and (answer.decay == 1.0 or h.ndim == self.now.ndim):
            if self._F is not None and h.ndim < self._F.ndim:  # the numbers of classes
                self._named.append((answer.alpha, h))
                if len(self._named) == TOGETHER:
                    self._add_named()
                return
            F = self.own
            if F.ndim > 1 or not h.flags.c_contiguous:
                F, h = F.T.reshape(-1), np.ascontiguousarray(h.T).reshape(-1)
            if answer.decay == 1.0:
                add_votes.shared(F.size, self.threads, F, answer.alpha, h, 0, F.size)
            else:
                add_to_decayed.shared(F.size, self.threads, F, answer.decay, answer.alpha, h, 0, F.size)
        else:
            F = self.F if answer.decay == 1.0 else answer.decay * self.F
            self._F, self._lent = scores_after(self.rule, F, answer.alpha, h, self.threads), False

    def take(self, F: Array) -> None:
        """Take the scores after a round, computed elsewhere."""
        self._F, self._lent = F, False


def adds(rule: Rule) -> bool:
    """Return whether scores become F + alpha h."""
    return rule.joins is None and type(rule).combine is Rule.combine


def scores_after(rule: Rule, F: Array, alpha: float, h: Array, threads: int) -> Array:
    """Return the scores after alpha * h has joined, of training rows and others: the same bits for all of them."""
    if rule.joins is not None and type(rule).combine is Rule.combine:
        return values_of(rule.joins, {"F": F, "h": h}, (alpha, *rule.joining), threads)[0]
    out = np.empty_like(F, subok=False)

    def work(first: int, last: int) -> None:  # blocks of rows stay in the cache
        for start in range(first, last, BLOCK):
            rows = slice(start, min(start + BLOCK, last))
            out[rows] = rule.combine(F[rows], alpha, h[rows])

    spread(work, len(F), CELLS * F.size, threads)
    return out
