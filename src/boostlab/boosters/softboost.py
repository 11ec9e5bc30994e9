"""SoftBoost: weights of least entropy that put every edge below a target (Warmuth, Glocer & Rätsch 2007)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostlab.boosters.corrective import NU, TOL_DOC, TotallyCorrective
from boostlab.boosters.entropic import EntropicBooster
from boostlab.boosters.params import param
from boostlab.boosters.registry import booster
from boostlab.contract import Array, Reweigh, Rule, State, Stop
from boostlab.engine.training import Training
from boostlab.solvers.capped_entropy import CappedEntropy, Infeasible
from boostlab.solvers.soft_margin import soft_margin


@dataclass(frozen=True)
class SoftBoost(EntropicBooster):
    """Push all edges below the smallest edge so far less eps (`tol`), as close to uniform as possible.

    1. h = the voter with the largest edge under d; d starts uniform; ghat = the smallest of these edges so far.
    2. Add h; d = argmin of KL(d, uniform) over d_i <= 1/(nu n) with the edge of every voter at most ghat - eps.
    3. Stop if there is no such d: then the voters found hold a vote within eps of the best.
    4. Then the weights are those with the largest soft margin over the voters found.

    It needs at most 2 ln(1/nu) / eps^2 rounds.
    """

    def kappa(self) -> float:
        """Return how many times the uniform weight an example may have."""
        return 1.0 / self.nu

    def begin(self, s: State) -> None:
        """Start from uniform weights."""
        super().begin(s)
        s.own.program = CappedEntropy(s.mass[s.own.order], self.kappa(), self.seconds)
        s.own.entropy = 0.0

    def entropic_round(self, s: State, edge: float, h: Array) -> Reweigh:
        """Steps 2 and 3."""
        own, done = s.own, None
        own.program.add((s.y * h)[own.order])
        weights, steps = np.append(s.alphas, 0.0) if s.t else np.ones(1), 0
        try:
            found = s.own.clock.give(own.program).projected(own.lowest_edge - self.tol, self.tol / 1000)
        except Infeasible:
            done = Stop("tolerance", f"the voters hold a vote within {self.tol:g} of the largest soft margin")
            own.converged = s.t + 1
        else:
            self.next_weights(s, found.q / s.n)
            weights, steps, own.entropy = found.v / found.v.sum(), found.steps, found.entropy
        value = soft_margin(own.program.margins(weights), s.mass[own.order], self.cap(s))
        facts = {"edge": edge, "objective": value, "duality_gap": max(own.lowest_edge - value, 0.0)}
        return Reweigh(weights, {**facts, "potential": own.entropy, "evaluations": float(steps)}, done)


@booster(
    "Warmuth, Glocer & Rätsch 2007",
    "you want the soft margin by a plain projection of the row weights",
    family="totally_corrective",
    optimum=(dict(nu=0.3), 0.01),
    tol_doc=TOL_DOC,
    grid=dict(nu=(0.1, 0.3)),
    trees=False,
    stronger=dict(nu="larger"),
)
@dataclass(eq=False, repr=False)
class SoftBoostClassifier(TotallyCorrective):
    """SoftBoost: the row weights closest to uniform under which every voter's edge is below a falling target.

    It ends after at most 2 ln(1/nu) / tol^2 rounds with a soft margin within `tol` of the largest.  Its first rounds
    are slow: ERLPBoost needs fewer.  `history_` has the vote's soft margin ("objective"), how far it can be from the
    largest ("duality_gap"), the entropy of the row weights ("potential", which never falls) and the Newton steps of
    the round ("evaluations").  `predict_proba` is a score (AdaBoost's link), not a calibrated probability.

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
    >>> from boostlab import SoftBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SoftBoostClassifier(nu=0.2).fit(X, y)
    >>> model.stop_reason_.split(":")[0], model.score(X, y) > 0.95
    ('tolerance', True)
    """

    nu: float = param(0.1, NU)

    def _rule(self) -> Rule:
        return SoftBoost(self.nu, self.tol, self.time_limit)

    def _complaint(self, training: Training) -> str:
        return self._soft_margin_complaint(training)
