"""The sign test: who wins on more data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from boostlab.studies.statistics.pairs import differences

Alternative = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True)
class SignTest:
    """Wins, losses and ties of the first algorithm, and the p-value."""

    wins: int
    losses: int
    ties: int
    p: float


def sign_test(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    ties: Literal["drop", "half"] = "drop",
    alternative: Alternative = "two-sided",
) -> SignTest:
    """Test whether one algorithm has the lower error on more data sets than chance would give it.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Errors of the two algorithms on the same data sets; a wins where its error is lower.
    ties : {"drop", "half"}, default="drop"
        Ties are left out; or half of them count for either side, one being left out if their number is odd.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Whether a may win more often or more rarely than chance, only more often, or only more rarely.

    Returns
    -------
    SignTest
        The exact binomial p-value; 1 if nothing is left to count.

    Examples
    --------
    >>> a = [0.1] * 16 + [0.3] * 4 + [0.2] * 5
    >>> b = [0.2] * 25
    >>> sign_test(a, b).wins, sign_test(a, b).losses, round(sign_test(a, b).p, 3)
    (16, 4, 0.012)
    """
    if ties not in ("drop", "half"):
        raise ValueError(f'ties={ties!r} is not known; use "drop" or "half".')
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError(f'alternative={alternative!r} is not known; use "two-sided", "greater" or "less".')
    d = differences(a, b)
    wins, losses = int(np.sum(d < 0)), int(np.sum(d > 0))
    equal = len(d) - wins - losses
    shared = equal // 2 if ties == "half" else 0
    trials = wins + losses + 2 * shared
    p = float(stats.binomtest(wins + shared, trials, 0.5, alternative).pvalue) if trials else 1.0
    return SignTest(wins, losses, equal, p)
