"""RobustBoost: BrownBoost's clock with a goal for the margins (Freund 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import flag, number, param, whole
from boostlab.boosters.registry import booster
from boostlab.boosters.shrinkage import SHARE
from boostlab.boosters.target_error import NEARLY_OVER, TargetError
from boostlab.contract import Array, Rule, State, Step, Stop, Task, UsualRound, edge_sums, exp, vote_size
from boostlab.ensemble.vote import Ensemble
from boostlab.solvers.drift_rounds import NO_EDGE, OVER, facts, usual_round
from boostlab.solvers.drifting import Drift, Process, log_weight, potential_at


@dataclass(frozen=True)
class RobustBoost(Rule):
    """Spend the time from 0 to 1 so that at its end at most the target's share of margins is below the goal.

    Margins m = y F decay as time passes.  Their potential is Phi(m, t) = (1 - erf((m - mu(t)) / sigma(t))) / 2, with
    mu(t) = (theta - 2 rho) e^(1-t) + 2 rho and sigma(t)^2 = (sigma_f^2 + 1) e^(2 (1-t)) - 1, and rho such that
    Phi(0, 0) = epsilon.  It lies in [0, 1], as does the integral of the textbook's (2.45).

    1. w_i proportional to exp(-(m_i - mu)^2 / sigma^2).  With `clip` Phi is min(1, 1 - erf(...)), without the 1/2, and
       w is 0 for m <= mu: such examples are given up; stop if all are.
    2. h = the voter with the smallest weighted error, b = y h; stop if its edge is not positive.
    3. Find ds and dt so that the margins m e^(-dt) + ds b at the time t + dt have the same total potential as before
       and no edge is left, sum of b w = 0, for the first time; or t + dt = 1, if that comes first.
    4. F becomes e^(-dt) F + ds h; t += dt; stop when t = 1.

    Parameters
    ----------
    target_error, goal_margin, sigma_f : float
        epsilon, theta and sigma_f.
    clip : bool
        Step 1.
    learning_rate : float
        nu in (0, 1]: of the curve of step 3, on which the potential is conserved, only the part up to nu ds is gone,
        and takes the time that this part takes.  A step that ends at t = 1 is taken whole where less than a thousandth
        of the time is left.
    """

    target_error: float = 0.1
    goal_margin: float = 0.0
    sigma_f: float = 0.1
    clip: bool = True
    learning_rate: float = 1.0

    @property
    def process(self) -> Process:
        """Phi and w."""
        return Process(self.target_error, self.goal_margin, self.sigma_f, self.clip)

    def begin(self, s: State) -> None:
        """Time starts at 0."""
        s.own.time, s.own.last = 0.0, None

    def usual(self, s: State) -> UsualRound | None:
        """All steps; the end of time is unusual, and so are shortened steps."""
        return usual_round(s, self.process) if self.learning_rate == 1 else None

    def task(self, s: State) -> Task | Stop:
        """Steps 1 and 2."""
        p, t = self.process, s.own.time
        w, top = s.scaled_exp(log_weight, p.mu(t), p.sigma(t), p.floor)
        if top == -inf:
            return Stop("given_up", f"every margin is below what can be hoped for at the time {t:.4g}")
        return Task("edge", w, s.y)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 3 and 4."""
        own = s.own
        whole, signed = s.total(edge_sums)
        edge = signed / whole
        if edge <= NO_EDGE:
            return Stop("no_edge", f"edge {edge:.3g} at the time {own.time:.4g} of 1")
        drift = Drift(s, self.process, own.time, 1.0 if h.dtype == np.int8 else s.largest(vote_size))
        found = drift.advance(edge / drift.scale, own.last)
        if found is None:
            return Stop("solver_failed", f"no step solves both equations at the time {own.time:.4g} of 1")
        ds, dt = found
        own.last = ds / edge * drift.scale, dt / (edge * edge) * (drift.scale * drift.scale)
        if self.learning_rate < 1 and 1 - own.time > NEARLY_OVER:
            ds, dt = drift.shortened(found, self.learning_rate)
        ended = own.time + dt > 1 - OVER
        own.time = 1.0 if ended else own.time + dt
        potential = self.target_error  # which the step conserves; at the end it may fall
        if ended:
            potential = s.total(potential_at, *drift.step(ds, dt), self.process.height) / s.n
        told = facts(s, edge, float(drift.evaluations), potential)
        stop = Stop("time_up", f"round {s.t + 1} ends at t = 1") if ended else None
        return Step(ds / drift.scale, told, stop, exp(-dt))


@booster(
    "Freund 2009",
    "a share of the labels is wrong and the others should be voted on with a margin",
    family="noisy_labels",
    variants=dict(smooth=dict(clip=False)),
    grid=dict(target_error=(0.05, 0.2), learning_rate=(1.0, 0.1)),
    stronger=dict(target_error="larger", goal_margin="larger"),
)
@dataclass(eq=False, repr=False)
class RobustBoostClassifier(TargetError, BoostingClassifier):
    """RobustBoost: boosting against a clock, for margins above a goal.

    Earlier voters fade: `estimator_weights_` are the coefficients at the end, `history_["alpha"]` those with which the
    voters came.  Training ends at the time 1, when `target_error` of the (unnormalised) training margins are not above
    the goal, or before with time left; choose the smallest target that still ends by itself.  With `clip` it is at most
    that share; without, the share as a smooth potential of the margins counts it, in which a margin at the goal is half
    an error.  `predict_proba` is a score (AdaBoost's link).

    Parameters
    ----------
    target_error : float in (1e-6, 0.999), default=0.1
        The share of margins to give up; in a problem of a reduction times twice the share of its smaller side.
    goal_margin : float, default=0.0
        theta, at least 0: what the margins should exceed.
    sigma_f : float, default=0.1
        How sharp the goal is at the end.
    clip : bool, default=True
        Whether an example that has fallen behind is given up at once (as in JBoost), or smoothly: more rounds, and
        often a better vote.
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: this share of every voter's coefficient, and the time that it takes.  The potential is conserved as
        before; it takes more rounds.
    {shared}
    target_error_ : float
        The target as used; under a reduction a list, one a problem.
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
    learning_rate: float = param(1.0, SHARE)

    def _rule(self) -> Rule:
        return RobustBoost(self._target, self.goal_margin, self.sigma_f, bool(self.clip), self._rate)

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.target_error_ = self._target
        self.time_ = float(history["time"][len(ensemble) - 1]) if len(ensemble) else 0.0
