"""Boosters of voters that name one of several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from boostlab.contract import Rule
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.params import number, one_of, param
from boostlab.estimators.registry import booster
from boostlab.rules.adaboost_m1 import AdaBoostM1
from boostlab.rules.adaboost_mh import AdaBoostMH, AdaBoostMHFree
from boostlab.rules.adaboost_mh_real import AdaBoostMHReal
from boostlab.rules.adaboost_mr import AdaBoostMR
from boostlab.rules.samme import SAMME


@booster("Zhu, Zou, Rosset & Hastie 2009", "there are three or more classes and voters need only beat a random guess")
@dataclass(eq=False, repr=False)
class SAMMEClassifier(BoostingClassifier):
    """SAMME: AdaBoost for several classes, whose voters need only beat a random guess.

    A voter may be wrong on up to (K-1)/K of the weight, K the number of classes.  The scores of the classes sum to zero
    in every row: `decision_function` adds alpha for the class a voter names and takes alpha / (K-1) from the others.
    `predict_proba` is the softmax that belongs to SAMME's loss; it grows extreme with the rounds.  A stump knows two
    classes only: with many classes use trees (`max_leaf_nodes`).  Two classes: AdaBoost over voters whose leaves are
    free, coefficients twice as large.

    Parameters
    ----------
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: every voter's coefficient is multiplied by it.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostlab import SAMMEClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(max_leaf_nodes=4, n_estimators=20).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> bool(abs(model.decision_function(X).sum(axis=1)).max() < 1e-9)
    True
    """

    _multiclass: ClassVar[bool] = True

    learning_rate: float = param(1.0, number(0, 1, "(]"))

    def _rule(self) -> Rule:
        return SAMME(self.learning_rate)


@booster("Freund & Schapire 1997", "there are three or more classes and voters are right more often than not")
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


@booster("Schapire & Singer 1999", "there are three or more classes and one yes-or-no question a class is to be asked")
@dataclass(eq=False, repr=False)
class AdaBoostMHClassifier(BoostingClassifier):
    """AdaBoost.MH.

    Parameters
    ----------
    votes : {"factored", "free", "real"}, default="factored"
        What
    {shared}
    """

    votes: str = param("factored", one_of("factored", "free", "real"))

    _multiclass: ClassVar[bool] = True

    def _rule(self) -> Rule:
        return {"factored": AdaBoostMH, "free": AdaBoostMHFree, "real": AdaBoostMHReal}[self.votes]()


@booster(
    "Schapire & Singer 1999", "there are three or more classes and the right one should be ranked above the others"
)
@dataclass(eq=False, repr=False)
class AdaBoostMRClassifier(BoostingClassifier):
    """AdaBoost.MR.

    Parameters
    ----------
    {shared}
    """

    _multiclass: ClassVar[bool] = True

    def _rule(self) -> Rule:
        return AdaBoostMR()
