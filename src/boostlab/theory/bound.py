"""What every bound returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Bound:
    """An upper bound, with all that it is made of.

    Attributes
    ----------
    value : float
        The bound.  Values above what the quantity can be are given as they are, not cut off.
    terms : mapping from str to float
        What it is the sum (for training bounds: the product or minimum) of, and what was chosen on the way.
    vacuous : bool
        Whether it says nothing: at least as large as the quantity can be, or not a number.
    assumptions : mapping from str to bool
        What must hold, and whether it was seen to hold.  What cannot be seen in numbers (that the rows were drawn
        independently, say) is in the function's documentation.
    constants_unverified : bool
        True where the constants are quoted and were not checked against the original article.
    """

    value: float
    terms: Mapping[str, float]
    vacuous: bool
    assumptions: Mapping[str, bool] = field(default_factory=dict)
    constants_unverified: bool = False

    @property
    def holds(self) -> bool:
        """Whether everything that could be checked was found to hold."""
        return all(self.assumptions.values())


def bound(
    value: float,
    terms: Mapping[str, float],
    ceiling: float = 1.0,
    assumptions: Mapping[str, bool] | None = None,
    unverified: bool = False,
) -> Bound:
    """Return a bound on a quantity that cannot exceed `ceiling`; where an assumption fails, the value is infinite."""
    checked = {name: bool(seen) for name, seen in (assumptions or {}).items()}
    value = float(value) if all(checked.values()) else inf
    plain = {name: float(term) for name, term in terms.items()}
    return Bound(value, plain, isnan(value) or value >= ceiling, checked, unverified)


def check_delta(delta: float) -> float:
    """Return a failure probability, or say what is wrong with it."""
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta={delta!r} is not possible; it is a probability of failure, between 0 and 1.")
    return float(delta)


def check_positive(name: str, value: float, least: float = 0.0, open_: bool = True) -> float:
    """Return a number above (or at least) `least`, or say what is wrong with it."""
    if not (value > least if open_ else value >= least):
        word = "above" if open_ else "at least"
        raise ValueError(f"{name}={value!r} is not possible; it must be {word} {least:g}.")
    return float(value)


def check_values(values: npt.ArrayLike, name: str, low: float, high: float, least: int = 1) -> Array:
    """Return one-dimensional numbers in [low, high], or say what is wrong with them (rounding is forgiven)."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < least:
        raise ValueError(f"{name} must be one row of at least {least} numbers; the shape given is {array.shape}.")
    slack = 1e-9 * max(abs(low), abs(high), 1.0) if np.isfinite([low, high]).all() else 0.0
    if not ((array >= low - slack) & (array <= high + slack)).all():
        worst = array[~((array >= low - slack) & (array <= high + slack))][0]
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, and contains {worst:g}; rescale or check it.")
    return array.clip(low, high)


def check_margins(margins: npt.ArrayLike) -> Array:
    """Return normalised margins in increasing order."""
    return np.sort(check_values(margins, "margins", -1.0, 1.0))


def check_scores(F: npt.ArrayLike, y: npt.ArrayLike) -> Array:
    """Return y F for scores and labels -1 and +1, or say what is wrong with them."""
    scores, labels = check_values(F, "F", -np.inf, np.inf), np.asarray(y, dtype=np.float64)
    if labels.shape != scores.shape or not (np.abs(labels) == 1.0).all():
        raise ValueError("y must hold one label, -1 or +1, for every score of F.")
    return labels * scores
