"""AveBoost: AdaBoost whose weights are averages over all rounds (Oza 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential, log_odds_step
from boostlab.boosters.registry import booster
from boostlab.contract import (
    Array,
    Retry,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    Task,
    UsualRound,
    exp,
    formula,
    log,
)


@formula
def weight(d: float) -> float:
    """d."""
    return d


@formula
def log_odds_of_one_more(sums: Sums, numbers: list[float]) -> int:
    """Steps 2 and 3: numbers are those of `log_odds_step`, eps and t."""
    numbers[3], numbers[4] = sums[1] / sums[0], numbers[4] + 1.0
    return log_odds_step(sums, numbers)


@formula
def next_weight(d: float, y: float, h: float, error: float, t: float) -> float:
    """Steps 4 and 5."""
    c = d / (2.0 * (1.0 - error)) if h == y else d / (2.0 * error)
    return (t * d + c) / (t + 1.0)


@formula
def loss_after(y: float, F: float, h: float, alpha: float) -> float:
    """exp(-y (F + alpha h))."""
    return exp(min(-y * (F + alpha * h), 300.0))


@dataclass(frozen=True)
class AveBoost(Exponential):
    """The next voter sees the mean of all weights that AdaBoost's step has made so far.

    1. d_1 is uniform: 1/n.
    2. h_t = the voter with the smallest error under d_t; eps_t = that error; stop if eps_t >= 1/2.
    3. alpha_t = (1/2) ln((1 - eps_t) / eps_t); F += alpha_t h_t.
    4. c_t = d_t / (2 (1 - eps_t)) where h_t is right, d_t / (2 eps_t) where it is wrong: AdaBoost's next weights, under
       which h_t errs on one half.
    5. d_{t+1} = (t d_t + c_t) / (t + 1), which is the mean of d_1, c_1, ..., c_t.
    """

    loss_after: ClassVar[Any] = staticmethod(loss_after)  # it may rise: d is not its gradient

    def begin(self, s: State) -> None:
        """Step 1, up to a factor: weights are of mean 1."""
        s.keep("d", 1.0)

    def task(self, s: State) -> Task:
        """Ask for the smallest error under d."""
        return Task(self.needs, s.column("d"), s.y)

    def vote(self, s: State, error: float) -> float:
        """Step 3."""
        return 0.5 * log((1 - error) / error)

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Steps 2 to 5."""
        answer = super().step(s, task, h)
        if isinstance(answer, Step) and answer.stop is None:
            error = self.floored(s, answer.facts["error"])  # 0 where what is wrong weighs next to nothing
            s.keep("d", next_weight, error, s.t + 1)
        return answer

    def usual(self, s: State) -> UsualRound:
        """All steps."""
        numbers = {"alpha": 0.0, "nu": 1.0, "limit": 0.5, "error": 0.0, "t": s.t}
        return self.by_error(log_odds_of_one_more, numbers, weigh=weight, keeps=("d", next_weight))


@booster(
    "Oza 2003",
    "labels are noisy and you want AdaBoost with weights that change less and less",
    family="adaptive_regularised",
    variants=dict(resample=dict(resample=True)),
)
@dataclass(eq=False, repr=False)
class AveBoostClassifier(BoostingClassifier):
    """AveBoost: AdaBoost whose weights are averages over all rounds.

    A row that stays wrong gains weight more slowly than under AdaBoost, and the more slowly the more rounds there have
    been.  A voter may come back in the next round, because the averaged weights do not take all of its edge.
    `predict_proba` is a score (AdaBoost's link), not a calibrated probability.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier, AveBoostClassifier
    >>> from boostlab.datasets import flip_labels, twonorm
    >>> X, y = twonorm(400, random_state=0)
    >>> X_test, y_test = twonorm(4000, random_state=1)
    >>> noisy = flip_labels(y, 0.2, random_state=2)
    >>> plain, averaged = AdaBoostClassifier().fit(X, noisy), AveBoostClassifier().fit(X, noisy)
    >>> averaged.score(X_test, y_test) > plain.score(X_test, y_test) + 0.03
    True
    """

    def _rule(self) -> Rule:
        return AveBoost()
