"""Boosters that predict numbers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.base import RegressorMixin

from boostlab.contract import Rule
from boostlab.estimators.base import Booster
from boostlab.estimators.params import number, param, scorer
from boostlab.estimators.registry import booster
from boostlab.estimators.targets import Numbers
from boostlab.estimators.voting import Predicting
from boostlab.monitors import REGRESSION_MEASURES
from boostlab.rules.l2boost import L2Boost

_SCORING = scorer(REGRESSION_MEASURES, "'squared_error', 'absolute_error'")


@dataclass(eq=False, repr=False)
class BoostingRegressor(Predicting, Numbers, RegressorMixin, Booster):
    """Everything about a regressor but its rule.  A subclass adds its parameters and says which rule they make."""

    _: KW_ONLY
    scoring: Any = param("squared_error", _SCORING)


@booster("Bühlmann & Yu 2003", "you want to predict numbers")
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
