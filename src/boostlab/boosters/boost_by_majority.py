"""Boost by majority: one vote each, binomial weights, all rounds planned in advance (Freund 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any, ClassVar

import numpy as np
from scipy.special import bdtr, gammaln

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import flag, number, one_of, param
from boostlab.boosters.registry import booster
from boostlab.contract import NEGLIGIBLE, Array, Rule, State, Step, Stop, Task, error_sums, formula
from boostlab.ensemble.vote import Ensemble

MOST_ROUNDS = 1_000_001


@formula
def by_count(y: float, F: float, t: float, table: Array) -> float:
    """A table's entry for the number of voters, of t, that were right."""
    return table[int((t + y * F) / 2.0 + 0.5)]


@formula
def by_count_after(y: float, F: float, h: float, t: float, table: Array) -> float:
    """The same with this voter, the last of t."""
    return table[int((t + y * (F + h)) / 2.0 + 0.5)]


@dataclass(frozen=True)
class BoostByMajority(Rule):
    """Assume that every voter errs on at most 1/2 - gamma of its weights; then the majority of k voters is good.

    1. In round i = 0, ..., k-1 an example on which r voters so far were right has the weight
       C(k-i-1, j) (1/2 + gamma)^j (1/2 - gamma)^(k-i-1-j) with j = floor(k/2) - r, and none unless 0 <= j <= k-i-1.
    2. h = the voter with the smallest weighted error; F += h.
    3. Stop after k rounds, or when no example has a weight: all are decided.

    The potential of an example is its chance to end wrong if each later voter is right on it by chance 1/2 + gamma: the
    sum of C(k-i, j) (1/2 + gamma)^j (1/2 - gamma)^(k-i-j) over j <= floor(k/2) - r.  Its mean does not rise in a round
    whose error is at most 1/2 - gamma, and after k rounds it is the training error.

    Parameters
    ----------
    gamma, k, strict : float in (0, 1/2), odd int, bool
        Strict stops at the first voter that errs on more than 1/2 - gamma; else it goes on, without the guarantee.
    """

    gamma: float = 0.05
    k: int = 99
    strict: bool = False

    labels_only: ClassVar[bool] = True

    def log_weight(self, i: int, r: Array) -> Array:
        """Step 1, as a logarithm."""
        rest, j = self.k - i - 1, self.k // 2 - r
        c = np.clip(j, 0, rest)
        logs = gammaln(rest + 1) - gammaln(c + 1) - gammaln(rest - c + 1)
        return np.where(c == j, logs + c * log(0.5 + self.gamma) + (rest - c) * log(0.5 - self.gamma), -np.inf)

    def potential(self, i: int, r: Array) -> Array:
        """Return the potential before round i."""
        j, rest = self.k // 2 - r, self.k - i
        return np.where(j < 0, 0.0, bdtr(np.clip(j, 0, rest), rest, 0.5 + self.gamma))

    def begin(self, s: State) -> None:
        """Begin with the assumption met."""
        s.own.violated = 0

    def task(self, s: State) -> Task | Stop:
        """Steps 1 and 3."""
        if s.t >= self.k:
            return self.end(s, "time_up", f"all {self.k} votes are cast")
        logs = self.log_weight(s.t, np.arange(s.t + 1))
        top = s.largest(by_count, s.t, logs)
        if top == -np.inf:
            return self.end(s, "given_up", f"every example is decided with {self.k - s.t} votes to come")
        return Task("edge", s.each(by_count, s.t, np.exp(np.minimum(logs - top, 0.0))), s.y)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 2 and 3."""
        whole, wrong = s.total(error_sums)
        error, i = wrong / whole, s.t + 1
        breaks = error > 0.5 - self.gamma + NEGLIGIBLE
        if error >= 0.5 - NEGLIGIBLE or (self.strict and breaks):
            return self.end(s, "no_edge", f"the last {error:.4g}, in round {i} of {self.k}", more=breaks)
        s.own.violated += breaks
        potential = s.total(by_count_after, i, self.potential(i, np.arange(i + 1))) / s.n
        facts = {"error": error, "edge": 1 - 2 * error, "violated": s.own.violated, "objective": potential}
        return Step(1.0, facts, self.end(s, "time_up", f"all {self.k} votes are cast") if i == self.k else None)

    def end(self, s: State, code: str, why: str, more: bool = False) -> Stop:
        """Where the assumption did not hold, that is the end's name."""
        broken = f"{s.own.violated + more} voters err on more than {0.5 - self.gamma:.4g} of the weight; {why}"
        return Stop("assumption_violated", broken) if s.own.violated + more else Stop(code, why)


@booster(
    "Freund 1995",
    "every voter is sure to have some edge, and you want the number of rounds in advance",
    family="noisy_labels",
    grid=dict(gamma=(0.02, 0.05)),
    trees=False,
    stronger=dict(gamma="larger", target_error="larger"),
)
@dataclass(eq=False, repr=False)
class BoostByMajorityClassifier(BoostingClassifier):
    """Boost by majority: voters of one vote each, and weights that give up what cannot be won in the rounds left.

    If every voter errs on at most 1/2 - gamma of its weights, k rounds bring the training error down to the target.  A
    voter that does not ends the guarantee; `history_["violated"]` counts them and `stop_reason_` names it.

    Parameters
    ----------
    gamma : float in (0, 0.5), default=0.05
        The edge over chance that every voter is assumed to have.
    target_error : float in (0, 1), optional
        Plan for as many rounds k as it takes; `n_estimators` must allow for them.  Otherwise k is the largest odd
        number up to `n_estimators`.
    strict : bool, default=False
        Stop at the first voter that breaks the assumption, instead of going on without the guarantee.
    {shared}
    n_planned_ : int
        k, the number of rounds that the weights were planned for.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import BoostByMajorityClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostByMajorityClassifier(gamma=0.2, target_error=0.1).fit(X, y)
    >>> model.n_planned_, model.score(X, y) > 0.9
    (9, True)
    """

    gamma: float = param(0.05, number(0, 0.5, "()"))
    target_error: float | None = param(None, one_of(None) | number(0, 1, "()"))
    strict: bool = param(False, flag())

    def _rule(self) -> Rule:
        return BoostByMajority(self.gamma, self._planned(), bool(self.strict))

    def _planned(self) -> int:
        """Return k."""
        if self.target_error is None:
            return (self.n_estimators - 1) // 2 * 2 + 1
        k = rounds_needed(self.gamma, self.target_error)
        if k > self.n_estimators:
            many = f"{k}" if k < MOST_ROUNDS else "more than a million"
            raise ValueError(
                f"gamma={self.gamma:g} and target_error={self.target_error:g} need {many} rounds, and n_estimators is "
                f"{self.n_estimators}; raise any of the three."
            )
        return k

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.n_planned_ = self._planned()


def rounds_needed(gamma: float, target_error: float) -> int:
    """Return the smallest odd number of votes, each right by chance 1/2 + gamma, whose majority errs that rarely.

    Parameters
    ----------
    gamma, target_error : float
        In (0, 1/2) and (0, 1).
    """

    def enough(half: int) -> bool:
        return bool(bdtr(half, 2 * half + 1, 0.5 + gamma) <= target_error)

    high = 1
    while not enough(high) and 2 * high + 1 < MOST_ROUNDS:
        high *= 2
    low = 0 if high == 1 else high // 2
    if enough(0):
        return 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return 2 * high + 1
