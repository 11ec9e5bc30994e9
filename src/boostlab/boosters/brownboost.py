"""BrownBoost: boosting against a clock, which gives up on hopeless examples (Freund 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import erf

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import number, one_of, param, whole
from boostlab.boosters.registry import booster
from boostlab.boosters.shrinkage import SHARE
from boostlab.boosters.target_error import NEARLY_OVER, TargetError
from boostlab.contract import (
    AGAIN,
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    Task,
    UsualRound,
    edge_sums,
    formula,
    vote_size,
)
from boostlab.ensemble.vote import Ensemble
from boostlab.solvers.brownian import LATE, MOST_LOOKS, Clock, newton_step, one_for, sums_at, time_for, unit_for

NO_EDGE = 1e-8

# The numbers of a usual round, and their places; alpha, t and rest are in units of sqrt(c), as in `Clock`.
NUMBERS = (
    *("coefficient", "alpha", "t", "rest", "edge", "left", "alpha_per_edge", "time_per_edge", "looks"),
    *("c", "root", "n", "per", "unit", "log_unit", "one"),
)
COEFFICIENT, ALPHA, TIME, REST, EDGE, LEFT, ALPHA_PER_EDGE, TIME_PER_EDGE, LOOKS = range(9)
ROOT, N = 10, 11


@formula
def log_weight(y: float, F: float, left: float, c: float) -> float:
    """-(r + s)^2 / c."""
    return -(y * F + left) * (y * F + left) / c


@formula
def begin_step(sums: Sums, numbers: list[float]) -> int:
    """Where step 3 begins: at the last round's solution, as it grows with the edge."""
    edge = sums[1] / sums[0]
    if edge <= NO_EDGE:
        return UNUSUAL
    numbers[EDGE], numbers[LOOKS] = edge, 0.0
    numbers[ALPHA], numbers[TIME] = numbers[ALPHA_PER_EDGE] * edge, numbers[TIME_PER_EDGE] * edge * edge
    numbers[REST] = numbers[LEFT] / numbers[ROOT] - numbers[TIME]
    return TAKEN


@formula
def end_step(after: Sums, numbers: list[float]) -> int:
    """Step 3: one look of Newton's method at a time."""
    edge, left, root = numbers[EDGE], numbers[LEFT], numbers[ROOT]
    sums = after[0], after[1], after[2], after[3], after[4]
    said, alpha, t = newton_step(numbers[ALPHA], numbers[TIME], numbers[N], *sums)
    numbers[ALPHA], numbers[TIME], numbers[REST], numbers[LOOKS] = alpha, t, left / root - t, numbers[LOOKS] + 1.0
    if said == AGAIN and numbers[LOOKS] < MOST_LOOKS:
        return AGAIN
    if said != TAKEN or t <= 0.0 or t >= left / root - LATE / root:
        return UNUSUAL
    numbers[COEFFICIENT], numbers[LEFT] = alpha * root, left - t * root
    numbers[ALPHA_PER_EDGE], numbers[TIME_PER_EDGE] = alpha / edge, t / (edge * edge)
    return TAKEN


def usual_round(s: State, c: float) -> UsualRound:
    """Return the next round of a clock that started at c."""
    root, (a, b) = sqrt(c), s.own.last or (1.0, 1.0)
    _, log_unit = unit_for(root)
    known = {"left": s.own.left, "alpha_per_edge": a, "time_per_edge": b, "c": c, "root": root, "n": s.n}
    known |= {"per": 1.0 / root, "unit": 1.0, "log_unit": log_unit, "one": one_for(log_unit)}
    return UsualRound(
        begin_step,
        dict.fromkeys(NUMBERS, 0.0) | known,
        edge_sums,
        remembered,
        log_weight,
        logarithms=True,
        after=sums_at,
        check=end_step,
    )


def remembered(s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
    """Remember in the state what a round has left in its numbers; return its facts."""
    s.own.left, s.own.last = numbers[LEFT], (numbers[ALPHA_PER_EDGE], numbers[TIME_PER_EDGE])
    return facts(s, numbers[ROOT], numbers[EDGE], numbers[LOOKS])


def facts(s: State, root: float, edge: float, looks: float) -> Facts:
    """Return what is told of a round; its step conserves the potential."""
    told = {"error": (1 - edge) / 2, "edge": edge, "time_left": s.own.left, "evaluations": looks}
    return {**told, "objective": unit_for(root)[0]}


@dataclass(frozen=True)
class BrownBoost(Rule):
    """Spend a total time c so that at its end the error is at most the target.

    1. r = y F; s = the time left; w_i proportional to exp(-(r_i + s)^2 / c).
    2. h = the voter with the smallest weighted error, b = y h; stop if its edge is not positive.
    3. Find alpha and t, 0 < t <= s, with the same potential as before, sum of erf((r + alpha b + s - t) / sqrt c), and
       no edge left, sum of b exp(-(r + alpha b + s - t)^2 / c) = 0; or t = s, if the clock runs out first.
    4. F += alpha h; s -= t; stop when s = 0.

    Parameters
    ----------
    target_error : float
        epsilon in (0, 1): c = erfinv(1 - epsilon)^2.
    total_time : float, optional
        c itself.
    learning_rate : float
        nu in (0, 1]: of the curve of step 3, on which the potential is conserved, only the part up to nu alpha is gone,
        and takes the time that this part takes.  What the clock promises at its end needs no more than that.  A step
        that ends the clock is taken whole where less than a thousandth of the time is left.
    """

    target_error: float = 0.1
    total_time: float | None = None
    learning_rate: float = 1.0

    @property
    def c(self) -> float:
        """The total time."""
        return time_for(self.target_error) if self.total_time is None else self.total_time

    def begin(self, s: State) -> None:
        """The clock starts at c."""
        s.own.left, s.own.last = self.c, None

    def usual(self, s: State) -> UsualRound | None:
        """All steps; the clock's end is unusual, and so are shortened steps."""
        return usual_round(s, self.c) if self.learning_rate == 1 else None

    def task(self, s: State) -> Task:
        """Steps 1 and 2."""
        return Task("edge", s.weigh(log_weight, s.own.left, self.c), s.y)

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 3 and 4."""
        own, root = s.own, sqrt(self.c)
        whole, signed = s.total(edge_sums)
        edge = signed / whole
        if edge <= NO_EDGE:
            return Stop("no_edge", f"edge {edge:.3g} with {own.left:.4g} of the time {self.c:.4g} left")
        clock = Clock(s, self.c, own.left, 1.0 if h.dtype == np.int8 else s.largest(vote_size))
        found = clock.advance(edge / clock.scale, own.last)
        if found is None:
            return Stop("solver_failed", f"no step solves both equations; {own.left:.4g} of the time is left")
        own.last = found[0] / edge * clock.scale, found[1] / (edge * edge) * (clock.scale * clock.scale)
        if self.learning_rate < 1 and (found[1] < clock.rest or own.left > NEARLY_OVER * self.c):
            found = clock.shortened(found, self.learning_rate)
        ended = found[1] == clock.rest
        own.left = 0.0 if ended else own.left - found[1] * root
        stop = Stop("time_up", f"the clock ran out in round {s.t + 1}") if ended else None
        return Step(found[0] * root / clock.scale, facts(s, root, edge, float(clock.evaluations)), stop)

    def probability(self, F: Array) -> Array:
        """A score, (1 + erf(F / sqrt c)) / 2, rather than a calibrated probability."""
        return (1.0 + erf(F / np.sqrt(self.c))) / 2.0


@booster(
    "Freund 2001",
    "a known share of the labels is wrong: examples beyond hope are given up",
    family="noisy_labels",
    grid=dict(target_error=(0.05, 0.2), learning_rate=(1.0, 0.1)),
    stronger=dict(target_error="larger"),
)
@dataclass(eq=False, repr=False)
class BrownBoostClassifier(TargetError, BoostingClassifier):
    """BrownBoost: boosting against a clock, which gives up on hopeless examples.

    Training ends when the clock has run out, with at most `target_error` training errors, or before with time left
    (`no_edge`, `max_rounds`), when more rounds or a larger target are needed.  `predict_proba` is a score.

    Parameters
    ----------
    target_error : float in (0, 1), default=0.1
        The share of training errors to settle for; in a problem of a reduction times twice the share of its smaller
        side.
    total_time : float, optional
        The clock itself, instead of `target_error`.
    learning_rate : float in (0, 1], default=1.0
        Shrinkage: this share of every voter's coefficient, and the time that it takes.  The promise at the end of the
        clock stays; it takes more rounds.
    {shared}
    target_error_ : float
        The target as used; under a reduction a list, one a problem.
    total_time_, time_left_ : float
        The clock at the beginning, and after the rounds that were kept.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import BrownBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BrownBoostClassifier(target_error=0.05).fit(X, y)
    >>> model.stop_reason_.split(":")[0], round(model.total_time_, 3), model.time_left_
    ('time_up', 1.921, 0.0)
    """

    n_estimators: int = param(1000, whole(1))
    target_error: float = param(0.1, number(0, 1, "()"))
    total_time: float | None = param(None, one_of(None) | number(1e-6, 1e4))
    learning_rate: float = param(1.0, SHARE)

    def _rule(self) -> Rule:
        return BrownBoost(self._target, self.total_time, self._rate)

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        super()._keep(ensemble, history, stop_reason)
        self.target_error_, self.total_time_ = self._target, BrownBoost(self._target, self.total_time).c
        self.time_left_ = float(history["time_left"][len(ensemble) - 1]) if len(ensemble) else self.total_time_
