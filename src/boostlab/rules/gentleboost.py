"""GentleBoost: AdaBoost by least squares, without logarithms (Friedman, Hastie & Tibshirani 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from boostlab.contract import State, Task
from boostlab.rules.real_adaboost import RealAdaBoost


@dataclass(frozen=True)
class GentleBoost(RealAdaBoost):
    """Newton steps on the mean of exp(-y F), each fitted by weighted least squares.

    1. w_i proportional to exp(-y_i F(x_i)).
    2. f = the weighted least-squares fit of y: a leaf votes (W+ - W-) / (W+ + W-), between -1 and 1.
    3. F += f.

    With the weights as they are, y is minus the loss's slope over its curvature, so f is Newton's step.  Where it is f
    in a leaf, the leaf's loss falls by the factor cosh f - f sinh f < 1.  Votes that are no means (another learner's)
    may overshoot: then the step is halved until the loss falls, as in Real AdaBoost.

    Parameters
    ----------
    learning_rate : float
        nu in (0, 1]: F += nu f.
    """

    needs: ClassVar[str] = "least_squares"

    def task(self, s: State) -> Task:
        """Steps 1 and 2."""
        return Task("least_squares", s.exponentials(), s.y)
