"""Boosters that bound or give up the weight of examples that stay wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy.special import bdtr

from boostlab.contract import Rule
from boostlab.ensemble import Ensemble
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.params import flag, number, one_of, param, whole
from boostlab.estimators.registry import booster
from boostlab.rules.boost_by_majority import BoostByMajority
from boostlab.rules.brownboost import BrownBoost
from boostlab.rules.madaboost import MadaBoost
from boostlab.rules.robustboost import RobustBoost

MOST_ROUNDS = 1_000_001


@booster("Domingo & Watanabe 2000", "some labels are wrong and you want AdaBoost with bounded weights")
@dataclass(eq=False, repr=False)
class MadaBoostClassifier(BoostingClassifier):
    """MadaBoost: AdaBoost whose weights never exceed what they began with.

    Parameters
    ----------
    exponent : float in (0, 1], default=1.0
        What AdaBoost's coefficients are multiplied by: 1, or 1/2 for the form that the paper's proof is about.
    target_error : float in [0, 1), default=0.01
        Stop when the training error is certain to be at most this; 0 goes on.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import MadaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MadaBoostClassifier(target_error=0.1).fit(X, y)
    >>> model.stop_reason_.split(":")[0], model.score(X, y) >= 0.9
    ('tolerance', True)
    """

    exponent: float = param(1.0, number(0, 1, "(]"))
    target_error: float = param(0.01, number(0, 1, "[)"))

    def _rule(self) -> Rule:
        return MadaBoost(self.exponent, self.target_error)


@booster("Freund 1995", "every voter is sure to have some edge, and you want the number of rounds in advance")
@dataclass(eq=False, repr=False)
class BoostByMajorityClassifier(BoostingClassifier):
    """Boost by majority: voters of one vote each, and weights that give up what cannot be won in the rounds left.

    If every voter errs on at most 1/2 - gamma of its weights, k rounds bring the training error down to the target.  A
    voter that does not ends the guarantee; `history_["violated"]` counts them and `stop_reason_` names it.

    Parameters
    ----------
    gamma : float in (0, 0.5), default=0.05
        The edge over chance that every voter is assumed to have.
    target_error : float in (0, 1), optional
        Plan for as many rounds k as it takes; `n_estimators` must allow for them.  Otherwise k is the largest odd
        number up to `n_estimators`.
    strict : bool, default=False
        Stop at the first voter that breaks the assumption, instead of going on without the guarantee.
    {shared}
    n_planned_ : int
        k, the number of rounds that the weights were planned for.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import BoostByMajorityClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostByMajorityClassifier(gamma=0.2, target_error=0.1).fit(X, y)
    >>> model.n_planned_, model.score(X, y) > 0.9
    (9, True)
    """

    gamma: float = param(0.05, number(0, 0.5, "()"))
    target_error: float | None = param(None, one_of(None) | number(0, 1, "()"))
    strict: bool = param(False, flag())

    def _rule(self) -> Rule:
        return BoostByMajority(self.gamma, self._planned(), bool(self.strict))

    def _planned(self) -> int:
        """Return k."""
        if self.target_error is None:
            return (self.n_estimators - 1) // 2 * 2 + 1
        k = rounds_needed(self.gamma, self.target_error)
        if k > self.n_estimators:
            many = f"{k}" if k < MOST_ROUNDS else "more than a million"
            raise ValueError(
                f"gamma={self.gamma:g} and target_error={self.target_error:g} need {many} rounds, and n_estimators is "
                f"{self.n_estimators}; raise any of the three."
            )
        return k

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.n_planned_ = self._planned()


def rounds_needed(gamma: float, target_error: float) -> int:
    """Return the smallest odd number of votes, each right by chance 1/2 + gamma, whose majority errs that rarely.

    Parameters
    ----------
    gamma, target_error : float
        In (0, 1/2) and (0, 1).
    """

    def enough(half: int) -> bool:
        return bool(bdtr(half, 2 * half + 1, 0.5 + gamma) <= target_error)

    high = 1
    while not enough(high) and 2 * high + 1 < MOST_ROUNDS:
        high *= 2
    low = 0 if high == 1 else high // 2
    if enough(0):
        return 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return 2 * high + 1


@booster("Freund 2001", "a known share of the labels is wrong: examples beyond hope are given up")
@dataclass(eq=False, repr=False)
class BrownBoostClassifier(BoostingClassifier):
    """BrownBoost: boosting against a clock, which gives up on hopeless examples.

    Training ends when the clock has run out, with at most `target_error` training errors, or before with time left
    (`no_edge`, `max_rounds`), when more rounds or a larger target are needed.  `predict_proba` is a score.

    Parameters
    ----------
    target_error : float in (0, 1), default=0.1
        The share of training errors to settle for.
    total_time : float, optional
        The clock itself, instead of `target_error`.
    {shared}
    total_time_, time_left_ : float
        The clock at the beginning, and after the rounds that were kept.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import BrownBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BrownBoostClassifier(target_error=0.05).fit(X, y)
    >>> model.stop_reason_.split(":")[0], round(model.total_time_, 3), model.time_left_
    ('time_up', 1.921, 0.0)
    """

    n_estimators: int = param(1000, whole(1))
    target_error: float = param(0.1, number(0, 1, "()"))
    total_time: float | None = param(None, one_of(None) | number(1e-6, 1e4))

    def _rule(self) -> Rule:
        return BrownBoost(self.target_error, self.total_time)

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.total_time_ = BrownBoost(self.target_error, self.total_time).c
        self.time_left_ = float(history["time_left"][len(ensemble) - 1]) if len(ensemble) else self.total_time_


@booster("Freund 2009", "a share of the labels is wrong and the others should be voted on with a margin")
@dataclass(eq=False, repr=False)
class RobustBoostClassifier(BoostingClassifier):
    """RobustBoost: boosting against a clock, for margins above a goal.

    Earlier voters fade: `estimator_weights_` are the coefficients at the end, `history_["alpha"]` those with which the
    voters came.  Training ends at the time 1, when `target_error` of the (unnormalised) training margins are not above
    the goal, or before with time left; choose the smallest target that still ends by itself.  With `clip` it is at most
    that share; without, the share as a smooth potential of the margins counts it, in which a margin at the goal is half
    an error.  `predict_proba` is a score (AdaBoost's link).

    Parameters
    ----------
    target_error : float in (1e-6, 0.999), default=0.1
        The share of margins to give up.
    goal_margin : float, default=0.0
        theta, at least 0: what the margins should exceed.
    sigma_f : float, default=0.1
        How sharp the goal is at the end.
    clip : bool, default=True
        Whether an example that has fallen behind is given up at once (as in JBoost), or smoothly: more rounds, and
        often a better vote.
    {shared}
    time_ : float
        The time after the rounds that were kept; 1 is the end.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import RobustBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RobustBoostClassifier(target_error=0.1).fit(X, y)
    >>> model.time_, model.score(X, y) >= 0.9
    (1.0, True)
    """

    n_estimators: int = param(1000, whole(1))
    target_error: float = param(0.1, number(1e-6, 0.999, "()"))
    goal_margin: float = param(0.0, number(0, 1e3))
    sigma_f: float = param(0.1, number(1e-3, 1e3))
    clip: bool = param(True, flag())

    def _rule(self) -> Rule:
        return RobustBoost(self.target_error, self.goal_margin, self.sigma_f, bool(self.clip))

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.time_ = float(history["time"][len(ensemble) - 1]) if len(ensemble) else 0.0
