"""AdaBoost.M2: multiclass boosting through pairs of a right and a wrong label (Freund & Schapire 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from boostlab.contract import NEGLIGIBLE, Array, Rule, State, Step, Stop, Task, perfect


@dataclass(frozen=True)
class AdaBoostM2(Rule):
    """Voters say how plausible every label is; the weights sit on mislabels (i, y), y wrong.

    1. D(i, y) proportional to exp((F(x_i, y) - F(x_i, c_i)) / 2) over the wrong labels y.
    2. p = the voter with the smallest pseudo-loss eps = (1/2) sum D(i, y) (1 - p(x_i, c_i) + p(x_i, y)).
    3. Stop if eps >= 1/2.
    4. alpha = ln((1 - eps) / eps); F(x, l) += alpha p(x, l).
    """

    needs: ClassVar[str] = "pseudo_loss"
    n_outputs: ClassVar[str] = "class"

    def begin(self, s: State) -> None:
        """Mark the right labels."""
        s.own.right = np.arange(s.n_classes) == s.codes[:, None]

    def _mislabels(self, s: State, F: Array) -> Array:
        """Return the logarithms of step 1 (minus infinity on the right labels)."""
        own = F[np.arange(len(F)), s.codes][:, None]
        return np.where(s.own.right, -np.inf, 0.5 * (F - own))

    def task(self, s: State) -> Task:
        """Steps 1 and 2: p = 1 on a wrong label costs D(i, y), on the right one it saves the row's sum of D."""
        s.own.D = D = s.weigh(self._mislabels(s, s.F))
        weight = np.where(s.own.right, D.sum(axis=1, keepdims=True), D)
        return Task("pseudo_loss", weight, np.where(s.own.right, -1.0, 1.0))

    def step(self, s: State, task: Task, h: Array) -> Step | Stop:
        """Steps 3 and 4."""
        D, p_right = s.own.D, h[np.arange(len(h)), s.codes][:, None]
        lost, won = s.total(D * (1.0 - p_right + h), D * (1.0 + p_right - h))
        error = lost / (lost + won)
        if error >= 0.5 - NEGLIGIBLE:
            return Stop("no_edge", f"pseudo-loss {error:.4g}, and the rule needs less than 0.5")
        floored = error if lost > 0 else 0.5 / s.size
        alpha = log((1 - floored) / floored)
        left = s.total(np.exp(np.minimum(self._mislabels(s, s.F + alpha * h), 700.0)))
        facts = {"error": error, "edge": 1 - 2 * error, "objective": left / (s.n * (s.n_classes - 1))}
        return Step(alpha, facts, perfect(s, h == s.own.right) if lost == 0 else None)

    def probability(self, F: Array) -> Array:
        """Softmax of the scores; with two classes AdaBoost's link."""
        e = np.exp(F - F.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
