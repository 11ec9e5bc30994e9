"""QuadBoost: stagewise least squares on the labels (Fortier-Dubois, Laviolette, Marchand, Robitaille & Roy)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

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
        least, cap = 0.0, lam
        if self.grows:
            lam *= sqrt(s.t + 1) if form == "l2" else s.t + 1
            largest = float(s.alphas.max(initial=0.0))
            cap = max(largest, (d - lam / 2) / eta) if eta else 0.0
            least = lam / 2 if form == "linf" and not s.t else 0.0
        if d - (lam if form == "l1" else least) <= self.tol or eta == 0.0:
            return Stop("tolerance", f"no voter correlates with the residual by more than {max(d, 0.0):.3g}")
        alpha = {None: d / eta, "l1": (d - lam) / eta, "l2": d / (eta + lam), "linf": min(d / eta, cap)}[form]
        s.own.risk += alpha * (alpha * eta - 2 * d)
        s.own.penalty += {None: 0.0, "l1": 2 * lam * alpha, "l2": lam * alpha * alpha, "linf": 0.0}[form]
        if self.grows:
            s.own.penalty = lam * (float(s.alphas @ s.alphas) + alpha * alpha if form == "l2" else max(largest, alpha))
        return Step(alpha, {"edge": d, "eta": eta, "risk": s.own.risk, "objective": s.own.risk + s.own.penalty})

    def probability(self, F: Array) -> Array:
        """F estimates 2 P(+1) - 1."""
        return np.clip((1.0 + F) / 2.0, 0.0, 1.0)
