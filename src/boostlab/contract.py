"""The words in which a rule, a learner and the engine speak to each other.

A rule answers three questions a round: what should the next voter look at (`Rule.task`), how loud does it vote, and
is it time to stop (`Rule.step`).  A learner answers a `Task` with a voter.  Neither knows anything else of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from boostlab.data.rows import Rows
from boostlab.data.table import Table
from boostlab.kernels.compiled import part
from boostlab.tasks import MixedTask, ResidualTask, Task

Array = npt.NDArray[Any]
Facts = Mapping[str, float]

__all__ = ["MixedTask", "ResidualTask", "Task"]  # from next door

formula = part  # marks a plain function of numbers that may be compiled


NEGLIGIBLE = 1e-12  # an edge this small is rounding, not knowledge: a voter that has it would be added for ever


# -- what a rule answers ---------------------------------------------------------------------------------------------

STOP_CODES = {
    "max_rounds": "the limit on rounds was reached",
    "no_edge": "no voter is better than the rule can use",
    "perfect": "the voter makes no error",
    "patience": "the validation score no longer improves",
    "tolerance": "the optimum is reached within the tolerance",
    "given_up": "every example has been given up",
    "time_up": "the rule's clock ran out",
    "solver_failed": "a solver found no answer",
    "assumption_violated": "an assumption of the theory does not hold",
    "interrupted": "the user pressed Ctrl-C",
    "callback": "a callback asked to stop",
}


@dataclass(frozen=True, slots=True)
class Stop:
    """Training ends here; the voter in question, if any, is not kept."""

    code: str
    detail: str = ""

    def __post_init__(self) -> None:
        if self.code not in STOP_CODES:
            raise ValueError(f"{self.code!r} is not a stop code; use one of {', '.join(STOP_CODES)}.")

    def __str__(self) -> str:
        return f"{self.code}: {self.detail or STOP_CODES[self.code]}"


@dataclass(frozen=True, slots=True)
class Each:
    """Coefficients of their own for the voters of a tuple, one a class: F_l becomes decays_l F_l + alphas_l h_l."""

    alphas: Array
    decays: Array


@dataclass(slots=True)
class Step:
    """Keep the voter: scores become decay * F + alpha * h.

    Parameters
    ----------
    alpha : float
        The voter's coefficient.
    facts : mapping
        Numbers for `history_` (error, edge, objective, ...).
    stop : Stop, optional
        Keep this voter and then end.
    decay : float
        All earlier coefficients are multiplied by it.
    each : Each, optional
        Alphas and decays of the classes, where K tasks gave a voter a class; alpha is then only for `history_`.
    """

    alpha: float
    facts: Facts = field(default_factory=dict)
    stop: Stop | None = None
    decay: float = 1.0
    each: Each | None = None


@dataclass(slots=True)
class Reweigh:
    """Keep the voter and set the coefficients of all voters so far, this one last."""

    alphas: Array
    facts: Facts = field(default_factory=dict)
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """Drop the voter and ask the learner again, with a fresh draw if the task is drawn."""

    reason: str


def perfect(s: State, right: Array) -> Stop | None:
    """Return the stop after a voter that is right on every row, and not only on those whose weight has not vanished."""
    return Stop("perfect", f"round {s.t + 1} makes no error") if right.all() else None


@dataclass(frozen=True, slots=True)
class Plain:
    """What there is to know of a rule whose weights are `State.exponentials` and whose `step` looks at sums only.

    Such rounds can be compiled, many in one call (see `march`).

    Parameters
    ----------
    alpha : callable
        A plain function alpha(error, numbers), marked by `formula`.
    numbers : tuple of floats
        Its parameters.
    limit : float
        From this weighted error on a voter is of no use.
    facts : callable
        What `step` says of a voter that is not perfect: facts(state, error, alpha).
    """

    alpha: Callable[[float, tuple[float, ...]], float]
    numbers: tuple[float, ...]
    limit: float
    facts: Callable[[State, float, float], Facts]

    def __call__(self, error: float) -> float:
        """Return alpha for a voter with this weighted error."""
        return self.alpha(error, self.numbers)


# -- voters and learners ---------------------------------------------------------------------------------------------


@runtime_checkable
class Voter(Protocol):
    """One function of a row: what a learner returns and an ensemble sums up."""

    @property
    def bound(self) -> float:
        """The largest magnitude of a vote."""

    def votes(self, table: Table) -> Array:
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

    def begin(self, table: Table, rows: Rows, rng: np.random.Generator) -> Session:
        """Start work on a sample."""
        raise NotImplementedError


# -- what a rule sees ------------------------------------------------------------------------------------------------


class State(Protocol):
    """The sample and the vote so far, as a rule sees them.

    Attributes
    ----------
    y : labels -1 and +1 as int8 (binary rules); codes : class indices 0..n_classes-1; n_classes
        (for regressors both are the numbers to predict, less their mean, and there are no classes)
    n : the sample size (sum of the masses); mass : mass of every row
    size : n, but never less than the number of rows: for floors and caps, where weights that sum to 1 must not matter
    F : scores so far, of shape (n_rows,) or (n_rows, n_classes)
    t : number of rounds kept; alphas : their voters' coefficients (what each round gave, if voters come back)
    votes : votes of the kept voters, one row each (only for rules with `keeps_votes`)
    horizon : the largest number of rounds
    standing : the coefficient that the voter in question has already (0, but for rules whose voters come back)
    own : a namespace for whatever the rule wants to remember between rounds
    rng : the training's source of chance, for rules that draw
    """

    y: Array
    codes: Array
    n_classes: int
    n: float
    size: float
    horizon: int
    standing: float
    own: SimpleNamespace
    rng: np.random.Generator

    @property
    def mass(self) -> Array: ...
    @property
    def F(self) -> Array: ...
    @property
    def t(self) -> int: ...
    @property
    def alphas(self) -> Array: ...
    @property
    def votes(self) -> Array: ...

    total: Callable[..., Any]  # the sum over the sample of each array given: a float, or a tuple of floats
    largest: Callable[[Array], float]
    smallest: Callable[[Array], float]

    def canonical_order(self) -> Array:
        """Return an order of the rows that depends on their content only."""

    def exponentials(self) -> Array:
        """Return exp(-y F) up to a common factor: AdaBoost's weights, cheaper than `weigh` and not to be written to.

        With one score a class they are exp(-F_c), c the row's class.
        """

    def weigh(self, logs: Array) -> Array:
        """Return exp(logs), scaled so that the largest is 1: weights that cannot under- or overflow as a whole."""


class Rule:
    """One boosting algorithm: parameters, and pure answers to the engine's questions.

    A subclass is a frozen dataclass of parameters in the paper's letters.  What it must remember during training goes
    to `s.own`, so that one rule object can serve many fits, be pickled with the model, and be compared.
    """

    needs: ClassVar[str] = "edge"  # the criterion its tasks name
    labels_only: ClassVar[bool] = False  # whether votes must be -1 and +1
    n_outputs: ClassVar[str] = "one"  # scores per row: "one", or one per "class"
    apart: ClassVar[float] = 1.0  # one score a class: how far a voter can part two, in units of its largest vote
    additive: ClassVar[bool] = True  # whether the vote is a plain weighted sum
    keeps_votes: ClassVar[bool] = False  # whether it looks at earlier voters' votes (and may Reweigh)
    comes_back: ClassVar[bool] = False  # whether a voter that comes back adds to its coefficient, not a second voice
    each_alone: ClassVar[bool] = False  # of K tasks: whether a class for which there is no voter goes without one
    instead: ClassVar[str] = ""  # what to use when a learner cannot serve it

    @property
    def excludes(self) -> bool:
        """Whether its tasks may say `without`: the learner must honour it, or draw its rows, so that `Retry` helps."""
        return False

    def begin(self, s: State) -> None:
        """Prepare before the first round."""

    def plain(self, s: State) -> Plain | None:
        """Return the rule as a formula, if it is one (its step may look at the votes of perfect voters only).

        A subclass that changes anything else about the rule must write this method, too, or it no longer counts.
        """
        return None

    def task(self, s: State) -> Task | Sequence[Task | float] | Stop:
        """Say what the next voter should look at (one task, or K of them for a voter per class).

        A number in place of one of K tasks is what the voter of that class says, always.
        """
        raise NotImplementedError

    def step(self, s: State, task: Any, h: Array) -> Step | Reweigh | Retry | Stop:
        """Say what to do with a voter whose votes on the sample are h (int8 where they all are -1 and +1)."""
        raise NotImplementedError

    def combine(self, F: Array, alpha: float, h: Array) -> Array:
        """Return the scores after alpha * h has joined: after alpha more for the class h, where h names classes."""
        if h.ndim == F.ndim:
            return F + alpha * h
        F = F.copy()
        F[np.arange(len(F)), h] += alpha
        return F

    def shown(self, F: Array) -> Array:
        """Return what `decision_function` shows of scores for three or more classes; the order in a row stays."""
        return F

    def finish(self, s: State) -> Reweigh | None:
        """Set all coefficients once more when training is over.

        Early stopping may keep the first rounds only: then t, alphas and votes are those of the rounds kept.
        """
        return None

    def probability(self, F: Array) -> Array:
        """Return P(y = +1) from the scores (binary), or one probability per class (one score per class)."""
        with np.errstate(over="ignore"):
            return 1.0 / (1.0 + np.exp(-2.0 * F))
