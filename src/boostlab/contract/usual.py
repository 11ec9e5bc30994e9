"""A rule's usual round in formulas, of which a backend takes many in one compiled call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from boostlab.contract.step import Facts

Formula = Callable[..., Any]

TAKEN, AGAIN, UNUSUAL = 1, 0, -1  # what a step formula says


@dataclass(frozen=True, slots=True)
class UsualRound:
    """What a rule's `task` and `step` come to in a usual round: formulas of a row, and a step that looks at sums only.

    Scores become F + alpha h.  A round in which anything else happens (a stop, a retry, a perfect
    voter) is unusual: the step formula says so, nothing is changed, and `task` and `step` take the round.

    Parameters
    ----------
    step : formula
        step(sums, numbers) says `TAKEN`: numbers[0] is the coefficient; `AGAIN`: sum again, at the new numbers[0];
        or `UNUSUAL`.  What it writes to the other numbers it finds in the next round; numbers[0] is then the first one.
    numbers : sequence of floats
        The coefficient that is tried first, and what the step remembers.
    sums : formula
        Of a row and of the coefficient that is tried, or of a row only: what the step looks at.
    facts : callable
        facts(state, sums, after, alpha) is called for every round that was taken, in turn: it remembers in the state
        what `step` would, and returns the facts.
    weigh : tuple of a formula and its numbers, optional
        A row's weight and target; by default `State.exponentials` and the label.
    after : formula, optional
        Of a row and of the coefficient: what `facts` wants to know besides.
    params : dict, optional
        The criterion's numbers.
    """

    step: Formula
    numbers: Sequence[float]
    sums: Formula
    facts: Callable[[Any, Sequence[float], Sequence[float], float], Facts]
    weigh: tuple[Any, ...] | None = None
    after: Formula | None = None
    params: dict[str, float] | None = None
