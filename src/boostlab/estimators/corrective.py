"""Boosters that set all voters' weights anew every round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from boostlab.contract import Rule
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.params import number, param, whole
from boostlab.estimators.registry import booster
from boostlab.rules.lpboost import LPBoost


@booster(
    "Demiriz, Bennett & Shawe-Taylor 2002",
    "you want the largest soft margin, few voters, and a proof of optimality",
    tol_doc="By how much a new voter's edge must violate the program's optimum for training to go on.",
)
@dataclass(eq=False, repr=False)
class LPBoostClassifier(BoostingClassifier):
    """LPBoost: the soft-margin linear program over all voters, solved by column generation.

    Before the end (`stop_reason_` other than "tolerance") the weights are those of an unfinished program and may vote
    badly; with noisy labels choose `nu` above the share of wrong labels, which also ends sooner.  The scores lie in
    [-1, 1], and `predict_proba` is a score (AdaBoost's link), not a calibrated probability.  The optimal value is
    unique, the weights need not be: sample weight k and k copies give the same value.

    Parameters
    ----------
    nu : float in (0, 1], default=0.1
        At most this share of the sample falls short of the margin.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import LPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LPBoostClassifier(nu=0.2).fit(X, y)
    >>> model.stop_reason_.split(":")[0], model.score(X, y) > 0.95
    ('tolerance', True)
    """

    n_estimators: int = param(1000, whole(1))
    tol: float = param(1e-6, number(0))
    nu: float = param(0.1, number(0, 1, "(]"))

    _tol_is_the_rules: ClassVar[bool] = True

    def _rule(self) -> Rule:
        return LPBoost(self.nu, self.tol)
