"""WeightBoost: an input-dependent factor on every vote (Jin, Liu, Si, Carbonell & Hauptmann 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential
from boostlab.boosters.params import flag, number, param
from boostlab.boosters.registry import booster
from boostlab.boosters.shrinkage import SHARE
from boostlab.contract import (
    NEGLIGIBLE,
    TAKEN,
    UNUSUAL,
    Rule,
    State,
    Stop,
    Sums,
    Task,
    UsualRound,
    exp,
    formula,
    log,
)

SMALLEST = 0.05  # mean of exp(-|beta H|) that is divided by


@formula
def regulariser(F: float, beta: float) -> float:
    """exp(-|beta H|)."""
    return exp(-abs(beta * F))


@formula
def log_weight(y: float, F: float, beta: float) -> float:
    """-y H - |beta H|."""
    return -y * F - abs(beta * F)


@formula
def score_after(F: float, h: float, alpha: float, beta: float) -> float:
    """Step 4."""
    return F + alpha * regulariser(F, beta) * h


@formula
def loss_after(y: float, F: float, h: float, beta: float, alpha: float) -> float:
    """exp(-y H) after step 4."""
    return exp(min(-y * score_after(F, h, alpha, beta), 700.0))


@formula
def tenth(sums: Sums, numbers: list[float]) -> int:
    """The factor of step 3: numbers are alpha, nu, beta, the factor and n."""
    mean = sums[0] / numbers[4]
    if not mean > SMALLEST:
        return UNUSUAL
    numbers[3] = 0.1 / mean
    return TAKEN


@formula
def scaled_step(sums: Sums, numbers: list[float]) -> int:
    """Step 3."""
    error = sums[1] / sums[0]
    if not 0.0 < error < 0.5 - NEGLIGIBLE:
        return UNUSUAL
    numbers[0] = numbers[1] * (numbers[3] * 0.5 * log((1 - error) / error))
    return TAKEN


@dataclass(frozen=True)
class WeightBoost(Exponential):
    """H_t = H_{t-1} + alpha_t exp(-|beta H_{t-1}|) h_t: a voter counts where the vote so far is unsure.

    1. w_i proportional to exp(-y_i H(x_i) - |beta H(x_i)|).
    2. h = the voter with the smallest weighted error eps; stop if eps >= 1/2.
    3. alpha = (1/2) ln((1 - eps) / eps); with `normalize` times 0.1 / mean exp(-|beta H|), so that a round's factors
       are 0.1 on average; stop where that factor reaches 2, from where on the loss may rise.
    4. H += alpha exp(-|beta H|) h.

    Parameters
    ----------
    beta : float
        Not negative; 0 is AdaBoost, 0.5 the paper's value.
    normalize : bool
        Step 3.
    learning_rate : float
        nu in (0, 1]: alpha is multiplied by it.  The bound that alpha minimises is convex, and every nu lowers it.
    """

    beta: float = 0.5
    normalize: bool = False
    learning_rate: float = 1.0

    additive: ClassVar[bool] = False
    loss_after: ClassVar[Any] = staticmethod(loss_after)
    joins: ClassVar[Any] = staticmethod(score_after)  # the factor depends on the vote so far: voter after voter

    def usual(self, s: State) -> UsualRound:
        """Steps 1 to 4."""
        numbers = {"alpha": 0.0, "nu": self.learning_rate, "beta": self.beta, "factor": 1.0, "n": s.n}
        factor: dict[str, Any] = dict(before=regulariser, plan=tenth) if self.normalize else {}
        return self.by_error(scaled_step, numbers, weigh=log_weight, logarithms=True, **factor)

    def task(self, s: State) -> Task | Stop:
        """Step 1, and the factor of step 3."""
        s.own.factor = 1.0
        if self.normalize:
            mean = s.total(regulariser, self.beta) / s.n
            if mean <= SMALLEST:
                return Stop("assumption_violated", f"the mean of exp(-|beta H|) is {mean:.3g}, too small to divide by")
            s.own.factor = 0.1 / mean
        return Task("edge", s.weigh(log_weight, self.beta), s.y)

    def vote(self, s: State, error: float) -> float:
        """Step 3."""
        return self.learning_rate * (s.own.factor * 0.5 * log((1 - error) / error))

    def after(self, s: State, alpha: float) -> Sums:
        """Return the sum of exp(-y H) after the step."""
        return (s.total(loss_after, self.beta, alpha),)


@booster(
    "Jin, Liu, Si, Carbonell & Hauptmann 2003",
    "you want smaller steps where the ensemble is already sure",
    family="adaptive_regularised",
    variants=dict(normalize=dict(normalize=True)),
    grid=dict(learning_rate=(1.0, 0.1)),
    stronger=dict(beta="larger"),
)
@dataclass(eq=False, repr=False)
class WeightBoostClassifier(BoostingClassifier):
    """WeightBoost: every voter counts mostly where the vote so far is unsure.

    `predict_proba` is a score (AdaBoost's link), not a calibrated probability: the factor keeps it near 1/2.

    Parameters
    ----------
    beta : float, default=0.5
        Strength of the regularisation; 0 is AdaBoost.
    normalize : bool, default=False
        Scale every round so that the factors on the training rows are 0.1 on average (many small steps), as in the
        paper's experiments.
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: every voter's coefficient is multiplied by it.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import WeightBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> WeightBoostClassifier().fit(X, y).score(X, y) > 0.95
    True
    """

    beta: float = param(0.5, number(0, 1e6))
    normalize: bool = param(False, flag())
    learning_rate: float = param(1.0, SHARE)

    def _rule(self) -> Rule:
        return WeightBoost(self.beta, bool(self.normalize), self._rate)
