"""Boosting from a stream: examples come and go, and no more of them are held than the next voter needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from boostlab.backend import CpuSample, Masses, values
from boostlab.contract import Learner, Retry, Step, Stop, Task
from boostlab.data.matrix import by_rows, is_sparse
from boostlab.data.table import Bins, Table
from boostlab.ensemble.rounds import Round
from boostlab.ensemble.vote import Ensemble
from boostlab.solvers.filtering import Calls, FilteredEdge, sequential_edge

Array = npt.NDArray[Any]

PIECE = 1024  # examples


class FilteringRule(Protocol):
    """What a rule must say to learn from a stream (see `FilterBoostOracle`)."""

    @property
    def tau(self) -> float: ...
    @property
    def n_max(self) -> int: ...
    @property
    def weight(self) -> Callable[..., float]: ...
    def calls(self, t: int) -> Calls: ...
    def judged(self, found: FilteredEdge | None, calls: Calls) -> Step | Retry | Stop: ...
    def ended(self, calls: Calls) -> Stop: ...


class StreamEnded(Exception):
    """The stream has ended."""


class Filter:
    """Lets an example through with the chance that the rule's weight gives it under the vote so far.

    Parameters
    ----------
    rule : FilteringRule
        Says the weights.
    chunks : iterator of (X, y)
        Checked tables and labels -1 and +1; one chunk is held at a time.
    rng : numpy Generator
        Source of chance.
    piece : int
        How many examples are looked at together.
    """

    def __init__(
        self, rule: FilteringRule, chunks: Iterator[tuple[Any, Array]], rng: np.random.Generator, piece: int = PIECE
    ) -> None:
        self.rule, self.chunks, self.rng, self.piece = rule, chunks, rng, piece
        self.chunk: tuple[Any, Array] | None = None  # what has not been looked at yet
        self.seen = 0

    def begin(self, ensemble: Ensemble, calls: Calls) -> None:
        """Start a round: what was let through for the last vote is of no use for this one."""
        self.ensemble, self.calls, self.gap = ensemble, calls, 0
        self.spare: list[tuple[Any, Array]] = []

    def draw(self, n: int) -> tuple[Any, Array] | None:
        """Return the next n examples that get through, or None if one was waited for too long."""
        while (have := sum(len(y) for _, y in self.spare)) < n:
            rate = max(self.calls.r, 1) / max(self.calls.drawn, 2)
            X, y = self._take(min(self.piece, int((n - have) / rate) + 16))
            q = values(self.rule.weight, y=y, F=self.ensemble.scores(Table(X)))
            hits = np.flatnonzero(self.rng.random(len(y)) < q)
            waits = np.diff(hits, prepend=-1 - self.gap)
            self.gap = self.gap + len(y) if not len(hits) else len(y) - 1 - int(hits[-1])
            if (len(hits) and not self.calls.made(waits)) or self.gap > self.calls.limits(1)[0]:
                return None
            self.spare.append((X[hits], y[hits]))
        X, y = _stacked(self.spare)
        self.spare = [(X[n:], y[n:])]
        return X[:n], y[:n]

    def _take(self, n: int) -> tuple[Any, Array]:
        """Return up to n examples from the stream."""
        while self.chunk is None:
            self.chunk = next(self.chunks, None)
            if self.chunk is None:
                raise StreamEnded
            if not len(self.chunk[1]):
                self.chunk = None
        X, y = self.chunk
        self.chunk = (X[n:], y[n:]) if len(y) > n else None
        self.seen += min(n, len(y))
        return X[:n], y[:n]


def _stacked(parts: list[tuple[Any, Array]]) -> tuple[Any, Array]:
    Xs = [X for X, _ in parts]
    X = by_rows(sparse.vstack(Xs, format="csr")) if is_sparse(Xs[0]) else np.concatenate(Xs)
    return X, np.concatenate([y for _, y in parts])


@dataclass
class StreamTraining:
    """The rounds of a booster that never sees its sample as a whole.

    Parameters
    ----------
    rule, learner
        What to ask and whom.
    filter : Filter
        The stream.
    bins : callable
        Makes the bins of a table, for learners that look at them.
    max_restarts : int
        How often a round may learn another voter when one has no edge.
    rng : numpy Generator
        For learners that draw.
    """

    rule: Any
    learner: Learner
    filter: Filter
    bins: Callable[[Any, Masses], Bins]
    max_restarts: int
    rng: np.random.Generator

    def run(self, until: int) -> tuple[list[Round], Stop]:
        """Go on until round `until`, or until the rule, the stream or the user says stop."""
        rounds: list[Round] = []
        try:
            while len(rounds) < until:
                start = time.perf_counter()
                self.filter.begin(Ensemble(self.rule, rounds, 2), self.rule.calls(len(rounds)))
                voter, answer = self._round()
                if isinstance(answer, Stop):
                    return rounds, answer
                facts = {"alpha": answer.alpha, **answer.facts, "seconds": time.perf_counter() - start}
                rounds.append(Round(voter, answer.alpha, facts=facts))
        except StreamEnded:
            return rounds, Stop("time_up", f"the stream ended after {self.filter.seen} examples")
        except KeyboardInterrupt:
            return rounds, Stop("interrupted", f"Ctrl-C in round {len(rounds) + 1}; the rounds before it are kept")
        return rounds, Stop("max_rounds", f"{until} rounds, the limit n_estimators")

    def _round(self) -> tuple[Any, Step | Stop]:
        refused = "no voter was learnt"
        for _ in range(1 + self.max_restarts):
            sample = self.filter.draw(self.filter.calls.m)
            if sample is None:
                return None, self.rule.ended(self.filter.calls)
            voter = self._learn(*sample)
            if isinstance(voter, Stop):
                refused = voter.detail
                continue
            right = partial(self._right, voter)
            found = sequential_edge(right, self.filter.calls.delta, self.rule.tau, self.rule.n_max)
            answer = self.rule.judged(found, self.filter.calls)
            if not isinstance(answer, Retry):
                return voter, answer
            refused = answer.reason
        return None, Stop("no_edge", f"{self.max_restarts} restarts in one round all failed; the last: {refused}")

    def _learn(self, X: Any, y: Array) -> Any:
        rows = Masses(len(y))
        table = Table.of(X, self.bins(X, rows) if self.learner.uses_bins else None)
        session = self.learner.begin(CpuSample(table, rows), self.rng)
        found = session.best(Task("edge", np.ones(len(y)), y, counts=np.ones(len(y), np.int64)))
        return found if isinstance(found, Stop) else found.voter

    def _right(self, voter: Any, n: int) -> Array | None:
        """Return whether a voter is right on each of the next n filtered examples, a piece at a time."""
        parts = []
        piece = self.filter.piece
        for start in range(0, n, piece):
            sample = self.filter.draw(min(piece, n - start))
            if sample is None:
                return None
            parts.append(voter.votes(Table(sample[0])) == sample[1])
        return np.concatenate(parts)
