"""AdaBoost.M2: multiclass boosting through pairs of a right and a wrong label (Freund & Schapire 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from boostlab.boosters.adaboost_mr import AdaBoostMR
from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.registry import booster
from boostlab.contract import LabelRound, Row, Rule, State, formula


@formula
def disagreement(h: Row, k: int, l: int) -> float:
    """1 - (p(x_i, c_i) - p(x_i, y))."""
    found = 1.0 - (h[k] - h[l])
    return 0.0 if l == k else found


@formula
def lost(D: Row, h: Row, k: int, l: int) -> float:
    """D times that: twice the pseudo-loss."""
    return D[l] * disagreement(h, k, l)


@dataclass(frozen=True)
class AdaBoostM2(AdaBoostMR):
    """Voters p(x, l) in [0, 1] say how plausible every label is; the weights sit on mislabels (i, y), y wrong.

    1. D(i, y) proportional to exp((F(x_i, y) - F(x_i, c_i)) / 2) over the wrong labels y.
    2. p = the voter with the smallest pseudo-loss eps = (1/2) sum D(i, y) (1 - p(x_i, c_i) + p(x_i, y)).
    3. Stop if eps >= 1/2.
    4. alpha = ln((1 - eps) / eps); F(x, l) += alpha p(x, l).

    It is AdaBoost.MR with p = (1 + h) / 2: r = 1 - 2 eps, the coefficients are twice as large, and the scores differ by
    the same number for all labels.
    """

    apart: ClassVar[float] = 1.0
    no: ClassVar[float] = 0.0
    unit: ClassVar[float] = 2.0

    disagreement: ClassVar[Any] = staticmethod(disagreement)
    lost: ClassVar[Any] = staticmethod(lost)

    def usual(self, s: State) -> LabelRound:
        """All steps, with plausibilities; a rule that changes what is lost says so anew."""
        return super().usual(s)


@booster(
    "Freund & Schapire 1997", "there are three or more classes and voters can rate every label", family="multiclass"
)
@dataclass(eq=False, repr=False)
class AdaBoostM2Classifier(BoostingClassifier):
    """AdaBoost.M2: multiclass boosting on the pseudo-loss.

    A tree splits a node only where that lowers the loss, so that it does not learn XOR by itself: the loss of votes on
    every label is not strictly concave, and most cuts of a node gain nothing.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from boostlab import AdaBoostM2Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> AdaBoostM2Classifier().fit(X, y).score(X, y) > 0.95
    True
    """

    _multiclass: ClassVar[bool] = True

    def _rule(self) -> Rule:
        return AdaBoostM2()
