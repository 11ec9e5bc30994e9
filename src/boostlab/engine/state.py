"""The sample and the vote so far: what rules and monitors see, and what a round changes."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract import Found, Rows, Rule
from boostlab.ensemble.rounds import Rounds, coefficients
from boostlab.ensemble.vote import VoteBound

Array = npt.NDArray[Any]


class TrainingState:
    """The sample and the vote so far, as rules and monitors see them (see `contract.State`)."""

    def __init__(self, rule: Rule, held: Rows, horizon: int) -> None:
        self.held, self.horizon = held, horizon
        self.n, self.size = held.n, max(held.n, float(held.n_sample))
        self.y, self.codes, self.n_classes = held.y, held.k, held.n_classes
        self.rounds = Rounds()
        self.bound, self.standing = VoteBound(rule.comes_back), 0.0
        self.found: Sequence[Found] = ()
        self.own = SimpleNamespace()
        self.spent = 0.0  # of the seconds that the rule may take
        self.rng: np.random.Generator
        self.each, self.total, self.keep, self.column = held.each, held.total, held.keep, held.column
        self.each_label = held.each_label
        self.weigh, self.scaled_exp, self.exp_and_sum = held.weigh, held.scaled_exp, held.exp_and_sum
        self.largest, self.smallest = held.largest, held.smallest
        self.exponentials, self.canonical_order = held.exponentials, held.canonical_order

    @property
    def mass(self) -> Array:
        """The mass of every row."""
        return self.held.mass

    @property
    def F(self) -> Array:
        """The scores so far."""
        return self.held.scores.F

    @property
    def t(self) -> int:
        """Number of rounds kept."""
        return len(self.rounds)

    @property
    def votes(self) -> Array:
        """The votes of the voters so far, one row each."""
        return self.held.scores.votes[: self.t]

    @property
    def alphas(self) -> Array:
        """The coefficients now."""
        return coefficients(self.rounds)
