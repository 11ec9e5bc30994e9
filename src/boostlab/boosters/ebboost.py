"""EBBoost: the variance-penalised cost minimised exactly, by enumeration (Shivaswamy & Jebara 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from boostlab.boosters.fixed_point import FixedPoint, fixed_point
from boostlab.boosters.params import param
from boostlab.boosters.registry import booster
from boostlab.boosters.shrinkage import SHARE
from boostlab.boosters.vadaboost import VadaBoost
from boostlab.boosters.variance_penalised import Rules, VariancePenalised, quarter_log_odds, squared_mixture
from boostlab.contract import MixedTask, State, UsualRound, squared_error_sums


@dataclass(frozen=True)
class EBBoost(VadaBoost):
    """Of all voters the one whose best step lowers the cost of VadaBoost most.

    1. w_i proportional to exp(-y_i F(x_i)), sum 1.
    2. For every voter, with W and S the sums of w and w^2 where it is right (I) and wrong (J):
       A = (1 - lambda) W_I^2 + lambda n S_I, B = (1 - lambda) W_J^2 + lambda n S_J.
    3. h = the voter with the smallest sqrt(A B) + (1 - lambda) W_I W_J among those with A >= B.
    4. alpha = (1/4) ln(A / B); stop if alpha <= 0.
    5. F += alpha h.

    Parameters
    ----------
    variance_penalty : float
        lambda >= 0; 0 is AdaBoost, 1 is AdaBoost with F halved.
    learning_rate : float
        nu in (0, 1]: F += nu alpha h, h being chosen by what its whole step would gain.
    """

    exact: bool = True  # steps 4 and 5 are VadaBoost's exact ones

    needs: ClassVar[str] = "svp"
    instead: ClassVar[str] = (
        "use stumps (estimator=None), a VoterPool, or VadaBoostClassifier, which works with any weighted learner"
    )

    def usual(self, s: State) -> UsualRound:
        """All steps."""
        numbers = self.numbers(s, a=1.0)
        return UsualRound(quarter_log_odds, numbers, squared_error_sums, self._facts, after=squared_mixture)

    def task(self, s: State) -> MixedTask:
        """Steps 1 to 3."""
        s.own.lam = self.penalty(s)
        return MixedTask(s.exponentials(), s.y, 1.0, 0.0, "svp", {"variance_penalty": s.own.lam, "n": s.n})


@dataclass(frozen=True)
class FixedPointEBBoost(FixedPoint, EBBoost):
    """EBBoost with `FixedPoint`'s penalty."""

    exact: bool = True
    patience: int = 10
    delta: float = 0.05

    def usual(self, s: State) -> UsualRound:
        """All steps."""
        return self.estimated(s, fixed_point, a=1.0)


@booster(
    "Shivaswamy & Jebara 2010",
    "you want the variance penalty minimised exactly over all stumps",
    family="variance_penalising",
    grid=dict(variance_penalty=(0.1, 0.5), learning_rate=(1.0, 0.1)),
    trees=False,
    stronger=dict(variance_penalty="larger"),
)
@dataclass(eq=False, repr=False)
class EBBoostClassifier(VariancePenalised):
    """EBBoost: minimises the variance-penalised cost exactly over all stumps.

    `predict_proba` is as for `VadaBoostClassifier`: exact for a penalty of 0 or 1, else a score.

    Parameters
    ----------
    variance_penalty : float or str, default=0.5
        lambda, at least 0; 0 is AdaBoost, 1 is AdaBoost with halved scores.  "auto" (or "cv_bernstein"), "validation"
        and "fixed_point" leave it to the data, as for `VadaBoostClassifier` with step="exact".
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: every voter's coefficient is multiplied by it.
    {shared}
    variance_penalty_, variance_penalty_curve_
        The penalty used and how it was found, as for `VadaBoostClassifier`.

    Notes
    -----
    The default stays between the papers' ends: in the repository's lambda-study (studies/lambda-study/README.md, 46
    problems) lambda = 5 is not surely better than AdaBoost (0.08 points, 95 % -0.07 to 0.30).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import EBBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> EBBoostClassifier(variance_penalty=2.0, n_estimators=20).fit(X, y).n_estimators_
    20
    """

    learning_rate: float = param(1.0, SHARE)

    @property
    def _rules(self) -> Rules:
        return EBBoost, FixedPointEBBoost
