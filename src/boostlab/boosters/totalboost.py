"""TotalBoost: SoftBoost for the hard margin (Warmuth, Liao & Rätsch 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from boostlab.boosters.corrective import TotallyCorrective
from boostlab.boosters.registry import booster
from boostlab.boosters.softboost import SoftBoost
from boostlab.contract import Rule, State


@dataclass(frozen=True)
class TotalBoost(SoftBoost):
    """SoftBoost without a cap on the weights: it maximises the smallest margin, in at most 2 ln(n) / eps^2 rounds."""

    nu: float = 1.0  # not used

    def kappa(self) -> float:
        """No cap."""
        return inf

    def cap(self, s: State) -> float:
        """No cap."""
        return inf


@booster(
    "Warmuth, Liao & Rätsch 2006",
    "labels are clean and you want the largest minimum margin, with a certificate",
    family="totally_corrective",
    optimum=({}, 0.01),
    tol_doc="How far from the largest minimum margin training may end: the smaller, the more rounds.",
    trees=False,
)
@dataclass(eq=False, repr=False)
class TotalBoostClassifier(TotallyCorrective):
    """TotalBoost: SoftBoost for the hard margin.

    It ends after at most 2 ln(n) / tol^2 rounds with a smallest margin within `tol` of the largest possible.  One wrong
    label limits it: use the others where labels are noisy.  `history_` is as for `SoftBoostClassifier`.

    Parameters
    ----------
    time_limit : float, optional
        The longest that `fit` may take, in seconds, with bins, binary problems and calibration; training then ends as
        "time_up", with the last weights found.
    {shared}

    Examples
    --------
    >>> from boostlab import TotalBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(60, random_state=1)
    >>> model = TotalBoostClassifier().fit(X, y)
    >>> bool(0.38 < model.margins(X, y).min() < 0.40)
    True
    """

    def _rule(self) -> Rule:
        return TotalBoost(tol=self.tol, seconds=self.time_limit)
