"""Weak learners: what they answer, and what they declare they can do."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from boostlab.contract.step import Stop
from boostlab.contract.task import Task

Array = npt.NDArray[Any]


@runtime_checkable
class Voter(Protocol):
    """One function of a row: what a learner returns and an ensemble sums up."""

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""

    def votes(self, table: Any) -> Array:
        """Return the votes on all rows, of shape (n_rows,) or (n_rows, n_classes).

        Where there is one score a class, a single vote a row is an integer: the number of the class it is for.
        """


class Session(Protocol):
    """A learner at work on one sample; it may remember things between rounds.

    If its voters for "edge" do not all say -1 or +1, it has a false attribute `labels`.  A session that knows the votes
    on the training rows without asking the voter may have a method `output(voter, table)`.
    """

    def best(self, task: Task) -> Voter | Stop:
        """Return the best voter it can find, or why there is none."""

    def added(self, voter: Any, alpha: float) -> None:
        """Take note that alpha * voter was added to the scores."""


class Learner:
    """A way of finding voters; knows nothing of boosting."""

    draws: bool = False  # cannot use weights: give it drawn rows (`Task.counts`) instead
    uses_bins: bool = False  # looks at the table's codes rather than at its numbers
    excludes: bool = False  # honours `Task.without`: finds the best of the other voters

    def searches(self) -> frozenset[str]:
        """Return the criteria it can search."""
        raise NotImplementedError

    def begin(self, table: Any, rows: Any, rng: np.random.Generator) -> Session:
        """Start work on a sample."""
        raise NotImplementedError
