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
from boostlab.rules.adaboost_mh_ovr import AdaBoostMHOneVersusRest
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
    form : {"paper", "textbook"}, default="paper"
        The coefficient ln((1 - eps) / eps) + ln(K - 1) of the paper, or ln((1 - eps) / eps) + 2 ln(K - 1), which is
        twice the one that Zhou's textbook prints as (2.31), for weights that change by its exp(+-alpha): for comparison
        only, as it does not minimise the loss.  Two classes: the same.
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
    form: str = param("paper", one_of("paper", "textbook"))

    def _rule(self) -> Rule:
        return SAMME(self.learning_rate, self.form)


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


@booster("Schapire & Singer 1999", "there are three or more classes and each is a yes-or-no question of its own")
@dataclass(eq=False, repr=False)
class AdaBoostMHClassifier(BoostingClassifier):
    """AdaBoost.MH: AdaBoost on all pairs of a row and a label, is it the row's label or not.

    The share of pairs that are wrong (the Hamming loss) falls as AdaBoost's training error does.  The joint form has
    one voter a round, which answers for all labels; the one-versus-rest form is one AdaBoost a class, and a round has a
    voter and a coefficient a class (`estimators_` holds tuples, `estimator_weights_` a column a class).  The largest
    score wins.  `predict_proba` takes every class's score through AdaBoost's link and scales the sum to 1.

    Parameters
    ----------
    form : {"joint", "ovr"}, default="joint"
        One voter a round for all labels, or one AdaBoost for every class against the rest.
    votes : {"factored", "free", "real"}, default="factored"
        What a stump or tree of the joint form says of the labels: one function of -1 and +1 for all, with a sign a
        label; yes or no in every leaf to every label; or in every leaf how sure it is of every label.  Two classes:
        "factored" is AdaBoost, "real" is Real AdaBoost.
    normalise : {"none", "sum_alpha", "probability"}, default="none"
        How the scores of the one-versus-rest form are compared: as they are, each divided by the sum of its
        coefficients, or as logarithms of probabilities (which decide as "none" does).
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from boostlab import AdaBoostMHClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostMHClassifier(n_estimators=30).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> hamming = ((model.decision_function(X[::2]) > 0) != (y[::2, None] == model.classes_)).mean()
    >>> bool(hamming <= model.history_["objective"][-1])
    True
    """

    form: str = param("joint", one_of("joint", "ovr"))
    votes: str = param("factored", one_of("factored", "free", "real"))
    normalise: str = param("none", one_of("none", "sum_alpha", "probability"))

    _multiclass: ClassVar[bool] = True

    def _rule(self) -> Rule:
        if self.form == "ovr":
            if self.votes != "factored":
                raise ValueError('votes is for form="joint"; with form="ovr" every class has a voter: leave it out.')
            return AdaBoostMHOneVersusRest(self.normalise)
        if self.normalise != "none":
            raise ValueError('normalise is for form="ovr"; in the joint form all scores have one scale: leave it out.')
        return {"factored": AdaBoostMH, "free": AdaBoostMHFree, "real": AdaBoostMHReal}[self.votes]()


@booster("Schapire & Singer 1999", "there are three or more classes and the right one should rank above the others")
@dataclass(eq=False, repr=False)
class AdaBoostMRClassifier(BoostingClassifier):
    """AdaBoost.MR: boosting of a ranking of the labels, the right one above the wrong ones.

    The share of pairs of a right and a wrong label that are ranked the wrong way falls as AdaBoost's training error
    does.  With one right label a row it is AdaBoost.M2 (`AdaBoostM2Classifier`) with votes -1 and +1 in place of 0 and
    1: the same voters, the same predictions, coefficients half as large.

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
