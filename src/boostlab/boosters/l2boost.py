"""L2Boost: least-squares fits of the residual, for numbers and for labels (Buehlmann & Yu 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.boosters.base import BoostingClassifier, BoostingRegressor
from boostlab.boosters.params import number, param
from boostlab.boosters.registry import booster
from boostlab.contract import (
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    Task,
    UsualRound,
    formula,
    residual_moments,
)
from boostlab.learners import VoterPool


@formula
def squared_label(y: float) -> float:
    """The squared error of F = 0."""
    return 1.0 * y * y


@formula
def residual(y: float, F: float) -> tuple[float, float]:
    """Step 1: every row weighs 1, and its target is r."""
    return 1.0, y - F


@formula
def squared_error_after(y: float, F: float, h: float, alpha: float) -> float:
    """(y - F - alpha h)^2."""
    r = y - F - alpha * h
    return r * r


ROUNDING = 1e-15  # of the risk of F = 0


@formula
def lower_risk(sums: Sequence[float], numbers: list[float]) -> int:
    """Step 2: numbers are the coefficient, nu, n and the risk of F = 0; a fit that explains nothing is unusual."""
    d, eta, nu = sums[0] / numbers[2], sums[1] / numbers[2], numbers[1]
    alpha = nu if nu * eta < 2 * d or d <= 0 else d / eta
    if alpha * (2 * d - alpha * eta) <= ROUNDING * numbers[3]:
        return UNUSUAL
    numbers[0] = alpha
    return TAKEN


@dataclass(frozen=True)
class L2Boost(Rule):
    """Minimise the mean of (y - F)^2, one least-squares fit at a time.

    1. r = y - F; f = the least-squares fit of r.
    2. F += nu f; stop when f explains nothing of r.

    With labels -1 and +1 for y, F estimates 2 P(+1) - 1 and its sign classifies.  The step nu lowers the risk as long
    as it is shorter than twice the best one, d / eta with d = mean r f and eta = mean f^2, which is 1 for a
    least-squares fit; where it is not (another learner's f), the best step is taken.

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]; 1 with two rounds is Tukey's twicing.
    """

    learning_rate: float = 0.1

    needs: ClassVar[str] = "least_squares"

    def begin(self, s: State) -> None:
        """Take note of the risk of F = 0, against which rounding is measured."""
        s.own.first = s.total(squared_label) / s.n

    def usual(self, s: State) -> UsualRound:
        """Both steps."""
        numbers = {"alpha": 0.0, "nu": self.learning_rate, "n": s.n, "first": s.own.first}
        return UsualRound(lower_risk, numbers, residual_moments, self._facts, residual, after=squared_error_after)

    def _facts(self, s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
        return {"objective": after[0] / s.n}

    def task(self, s: State) -> Task:
        """Step 1."""
        return Task("least_squares", *s.each(residual))

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Step 2."""
        sums, numbers = s.total(residual_moments), [0.0, self.learning_rate, s.n, s.own.first]
        if lower_risk(sums, numbers) == UNUSUAL:
            return Stop("tolerance", "the best fit explains nothing of what is left of y")
        alpha = numbers[0]
        return Step(alpha, self._facts(s, numbers, sums, (s.total(squared_error_after, alpha),)))

    def probability(self, F: Array) -> Array:
        """F estimates 2 P(+1) - 1."""
        return np.clip((1.0 + F) / 2.0, 0.0, 1.0)


@booster(
    "Bühlmann & Yu 2003",
    "labels are noisy and you want least squares in many small steps",
    family="statistical_view",
    variants=dict(pool=dict(estimator=VoterPool())),
)
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

    learning_rate: float = param(0.1, number(0, 1, "(]"))

    def _rule(self) -> Rule:
        return L2Boost(self.learning_rate)


@booster("Bühlmann & Yu 2003", "you want to predict numbers", family="statistical_view")
@dataclass(eq=False, repr=False)
class L2BoostRegressor(BoostingRegressor):
    """L2Boost: every voter is a least-squares fit of the residual.

    Prediction starts at the mean of y, and every round adds a share of the best fit of what is left over.

    Parameters
    ----------
    learning_rate : float in (0, 1], default=0.1
        nu, the share of every fit that is added; 1 with two rounds is Tukey's twicing.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from boostlab import L2BoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = L2BoostRegressor(n_estimators=100).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.35
    True
    """

    learning_rate: float = param(0.1, number(0, 1, "(]"))

    def _rule(self) -> Rule:
        return L2Boost(self.learning_rate)
