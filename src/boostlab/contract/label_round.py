"""A usual round of a rule that keeps a weight for every row and label, in formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from boostlab.contract.step import Facts
from boostlab.contract.usual import Formula, Sums


@dataclass(frozen=True, slots=True)
class LabelRound:
    """What `task` and `step` come to in a usual round of voters that vote on every label (see `UsualRound`).

    The rule keeps a column of weights and one of targets, each with a number a label.  A round is: what the voter is to
    look at, the cheapest stump, a sum over rows and labels, the step, and the weights after it, which are exponentials
    scaled so that the largest is 1 (see `State.exp_and_sum`).

    Parameters
    ----------
    step : formula
        The decision step(sums, numbers): it looks at the sum, and leaves the coefficient in numbers[0].
    numbers : mapping of names to floats
        The coefficient, and whatever the decisions need.  They stay as they are from round to round.
    sums : formula
        Of a row and a label: what the step looks at.
    facts : callable
        facts(state, numbers) is called for every round that was taken, in turn, with the numbers at its end: it
        remembers in the state what `step` would, and returns the facts.
    log_weight : formula
        Of a row and a label: the logarithm of its weight after the round, given the coefficient as `alpha`.
    check : formula
        The decision check(sums, numbers): it looks at the largest logarithm and the sum of the weights, and says
        `TAKEN`.
    params : mapping
        The task's.
    weigh : tuple, optional
        What the voter is to look at, as for `State.each`: a formula and its numbers; by default the weights.
    weights, targets : str
        The columns.
    criterion : str, optional
        By default what the rule `needs`.

    Examples
    --------
    >>> from boostlab.contract import TAKEN, UNUSUAL, LabelRound, formula
    >>> @formula
    ... def lost(D: float, Y: float, h: float) -> float:
    ...     return D * (1.0 - Y * h)
    >>> @formula
    ... def log_weight(D: float, Y: float, h: float, alpha: float) -> float:
    ...     return -alpha * Y * h
    >>> @formula
    ... def half(sums, numbers):
    ...     numbers[0] = 0.5
    ...     return TAKEN if sums[0] > 0.0 else UNUSUAL
    >>> @formula
    ... def noted(sums, numbers):
    ...     numbers[1] = sums[1]
    ...     return TAKEN
    >>> def facts(state, numbers):
    ...     return {"whole": numbers[1]}
    >>> usual = LabelRound(half, {"alpha": 0.5, "whole": 1.0}, lost, facts, log_weight, noted, {"no": -1.0})
    >>> numbers = list(usual.numbers.values())
    >>> usual.step([0.2], numbers) == TAKEN, usual.check([0.0, 0.8], numbers) == TAKEN, numbers
    (True, True, [0.5, 0.8])
    """

    step: Formula
    numbers: Mapping[str, float]
    sums: Formula
    facts: Callable[[Any, Sums], Facts]
    log_weight: Formula
    check: Formula
    params: Mapping[str, float]
    weigh: tuple[Any, ...] = ()
    weights: str = "D"
    targets: str = "Y"
    criterion: str | None = None
