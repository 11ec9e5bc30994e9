"""A rule's usual round in formulas, of which a backend takes many in one compiled call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boostlab.contract.step import Facts

Formula = Callable[..., Any]
Sums = Sequence[float]

TAKEN, AGAIN, UNUSUAL = 1, 0, -1  # what a formula of sums says
OTHER = 2  # what asks for the first of the other sums; 3 asks for the second
MOST_OTHERS = 3


@dataclass(frozen=True, slots=True)
class UsualRound:
    """What a rule's `task` and `step` come to in a usual round: formulas of a row, and decisions that look at sums.

    A round in which anything else happens (a stop, a retry, a perfect voter) is unusual: a decision says so, nothing is
    changed, and `task` and `step` take the round.

    The round's numbers have names.  A formula of a row, and the criterion, are given those that their parameters name.
    A decision is a formula of sums and of all numbers, in their order, which it may change; it says `TAKEN`, `UNUSUAL`,
    or `AGAIN`: sum again, with the changed numbers.  Numbers stay as they are from round to round, but for the first.

    Parameters
    ----------
    step : formula
        The decision step(sums, numbers): it leaves the coefficient in numbers[0].
    numbers : mapping of names to floats
        The coefficient (or the one that is tried first), and whatever decisions and formulas need.
    sums : formula
        Of a row: what the step looks at.  Sums that the learner knows (see `contract.sums`) are not made again.
    facts : callable
        facts(state, numbers, sums, after) is called for every round that was taken, in turn, with what these were at
        its end: it remembers in the state what `step` would, and returns the facts.
    weigh : formula, optional
        A row's weight and target, or the weight only; by default `State.exponentials`, and the label.
    logarithms : bool
        Whether `weigh` gives the weight's logarithm, as for `State.weigh`.
    before, plan : formulas, optional
        What is summed before a voter is looked for, and the decision plan(sums, numbers) that looks at it.
    after, check : formulas, optional
        What is summed for the voter and its coefficient, and the decision check(sums, numbers).
    others : formulas, optional
        Other sums that the check may look at.  If the step or the check says `OTHER` + j, the j-th is summed with the
        changed numbers, and the check is asked next.  Their sums take the places of those of `after`.  There are three
        at most.  A decision that says anything else, or asks without end, leaves the round to `task` and `step`.
    smallest : bool
        Whether the smallest values of `after` follow its sums.
    keeps : tuple of a name and a formula, optional
        A column of the rule's own (see `State.keep`), and its value after the round.
    decay : str, optional
        The number by which the round multiplies earlier coefficients (see `Step`).
    criterion : str, optional
        By default what the rule `needs`; "mixed" is the edge of a `MixedTask`, of the numbers a and b.

    Examples
    --------
    >>> from boostlab.contract import TAKEN, UNUSUAL, UsualRound, formula
    >>> @formula
    ... def error_after(y: float, F: float, h: float, alpha: float) -> float:
    ...     return (y - F - alpha * h) ** 2
    >>> @formula
    ... def falls(sums, numbers):  # numbers: the coefficient, and the error before
    ...     if sums[0] >= numbers[1]:
    ...         return UNUSUAL
    ...     numbers[1] = sums[0]
    ...     return TAKEN
    >>> def facts(state, numbers, sums, after):
    ...     return {"objective": sums[0]}
    >>> usual = UsualRound(falls, {"alpha": 0.1, "error": 20.0}, error_after, facts)
    >>> numbers = list(usual.numbers.values())
    >>> usual.step([18.5], numbers) == TAKEN, numbers
    (True, [0.1, 18.5])
    """

    step: Formula
    numbers: Mapping[str, float]
    sums: Formula
    facts: Callable[[Any, Sums, Sums, Sums], Facts]
    weigh: Formula | None = None
    logarithms: bool = False
    before: Formula | None = None
    plan: Formula | None = None
    after: Formula | None = None
    check: Formula | None = None
    others: tuple[Formula, ...] = ()
    smallest: bool = False
    keeps: tuple[str, Formula] | None = None
    decay: str | None = None
    criterion: str | None = None

    def __post_init__(self) -> None:
        """Refuse more sums than a round has places for."""
        if len(self.others) > MOST_OTHERS:
            raise ValueError(f"A usual round has {MOST_OTHERS} other sums at most, not {len(self.others)}; join some.")

    @property
    def decisions(self) -> tuple[Formula | None, ...]:
        """The plan, the step and the check."""
        return self.plan, self.step, self.check

    @property
    def formulas(self) -> tuple[Any, ...]:
        """All that is compiled."""
        summed = self.before, self.sums, self.after, self.smallest, *self.others
        return *self.decisions, *summed, self.weigh, self.logarithms, self.keeps, self.decay
