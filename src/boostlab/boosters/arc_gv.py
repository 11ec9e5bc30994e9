"""Arc-gv (Breiman 1999) and AdaBoost*_v (Rätsch & Warmuth 2005): AdaBoost that aims at a margin."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential
from boostlab.boosters.params import number, one_of, param
from boostlab.boosters.registry import booster
from boostlab.contract import Array, Retry, Rule, State, Step, Stop, Task, formula, log


@formula
def margin_after(y: float, F: float, h: float, alpha: float) -> float:
    """y (F + alpha h)."""
    return y * (F + alpha * h)


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

    def rho(self, s: State, error: float) -> float:
        """Step 2."""
        if self.target == "smallest_edge":
            return max(min(s.own.lowest_edge, 1 - 2 * error) - self.accuracy, -0.99)  # artanh(-1) is infinite
        return float(max(self.margin_floor, s.own.least))

    def limit(self, s: State, error: float) -> float:
        """Step 3."""
        return (1 - self.rho(s, error)) / 2

    def vote(self, s: State, error: float) -> float:
        """Step 4."""
        alpha = 0.5 * log((1 - error) / error) - atanh(self.rho(s, error))
        return alpha if self.cap is None else min(alpha, self.cap)

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Steps 2 to 5, and what became of the margins."""
        answer, own = super().step(s, task, h), s.own
        if isinstance(answer, Step):
            alpha, edge = answer.alpha, answer.facts["edge"]
            facts = {"target": self.rho(s, answer.facts["error"])}
            own.S += answer.alpha
            own.least, own.lowest_edge = s.smallest(margin_after, alpha) / own.S, min(own.lowest_edge, edge)
            facts |= {"minimum_margin": own.least, "average_margin": s.total(margin_after, alpha) / (s.n * own.S)}
            answer.facts = {**answer.facts, **facts}
            if self.target == "smallest_edge" and answer.stop is None and own.least >= own.lowest_edge - self.accuracy:
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
