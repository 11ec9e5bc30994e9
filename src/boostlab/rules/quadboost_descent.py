"""QuadBoost by the objective itself: the voter that lowers it most joins (stagewise), or comes back (coordinate)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boostlab.contract import Array, ResidualTask, State, Step, Stop, Task
from boostlab.rules.quadboost import QuadBoost


@dataclass(frozen=True)
class SteepestQuadBoost(QuadBoost):
    """QuadBoost for real votes: in step 1, h is the voter whose own step lowers the objective most.

    Without a regulariser that is the largest d^2 / eta, with L1 (d - lambda)^2 / eta, with L2 d^2 / (eta + lambda).
    """

    needs: ClassVar[str] = "risk"
    instead: ClassVar[str] = 'use a VoterPool, or criterion="correlation", which is the same for votes of -1 and +1'

    @property
    def penalties(self) -> tuple[float, float, float]:
        """lambda_1, lambda_2 and the cap."""
        lam, free = self.strength, np.inf
        forms = {"l1": (lam, 0.0, free), "l2": (0.0, lam, free), "linf": (0.0, 0.0, lam)}
        return forms.get(self.regularizer or "", (0.0, 0.0, free))

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
        return ResidualTask(self.needs, lambda: s.y - s.F, gain=lambda *known: self.change(*known)[1])


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
        d, eta = self.moments(s, task, h)
        delta, saved = (float(x) for x in self.change(d, eta, s.standing))
        if saved <= self.tol**2:
            return Stop("tolerance", f"no voter's step lowers the objective by more than {saved:.3g}")
        lam_1, lam_2, _ = self.penalties
        s.own.risk += delta * (delta * eta - 2 * d)
        s.own.penalty += delta * (2 * lam_1 + lam_2 * (2 * s.standing + delta))
        return Step(delta, {"edge": d, "eta": eta, "risk": s.own.risk, "objective": s.own.risk + s.own.penalty})
