"""The one rule for choosing a model: the lowest cost, and of equals the strongest regularisation.

Few rows choose, so that equal costs are common: in the first noise study they decided 32 to 48 % of all choices.  Where
the order of a grid breaks ties, one booster gets its weakest candidate and another its strongest, and a difference
between the two says more about the orders than about the boosters.  Of candidates that the rows cannot tell apart the
strongest is taken because its scores move least with the sample: a smaller step, then a larger penalty, then a smaller
voter, and at last fewer rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostlab.boosters.registry import entry_of
from boostlab.studies.plan import Method

SMALLER, LARGER = -1.0, 1.0  # which values of a parameter regularise more

_RATES = ("learning_rate",)
_VOTERS = ("max_leaf_nodes", "max_depth")


def direction(method: Method, name: str) -> float:
    """Return whether smaller or larger values of a parameter regularise more; 0 where it is no regulariser.

    Parameters
    ----------
    method : Method
        Whose parameter.
    name : str
        The parameter.

    Examples
    --------
    >>> direction(Method("", "AdaBoostClassifier"), "learning_rate"), direction(Method("", "ARBoostClassifier"), "rho")
    (-1.0, 1.0)
    """
    if name in _RATES or name in _VOTERS:
        return SMALLER
    declared = _declared(method)
    kind = str(method.params.get("regularizer", "")) if name == "strength" else name
    said = declared.get(kind, declared.get(name, ""))
    return {"smaller": SMALLER, "larger": LARGER}.get(said, 0.0)


def _declared(method: Method) -> Mapping[str, str]:
    """Return what the booster's file says of its parameters; nothing if it is no booster."""
    entry = entry_of(method.booster)
    return {} if entry is None else entry.stronger


def strengths(method: Method, candidate: Mapping[str, Any]) -> tuple[float, ...]:
    """Return how strongly a candidate regularises: of two tuples of one method the larger is the stronger.

    Parameters
    ----------
    method : Method
        Whose grid.
    candidate : mapping
        A value of every parameter of the grid.  Of values without an order the first of the grid counts as stronger.
    """
    ranked = sorted(method.grid, key=lambda name: _place(method, name))
    return tuple(
        direction(method, name) * float(candidate[name])
        if direction(method, name)
        else -float(list(method.grid[name]).index(candidate[name]))
        for name in ranked
    )


def _place(method: Method, name: str) -> int:
    """Return where a parameter stands: steps, penalties, voters, others."""
    return next((i for i, group in enumerate((_RATES, _declared(method), _VOTERS)) if name in group), 3)


def preference(method: Method, candidate: Mapping[str, Any], cost: float, rounds: int) -> tuple[float, ...]:
    """Return what the chosen model has the smallest of: the cost, then the weakness, then the rounds.

    Parameters
    ----------
    method : Method
        The method.
    candidate : mapping
        A value of every parameter of its grid.
    cost : float
        On the rows that choose; costs that differ by rounding only are equal.
    rounds : int
        The fewest that have this cost.

    Examples
    --------
    >>> method = Method("", "AdaBoostClassifier", grid={"learning_rate": (1.0, 0.1)})
    >>> tried = [
    ...     ({"learning_rate": 1.0}, 0.25, 3),
    ...     ({"learning_rate": 0.1}, 0.25, 40),
    ...     ({"learning_rate": 0.1}, 0.3, 2),
    ... ]
    >>> min(tried, key=lambda one: preference(method, *one))
    ({'learning_rate': 0.1}, 0.25, 40)
    """
    return (float(f"{cost:.12g}"), *(-strength for strength in strengths(method, candidate)), float(rounds))
