"""LogitBoost (Friedman, Hastie & Tibshirani 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.contract import Array, Retry, Rule, State, Step, Stop, Task


@dataclass(frozen=True)
class LogitBoost(Rule):
    """Newton steps on the logistic loss mean ln(1 + exp(-2 y F)), each fitted by weighted least squares.

    1. p_i = 1 / (1 + exp(-2 F(x_i))); w_i = p_i (1 - p_i); z_i = 1/p_i where y_i = +1, else -1/(1 - p_i), clipped to
       [-z_max, z_max].
    2. f = the weighted least-squares fit of z.
    3. F += (1/2) f.

    The voter holds f/2, so that its coefficient is the learning rate.  A full Newton step may overshoot: with `safe`
    the step is halved until the loss falls.  Where a clipped response no longer points downhill, the round is asked
    again with w raised where z was cut, so that w z is the whole gradient: that fit points downhill, and votes stay
    bounded.  Without `safe` every round is the printed one, and the loss may rise.

    Parameters
    ----------
    z_max : float
        Bound on the working response; Friedman et al. advise 2 to 4.
    learning_rate : float
        nu in (0, 1]: F += (nu/2) f.
    safe : bool
        Whether steps are halved, and clipped responses asked for again, so that the loss falls in every round.
    """

    z_max: float = 4.0
    learning_rate: float = 1.0
    safe: bool = True

    needs: ClassVar[str] = "least_squares"
    W_MIN: ClassVar[float] = 1e-10

    def begin(self, s: State) -> None:
        """The loss of F = 0 is ln 2."""
        s.own.loss, s.own.careful = float(np.log(2.0)), False

    def task(self, s: State) -> Task | Stop:
        """Step 1."""
        t = np.exp(-2.0 * np.abs(s.F))  # in (0, 1], whatever F
        w = np.maximum(t / (1.0 + t) ** 2, self.W_MIN)
        if s.own.loss <= self.W_MIN:
            return Stop("perfect", "the mean logistic loss is below 1e-10")
        z = 1.0 + np.exp(np.minimum(-2.0 * s.y * s.F, 700.0))  # 1 / P(the true label)
        if s.own.careful:
            w = np.maximum(w, (1.0 - 1.0 / z) / self.z_max)
        return Task("least_squares", w, s.y * np.minimum(z, self.z_max) / 2.0)

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Step 3; with halving, if it must be safe."""
        nu = self.learning_rate
        for _ in range(12):
            loss = s.total(np.logaddexp(0.0, -2.0 * s.y * (s.F + nu * h))) / s.n
            if loss < s.own.loss or (not self.safe and h.any()):
                s.own.loss, s.own.careful = loss, False
                return Step(nu, {"objective": loss})
            nu /= 2.0
        if self.safe and not s.own.careful:
            s.own.careful = True
            return Retry("no step along the fit of the clipped response lowers the logistic loss")
        return Stop("no_edge", "no step along the best fit lowers the logistic loss")
