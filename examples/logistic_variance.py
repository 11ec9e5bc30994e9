"""A booster that no paper has, in full: variance penalisation, as in VadaBoost, of the logistic loss.

With the losses l_i = ln(1 + exp(-2 y_i F(x_i))), their mean m and their variance v, the cost is
    J(F) = m^2 + lambda v = (1 - lambda) m^2 + lambda mean(l^2).
Since dl_i/dF_i = -2 y_i q_i with q_i = 1 / (1 + exp(2 y_i F_i)), the chain rule gives
    -n dJ/dF_i = 4 y_i u_i,   u_i = q_i ((1 - lambda) m + lambda l_i):
steepest descent goes to the voter with the largest edge sum u_i y_i h(x_i).  For lambda > 1 some u_i are negative: rows
whose loss is far below the mean should lose margin, and the learner is told the opposite of their label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import number, param
from boostlab.boosters.registry import booster
from boostlab.contract import NEGLIGIBLE, Array, Rule, State, Step, Stop, Task


@dataclass(frozen=True)
class LogisticVariance(Rule):
    """Minimise m^2 + lambda v, the squared mean and the variance of the logistic losses, one voter at a time.

    1. u_i = q_i ((1 - lambda) m + lambda l_i).
    2. h = the voter with the largest edge: weights |u|, labels y sign(u).  Stop if the edge is not positive.
    3. alpha = the minimiser of J(F + a h) over 0 <= a <= 12 / max|h| by Brent's method, halved until J falls, which it
       does for a small step: the edge is the slope.
    4. F += alpha h.
    """

    variance_penalty: float = 0.5  # lambda >= 0; 0 is a booster of the logistic loss itself

    def task(self, s: State) -> Task | Stop:
        """Steps 1 and 2."""
        lam, (_, m, losses) = self.variance_penalty, self._cost(s, s.F)
        if m < 1e-10:
            return Stop("perfect", "the mean logistic loss is below 1e-10")
        u = expit(-2 * s.y * s.F) * ((1 - lam) * m + lam * losses)
        return Task("edge", np.abs(u), s.y * np.sign(u))  # on any scale

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 3 and 4.  Votes may be any numbers: nothing here counts the rows that are right."""
        edge, whole = s.total(task.weight * task.target * h, task.weight)
        if edge <= NEGLIGIBLE * whole:
            return Stop("no_edge", f"the best voter's edge is {edge / whole:.3g}")
        now, far = self._cost(s, s.F)[0], 12 / s.largest(np.abs(h))  # a perfect voter leaves ln(1 + exp(-24)) at most
        alpha = minimize_scalar(lambda a: self._cost(s, s.F + a * h)[0], bounds=(0, far), method="bounded").x
        while (cost := self._cost(s, s.F + alpha * h)[0]) >= now:
            alpha /= 2
            if alpha < NEGLIGIBLE * far:
                return Stop("no_edge", "no step along the best voter lowers the cost")
        return Step(float(alpha), {"edge": edge / whole, "objective": cost})

    def _cost(self, s: State, F: Array) -> tuple[float, float, Array]:
        """Return J, m and the losses.  Sums go through s.total: exact, and a row of mass k counts k times."""
        losses = np.logaddexp(0, -2 * s.y * F)  # cannot overflow
        m = s.total(losses) / s.n
        return m**2 + self.variance_penalty * s.total((losses - m) ** 2) / s.n, m, losses


@booster("after Shivaswamy & Jebara 2011", "you want VadaBoost's penalty with the milder logistic loss")
@dataclass(eq=False, repr=False)
class LogisticVarianceClassifier(BoostingClassifier):
    """Variance-penalised boosting of the logistic loss.

    Parameters
    ----------
    variance_penalty : float, default=0.5
        lambda, at least 0; 0 is boosting of the logistic loss itself.
    {shared}

    Examples
    --------
    >>> model = LogisticVarianceClassifier().fit([[0], [1], [2], [3]], ["no", "yes", "no", "yes"])
    >>> bool((np.diff(model.history_["objective"]) < 0).all())
    True
    """

    variance_penalty: float = param(0.5, number(0, 1e6))  # the default, and what it may be

    def _rule(self) -> Rule:
        return LogisticVariance(self.variance_penalty)
