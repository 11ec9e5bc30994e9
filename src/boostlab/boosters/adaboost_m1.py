"""AdaBoost.M1: multiclass voters that are right on more than half of the weight (Freund & Schapire 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.plurality import Plurality
from boostlab.boosters.registry import booster
from boostlab.contract import Rule, State, log


@dataclass(frozen=True)
class AdaBoostM1(Plurality):
    """AdaBoost with voters that name one of K classes.

    1. H = the voter with the smallest weighted error eps; stop if eps >= 1/2.
    2. beta = eps / (1 - eps); the weights of the rows it gets right are multiplied by beta.
    3. Output the class with the largest sum of ln(1 / beta) over the voters that name it.

    The training error is at most the product of 2 sqrt(eps (1 - eps)).  Two classes: AdaBoost, with coefficients
    ln(1 / beta) twice as large.
    """

    def limit(self, s: State) -> float:
        """Step 1."""
        return 0.5

    def vote(self, s: State, error: float) -> float:
        """ln(1 / beta)."""
        return log((1 - error) / error)

    def credit(self, s: State) -> float:
        """One half, as with two classes: the loss is then the bound on the training error."""
        return 0.5


@booster(
    "Freund & Schapire 1997",
    "there are three or more classes and voters are right more often than not",
    family="multiclass",
)
@dataclass(eq=False, repr=False)
class AdaBoostM1Classifier(BoostingClassifier):
    """AdaBoost.M1: AdaBoost for several classes, whose voters must be right on more than half of the weight.

    Stumps rarely are, with more than three classes; use trees (`max_leaf_nodes`, `max_depth`) or any scikit-learn
    classifier, and `resample=True` to draw again after a failure.  `predict_proba` is the softmax of the votes, with
    two classes AdaBoost's link: a score, not a calibrated probability.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostlab import AdaBoostM1Classifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostM1Classifier(max_leaf_nodes=8, n_estimators=20).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    _multiclass: ClassVar[bool] = True

    def _rule(self) -> Rule:
        return AdaBoostM1()
