"""AdaBoost.MR: multiclass boosting of a ranking, the right label above the wrong ones (Schapire & Singer 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.labelwise import Labelwise
from boostlab.boosters.registry import booster
from boostlab.contract import Array, LabelRound, Row, Rule, State, Task, formula, sum_over_labels


@formula
def first(k: int, l: int) -> float:
    """D for F = 0."""
    return 0.0 if l == k else 1.0


@formula
def log_weight_after(F: Row, h: Row, k: int, l: int, alpha: float) -> float:
    """Step 1 after the step alpha h."""
    ahead = 0.5 * ((F[l] + alpha * h[l]) - (F[k] + alpha * h[k]))
    return -inf if l == k else ahead


@sum_over_labels
def weight_of_row(D: Row, l: int) -> float:
    """The row's sum of D."""
    return D[l]


@formula
def stake(D: Row, weight_of_row: float, k: int, l: int) -> float:
    """D(i, l), or the row's sum of D for the right label."""
    d = D[l]
    return weight_of_row if l == k else d


@formula
def disagreement(h: Row, k: int, l: int) -> float:
    """1 - (h(x_i, c_i) - h(x_i, l)) / 2."""
    found = 1.0 - (h[k] - h[l]) / 2.0
    return 0.0 if l == k else found


@formula
def lost(D: Row, h: Row, k: int, l: int) -> float:
    """D (1 - u)."""
    return D[l] * disagreement(h, k, l)


@dataclass(frozen=True)
class AdaBoostMR(Labelwise):
    """Voters h(x, l) in [-1, 1] rank the labels; the weights sit on pairs of the right label c and a wrong one l.

    1. D(i, l) = v(i, c_i) v(i, l) proportional to exp((F(x_i, l) - F(x_i, c_i)) / 2) over the wrong labels l.
    2. h = the voter with the largest r = (1/2) sum D(i, l) (h(x_i, c_i) - h(x_i, l)).
    3. Stop if r <= 0.
    4. alpha = (1/2) ln((1 + r) / (1 - r)); F(x, l) += alpha h(x, l).

    With one right label a row the n K numbers v of the paper are these n (K-1) weights.  The share of pairs in which
    F ranks the wrong label as high as the right one or higher is at most the product of the normalisers Z.
    """

    needs: ClassVar[str] = "hamming"
    no: ClassVar[float] = -1.0  # what a voter says of a label that it thinks is wrong; 1 of one that is right

    first: ClassVar[Any] = staticmethod(first)
    log_weight_after: ClassVar[Any] = staticmethod(log_weight_after)
    disagreement: ClassVar[Any] = staticmethod(disagreement)
    lost: ClassVar[Any] = staticmethod(lost)

    def task(self, s: State) -> Task:
        """Step 2: yes to a wrong label costs D(i, l), to the right one it saves the row's sum of D."""
        return Task(self.needs, s.each(stake, weight_of_row), s.column("Y"), {"no": self.no})

    def usual(self, s: State) -> LabelRound:
        """All steps; voters without an edge, and perfect ones, are unusual."""
        return self.label_round(s, {"no": self.no}, stake, weight_of_row)

    def probability(self, F: Array) -> Array:
        """Softmax of the scores; with two classes AdaBoost's link."""
        e = np.exp(F - F.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)


@booster(
    "Schapire & Singer 1999",
    "there are three or more classes and the right one should rank above the others",
    family="multiclass",
)
@dataclass(eq=False, repr=False)
class AdaBoostMRClassifier(BoostingClassifier):
    """AdaBoost.MR: boosting of a ranking of the labels, the right one above the wrong ones.

    The share of pairs of a right and a wrong label that are ranked the wrong way falls as AdaBoost's training error
    does.  With one right label a row it is AdaBoost.M2 (`AdaBoostM2Classifier`) with votes -1 and +1 in place of 0 and
    1: the same voters, the same predictions, coefficients half as large.

    A tree splits a node only where that lowers the loss, so that it does not learn XOR by itself: the loss of votes on
    every label is not strictly concave, and most cuts of a node gain nothing.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostlab import AdaBoostMRClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostMRClassifier(n_estimators=30).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    _multiclass: ClassVar[bool] = True

    def _rule(self) -> Rule:
        return AdaBoostMR()
