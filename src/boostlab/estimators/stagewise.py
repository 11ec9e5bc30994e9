"""Boosters that add one voter a round and leave the others alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from boostlab.contract import Rule
from boostlab.ensemble import Ensemble
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.params import flag, number, one_of, param
from boostlab.estimators.registry import booster
from boostlab.estimators.selection import Bench, cv_errors, misclassified, soft_misclassified
from boostlab.rules.adaboost import AdaBoost
from boostlab.rules.adaboost_m2 import AdaBoostM2
from boostlab.rules.arboost import ARBoost
from boostlab.rules.arboost_classes import ARBoostOfClasses
from boostlab.rules.logitboost import LogitBoost
from boostlab.rules.logitboost_classes import LogitBoostOfClasses
from boostlab.rules.real_adaboost import RealAdaBoost
from boostlab.rules.samme import SAMME
from boostlab.rules.weightboost import WeightBoost

_RATE = number(0, 1, "(]")
RHO = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)  # of which AR-Boost's may be chosen


@booster("Freund & Schapire 1997; Schapire & Singer 1999", "labels are clean and you want the baseline")
@dataclass(eq=False, repr=False)
class AdaBoostClassifier(BoostingClassifier):
    """AdaBoost, discrete or real, with shrinkage.

    Three or more classes: SAMME (see `SAMMEClassifier`), discrete only.

    Parameters
    ----------
    algorithm : {"discrete", "real"}, default="discrete"
        Voters say a label, or how sure they are.
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: every voter's coefficient is multiplied by it (epsilon-boost).
    fixed_step : float, optional
        Give every voter this same coefficient instead (discrete only): epsilon-boost's fixed-step form.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=50).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.93
    True
    """

    algorithm: str = param("discrete", one_of("discrete", "real"))
    learning_rate: float = param(1.0, _RATE)
    fixed_step: float | None = param(None, one_of(None) | number(0, 100, "(]"))

    _multiclass: ClassVar[bool] = True

    @property
    def _own_form(self) -> bool:
        return self.algorithm == "discrete" and self.fixed_step is None

    def _rule(self) -> Rule:
        if self._several:
            return SAMME(self.learning_rate)
        if self.algorithm == "real":
            if self.fixed_step is not None:
                raise ValueError('fixed_step is for algorithm="discrete"; real voters carry their own strength.')
            return RealAdaBoost(self.learning_rate)
        if self.fixed_step is not None and self.learning_rate != 1:
            raise ValueError("fixed_step and learning_rate are two ways of taking small steps; give one of them.")
        return AdaBoost(self.learning_rate, self.fixed_step)


@booster(
    "Saha, Kunapuli, Ray, Maldjian & Natarajan 2013",
    "voters are re-sampled or of one polarity and AdaBoost stops early (exact stumps alternate with complements)",
)
@dataclass(eq=False, repr=False)
class ARBoostClassifier(BoostingClassifier):
    """AR-Boost: AdaBoost that forgives its current voter's errors.

    After a step the voter's complement looks good, so a learner that fits the weights exactly (the default stump) may
    alternate between the two and go nowhere (`history_["complements"]` counts that); use `resample=True`,
    `DecisionStump(polarity="+")`, `forbid_repeat_complement` or early stopping.  The training loss may rise.  The paper
    gives no probabilities, and `predict_proba` is a score (AdaBoost's link); calibrate it if you need more.  With three
    or more classes rho=1 is SAMME (see `SAMMEClassifier`), and a voter has no complement.

    Parameters
    ----------
    rho : float, "cv_error" or "cv_soft_margin", default=2.0
        At least 1; 1 is AdaBoost, larger forgives more.  A word takes it from the grid 1, 1.5, 2, 3, 4, 5, 6, 8, 10 by
        five-fold cross-validation of votes of 100 rounds (`n_estimators` has no part in it), of equals the smallest: by
        the share of errors, or (two classes) by the paper's criterion, the share of rows whose soft margin
        y F + lambda |y - h| is negative, h the last voter and lambda = (1/2) ln rho.  The paper prints that criterion
        with its signs turned round, by which the best vote would be the one that is always wrong; this is the soft
        margin as it defines it.  It forgives the more the larger rho is, and so leans towards large values.
    forbid_repeat_complement : bool, default=False
        Take the best voter but the complement of the last one; for stumps, a `VoterPool`, or `resample=True`.
    {shared}
    rho_ : float
        rho as used.
    rho_curve_ : dict of arrays
        Where rho was chosen, one entry a value: error, and with two classes soft_margin_error; else empty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import ARBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ARBoostClassifier(rho=4, resample=True, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    rho: float | str = param(2.0, number(1, 1e6) | one_of("cv_error", "cv_soft_margin"))
    forbid_repeat_complement: bool = param(False, flag())

    _multiclass: ClassVar[bool] = True
    _settles: ClassVar[tuple[str, ...]] = ("rho", "rho_curve")

    def _settle(self, bench: Bench) -> dict[str, Any]:
        if not isinstance(self.rho, str):
            return {}
        measures = {"error": misclassified} | ({} if self._several else {"soft_margin_error": soft_misclassified})
        curve = cv_errors(bench, "rho", {rho: self._of(rho) for rho in RHO}, measures)
        best = curve["error" if self.rho == "cv_error" else "soft_margin_error"].argmin()
        return {"rho": float(curve["rho"][best]), "rho_curve": curve}

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.rho_, self.rho_curve_ = self._number("rho", meanwhile=2.0), self._settled.get("rho_curve", {})

    def _rule(self) -> Rule:
        if self._several and self.rho == "cv_soft_margin":
            raise ValueError('rho="cv_soft_margin" is for two classes; with more, use "cv_error" or give a number.')
        return self._of(self._number("rho", meanwhile=2.0))

    def _of(self, rho: float) -> Rule:
        """Return the rule for a rho."""
        if self._several:
            if self.forbid_repeat_complement:
                raise ValueError(
                    "forbid_repeat_complement is for two classes: with more, no voter is another's complement; leave "
                    "it out."
                )
            return ARBoostOfClasses(rho)
        return ARBoost(rho, bool(self.forbid_repeat_complement))


@booster("Jin, Liu, Si, Carbonell & Hauptmann 2003", "you want a brake on votes where the ensemble is already sure")
@dataclass(eq=False, repr=False)
class WeightBoostClassifier(BoostingClassifier):
    """WeightBoost: every voter is heard mostly where the vote so far is unsure.

    `predict_proba` is a score (AdaBoost's link), not a calibrated probability: the brake keeps it near 1/2.

    Parameters
    ----------
    beta : float, default=0.5
        Strength of the brake; 0 is AdaBoost.
    normalize : bool, default=False
        Scale every round so that the brakes on the training rows are 0.1 on average (many small steps), as in the
        paper's experiments.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import WeightBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> WeightBoostClassifier().fit(X, y).score(X, y) > 0.95
    True
    """

    beta: float = param(0.5, number(0, 1e6))
    normalize: bool = param(False, flag())

    def _rule(self) -> Rule:
        return WeightBoost(self.beta, bool(self.normalize))


@booster("Friedman, Hastie & Tibshirani 2000", "you want probabilities and milder weights than AdaBoost's")
@dataclass(eq=False, repr=False)
class LogitBoostClassifier(BoostingClassifier):
    """LogitBoost: Newton steps on the logistic loss.

    Three or more classes: a round has one voter a class (`estimators_` holds tuples), the scores of a row sum to zero,
    and `predict_proba` is their softmax.

    A full Newton step may overshoot, above all on noisy labels, and the bound on the response may make it point the
    wrong way.  `safe=True` halves such a step until the loss falls, and asks the round again with raised weights where
    no step along the fit lowers it: the loss falls in every round, and `estimator_weights_` may be below the learning
    rate.  `safe=False` is the printed algorithm: every coefficient is the learning rate, and the loss may rise.

    Parameters
    ----------
    z_max : float, default=4.0
        Bound on the working response.
    learning_rate : float in (0, 1], default=1.0
        Shrinkage.
    safe : bool, default=True
        Whether a step that would raise the loss is halved.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import LogitBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogitBoostClassifier(n_estimators=30).fit(X, y)
    >>> bool((model.predict(X) == model.predict_proba(X).argmax(axis=1)).all())
    True
    """

    z_max: float = param(4.0, number(1, 1e6))
    learning_rate: float = param(1.0, _RATE)
    safe: bool = param(True, flag())

    _multiclass: ClassVar[bool] = True

    def _rule(self) -> Rule:
        rule = LogitBoostOfClasses if self._several else LogitBoost
        return rule(self.z_max, self.learning_rate, bool(self.safe))


@booster("Freund & Schapire 1997", "there are three or more classes and voters can rate every label")
@dataclass(eq=False, repr=False)
class AdaBoostM2Classifier(BoostingClassifier):
    """AdaBoost.M2: multiclass boosting on the pseudo-loss.

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
