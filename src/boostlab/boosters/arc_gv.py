"""Arc-gv (Breiman 1999) and AdaBoost*_v (Rätsch & Warmuth 2005): AdaBoost that aims at a margin."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, inf

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential
from boostlab.boosters.params import number, one_of, param
from boostlab.boosters.registry import booster
from boostlab.contract import (
    NEGLIGIBLE,
    TAKEN,
    UNUSUAL,
    Array,
    Facts,
    Retry,
    Rule,
    State,
    Step,
    Stop,
    Sums,
    Task,
    UsualRound,
    formula,
    log,
)

LOWEST = -0.99  # target, for artanh(-1) is infinite


@formula
def margin_after(y: float, F: float, h: float, alpha: float) -> float:
    """y (F + alpha h)."""
    return y * (F + alpha * h)


@formula
def beyond_target(sums: Sums, numbers: list[float]) -> int:
    """Steps 2 to 4: numbers are alpha, the floor, v (0 for arc-gv), the cap, S, the smallest margin and edge, g."""
    error, v = sums[1] / sums[0], numbers[2]
    numbers[7] = 1 - 2 * error
    rho = max(min(numbers[6], numbers[7]) - v, LOWEST) if v > 0.0 else max(numbers[1], numbers[5])
    if not 0.0 < error < (1 - rho) / 2 - NEGLIGIBLE:
        return UNUSUAL
    numbers[0] = min(0.5 * log((1 - error) / error) - atanh(rho), numbers[3])
    return TAKEN


@formula
def margins_so_far(after: Sums, numbers: list[float]) -> int:
    """What became of the margins, and step 5."""
    numbers[4] += numbers[0]
    numbers[5], numbers[6] = after[1] / numbers[4], min(numbers[6], numbers[7])
    return UNUSUAL if numbers[2] > 0.0 and numbers[5] >= numbers[6] - numbers[2] else TAKEN


@dataclass(frozen=True)
class ArcGV(Exponential):
    """Maximise the smallest normalised margin y F / S, where S is the sum of the alphas.

    1. w_i proportional to exp(-y_i F(x_i)); h = the voter with the largest edge g = 1 - 2 eps.
    2. rho = the margin to aim at: the smallest margin so far, but at least the floor (arc-gv); or the smallest edge so
       far, this one included, less v (AdaBoost*_v).
    3. Stop if g <= rho: where g is the best edge, no vote has a smallest margin above g.
    4. alpha = artanh(g) - artanh(rho), at most the cap; F += alpha h.
    5. AdaBoost*_v: stop when the smallest margin is within v of the smallest edge, and so of the largest possible.

    Parameters
    ----------
    margin_floor : float
        In (-1, 1); at 0, arc-gv is AdaBoost as long as it errs on the training rows.
    cap : float, optional
        The largest alpha.
    target : {"minimum_margin", "smallest_edge"}
        Step 2: arc-gv or AdaBoost*_v.
    accuracy : float
        v in (0, 1).
    """

    margin_floor: float = 0.0
    cap: float | None = None
    target: str = "minimum_margin"
    accuracy: float = 0.1

    def begin(self, s: State) -> None:
        """No voter, no margin."""
        super().begin(s)
        s.own.S, s.own.least, s.own.lowest_edge = 0.0, -1.0, 1.0

    def usual(self, s: State) -> UsualRound:
        """All steps."""
        v, cap = self.accuracy if self.target == "smallest_edge" else 0.0, inf if self.cap is None else self.cap
        numbers = {"alpha": 0.0, "floor": self.margin_floor, "v": v, "cap": cap, "S": s.own.S}
        numbers |= {"least": s.own.least, "lowest_edge": s.own.lowest_edge, "edge": 0.0}
        return self.by_error(beyond_target, numbers, after=margin_after, check=margins_so_far, smallest=True)

    def rho(self, s: State, error: float) -> float:
        """Step 2."""
        if self.target == "smallest_edge":
            return max(min(s.own.lowest_edge, 1 - 2 * error) - self.accuracy, LOWEST)
        return float(max(self.margin_floor, s.own.least))

    def limit(self, s: State, error: float) -> float:
        """Step 3."""
        return (1 - self.rho(s, error)) / 2

    def vote(self, s: State, error: float) -> float:
        """Step 4."""
        alpha = 0.5 * log((1 - error) / error) - atanh(self.rho(s, error))
        return alpha if self.cap is None else min(alpha, self.cap)

    def after(self, s: State, alpha: float) -> Sums:
        """Return the sum of the margins, and the smallest."""
        return s.total(margin_after, alpha), s.smallest(margin_after, alpha)

    def facts(self, s: State, error: float, alpha: float, after: Sums = ()) -> Facts:
        """Say what became of the margins."""
        own, facts = s.own, {**super().facts(s, error, alpha, after), "target": self.rho(s, error)}
        own.S += alpha
        own.least, own.lowest_edge = after[1] / own.S, min(own.lowest_edge, facts["edge"])
        return {**facts, "minimum_margin": own.least, "average_margin": after[0] / (s.n * own.S)}

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Steps 2 to 5."""
        answer, own = super().step(s, task, h), s.own
        ends = self.target == "smallest_edge" and own.least >= own.lowest_edge - self.accuracy
        if isinstance(answer, Step) and answer.stop is None and ends:
            said = f"the smallest margin {own.least:.4g} is within {self.accuracy:g} of the largest possible"
            answer.stop = Stop("tolerance", said)
        return answer


@booster(
    "Breiman 1999; Rätsch & Warmuth 2005",
    "labels are clean and you want the largest minimum margin",
    family="margin_maximising",
    variants=dict(smallest_edge=dict(target="smallest_edge")),
)
@dataclass(eq=False, repr=False)
class ArcGVClassifier(BoostingClassifier):
    """Arc-gv and AdaBoost*_v: AdaBoost that maximises the minimum margin.

    On noisy labels the minimum margin belongs to a wrong one; look at `LPBoostClassifier` for a soft margin.  AdaBoost
    with a fixed margin target (AdaBoost_rho) is `L1BoostClassifier(beta=rho)`.  Every round's `target`,
    `minimum_margin` and `average_margin` are in `history_`; the median is `numpy.median(model.margins(X, y))`.  Scores
    grow with every round, and `predict_proba` is a score (AdaBoost's link), not a calibrated probability.

    Parameters
    ----------
    margin_floor : float in (-1, 1), default=0.0
        Arc-gv aims at the minimum margin so far, but never below this; at 0 it is AdaBoost as long as it errs on the
        training rows.
    cap : float, optional
        The largest coefficient of a voter; Breiman used 1.
    target : {"minimum_margin", "smallest_edge"}, default="minimum_margin"
        Arc-gv; or AdaBoost*_v, which aims at the smallest edge so far less `accuracy` and ends when the minimum margin
        is that close to the largest possible (with a learner that finds the best voter, such as the default stump).
    accuracy : float in (0, 1), default=0.1
        v of AdaBoost*_v, which takes at most 2 ln(n) / v^2 rounds; arc-gv does not use it.
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostlab import ArcGVClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ArcGVClassifier(n_estimators=300).fit(X, y)
    >>> bool(model.margins(X, y).min() > 0.03)
    True
    """

    margin_floor: float = param(0.0, number(-1, 1, "()"))
    cap: float | None = param(None, one_of(None) | number(0, 100, "(]"))
    target: str = param("minimum_margin", one_of("minimum_margin", "smallest_edge"))
    accuracy: float = param(0.1, number(0, 1, "()"))

    def _rule(self) -> Rule:
        return ArcGV(self.margin_floor, self.cap, self.target, self.accuracy)
