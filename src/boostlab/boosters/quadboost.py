"""QuadBoost: least squares on the labels (Fortier-Dubois, Laviolette, Marchand, Robitaille & Roy 2015).

Stagewise by the correlation, or by the objective itself: the voter that lowers it most joins (stagewise), or comes back
(coordinate descent).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import number, one_of, param
from boostlab.boosters.registry import booster
from boostlab.boosters.selection import SelectionData, complexity
from boostlab.contract import (
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    ResidualTask,
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
from boostlab.data.sample import Sample
from boostlab.engine.monitors import DistinctVoters
from boostlab.engine.training import Training
from boostlab.ensemble.vote import Ensemble
from boostlab.learners import VoterPool


@formula
def residual(y: float, F: float) -> float:
    """Step 1's r."""
    return y - F


@formula
def weighed_residual(y: float, F: float) -> tuple[float, float]:
    """The same as a weight and a target."""
    return 1.0, y - F


@formula
def along(sums: Sums, numbers: list[float]) -> int:
    """Steps 2 and 3: numbers are alpha, lambda_1, lambda_2, the cap, the tolerance and n."""
    d, eta = sums[0] / numbers[5], sums[1] / numbers[5]
    if d - numbers[1] <= numbers[4] or eta == 0.0:
        return UNUSUAL
    numbers[0] = min((d - numbers[1]) / (eta + numbers[2]), numbers[3])
    return TAKEN


NUMBERS = "alpha", "lam_1", "lam_2", "cap", "tol", "n"  # of `along`


def penalties_of(form: str | None, lam: float) -> tuple[float, float, float]:
    """Return lambda_1, lambda_2 and the cap."""
    forms = {"l1": (lam, 0.0, np.inf), "l2": (0.0, lam, np.inf), "linf": (0.0, 0.0, lam)}
    return forms.get(form or "", (0.0, 0.0, np.inf))


@dataclass(frozen=True)
class QuadBoost(Rule):
    """Minimise the quadratic risk R = mean (y - F)^2, plain or regularised, one voter at a time.

    1. r = y - F; h = the voter with the largest d = mean r h (the paper's mu - M); eta = mean h^2.
    2. alpha = d / eta                  (no regulariser; R falls by d^2 / eta)
       alpha = (d - lambda) / eta       (L1; penalty 2 lambda sum alpha)
       alpha = d / (eta + lambda)       (L2; penalty lambda sum alpha^2)
       alpha = min(d / eta, lambda)     (L-infinity; lambda caps every weight).
    3. Stop if alpha is not positive; else F += alpha h.

    With `grows` the strength is what the paper's Theorem 1 makes of it, which rises with the number n of voters, this
    one too: lambda sqrt(n) in the place of lambda (L2, in the formula above, as the paper has it); and lambda n as the
    price of the largest weight M (L-infinity), of which the paper only says that it caps the weights.  A step above M
    is worth it while 2 (d - alpha eta) > lambda n, so that the cap is max(M, (d - lambda n / 2) / eta).

    Parameters
    ----------
    regularizer : {None, "l1", "l2", "linf"}
        Which form.
    strength : float
        lambda.
    grows : bool
        Whether lambda rises with the number of voters (L2, L-infinity).
    tol : float
        Stop when d (L1: d - lambda) is not above it.
    """

    regularizer: str | None = None
    strength: float = 0.0
    tol: float = 1e-12
    grows: bool = False

    def begin(self, s: State) -> None:
        """The risk of F = 0 is 1 and no weight has been given."""
        s.own.risk, s.own.penalty = 1.0, 0.0

    @property
    def penalties(self) -> tuple[float, float, float]:
        """lambda_1, lambda_2 and the cap."""
        return penalties_of(self.regularizer, self.strength)

    def usual(self, s: State) -> UsualRound | None:
        """All steps, if lambda stays."""
        if self.grows:
            return None
        numbers = dict(zip(NUMBERS, (0.0, *self.penalties, self.tol, s.n), strict=True))
        return UsualRound(along, numbers, residual_moments, self._facts, weighed_residual)

    def _facts(self, s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
        (lam_1, lam_2, _), alpha, d, eta = self.penalties, numbers[0], sums[0] / s.n, sums[1] / s.n
        s.own.risk += alpha * (alpha * eta - 2 * d)
        s.own.penalty += 2 * lam_1 * alpha + lam_2 * alpha * alpha
        return {"edge": d, "eta": eta, "risk": s.own.risk, "objective": s.own.risk + s.own.penalty}

    def task(self, s: State) -> Task:
        """Step 1: the correlation with the residual is an edge with weights |r| and labels sign(r)."""
        return ResidualTask("edge", lambda: s.each(residual))

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 2 and 3."""
        lam, form, least, sums = self.strength, self.regularizer, 0.0, s.total(residual_moments)
        d, eta, cap = sums[0] / s.n, sums[1] / s.n, lam
        if self.grows:
            lam *= sqrt(s.t + 1) if form == "l2" else s.t + 1
            largest = float(s.alphas.max(initial=0.0))
            cap = max(largest, (d - lam / 2) / eta) if eta else 0.0
            least = lam / 2 if form == "linf" and not s.t else 0.0
        if d - (lam if form == "l1" else least) <= self.tol or eta == 0.0:
            return Stop("tolerance", f"no voter correlates with the residual by more than {max(d, 0.0):.3g}")
        alpha = {None: d / eta, "l1": (d - lam) / eta, "l2": d / (eta + lam), "linf": min(d / eta, cap)}[form]
        facts = self._facts(s, (alpha,), sums, ())
        if self.grows:
            s.own.penalty = lam * (float(s.alphas @ s.alphas) + alpha * alpha if form == "l2" else max(largest, alpha))
            facts = {**facts, "objective": s.own.risk + s.own.penalty}
        return Step(alpha, facts)

    def probability(self, F: Array) -> Array:
        """F estimates 2 P(+1) - 1."""
        return np.clip((1.0 + F) / 2.0, 0.0, 1.0)


@dataclass(frozen=True)
class SteepestQuadBoost(QuadBoost):
    """QuadBoost for real votes: in step 1, h is the voter whose own step lowers the objective most.

    Without a regulariser that is the largest d^2 / eta, with L1 (d - lambda)^2 / eta, with L2 d^2 / (eta + lambda).
    """

    needs: ClassVar[str] = "risk"
    instead: ClassVar[str] = 'use a VoterPool, or criterion="correlation", which is the same for votes of -1 and +1'

    def change(self, d: Any, eta: Any, alpha: Any) -> tuple[Any, Any]:
        """Return the best change of a coefficient alpha, between 0 and the cap, and by how much it lowers J.

        J = mean (y - F)^2 + 2 lambda_1 sum alpha + lambda_2 sum alpha^2 has at alpha the slope -2 g and the curvature
        2 (eta + lambda_2), so a change by delta lowers it by delta (2 g - (eta + lambda_2) delta).
        """
        lam_1, lam_2, cap = self.penalties
        g, curve = np.subtract(d, lam_1 + lam_2 * alpha), eta + lam_2
        delta = np.clip(np.divide(g, curve, out=np.zeros_like(g), where=curve > 0), -alpha, cap - alpha)
        return delta, delta * (2 * g - curve * delta)

    def task(self, s: State) -> Task:
        """Step 1, as a function of what the learner knows of each voter."""
        return ResidualTask(self.needs, lambda: s.each(residual), gain=lambda *known: self.change(*known)[1])


@dataclass(frozen=True)
class CoordinateQuadBoost(SteepestQuadBoost):
    """Minimise J over all voters' coefficients: the non-negative lasso (L1), ridge (L2), least squares in a box (Linf).

    A voter that comes back changes the coefficient alpha that it has.

    1. r = y - F.  For every voter d = mean r h, eta = mean h^2, g = d - lambda_1 - lambda_2 alpha; its best step is
       delta = g / (eta + lambda_2), cut so that alpha + delta lies between 0 and the cap.
    2. h = the voter whose step lowers J most.
    3. Stop if that is at most tol^2; else F += delta h.
    """

    tol: float = 1e-10

    needs: ClassVar[str] = "coordinate"
    comes_back: ClassVar[bool] = True
    instead: ClassVar[str] = 'use a VoterPool, which knows its voters again, or mode="stagewise"'

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 2 and 3."""
        d, eta = (x / s.n for x in s.total(residual_moments))
        delta, saved = (float(x) for x in self.change(d, eta, s.standing))
        if saved <= self.tol**2:
            return Stop("tolerance", f"no voter's step lowers the objective by more than {saved:.3g}")
        lam_1, lam_2, _ = self.penalties
        s.own.risk += delta * (delta * eta - 2 * d)
        s.own.penalty += delta * (2 * lam_1 + lam_2 * (2 * s.standing + delta))
        return Step(delta, {"edge": d, "eta": eta, "risk": s.own.risk, "objective": s.own.risk + s.own.penalty})


@booster(
    "Fortier-Dubois, Laviolette, Marchand, Robitaille & Roy 2015",
    "you want least squares on the labels, sparse (l1) or bounded (linf) votes, and speed on pools",
    family="quadratic",
    variants=dict(
        pool=dict(estimator=VoterPool()), coordinate=dict(estimator=VoterPool(), mode="coordinate", regularizer="l1")
    ),
    stronger=dict(strength="larger", linf="smaller"),
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

    def _settle(self, bench: SelectionData) -> dict[str, Any]:
        if self.strength != "theory":
            return {}
        return {"strength": (2 if self.regularizer == "l1" else 4) * complexity(bench)}

    def _begin(self, sample: Sample, held_out: Sample | None) -> Training:
        training = super()._begin(sample, held_out)
        training.late_monitors.append(DistinctVoters())
        return training

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.strength_ = self._number("strength", meanwhile=0.01)
