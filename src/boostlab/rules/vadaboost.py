"""VadaBoost: boosting that penalises the variance of the loss (Shivaswamy & Jebara 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Any, ClassVar

from boostlab.contract import Array, MixedTask, Rule, State, Step, Stop, Task, perfect


@dataclass(frozen=True)
class VadaBoost(Rule):
    """Minimise (sum e)^2 + lambda (n sum e^2 - (sum e)^2), e = exp(-y F), through a bound that any learner can serve.

    1. w_i proportional to exp(-y_i F(x_i)), sum 1.
    2. u_i = lambda n w_i^2 + (1 - lambda) w_i.
    3. h = the voter with the smallest error under u.
    4. alpha = (1/4) ln(sum of u where h is right / sum of u where it is wrong); stop if alpha <= 0.
    5. F += alpha h.

    Parameters
    ----------
    variance_penalty : float
        lambda in [0, 1]; any lambda >= 0 with `exact`.
    exact : bool
        Instead of step 4, minimise the cost itself along h: alpha = (1/4) ln(A / B).  For lambda > 1 some u are
        negative (rows that should lose margin), and the learner sees |u| and y sign(u).
    """

    variance_penalty: float = 0.5
    exact: bool = False

    labels_only: ClassVar[bool] = True

    def begin(self, s: State) -> None:
        """The cost of F = 0, divided by n^2, is 1."""
        s.own.log_cost = 0.0

    def penalty(self, s: State, e: Array) -> float:
        """Return lambda for this round."""
        return self.variance_penalty

    def task(self, s: State) -> Task:
        """Steps 1 to 3."""
        s.own.e = e = s.exponentials()
        s.own.lam = lam = self.penalty(s, e)
        return MixedTask(e, s.y, 1 - lam, lam * (s.n / s.total(e)))  # step 2 up to a common factor

    def step(self, s: State, task: Any, h: Array) -> Step | Stop:
        """Steps 4 and 5, from the sums of w (W) and of w^2 (S) where h is right (I) and wrong (J)."""
        lam = s.own.lam
        W, W_J, S, S_J = task.measured(s, h)
        spread = task.effective_size(s, W, S)
        W_I, W_J, S_I, S_J = (W - W_J) / W, W_J / W, s.n * (S - S_J) / W**2, s.n * S_J / W**2
        A, B = (1 - lam) * W_I**2 + lam * S_I, (1 - lam) * W_J**2 + lam * S_J
        up, down = (A, B) if self.exact else ((1 - lam) * W_I + lam * S_I, (1 - lam) * W_J + lam * S_J)
        if down >= up * (1 - 1e-8):  # the cost falls by the square of the difference: less would be rounding
            return Stop("no_edge", f"the voter is right on {up:.4g} and wrong on {down:.4g} of the penalised weight")
        floor = 0.5 / s.size  # for a perfect voter, as in AdaBoost
        alpha = 0.25 * log(up / down) if down > 0 else 0.5 * log((1 - floor) / floor)
        cross = 2 * (1 - lam) * W_I * W_J
        V = A * exp(-2 * alpha) + B * exp(2 * alpha) + cross
        s.own.log_cost += log(V / (A + B + cross))
        gap = cross / 2 * (exp(alpha) - exp(-alpha)) ** 2  # U - V, what the bound gives away at this step
        facts = {"error": W_J, "edge": W_I - W_J, "bound_gap": gap, "objective": exp(s.own.log_cost)}
        facts |= {"variance_penalty": lam, "effective_size": spread}
        return Step(alpha, facts, perfect(s, h == s.y) if W_J == 0 else None)

    def log_losses(self, s: State, alpha: float, h: Array) -> Array:
        """Return ln e after a step."""
        return -s.y * (s.F + alpha * h)

    def probability(self, F: Array) -> Array:
        """AdaBoost's link is exact for lambda = 0; for lambda = 1 the loss is exp(-2 y F); in between it is a guess."""
        return super().probability(2 * F if self.variance_penalty == 1 else F)
