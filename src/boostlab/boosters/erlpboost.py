"""ERLPBoost: LPBoost with an entropic regulariser (Warmuth, Glocer & Vishwanathan 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from boostlab.boosters.corrective import NU, TOL_DOC, TotallyCorrective
from boostlab.boosters.entropic import EntropicBooster
from boostlab.boosters.params import param
from boostlab.boosters.registry import booster
from boostlab.contract import Array, Reweigh, Rule, State, Stop
from boostlab.engine.training import Training
from boostlab.solvers.capped_entropy import CappedEntropy
from boostlab.solvers.soft_margin import soft_margin


@dataclass(frozen=True)
class ERLPBoost(EntropicBooster):
    """Minimise P(d) = largest edge + KL(d, uniform) / eta, eta = max(2 ln(1/nu) / eps, 1/2); eps is `tol`.

    1. h = the voter with the largest edge g under d; d starts uniform, P at minus infinity.
    2. Phat = min(Phat, g + KL(d) / eta).  Stop if Phat - P(d) <= eps/2: the vote is within eps of the best.
    3. Add h; d = argmin of P over d_i <= 1/(nu n); the voters' weights are dual to it.
    4. After step 2 has stopped, the weights are those with the largest soft margin over the voters found.

    It needs at most max(4 / eps, 8 ln(1/nu) / eps^2) rounds.
    """

    def eta(self) -> float:
        """Return how little the entropy counts."""
        return max(2 * log(1 / self.nu) / self.tol, 0.5)

    def begin(self, s: State) -> None:
        """Start from uniform weights."""
        super().begin(s)
        s.own.program = CappedEntropy(s.mass[s.own.order], 1 / self.nu, self.seconds)
        s.own.P, s.own.Phat, s.own.entropy = -np.inf, np.inf, 0.0

    def entropic_round(self, s: State, edge: float, h: Array) -> Reweigh | Stop:
        """Steps 2 and 3."""
        own, eta = s.own, self.eta()
        own.Phat = min(own.Phat, edge + own.entropy / eta)
        if own.Phat - own.P <= self.tol / 2:
            own.converged = s.t
            return Stop("tolerance", f"the vote is within {self.tol:g} of the largest soft margin")
        own.program.add((s.y * h)[own.order])
        found = s.own.clock.give(own.program).penalised(eta, self.tol / 50)
        self.next_weights(s, found.q / s.n)
        own.entropy, own.P = found.entropy, float(found.edges.max()) + found.entropy / eta
        value = soft_margin(own.program.margins(found.v / eta), s.mass[own.order], self.cap(s))
        facts = {"edge": edge, "objective": value, "duality_gap": max(own.lowest_edge - value, 0.0)}
        return Reweigh(found.v / eta, {**facts, "potential": own.P, "evaluations": float(found.steps)})


@booster(
    "Warmuth, Glocer & Vishwanathan 2008",
    "you want nearly the largest soft margin, in fewer and steadier rounds than LPBoost",
    family="totally_corrective",
    optimum=(dict(nu=0.3), 0.01),
    tol_doc=TOL_DOC,
    grid=dict(nu=(0.1, 0.3)),
    trees=False,
    stronger=dict(nu="larger"),
)
@dataclass(eq=False, repr=False)
class ERLPBoostClassifier(TotallyCorrective):
    """ERLPBoost: LPBoost whose row weights stay close to uniform.

    It ends after at most max(4 / tol, 8 ln(1/nu) / tol^2) rounds with a soft margin within `tol` of the largest; in
    practice after far fewer.  `history_` has the vote's soft margin ("objective"), how far it can be from the largest
    ("duality_gap"), the regularised objective ("potential", which never falls) and the Newton steps of the round
    ("evaluations").  With a tiny `tol` (1e-4, say) Newton steps may get stuck; it then goes on as LPBoost, to the same
    optimum but without a limit on rounds, and the last two are NaN.  `predict_proba` is a score (AdaBoost's link), not
    a calibrated probability.

    Parameters
    ----------
    nu : float in (0, 1], default=0.1
        At most this share of the sample falls short of the margin.
    time_limit : float, optional
        The longest that `fit` may take, in seconds, with bins, binary problems and calibration; training then ends as
        "time_up", with the last weights found.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import ERLPBoostClassifier, LPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model, exact = ERLPBoostClassifier(nu=0.2).fit(X, y), LPBoostClassifier(nu=0.2).fit(X, y)
    >>> short = exact.history_["objective"][-1] - model.history_["objective"][-1]
    >>> bool(short < 0.01), model.n_estimators_ < exact.n_estimators_
    (True, True)
    """

    nu: float = param(0.1, NU)

    def _rule(self) -> Rule:
        return ERLPBoost(self.nu, self.tol, self.time_limit)

    def _complaint(self, training: Training) -> str:
        return self._soft_margin_complaint(training)
