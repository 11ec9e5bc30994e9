"""LogitBoost for three or more classes (Friedman, Hastie & Tibshirani 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, softmax

from boostlab.contract import Array, Retry, Rule, State, Step, Stop, Task


@dataclass(frozen=True)
class LogitBoostOfClasses(Rule):
    """Newton steps on the mean of -ln p_c, p = softmax(F) and c the right class; one least-squares voter a class.

    1. For every class j: w_ij = p_ij (1 - p_ij); z_ij = 1/p_ij for i's class, else -1/(1 - p_ij), but |z| <= z_max.
    2. f_j = the weighted least-squares fit of z_j.
    3. F_j += ((J-1)/J) (f_j - mean of all f): the scores of a row sum to zero.

    With `safe` steps are halved, and clipped responses asked for again, as with two classes (see `LogitBoost`).

    Parameters
    ----------
    z_max : float
        Bound on the working response.
    learning_rate : float
        nu in (0, 1]: step 3 is multiplied by it.
    safe : bool
        Whether the loss must fall.
    """

    z_max: float = 4.0
    learning_rate: float = 1.0
    safe: bool = True

    needs: ClassVar[str] = "least_squares"
    n_outputs: ClassVar[str] = "class"
    apart: ClassVar[float] = 2.0
    additive: ClassVar[bool] = False
    W_MIN: ClassVar[float] = 1e-10

    def begin(self, s: State) -> None:
        """The loss of F = 0 is ln J."""
        s.own.right = np.arange(s.n_classes) == s.codes[:, None]
        s.own.loss, s.own.careful = float(np.log(s.n_classes)), False

    def task(self, s: State) -> list[Task] | Stop:
        """Step 1."""
        if s.own.loss <= self.W_MIN:
            return Stop("perfect", "the mean logistic loss is below 1e-10")
        p, right = softmax(s.F, axis=1), s.own.right
        w = np.maximum(p * (1.0 - p), self.W_MIN)
        said = np.maximum(np.where(right, p, 1.0 - p), 1e-300)  # the probability of what is so
        if s.own.careful:
            w = np.maximum(w, (1.0 - said) / self.z_max)
        z = np.where(right, 1.0, -1.0) * np.minimum(1.0 / said, self.z_max)
        return [Task(self.needs, *columns) for columns in zip(w.T.copy(), z.T.copy(), strict=True)]

    def step(self, s: State, task: object, h: Array) -> Step | Retry | Stop:
        """Step 3; with halving, if it must be safe."""
        for nu in self.learning_rate * 0.5 ** np.arange(12):
            F = self.combine(s.F, nu, h)
            loss = s.total(logsumexp(F, axis=1) - F[np.arange(len(F)), s.codes]) / s.n
            if loss < s.own.loss or (not self.safe and h.any()):
                s.own.loss, s.own.careful = loss, False
                return Step(float(nu), {"objective": loss})
        if self.safe and not s.own.careful:
            s.own.careful = True
            return Retry("no step along the fits of the clipped responses lowers the logistic loss")
        return Stop("no_edge", "no step along the best fits lowers the logistic loss")

    def combine(self, F: Array, alpha: float, h: Array) -> Array:
        """Step 3."""
        return F + alpha * (1 - 1 / h.shape[1]) * (h - h.mean(axis=1, keepdims=True))

    def probability(self, F: Array) -> Array:
        """Softmax."""
        return np.asarray(softmax(F, axis=1))
