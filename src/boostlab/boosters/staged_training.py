"""One training, and what each of its rounds means for rows that it does not see: all stages are read off one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from boostlab.backend import CpuRows, Masses
from boostlab.boosters.reweighed import Reweighed
from boostlab.contract import Learner, Rule, Stop
from boostlab.data.table import Table
from boostlab.engine.training import Training
from boostlab.ensemble.rounds import Rounds
from boostlab.ensemble.vote import votes_of
from boostlab.learners.stump import DecisionStump
from boostlab.learners.tree.learner import DecisionTree

Array = npt.NDArray[Any]

ROUNDING = 1e-12  # of the largest possible score: below, a score is a tie (see `ensemble.settle`)


@dataclass
class TrainTest:
    """Rows to train on and rows to test on, binned once for many trainings.

    Parameters
    ----------
    table, codes
        The training rows and their classes, 0 and 1.
    watched, watched_codes
        The rows to look at; binned by the training rows' cuts.
    """

    table: Table
    codes: Array
    watched: Table
    watched_codes: Array

    @classmethod
    def of(cls, X: Any, codes: Array, train: Array, watched: Array, max_bins: int | str, threads: int = 1) -> Self:
        """Bin the training rows, and the others by their cuts.

        Parameters
        ----------
        X : array or CSR matrix
            All rows.
        codes : array
            Their classes, 0 and 1.
        train, watched : arrays of int
            The rows to train on, and to look at.
        max_bins : int or "exact"
            As for the boosters.
        threads : int
            Number of threads.
        """
        table = Table.fit(X[train], Masses(len(train)), max_bins, threads)
        codes = codes.astype(np.int8)
        return cls(table, codes[train], Table.of(X[watched], table.bins, threads), codes[watched])

    def training(
        self,
        rule: Rule,
        learner: Learner,
        horizon: int,
        mass: Array | None = None,
        draws: np.random.Generator | None = None,
    ) -> StagedTraining:
        """Return a training that has not begun.

        Parameters
        ----------
        rule, learner, horizon
            As for `Training`.
        mass : array, optional
            The weights of the training rows to start from.
        draws : numpy Generator, optional
            Train every voter on a weighted draw of the rows instead of on weighted rows.
        """
        rows = CpuRows(rule, self.table, Masses(self.table.n_rows, mass), self.codes, 2)
        training = Training(rule, learner, rows, horizon=horizon, resample=draws is not None, rng=draws)
        return StagedTraining(training, self)


def weak_learner(name: str) -> Learner:
    """Return the weak learner "stump", "cart" (a full tree; nodes of fewer than ten are not split) or "depth 3"."""
    if name.startswith("depth "):
        return DecisionTree(max_leaf_nodes=None, max_depth=int(name.split()[1]))
    return DecisionStump() if name == "stump" else DecisionTree(max_leaf_nodes=None, min_samples_split=10)


class StagedTraining:
    """One training of a booster with one score a row, whose votes are never taken back.

    Attributes
    ----------
    wrong : bool array of shape (rounds + 1, n_watched)
        Which of the rows looked at are misclassified after every round, the first before there is a vote.
    stop : Stop or None
        Why the rule ended, if it has.
    """

    def __init__(self, training: Training, split: TrainTest) -> None:
        self.training, self.split = training, split
        self.stop: Stop | None = None
        self._F, self._bound = np.zeros(split.watched.n_rows), 0.0
        self._wrong = [(split.watched_codes == 1)[None]]  # F = 0 is class 0

    @property
    def t(self) -> int:
        """Number of rounds so far."""
        return self.training.state.t

    @property
    def rounds(self) -> Rounds:
        """What they left behind."""
        return self.training.state.rounds

    @property
    def wrong(self) -> Array:
        """The mistakes after every round."""
        if len(self._wrong) > 1:
            self._wrong = [np.concatenate(self._wrong)]
        return self._wrong[0]

    def go(self, until: int) -> None:
        """Train up to this round, or until the rule says stop."""
        before = self.t
        said = self.training.run(until)
        if said.code == "interrupted":
            raise KeyboardInterrupt
        self.stop = self.training.stop
        new = self.rounds[before:]
        if not new:
            return
        assert all(r.alphas is None and r.decay == 1.0 for r in new), "this rule takes votes back"
        F = np.array([r.alpha * votes_of(r.voter, self.split.watched) for r in new])
        F[0] += self._F
        np.cumsum(F, axis=0, out=F)
        bound = self._bound + np.cumsum([abs(r.alpha) * r.voter.bound for r in new])
        self._wrong.append((ROUNDING * bound[:, None] < F) != (self.split.watched_codes == 1))
        self._F, self._bound = F[-1].copy(), float(bound[-1])

    def votes(self, table: Table, rounds: int) -> Array:
        """Return the votes of the first voters, one row a voter."""
        return np.array([votes_of(r.voter, table) for r in self.rounds[:rounds]])

    def alphas(self, rounds: int) -> Array:
        """Return the coefficients of the first voters."""
        return np.array([r.alpha for r in self.rounds[:rounds]])

    def margins(self, alphas: Array, watched: bool = False) -> Array:
        """Return normalised margins, y F / sum of |alpha|, for coefficients of the first voters.

        Parameters
        ----------
        alphas : array
            As many coefficients as voters.
        watched : bool
            Of the rows looked at, instead of the training rows.
        """
        table, codes = self.split.table, self.split.codes
        if watched:
            table, codes = self.split.watched, self.split.watched_codes
        signs, whole = np.where(codes == 1, 1.0, -1.0), float(np.abs(alphas).sum())
        return signs * (alphas @ self.votes(table, len(alphas))) / whole if whole else 0.0 * signs

    def reweighed(self, rounds: int, rules: Sequence[Reweighed]) -> list[tuple[Array, Array] | Stop]:
        """Let programs weigh the first voters anew.

        Parameters
        ----------
        rounds : int
            How many voters.
        rules : sequence of Reweighed
            One program, with values of its parameter in an order in which one solution is near the next.

        Returns
        -------
        list of (weights, wrong) or Stop
            For every rule the voters' weights and which of the rows looked at are misclassified, or why there are none.
        """
        state, found = self.training.state, list[tuple[Array, Array] | Stop]()
        order = state.canonical_order()
        agreements = (state.y * self.votes(self.split.table, rounds))[:, order]
        program, kept = rules[0].open(agreements, state.mass[order])
        watched = self.votes(self.split.watched, rounds)
        for rule in rules:
            answer = rule.weigh(program, kept, rounds)
            if isinstance(answer, Stop):
                found.append(answer)
                continue
            F, bound = answer.alphas @ watched, float(np.abs(answer.alphas).sum())
            found.append((answer.alphas, (ROUNDING * bound < F) != (self.split.watched_codes == 1)))
        return found
