"""Arc-gv (Breiman 1999) and AdaBoost*_v (Rätsch & Warmuth 2005): AdaBoost that aims at a margin."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, log

from boostlab.contract import Array, Retry, State, Step, Stop, Task
from boostlab.rules.exponential import Exponential


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
            margins, edge = s.y * (s.F + answer.alpha * h), answer.facts["edge"]
            facts = {"target": self.rho(s, answer.facts["error"])}
            own.S += answer.alpha
            own.least, own.lowest_edge = s.smallest(margins) / own.S, min(own.lowest_edge, edge)
            facts |= {"minimum_margin": own.least, "average_margin": s.total(margins) / (s.n * own.S)}
            answer.facts = {**answer.facts, **facts}
            if self.target == "smallest_edge" and answer.stop is None and own.least >= own.lowest_edge - self.accuracy:
                said = f"the smallest margin {own.least:.4g} is within {self.accuracy:g} of the largest possible"
                answer.stop = Stop("tolerance", said)
        return answer
