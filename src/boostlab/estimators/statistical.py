"""Boosters of the statistical view: stagewise fits of an additive model to a loss."""

from __future__ import annotations

from dataclasses import dataclass

from boostlab.contract import Rule
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.params import number, param
from boostlab.estimators.registry import booster
from boostlab.rules.gentleboost import GentleBoost
from boostlab.rules.l2boost import L2Boost

_RATE = number(0, 1, "(]")


@booster("Friedman, Hastie & Tibshirani 2000", "you want AdaBoost's loss with votes that cannot run away")
@dataclass(eq=False, repr=False)
class GentleBoostClassifier(BoostingClassifier):
    """GentleBoost: AdaBoost's loss, every voter a weighted least-squares fit of the labels.

    A leaf votes the weighted mean of its labels, between -1 and 1, where Real AdaBoost votes half the log odds, which
    is unbounded.

    Parameters
    ----------
    learning_rate : float in (0, 1], default=1.0
        Shrinkage.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import GentleBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GentleBoostClassifier(n_estimators=50).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.93
    True
    """

    learning_rate: float = param(1.0, _RATE)

    def _rule(self) -> Rule:
        return GentleBoost(self.learning_rate)


@booster("Bühlmann & Yu 2003", "labels are noisy and you want least squares in many small steps")
@dataclass(eq=False, repr=False)
class L2BoostClassifier(BoostingClassifier):
    """L2Boost on the labels -1 and +1: every voter is a least-squares fit of what the vote has left over.

    The score estimates 2 P - 1, so `predict_proba` is (1 + F) / 2, cut to [0, 1].  With a `VoterPool` a fit is the best
    voter times its least-squares coefficient; where votes are -1 and +1 that is QuadBoost, and the learning rate nu
    is its regulariser "l2" with the strength 1 / nu - 1.

    Parameters
    ----------
    learning_rate : float in (0, 1], default=0.1
        nu, the share of every fit that is added.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import L2BoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = L2BoostClassifier(n_estimators=200).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    learning_rate: float = param(0.1, _RATE)

    def _rule(self) -> Rule:
        return L2Boost(self.learning_rate)
