"""MadaBoost: AdaBoost whose weights never exceed what they began with (Domingo & Watanabe 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.special import expit

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential, log_odds_step
from boostlab.boosters.params import number, param
from boostlab.boosters.registry import booster
from boostlab.contract import (
    TAKEN,
    UNUSUAL,
    Array,
    Rule,
    State,
    Stop,
    Sums,
    Task,
    UsualRound,
    exp,
    formula,
    log,
    weight_sum,
)


@formula
def weight(y: float, F: float) -> float:
    """min(1, exp(-y F))."""
    return exp(-max(y * F, 0.0))


@formula
def loss_after(y: float, F: float, h: float, alpha: float) -> float:
    """phi(y (F + alpha h))."""
    v = y * (F + alpha * h)
    return exp(-v) if v > 0.0 else 1.0 - v


@formula
def goes_on(sums: Sums, numbers: list[float]) -> int:
    """Step 2: numbers are alpha, two of its own, n, how much an error weighs, and the target."""
    return UNUSUAL if sums[0] / numbers[3] / numbers[4] <= numbers[5] else TAKEN


@dataclass(frozen=True)
class MadaBoost(Exponential):
    """Minimise the mean of phi(y F), where phi(v) is exp(-v) for v > 0 and goes on as the line 1 - v for v <= 0.

    1. W_i = min(1, exp(-y_i F(x_i))), which is minus the slope of phi.
    2. Every error weighs 1, so the training error is at most the mean of W: stop when that is at most the target.
    3. h = the voter with the smallest weighted error eps; stop if eps >= 1/2.
    4. alpha = exponent (1/2) ln((1 - eps) / eps); F += alpha h.

    phi(v + d) - phi(v) <= W (exp(-d) - 1) for all v and d, so a round lowers the mean of phi by at least the mean of W
    times 1 - 2 sqrt(eps (1 - eps)) with exponent 1, and lowers it with any exponent in (0, 1].

    Parameters
    ----------
    exponent : float
        1, or 1/2 for the variant MB:1/2 of the paper's proof.
    target_error : float
        Step 2; 0 goes on.
    """

    exponent: float = 1.0
    target_error: float = 0.01

    weight: ClassVar[Any] = staticmethod(weight)
    loss_after: ClassVar[Any] = staticmethod(loss_after)
    least: ClassVar[float] = 1.0  # what an error weighs at least

    def usual(self, s: State) -> UsualRound:
        """All steps."""
        numbers = {"alpha": 0.0, "nu": self.exponent, "limit": 0.5, "n": s.n, "least": self.least}
        numbers["target"] = self.target_error
        return self.by_error(log_odds_step, numbers, weigh=self.weight, before=weight_sum, plan=goes_on)

    def task(self, s: State) -> Task | Stop:
        """Steps 1 to 3."""
        W = s.each(self.weight)
        bound = s.total(W) / s.n / self.least
        if bound <= self.target_error:
            return Stop("tolerance", f"the training error is at most {bound:.3g}, the bound by the weights")
        return Task("edge", W, s.y)

    def vote(self, s: State, error: float) -> float:
        """Step 4."""
        return self.exponent * 0.5 * log((1 - error) / error)

    def probability(self, F: Array) -> Array:
        """The minimiser of the mean of phi is F = ln(P / (1 - P))."""
        return expit(F)


@booster(
    "Domingo & Watanabe 2000",
    "some labels are wrong and you want AdaBoost with bounded weights",
    family="noisy_labels",
    stronger=dict(exponent="smaller", target_error="larger"),
)
@dataclass(eq=False, repr=False)
class MadaBoostClassifier(BoostingClassifier):
    """MadaBoost: AdaBoost whose weights never exceed what they began with.

    Parameters
    ----------
    exponent : float in (0, 1], default=1.0
        What AdaBoost's coefficients are multiplied by: 1, or 1/2 for the form that the paper's proof is about.
    target_error : float in [0, 1), default=0.01
        Stop when the training error is certain to be at most this; 0 goes on.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import MadaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MadaBoostClassifier(target_error=0.1).fit(X, y)
    >>> model.stop_reason_.split(":")[0], model.score(X, y) >= 0.9
    ('tolerance', True)
    """

    exponent: float = param(1.0, number(0, 1, "(]"))
    target_error: float = param(0.01, number(0, 1, "[)"))

    def _rule(self) -> Rule:
        return MadaBoost(self.exponent, self.target_error)
