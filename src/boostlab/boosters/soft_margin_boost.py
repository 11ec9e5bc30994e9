"""AdaBoost_Reg: slack for the examples that keep getting large weights (Rätsch, Onoda & Müller 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar

import numpy as np

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import number, one_of, param, whole
from boostlab.boosters.registry import booster
from boostlab.contract import NEGLIGIBLE, Array, Rule, State, Step, Stop, Task
from boostlab.solvers.line_search import first_valley


@dataclass(frozen=True)
class SoftMargin(Rule):
    """Minimise the mean of exp(-y F - C slack), where slack grows with the weight an example has received.

    1. w_i proportional to exp(-y_i F(x_i) - C slack_i); u = n w, the weights to mean 1.
    2. h = the voter with the smallest weighted error; stop if it is not below 1/2.
    3. V = the sum of alpha u over the rounds, this one too; S = the sum of the alphas; slack = V (influence, power 1),
       V^2 / S (influence, power 2) or V^2 (cumulative).  With penalty="literal" u is the vote h itself, so that V = F
       and the slack is F^2: as AR-Boost's paper prints it, by what seems a slip for the weights.
    4. alpha = the first minimum of the loss along h and u; F += alpha h.  Where the loss falls for ever (no error, or
       less than its slack), alpha is AdaBoost's for a perfect voter, and the last.

    Parameters
    ----------
    C : float
        Not negative; 0 is AdaBoost.  The paper's C, for weights that sum to 1, is this one times n^power.
    power, penalty
        Which slack.
    """

    C: float = 0.05
    power: int = 1
    penalty: str = "influence"
    labels_only: ClassVar[bool] = True

    def slack(self, V: Array, S: float, u: Array) -> tuple[Array, Array]:
        """Return step 3's slack, and how fast it grows with alpha."""
        if self.penalty != "influence":
            return V * V, 2 * u * V
        average = V / S if S > 0 else u
        return (V, u) if self.power == 1 else (V * average, average * (2 * u - average))

    def begin(self, s: State) -> None:
        """Nobody has any slack."""
        s.own.V, s.own.S = np.zeros(len(s.y)), 0.0

    def task(self, s: State) -> Task:
        """Step 1."""
        slack, _ = self.slack(s.own.V, s.own.S, s.own.V)
        return Task("edge", s.weigh(-s.y * s.F - self.C * slack), s.y)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 2 to 4."""
        own, stop = s.own, None
        whole, wrong = s.total(task.weight, task.weight * (h != s.y))
        error, u = wrong / whole, h if self.penalty == "literal" else task.weight * (s.n / whole)
        if error >= 0.5 - NEGLIGIBLE:
            return Stop("no_edge", f"weighted error {error:.4g}, and the rule needs less than 0.5")

        def along(alpha: float) -> tuple[Array, Array]:
            slack, growth = self.slack(own.V + alpha * u, own.S + alpha, u)
            return -s.y * (s.F + alpha * h) - self.C * slack, s.y * h + self.C * growth

        alpha, evaluations = (None, 0) if wrong == 0 else first_valley(s, along, 0.5 * log((1 - error) / error))
        if alpha is None:
            floor, code = 0.5 / s.size, "perfect" if (h == s.y).all() else "given_up"
            stop = Stop(code, f"round {s.t + 1} has no error that costs anything")
            alpha = 0.5 * log((1 - floor) / floor)
        elif alpha <= NEGLIGIBLE:
            return Stop("no_edge", f"weighted error {error:.4g}, and no step lowers the loss")
        logs, _ = along(alpha)
        log_loss = s.largest(logs) + log(s.total(s.weigh(logs)) / s.n)
        own.V, own.S = own.V + alpha * u, own.S + alpha
        facts = {"error": error, "edge": 1 - 2 * error, "objective": exp(min(log_loss, 700.0))}
        return Step(alpha, {**facts, "evaluations": float(evaluations)}, stop)


@booster(
    "Rätsch, Onoda & Müller 2001",
    "some labels are wrong: examples that stay hard get slack",
    family="adaptive_regularised",
    variants=dict(power2=dict(power=2), literal=dict(penalty="literal", C=0.01)),
)
@dataclass(eq=False, repr=False)
class SoftMarginBoostClassifier(BoostingClassifier):
    """AdaBoost_Reg: the more weight an example has received, the less its margin matters.

    `C` does not depend on the sample size: it multiplies weights whose mean is 1.  (The paper's C, for weights that sum
    to 1, is C n with power 1 and C n^2 otherwise.)  Choose it small: a voter is paid for the slack it hands out, after
    which its complement looks good, so that from about 0.3 on neighbouring stumps undo one another; from 1 on the
    first voter stays alone ("given_up").  `predict_proba` is a score (AdaBoost's link), not a calibrated probability.

    Parameters
    ----------
    C : float, default=0.05
        How much slack; 0 is AdaBoost.
    power : {1, 2}, default=1
        Of an example's influence, its average weight, in its slack; with penalty="influence" only.
    penalty : {"influence", "cumulative", "literal"}, default="influence"
        Slack by the influence times the sum of the coefficients, or by the square of all weight received, which grows
        with the rounds and wants a C of about 0.001.  "literal" is F^2, as AR-Boost's paper prints it (a slip, it
        seems, for the weights): it forgives every score that is far from 0, right or wrong, and wants a C of about
        0.01; the sample size has no part in it.
    {shared}

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, SoftMarginBoostClassifier
    >>> from boostlab.datasets import flip_labels, twonorm
    >>> X, y = twonorm(400, random_state=0)
    >>> X_test, y_test = twonorm(4000, random_state=1)
    >>> noisy = flip_labels(y, 0.2, random_state=2)
    >>> hard, soft = AdaBoostClassifier(), SoftMarginBoostClassifier(C=0.1)
    >>> soft.fit(X, noisy).score(X_test, y_test) > hard.fit(X, noisy).score(X_test, y_test) + 0.03
    True
    """

    C: float = param(0.05, number(0, 1e6))
    power: int = param(1, whole(1, 2))
    penalty: str = param("influence", one_of("influence", "cumulative", "literal"))

    def _rule(self) -> Rule:
        return SoftMargin(float(self.C), int(self.power), self.penalty)
