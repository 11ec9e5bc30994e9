"""Weak learners: what they answer, and what they declare they can do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from boostlab.contract.constraints import Constraints
from boostlab.contract.criterion import Criterion
from boostlab.contract.step import Stop
from boostlab.contract.task import Task

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Found:
    """A learner's answer to a task: the voter, and what is known of it without another pass over the rows.

    Parameters
    ----------
    voter : Voter
        The best one it can find.
    votes : array, optional
        The voter's votes on the training rows; where there are none the engine asks the voter.
    sums : mapping
        What `total` would return for formulas of `contract.sums`, over the sample (not over a draw) under the task's
        weights.

    Examples
    --------
    >>> from boostlab.contract import Found
    >>> from boostlab.contract.sums import error_sums
    >>> Found("a voter", sums={error_sums: (1.0, 0.25)}).sums[error_sums]
    (1.0, 0.25)
    """

    voter: Any
    votes: Array | None = None
    sums: Mapping[Callable[..., Any], Any] = field(default_factory=dict)


class Session:
    """A learner at work on one sample; it may remember things between rounds.  `Learner` has an example."""

    labels: bool = True  # whether all its voters for "edge" say -1 or +1
    directed: bool = False  # whether voters keep to a direction, which a negative coefficient would turn
    compiled: bool = False  # whether rounds of its voters may be compiled: `stump_search` and `voters` answer

    def best(self, task: Task) -> Found | Stop:
        """Return the best voter it can find, or why there is none."""
        raise NotImplementedError

    def best_each(self, tasks: Sequence[Task]) -> Sequence[Found | Stop] | None:
        """Return the answers to several tasks if they are found faster together; None if one after the other."""
        return None

    def added(self, voter: Any, alpha: float) -> None:
        """Take note that alpha * voter was added to the scores; of K tasks the voter is a tuple."""

    def forget(self) -> None:
        """Take note that earlier voters' coefficients changed: what follows from `added` no longer holds."""

    def stump_search(self, criterion: str) -> tuple[Criterion, int] | None:
        """Return by which criterion, and for which side of a cut, compiled rounds look for stumps; None if they cannot.

        Such stumps say what they vote `above` their cut, 1 or -1.

        Parameters
        ----------
        criterion : str
            What the tasks of these rounds name.
        """
        raise NotImplementedError

    def voters(self, found: Array, leaves: Array | None = None) -> Sequence[Any]:
        """Return the stumps that compiled rounds found, with what they vote."""
        raise NotImplementedError


class Learner:
    """A way of finding voters; knows nothing of boosting.

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.contract import Found, Learner, Session, Voter
    >>> from boostlab.datasets import twonorm
    >>> class Sign(Voter):  # votes with the sign of one column
    ...     bound = 1.0
    ...
    ...     def __init__(self, column):
    ...         self.column = column
    ...
    ...     def votes(self, table):
    ...         return np.where(table.floats[:, self.column] > 0, 1.0, -1.0)
    >>> class SignSession(Session):
    ...     def __init__(self, rows):
    ...         self.rows = rows
    ...
    ...     def best(self, task):
    ...         signs = [Sign(j) for j in range(20)]
    ...         edges = [self.rows.sums(task.weight * task.target * self.rows.votes(sign))[0] for sign in signs]
    ...         return Found(signs[int(np.argmax(edges))])
    >>> class Signs(Learner):
    ...     def searches(self):
    ...         return frozenset({"edge"})
    ...
    ...     def begin(self, rows, rng):
    ...         return SignSession(rows)
    >>> X, y = twonorm(200, random_state=0)
    >>> AdaBoostClassifier(Signs(), n_estimators=15).fit(X, y).score(X, y) > 0.85
    True
    """

    draws: bool = False  # cannot use weights: give it drawn rows (`Task.counts`) instead
    uses_bins: bool = False  # looks at the table's codes rather than at its numbers
    excludes: bool = False  # honours `Task.without`: finds the best of the other voters
    labels: bool = True  # whether its voters for "edge" say -1 or +1, as far as it knows before it sees a sample
    constrains: bool = False  # honours `constraints`
    constraints: Constraints | None = None  # on the columns of the table at hand
    instead: str = "use stumps (estimator=None)"  # the cure, where it cannot search what a rule needs

    @property
    def name(self) -> str:
        """What messages call it."""
        return type(self).__name__

    def constrained(self, constraints: Constraints) -> Self:
        """Return a learner like this one whose voters keep to constraints."""
        twin = copy.copy(self)
        twin.constraints = constraints
        return twin

    def searches(self) -> frozenset[str]:
        """Return the criteria it can search."""
        raise NotImplementedError

    def begin(self, rows: Any, rng: np.random.Generator) -> Session:
        """Start work on a sample (see `contract.rows.Sample`)."""
        raise NotImplementedError
