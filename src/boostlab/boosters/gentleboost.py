"""GentleBoost: AdaBoost by least squares, without logarithms (Friedman, Hastie & Tibshirani 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from boostlab.boosters.adaboost import RealAdaBoost, lower_normaliser, weights_after
from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import param
from boostlab.boosters.registry import booster
from boostlab.boosters.shrinkage import RATE, Shrinking
from boostlab.contract import Rule, State, Task, UsualRound


@dataclass(frozen=True)
class GentleBoost(RealAdaBoost):
    """Newton steps on the mean of exp(-y F), each fitted by weighted least squares.

    1. w_i proportional to exp(-y_i F(x_i)).
    2. f = the weighted least-squares fit of y: a leaf votes (W+ - W-) / (W+ + W-), between -1 and 1.
    3. F += f.

    With the weights as they are, y is minus the loss's slope over its curvature, so f is Newton's step.  Where it is f
    in a leaf, the leaf's loss falls by the factor cosh f - f sinh f < 1.  Votes that are no means (another learner's)
    may overshoot: then the step is halved until the loss falls, as in Real AdaBoost.

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]: F += nu f.
    """

    needs: ClassVar[str] = "least_squares"

    def usual(self, s: State) -> UsualRound:
        """Steps 1 to 3."""
        nu = self.learning_rate
        return UsualRound(lower_normaliser, {"nu": nu, "least": nu / 2048.0}, weights_after, self._facts)

    def task(self, s: State) -> Task:
        """Steps 1 and 2."""
        return Task("least_squares", s.exponentials(), s.y)


@booster(
    "Friedman, Hastie & Tibshirani 2000",
    "you want AdaBoost's loss with votes that cannot run away",
    family="statistical_view",
    grid=dict(learning_rate=(0.1, 1.0)),
)
@dataclass(eq=False, repr=False)
class GentleBoostClassifier(Shrinking, BoostingClassifier):
    """GentleBoost: AdaBoost's loss, every voter a weighted least-squares fit of the labels.

    A leaf votes the weighted mean of its labels, between -1 and 1, where Real AdaBoost votes half the log odds, which
    is unbounded.

    Parameters
    ----------
    learning_rate : float in (0, 1] or "auto", default="auto"
        Shrinkage; "auto" is 1 for stumps and 0.1 for trees.  What was used is `learning_rate_`.
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

    learning_rate: float | str = param("auto", RATE)

    _smooth: ClassVar[str] = "log_loss"

    def _rule(self) -> Rule:
        return GentleBoost(self._rate)
