"""AR-Boost: AdaBoost that forgives the errors of its current voter (Saha, Kunapuli, Ray, Maldjian & Natarajan 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from boostlab.contract import Array, Retry, State, Step, Stop, Task
from boostlab.rules.exponential import Exponential


@dataclass(frozen=True)
class ARBoost(Exponential):
    """Adaptively regularised AdaBoost with the loss exp(-y F - lambda |y - h|), lambda = (1/2) ln rho.

    1. w_i proportional to exp(-y_i F(x_i)); h = the voter with the smallest weighted error eps.
    2. Stop if eps >= rho / (rho + 1).
    3. alpha = (1/2) ln(rho (1 - eps) / eps); F += alpha h.

    After step 3 the voter errs on rho / (rho + 1) of the weight, its complement on 1 / (rho + 1) only.

    Parameters
    ----------
    rho : float
        At least 1; rho = 1 is AdaBoost.
    forbid_repeat_complement : bool
        Ask for the best voter but the complement of the last one.
    """

    rho: float = 2.0
    forbid_repeat_complement: bool = False

    @property
    def excludes(self) -> bool:
        """Whether learners must be able to leave out a voter."""
        return self.forbid_repeat_complement

    def begin(self, s: State) -> None:
        """No voter, no complement."""
        super().begin(s)
        s.own.complement, s.own.complements = None, 0

    def limit(self, s: State, error: float) -> float:
        """Step 2: errors above 1/2 are welcome up to here."""
        return self.rho / (self.rho + 1)

    def task(self, s: State) -> Task:
        """Step 1."""
        without = s.own.complement if self.forbid_repeat_complement else None
        return Task(self.needs, s.exponentials(), s.y, without=without)

    def vote(self, s: State, error: float) -> float:
        """Step 3."""
        return 0.5 * log(self.rho * (1 - error) / error)

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Steps 2 and 3; `complements` counts the voters so far that took their predecessor back."""
        back = s.own.complement is not None and bool((h == s.own.complement).all())
        if back and self.forbid_repeat_complement:  # from a learner that drew its rows and could not know
            return Retry("the voter is the complement of the last one")
        answer = super().step(s, task, h)
        if isinstance(answer, Step):
            s.own.complement, s.own.complements = -h, s.own.complements + back
            answer.facts = {**answer.facts, "complements": float(s.own.complements)}
        return answer
