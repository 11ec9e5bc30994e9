"""The votes of several binary problems as one: what a booster that was reduced is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.table import Table
from boostlab.ensemble.vote import Ensemble, probabilities, shown
from boostlab.reductions import decoding
from boostlab.reductions.form import ReductionForm

Array = npt.NDArray[Any]
Scores = list[Array]  # one array a binary problem, as its own vote has them


class Reduced:
    """Binary votes and the form of reduction that makes them one.

    Parameters
    ----------
    votes : sequence of Ensemble
        One a binary problem.
    form : ReductionForm
        Their code and decoder.
    """

    def __init__(self, votes: Sequence[Ensemble], form: ReductionForm) -> None:
        self.votes, self.form = list(votes), form

    def __len__(self) -> int:
        return max(map(len, self.votes))

    @property
    def cuts(self) -> tuple[Array, Array] | None:
        """The columns and thresholds that the votes depend on; None where a voter looks at numbers otherwise."""
        known = [vote.cuts for vote in self.votes if vote.cuts is not None]
        if len(known) < len(self.votes):
            return None
        features, thresholds = (np.concatenate([cuts[i] for cuts in known]) for i in (0, 1))
        return features, thresholds

    def scores(self, table: Table) -> Scores:
        """Return every binary vote's scores."""
        return [vote.scores(table) for vote in self.votes]

    def staged_scores(self, table: Table) -> Iterator[Scores]:
        """Yield every binary vote's scores after every round; a vote that has ended stays as it is."""
        stages = [vote.staged_scores(table) for vote in self.votes]
        F = [vote.nothing(table) for vote in self.votes]
        for _ in range(len(self)):
            F = [next(stage, last) for stage, last in zip(stages, F, strict=True)]
            yield F

    def _binary(self, F: Scores) -> Array:
        """Return one score a row and problem; a vote without voters says which side is larger."""
        told = zip(self.votes, F, self.form.priors(), strict=True)
        return np.stack([shown(v.rule, f) if len(v) else np.full(len(f), prior) for v, f, prior in told], axis=1)

    def _chances(self, F: Scores) -> Array:
        """Return the probability of the side +1 for every row and problem."""
        told = zip(self.votes, F, self.form.shares, strict=True)
        return np.stack(
            [probabilities(v.rule, f)[:, 1] if len(v) else np.full(len(f), share) for v, f, share in told], axis=1
        )

    def shown(self, F: Scores) -> Array:
        """Return one score a class."""
        by_chance = self.form.by_probabilities
        return self.form.scores(None if by_chance else self._binary(F), self._chances(F) if by_chance else None)

    def decide(self, F: Scores) -> Array:
        """Return class indices."""
        return self.shown(F).argmax(axis=1)

    def probabilities(self, F: Scores) -> Array:
        """Return class probabilities."""
        return self.form.probabilities(self._binary(F), self._chances(F))

    def margins(self, F: Scores, codes: Array) -> Array:
        """Return normalised margins, see `decoding.margins`."""
        bounds = np.array(
            [
                v.bound * (1 if f.ndim == 1 else v.rule.apart) if len(v) else 1.0
                for v, f in zip(self.votes, F, strict=True)
            ]
        )
        f = np.clip(self._binary(F) / np.where(bounds > 0, bounds, 1.0), -1.0, 1.0)
        return decoding.margins(self.form.code, f, codes)

    def importances(self, n_features: int) -> Array:
        """Return every feature's share: the mean over the problems whose vote has voters."""
        told = [vote.shares_of_used(n_features) for vote in self.votes if len(vote)]
        out = np.zeros(n_features)
        for used, shares in told:
            out[used] += shares / len(told)
        return out
