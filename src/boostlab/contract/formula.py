"""Formulas: plain scalar functions of one row, in which rules are written.

A parameter named after a column takes that row's value; the others are numbers (or small tables of numbers), given in
their order.  `weight(y, F, left, c)` under `s.each(weight, 0.3, 2.0)` sees every row's label and score, left = 0.3 and
c = 2.  With one score a class, F, h and the like are rows of numbers, and a formula with a parameter `l` is one of a
row and a label: it is evaluated for every class l.  Sums over the labels of a row are formulas of their own
(`sum_over_labels`, `largest_over_labels`): a loop inside a formula gives the same, at several times the cost.  Such a
sum may be given to another formula that sees the same columns, in place of a number: `s.each(share, sum_of_weights)`.

A backend compiles a formula once and evaluates it on all rows, wherever they lie.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, get_args, get_origin

Function = TypeVar("Function", bound=Callable[..., Any])

Row = Any  # of a column with one number a class: these numbers

COLUMNS = {
    "y": "the label, -1 or +1, or the number to predict",
    "k": "the index of the row's class",
    "F": "the score so far, or one score a class",
    "h": "the vote of the voter in question, or one vote a class",
    "w": "the weight in the current task, or one weight a class",
    "z": "the target in the current task, or one target a class",
    "e": "exp(-y F) up to a common factor (see `State.exponentials`)",
}
LABEL = "l"  # the parameter of a formula of a row and a label


def formula(function: Function) -> Function:
    """Mark a plain function of one row, or of a few numbers, that may be compiled.

    Examples
    --------
    >>> from boostlab.contract import formula
    >>> @formula
    ... def wrong(w: float, h: float, y: float) -> float:
    ...     return w * (h != y)
    >>> wrong(0.25, -1.0, 1.0)
    0.25
    """
    function.is_formula = True  # type: ignore[attr-defined]
    return function


def sum_over_labels(function: Function) -> Function:
    """Mark a formula of a row and a label whose value (or values) for a row is the sum over all labels, in their order.

    Examples
    --------
    >>> from boostlab.contract import Row, exp, sum_over_labels
    >>> @sum_over_labels
    ... def partition(F: Row, top: float, l: int) -> float:
    ...     return exp(F[l] - top)
    """
    function.over_labels = "sum"  # type: ignore[attr-defined]
    return formula(function)


def largest_over_labels(function: Function) -> Function:
    """Mark a formula of a row and a label whose value for a row is the largest of all labels.

    Examples
    --------
    >>> from boostlab.contract import Row, largest_over_labels
    >>> @largest_over_labels
    ... def top(F: Row, l: int) -> float:
    ...     return F[l]
    """
    function.over_labels = "largest"  # type: ignore[attr-defined]
    return formula(function)


def over_labels(function: Callable[..., Any]) -> str:
    """Return what a formula of a row and a label does over the labels: "sum", "largest", or "" for one value each."""
    found: str = getattr(function, "over_labels", "")
    return found


@cache
def by_label(function: Callable[..., Any]) -> bool:
    """Return whether a formula gives a value for every label of a row."""
    return LABEL in parameters(function) and not over_labels(function)


def is_formula(what: object) -> bool:
    """Return whether this is a formula, and not a column of values."""
    return getattr(what, "is_formula", False) is True


@cache
def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a formula's parameters."""
    return tuple(inspect.signature(function).parameters)


@cache
def n_values(function: Callable[..., Any]) -> int:
    """Return how many values a formula gives: as many as its annotation names, or one."""
    told: Any = inspect.get_annotations(function, eval_str=True).get("return", float)
    origin: Any = get_origin(told)
    return len(get_args(told)) if origin is tuple else 1
