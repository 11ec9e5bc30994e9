"""A rule, one boosting algorithm, and what it sees of a training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from boostlab.contract.formula import formula, parameters
from boostlab.contract.label_round import LabelRound
from boostlab.contract.learner import Found
from boostlab.contract.step import Retry, Reweigh, Step, Stop
from boostlab.contract.task import Task
from boostlab.contract.usual import UsualRound

Array = npt.NDArray[Any]
Column = Any  # one value a row, wherever the rows are; an array where they lie in this process
Formula = Callable[..., Any]


@formula
def is_wrong(y: float, h: float) -> float:
    """Whether a vote is not on the label's side."""
    return 0.0 if y * h > 0.0 else 1.0


@formula
def is_other_class(h: int, k: int) -> float:
    """Whether a vote names another class.

    Examples
    --------
    >>> is_other_class(2, 1), is_other_class(1, 1)
    (1.0, 0.0)
    """
    return 1.0 if h != k else 0.0


def perfect(s: State, wrong: Formula | Column = is_wrong) -> Stop | None:
    """Return the stop after a voter that is right on every row, and not only on those whose weight has not vanished.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from boostlab.contract import perfect
    >>> str(perfect(SimpleNamespace(t=3, largest=lambda wrong: 0.0)))
    'perfect: round 4 makes no error'
    >>> perfect(SimpleNamespace(t=3, largest=lambda wrong: 1.0)) is None
    True
    """
    return Stop("perfect", f"round {s.t + 1} makes no error") if s.largest(wrong) == 0.0 else None


@dataclass(frozen=True, slots=True)
class Plain:
    """What there is to know of a rule whose weights are `State.exponentials` and whose `step` looks at sums only.

    Such rounds can be compiled, many in one call (see `Rows.fused`).

    Parameters
    ----------
    alpha : callable
        A plain function alpha(error, numbers), marked by `formula`.
    numbers : tuple of floats
        Its parameters.
    limit : float
        From this weighted error on a voter is of no use.
    facts : callable
        What `step` says of voters that are not perfect, for many rounds in turn: facts(state, errors, alphas) returns a
        column a fact.

    Examples
    --------
    >>> from math import log
    >>> from boostlab.contract import Plain, formula
    >>> @formula
    ... def half_log_odds(error: float, numbers: tuple[float, ...]) -> float:
    ...     return numbers[0] * 0.5 * log((1 - error) / error)
    >>> plain = Plain(half_log_odds, (1.0,), 0.5, lambda s, errors, alphas: {"error": errors})
    >>> round(plain(0.2), 3)
    0.693
    """

    alpha: Callable[[float, tuple[float, ...]], float]
    numbers: tuple[float, ...]
    limit: float
    facts: Callable[[State, Sequence[float], Sequence[float]], Mapping[str, Sequence[float]]]

    def __call__(self, error: float) -> float:
        """Return alpha for a voter with this weighted error."""
        return self.alpha(error, self.numbers)


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
    found : what the learner answered in this round, one answer a task (the voters of other classes say a number)
    standing : the coefficient that the voter in question has already (0, but for rules whose voters come back)
    spent : how many of the rule's seconds were gone before the first round, where it has a limit
    own : a namespace for whatever the rule wants to remember between rounds
    rng : the training's source of chance, for rules that draw

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> def show(state):
    ...     print(state.t, state.n, state.F.shape, round(state.largest(state.F), 2))
    >>> model = AdaBoostClassifier(n_estimators=2, callbacks=show).fit(X, y)  # a callback is given the state
    1 100.0 (100,) 0.6
    2 100.0 (100,) 1.17
    """

    y: Array
    codes: Array
    n_classes: int
    n: float
    size: float
    horizon: int
    found: Sequence[Found]
    standing: float
    spent: float
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

    # Each takes a formula and its numbers (see `contract.formula`), or columns of values.  A prototype may do without
    # formulas and compute with s.y and s.F by NumPy; it then runs where rows lie in this process only.

    def each_label(self, what: Formula, /, *numbers: Any) -> list[tuple[Column, ...]]:
        """Return for every label the values of a formula of rows and labels, a column each."""

    def each(self, what: Formula, /, *numbers: Any) -> Column:
        """Return a formula's value for every row, kept where the rows are."""

    def total(self, what: Formula | Column, /, *numbers: Any) -> Any:
        """Return the exact sum over the sample: of a formula (a tuple, where it has several values), or of columns."""

    def largest(self, what: Formula | Column, /, *numbers: Any) -> float:
        """Return the largest value over the rows."""

    def smallest(self, what: Formula | Column, /, *numbers: Any) -> float:
        """Return the smallest value over the rows."""

    def weigh(self, what: Formula | Column, /, *numbers: Any) -> Column:
        """Return exp(logarithms), scaled so that the largest is 1: such weights cannot under- or overflow."""

    def scaled_exp(self, what: Formula | Column, /, *numbers: Any) -> tuple[Column, float]:
        """Return w and t with exp(logarithms) = e^t w, the largest w being 1."""

    def exp_and_sum(self, what: Formula, /, *numbers: Any) -> tuple[Column, float, float]:
        """Return the same, and the sum of w over the sample, which costs less than to ask for it afterwards."""

    def keep(self, name: str, what: Formula | Column | float, /, *numbers: Any) -> None:
        """Remember a column by a name of the rule's own, for later formulas: a formula's values, or a number."""

    def column(self, name: str, /) -> Column:
        """Return a column by its name."""

    def canonical_order(self) -> Array:
        """Return an order of the rows that depends on their content only."""

    def exponentials(self) -> Column:
        """Return exp(-y F) up to a common factor: AdaBoost's weights, cheaper than `weigh` and not to be written to.

        With one score a class they are exp(-F_k), k the row's class.
        """


class Rule:
    """One boosting algorithm: parameters, and pure answers to the engine's questions.

    A subclass is a frozen dataclass of parameters in the paper's letters.  What it must remember during training goes
    to `s.own`, so that one rule object can serve many fits, be pickled with the model, and be compared.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from boostlab.contract import Rule, Step, Task, error_sums
    >>> @dataclass(frozen=True)
    ... class Constant(Rule):  # AdaBoost with the same step every round
    ...     nu: float = 0.1
    ...
    ...     def task(self, s):
    ...         return Task("edge", s.exponentials(), s.y)
    ...
    ...     def step(self, s, task, h):
    ...         whole, wrong = s.total(error_sums)
    ...         return Step(self.nu, {"error": wrong / whole})
    >>> Constant().needs, Constant(0.5) == Constant(0.5)
    ('edge', True)
    >>> Constant().probability(np.zeros(1))
    array([0.5])
    """

    needs: ClassVar[str] = "edge"  # the criterion its tasks name
    labels_only: ClassVar[bool] = False  # whether votes must be -1 and +1
    n_outputs: ClassVar[str] = "one"  # scores per row: "one", or one per "class"
    apart: ClassVar[float] = 1.0  # one score a class: how far a voter can part two, in units of its largest vote
    additive: ClassVar[bool] = True  # whether the vote is a plain weighted sum
    keeps_votes: ClassVar[bool] = False  # whether it looks at earlier voters' votes (and may Reweigh)
    comes_back: ClassVar[bool] = (
        False  # whether a voter that comes back adds to its coefficient instead of joining twice
    )
    each_alone: ClassVar[bool] = False  # of K tasks: whether a class for which there is no voter goes without one
    # The formula by which a vote joins the scores, where that is not F + alpha h: of a row (and a label), of alpha, and
    # of the rule's parameters by their names.  One that looks at what the step has kept serves training only, and
    # `combine` must say the same of F and h alone.
    joins: ClassVar[Any] = None
    softmax: ClassVar[bool] = False  # whether `probability`, written beside it, is the softmax of one score a class
    instead: ClassVar[str] = ""  # what to use when a learner cannot serve it

    @property
    def excludes(self) -> bool:
        """Whether its tasks may say `without`: the learner must honour it, or draw its rows, so that `Retry` helps."""
        return False

    @property
    def joining(self) -> tuple[float, ...]:
        """What the formula `joins` takes beside alpha."""
        return tuple(float(getattr(self, name)) for name in parameters(self.joins) if name in vars(self))

    def begin(self, s: State) -> None:
        """Prepare before the first round."""

    def plain(self, s: State) -> Plain | None:
        """Return the rule as a formula, if it is one (its step may look at the votes of perfect voters only).

        A subclass that changes anything else about the rule must write this method, too, or it no longer counts.
        """
        return None

    def usual(self, s: State) -> UsualRound | LabelRound | None:
        """Return the next round in formulas, as it usually is; None where the rule has none.

        It is asked before every call that takes many rounds.  As with `plain`, a subclass that changes anything else
        about the rule must write this method, too.
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
        """Return the scores after alpha * h has joined: after alpha more for the class h, where h names classes.

        It is not asked where the formula `joins` is all that a rule says of it.
        """
        if h.ndim == F.ndim:
            return F + alpha * h
        F = F.copy()
        F[np.arange(len(F)), h] += alpha
        return F

    def gathered(self, sums: Array) -> Array | None:
        """Return the scores that sums of alpha times h make, a linear function; None where they do not make them."""
        return sums if self.additive else None

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


def is_softmax(rule: Rule) -> bool:
    """Return whether a rule's probabilities are the softmax of its scores: the class that writes them says so."""
    return next(vars(cls).get("softmax", False) for cls in type(rule).__mro__ if "probability" in vars(cls))


def plain_of(rule: Rule, s: State) -> Plain | None:
    """Return a rule's `plain`, if no subclass changed anything about the rule after it was written."""
    return rule.plain(s) if still_holds(rule, "plain") else None


def usual_of(rule: Rule, s: State) -> UsualRound | LabelRound | None:
    """Return a rule's `usual`, likewise."""
    return rule.usual(s) if still_holds(rule, "usual") else None


def still_holds(rule: Rule, name: str) -> bool:
    """Return whether a rule has written a method, and no subclass changed anything about the rule after that."""
    for cls in type(rule).__mro__:
        if name in vars(cls):
            return cls is not Rule
        if any(hasattr(Rule, name) or hasattr(cls.__base__, name) for name in vars(cls) if not name.startswith("__")):
            return False
    return False
