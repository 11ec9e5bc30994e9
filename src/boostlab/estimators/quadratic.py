"""QuadBoost: least squares on the labels, stagewise or by coordinate descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from boostlab.contract import Rule
from boostlab.engine import Training
from boostlab.ensemble import Ensemble
from boostlab.estimators.base import BoostingClassifier
from boostlab.estimators.params import number, one_of, param
from boostlab.estimators.registry import booster
from boostlab.estimators.sample import Sample
from boostlab.estimators.selection import Bench, complexity
from boostlab.monitors import DistinctVoters
from boostlab.rules.quadboost import QuadBoost
from boostlab.rules.quadboost_descent import CoordinateQuadBoost, SteepestQuadBoost


@booster(
    "Fortier-Dubois, Laviolette, Marchand, Robitaille & Roy 2015",
    "you want least squares on the labels, sparse (l1) or bounded (linf) votes, and speed on pools",
)
@dataclass(eq=False, repr=False)
class QuadBoostClassifier(BoostingClassifier):
    """QuadBoost: least squares on the labels, plain or regularised.

    Stagewise, every round adds a voter and leaves the others alone.  By coordinate descent a voter that comes back
    changes the weight it has (`history_["alpha"]` is the change, which may be negative), until the optimum of the
    penalised risk is reached: the non-negative lasso ("l1"), ridge regression ("l2") or least squares with capped
    weights ("linf").  Then `estimators_` holds every voter once and `estimator_weights_` the weight it has in the end
    (0 for one that was dropped), while staged output still has one stage a round.  Rounds are cheap (they cost as much
    as there are voters in the pool) and many: set `n_estimators` to some 10,000.

    Parameters
    ----------
    regularizer : {None, "l1", "l2", "linf"}, default=None
        What is penalised: nothing, the sum of the weights, their squares, or the largest (a cap on every step).
    strength : float or "theory", default=0.01
        lambda of the regulariser; without one it is not used.  "theory" takes it from the Rademacher complexity R of
        the weak learner's voters on the training rows, estimated from 200 draws of random signs: exactly the learner's
        best answer for stumps and pools, an estimate from below for learners that may miss the best voter.  With "l1"
        it is 2 R; with "l2" 4 R sqrt(n) in round n, and with "linf" 4 R n as the price of the largest weight, which
        caps a step where its gain no longer pays.  The last two are for mode="stagewise" and criterion="correlation".
    mode : {"stagewise", "coordinate"}, default="stagewise"
        The paper's rounds, or coordinate descent, for which `estimator` must be a `VoterPool`.
    criterion : {"correlation", "risk"}, default="correlation"
        What the stagewise mode chooses a voter by: its correlation d with the residual, or how far its step lowers the
        objective (without a regulariser d^2 / eta, eta the mean of its squared votes), for a `VoterPool`.  The two are
        the same where votes are -1 and +1.
    {shared}
    strength_ : float
        lambda as used; where it rises with the rounds, that of the first.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import QuadBoostClassifier, VoterPool
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = QuadBoostClassifier(VoterPool(), regularizer="l1", strength=0.05).fit(X, y)
    >>> model.score(X, y) > 0.90
    True
    >>> lasso = QuadBoostClassifier(
    ...     VoterPool(), regularizer="l1", strength=0.05, mode="coordinate", n_estimators=10_000
    ... ).fit(X, y)
    >>> lasso.stop_reason_.split(":")[0], len(lasso.estimators_) < lasso.n_estimators_
    ('tolerance', True)
    """

    regularizer: str | None = param(None, one_of(None, "l1", "l2", "linf"))
    strength: float | str = param(0.01, number(0, 1e12) | one_of("theory"))
    mode: str = param("stagewise", one_of("stagewise", "coordinate"))
    criterion: str = param("correlation", one_of("correlation", "risk"))

    _settles: ClassVar[tuple[str, ...]] = ("strength",)

    def _rule(self) -> Rule:
        strength = self._number("strength", meanwhile=0.01)
        if self.regularizer == "linf" and strength == 0:
            raise ValueError('strength=0 caps every weight at zero with regularizer="linf"; use a number above 0.')
        theory = self.strength == "theory"
        if theory and self.regularizer is None:
            raise ValueError(
                'strength="theory" is for a regularizer: "l1", "l2" or "linf"; name one, or give a number.'
            )
        grows = theory and self.regularizer != "l1"
        if grows and (self.mode, self.criterion) != ("stagewise", "correlation"):
            raise ValueError(
                f'strength="theory" rises with the rounds for regularizer={self.regularizer!r}, which is for '
                'mode="stagewise" and criterion="correlation"; give a number.'
            )
        if self.mode == "coordinate":
            if self.criterion != "correlation":
                raise ValueError(
                    'criterion is for mode="stagewise"; coordinate descent takes the largest drop of its objective.'
                )
            return CoordinateQuadBoost(self.regularizer, strength)
        rule = SteepestQuadBoost if self.criterion == "risk" else QuadBoost
        return rule(self.regularizer, strength, 1e-6 if self.regularizer == "l1" else 1e-12, grows)

    def _settle(self, bench: Bench) -> dict[str, Any]:
        if self.strength != "theory":
            return {}
        return {"strength": (2 if self.regularizer == "l1" else 4) * complexity(bench)}

    def _begin(self, sample: Sample, held_out: Sample | None) -> Training:
        training = super()._begin(sample, held_out)
        training.monitors.append(DistinctVoters())
        return training

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.strength_ = self._number("strength", meanwhile=0.01)
