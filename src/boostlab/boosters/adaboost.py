"""AdaBoost, discrete (Freund & Schapire 1997) and real (Schapire & Singer 1999; Friedman, Hastie & Tibshirani 2000).

The discrete form has epsilon-boost's two ways of taking small steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential
from boostlab.boosters.params import number, one_of, param
from boostlab.boosters.registry import booster
from boostlab.boosters.samme import SAMME
from boostlab.boosters.shrinkage import RATE, Shrinking
from boostlab.contract import (
    AGAIN,
    NEGLIGIBLE,
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    Plain,
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
    perfect,
)


@formula
def half_log_odds(error: float, numbers: tuple[float, ...]) -> float:
    """(1/2) ln((1 - eps) / eps), times nu."""
    return numbers[0] * 0.5 * log((1 - error) / error)


@formula
def constant(error: float, numbers: tuple[float, ...]) -> float:
    """The fixed step."""
    return numbers[0]


@dataclass(frozen=True)
class AdaBoost(Exponential):
    """Stagewise minimisation of the mean of exp(-y F).

    1. w_i proportional to exp(-y_i F(x_i)).
    2. h = the voter with the smallest weighted error; eps = that error.
    3. Stop if eps >= 1/2.
    4. alpha = (1/2) ln((1 - eps) / eps); F += alpha h.
    5. Stop after a voter with eps = 0.

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]: F += nu alpha h, and the shrunken F drives the next weights (epsilon-boost).
    fixed_step : float, optional
        Every voter votes with this constant instead (Friedman 2001; Rosset, Zhu & Hastie 2004).
    """

    learning_rate: float = 1.0
    fixed_step: float | None = None

    def plain(self, s: State) -> Plain:
        """Step 4 as a formula."""
        if self.fixed_step is not None:
            return Plain(constant, (self.fixed_step,), 0.5, self.facts_of_many)
        return Plain(half_log_odds, (self.learning_rate,), 0.5, self.facts_of_many)

    def vote(self, s: State, error: float) -> float:
        """Step 4."""
        if self.fixed_step is not None:
            return self.fixed_step
        return half_log_odds(error, (self.learning_rate,))


@formula
def weights_after(w: float, y: float, h: float, nu: float) -> tuple[float, float, float]:
    """A row's weight, its weight if the vote is wrong, and its weight after the step."""
    v = y * h
    return w, w if v <= 0.0 else 0.0, w * exp(-nu * v)


@formula
def lower_normaliser(sums: Sequence[float], numbers: list[float]) -> int:
    """Steps 3 and 4 with halving: numbers are nu and the smallest nu; a perfect voter is unusual."""
    if sums[2] / sums[0] < 1 - NEGLIGIBLE:
        return TAKEN if sums[1] > 0.0 else UNUSUAL
    numbers[0] /= 2.0
    return AGAIN if numbers[0] >= numbers[1] else UNUSUAL


@dataclass(frozen=True)
class RealAdaBoost(Rule):
    """AdaBoost with voters that say how sure they are.

    1. w_i proportional to exp(-y_i F(x_i)).
    2. f = the voter whose leaves vote (1/2) ln(W+ / W-) and have the smallest Z = 2 sum over leaves of sqrt(W+ W-).
    3. Stop if Z >= 1.
    4. F += f.

    Votes of a learner that is surer than its errors allow may make Z >= 1 although they point the right way: then the
    step is halved until Z < 1.  (A stump's or tree's leaves are their own best step.)

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]: F += nu f.
    """

    learning_rate: float = 1.0

    needs: ClassVar[str] = "z"

    def begin(self, s: State) -> None:
        """The loss of F = 0 is 1."""
        s.own.log_loss = 0.0

    def usual(self, s: State) -> UsualRound:
        """Steps 1 to 4."""
        numbers = {"nu": self.learning_rate, "least": self.learning_rate / 2048.0, "smoothing": 0.5 / s.size}
        return UsualRound(lower_normaliser, numbers, weights_after, self._facts)

    def task(self, s: State) -> Task:
        """Steps 1 and 2; leaves are smoothed by 1/(2n) of the weight."""
        return Task("z", s.exponentials(), s.y, {"smoothing": 0.5 / s.size})

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 3 and 4."""
        nu = self.learning_rate
        for _ in range(12):
            sums = before, wrong, after = s.total(weights_after, nu)
            Z = after / before
            if Z < 1 - NEGLIGIBLE:
                return Step(nu, self._facts(s, (nu,), sums), perfect(s) if wrong == 0 else None)
            nu /= 2.0
        return Stop("no_edge", f"the best voter's normaliser Z is {Z:.6g} at its smallest step, and it must be below 1")

    def _facts(self, s: State, numbers: Sums, sums: Sums, after: Sums = ()) -> Facts:
        before, wrong, then = sums
        s.own.log_loss += math.log(then / before)
        return {"error": wrong / before, "Z": then / before, "objective": math.exp(min(s.own.log_loss, 700.0))}


@booster(
    "Freund & Schapire 1997; Schapire & Singer 1999",
    "labels are clean and you want the baseline",
    family="variance_penalising",
    variants=dict(real=dict(algorithm="real"), resample=dict(resample=True)),
    grid=dict(learning_rate=(1.0, 0.1)),
)
@dataclass(eq=False, repr=False)
class AdaBoostClassifier(Shrinking, BoostingClassifier):
    """AdaBoost, discrete or real, with shrinkage.

    Three or more classes: SAMME (see `SAMMEClassifier`), discrete only.

    Parameters
    ----------
    algorithm : {"discrete", "real"}, default="discrete"
        Voters say a label, or how sure they are.
    learning_rate : float in (0, 1] or "auto", default="auto"
        Shrinkage: every voter's coefficient is multiplied by it (epsilon-boost).  "auto" is 1, and 0.1 for real trees,
        which overfit sooner.  What was used is `learning_rate_`.
    fixed_step : float, optional
        Give every voter this same coefficient instead (discrete only): epsilon-boost's fixed-step form.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=50).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.93
    True
    """

    algorithm: str = param("discrete", one_of("discrete", "real"))
    learning_rate: float | str = param("auto", RATE)
    fixed_step: float | None = param(None, one_of(None) | number(0, 100, "(]"))

    _multiclass: ClassVar[bool] = True

    @property
    def _tree_rate(self) -> float:
        return 0.1 if self.algorithm == "real" else 1.0

    @property
    def _own_form(self) -> bool:
        return self.algorithm == "discrete" and self.fixed_step is None

    def _rule(self) -> Rule:
        if self._several:
            return SAMME(self._rate)
        if self.algorithm == "real":
            if self.fixed_step is not None:
                raise ValueError('fixed_step is for algorithm="discrete"; real voters carry their own strength.')
            return RealAdaBoost(self._rate)
        if self.fixed_step is not None and self.learning_rate not in ("auto", 1):
            raise ValueError("fixed_step and learning_rate are two ways of taking small steps; give one of them.")
        return AdaBoost(self._rate, self.fixed_step)
