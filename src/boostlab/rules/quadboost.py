"""QuadBoost: stagewise least squares on the labels (Fortier-Dubois, Laviolette, Marchand, Robitaille & Roy)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostlab.contract import Array, ResidualTask, Rule, State, Step, Stop, Task


@dataclass(frozen=True)
class QuadBoost(Rule):
    """Minimise the quadratic risk R = mean (y - F)^2, plain or regularised, one voter at a time.

    1. r = y - F; h = the voter with the largest d = mean r h (the paper's mu - M); eta = mean h^2.
    2. alpha = d / eta                  (no regulariser; R falls by d^2 / eta)
       alpha = (d - lambda) / eta       (L1; penalty 2 lambda sum alpha)
       alpha = d / (eta + lambda)       (L2; penalty lambda sum alpha^2)
       alpha = min(d / eta, lambda)     (L-infinity; lambda caps every weight).
    3. Stop if alpha is not positive; else F += alpha h.

    Parameters
    ----------
    regularizer : {None, "l1", "l2", "linf"}
        Which form.
    strength : float
        lambda.
    tol : float
        Stop when d (L1: d - lambda) is not above it.
    """

    regularizer: str | None = None
    strength: float = 0.0
    tol: float = 1e-12

    def begin(self, s: State) -> None:
        """The risk of F = 0 is 1 and no weight has been given."""
        s.own.risk, s.own.penalty = 1.0, 0.0

    def task(self, s: State) -> Task:
        """Step 1: the correlation with the residual is an edge with weights |r| and labels sign(r)."""
        return ResidualTask("edge", lambda: s.y - s.F)

    def moments(self, s: State, task: Task, h: Array) -> tuple[float, float]:
        """Return d and eta, from the learner where it knows them."""
        d, eta = task.moments or s.total((s.y - s.F) * h, h * h)
        return d / s.n, eta / s.n

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 2 and 3."""
        lam, form = self.strength, self.regularizer
        d, eta = self.moments(s, task, h)
        if d - (lam if form == "l1" else 0.0) <= self.tol or eta == 0.0:
            return Stop("tolerance", f"no voter correlates with the residual by more than {max(d, 0.0):.3g}")
        alpha = {None: d / eta, "l1": (d - lam) / eta, "l2": d / (eta + lam), "linf": min(d / eta, lam)}[form]
        s.own.risk += alpha * (alpha * eta - 2 * d)
        s.own.penalty += {None: 0.0, "l1": 2 * lam * alpha, "l2": lam * alpha * alpha, "linf": 0.0}[form]
        return Step(alpha, {"edge": d, "eta": eta, "risk": s.own.risk, "objective": s.own.risk + s.own.penalty})

    def probability(self, F: Array) -> Array:
        """F estimates 2 P(+1) - 1."""
        return np.clip((1.0 + F) / 2.0, 0.0, 1.0)
