"""VadaBoost for three or more classes, in SAMME's coding: ours, derived in docs/multiclass_vadaboost.md."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import ClassVar

import numpy as np

from boostlab.contract import Array, State, Step, Stop, Task, perfect
from boostlab.rules.plurality import Plurality
from boostlab.rules.vadaboost import VadaBoost


@dataclass(frozen=True)
class VadaBoostOfClasses(VadaBoost, Plurality):
    """VadaBoost's cost (sum e)^2 + lambda (n sum e^2 - (sum e)^2) with SAMME's losses e = exp(-y'f / K).

    With F_k the sum of alpha over the voters for class k, e_i = exp(mean F - F_c(x_i)), c the right class.

    1. w_i proportional to e_i, sum 1.
    2. u_i = lambda n w_i^2 + (1 - lambda) w_i.
    3. h = the voter with the smallest error under u; stop if it errs on (K-1)/K of u, as a random guess does.
    4. alpha = (1/2) (ln(sum of u where h is right / sum of u where it is wrong) + ln(K - 1)).

    lambda = 1 is SAMME with half its alpha.  Two classes: VadaBoost, with coefficients twice as large.

    Parameters
    ----------
    variance_penalty : float
        lambda in [0, 1]; any lambda >= 0 with `exact`.
    exact : bool
        Instead of step 4, minimise the cost itself along h: e^alpha is the positive root of a quadratic (see `step`),
        and lambda = 0 is SAMME.  For lambda > 1 some u are negative (rows that should lose margin): the learner sees
        |u|, and as the class of such a row the wrong one with the highest score.
    """

    labels_only: ClassVar[bool] = False  # votes are the numbers of classes

    def task(self, s: State) -> Task:
        """Steps 1 to 3."""
        s.own.e = e = s.exponentials()
        s.own.lam = lam = self.penalty(s, e)
        u = e * (1 - lam + lam * (s.n / s.total(e)) * e)  # step 2 up to a common factor
        if lam <= 1:
            return Task(self.needs, u, s.codes)
        F = s.F.copy()
        F[np.arange(len(F)), s.codes] = -np.inf
        return Task(self.needs, np.abs(u), np.where(u < 0, F.argmax(axis=1), s.codes))

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 3 and 4, from the sums of w (W) and of w^2 (S) where h is right (I) and wrong (J)."""
        K, lam, e = s.n_classes, s.own.lam, s.own.e
        wrong = np.where(h != s.codes, e, 0.0)
        W, W_J, S, S_J, spread = s.total(e, wrong, e * e, wrong * wrong, task.weight * task.weight)
        spread = (W * (1 - lam) + lam * s.n * S / W) ** 2 / spread  # how many equal u would be as spread
        W_I, W_J, S_I, S_J = (W - W_J) / W, W_J / W, s.n * (S - S_J) / W**2, s.n * S_J / W**2
        A, B, C = (1 - lam) * W_I**2 + lam * S_I, (1 - lam) * W_J**2 + lam * S_J, (1 - lam) * W_I * W_J
        up, down, limit = A + C, B + C, (K - 1) / K  # the sums of u
        if down >= (K - 1) * up * (1 - 1e-8):  # the cost falls by the square of the difference: less would be rounding
            error = down / (up + down)
            return Stop("no_edge", f"penalised weighted error {error:.4g}, and the rule needs less than {limit:.4g}")
        a, b, c = ((K - 1) * A, B, (K - 2) * C) if self.exact else ((K - 1) * up, down, 0.0)
        if b > 0:  # x = e^alpha solves b x^2 - c x - a = 0; of the two ways to write the root, the one that adds
            root = sqrt(c * c + 4 * a * b)
            x = (c + root) / (2 * b) if c >= 0 else 2 * a / (root - c)
        else:
            x = (K - 1) * (2 * s.size - 1)  # a perfect voter: SAMME's floor, an error of 1/(2n)
        alpha, right, false = log(x), x**-limit, x ** (1 / K)  # what e is multiplied by where h is right, and where not
        s.own.log_cost += log((A * right**2 + B * false**2 + 2 * C * right * false) / (up + down))
        facts = {"error": W_J, "edge": 1 - W_J / limit, "penalised_error": down / (up + down)}
        facts |= {"bound_gap": C * (false - right) ** 2, "objective": exp(s.own.log_cost)}
        facts |= {"variance_penalty": lam, "effective_size": spread}
        return Step(alpha, facts, perfect(s, h == s.codes) if W_J == 0 else None)

    def log_losses(self, s: State, alpha: float, h: Array) -> Array:
        """Return ln e after a step."""
        own = s.F[np.arange(len(h)), s.codes] + alpha * (h == s.codes)
        return (s.alphas.sum() + alpha) / s.n_classes - own
