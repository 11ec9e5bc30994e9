"""The first booster, in full: Schapire's majority of three (1990), a rule and an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.params import param, whole
from boostlab.boosters.registry import booster
from boostlab.contract import NEGLIGIBLE, Array, Reweigh, Rule, State, Stop, Task


@dataclass(frozen=True)  # a rule holds parameters only (this one has none); what it remembers goes to s.own
class MajorityOfThree(Rule):
    """Three voters, the second and third trained where the earlier ones are of no help; the majority decides.

    1. h1 = the best voter under D, the sample.
    2. D2 = D with half of the mass where h1 is right and half where it is wrong, so that h1 itself knows nothing
       there; h2 = the best voter under D2.
    3. D3 = D on the rows where h1 and h2 disagree; h3 = the best voter under D3.
    4. The majority of the three errs under D on at most 3 e^2 - 2 e^3, if e <= 1/2 bounds the three errors, each under
       its own distribution.  Where h2 or h3 has no edge, h1 alone decides.
    """

    labels_only: ClassVar[bool] = True  # the counts below are of rows where h = y: voters must say -1 or +1
    keeps_votes: ClassVar[bool] = True  # the engine keeps earlier votes in s.votes, and the rule may Reweigh

    def task(self, s: State) -> Task:
        """Steps 1 to 3.  Weights are per unit of a row's mass: sample weights are the engine's business."""
        if s.t == 0:
            weight = np.ones(len(s.y))
        elif s.t == 1:
            right = s.votes[0] == s.y
            on, off = s.total(right, ~right)  # sums over rows go through s.total: exact, in any order of the rows
            weight = np.where(right, 0.5 / on, 0.5 / off)
        else:
            weight = np.where(s.votes[0] != s.votes[1], 1.0, 0.0)
        return Task("edge", weight, s.y)

    def step(self, s: State, task: Task, h: Array) -> Reweigh | Stop:
        """Measure the voter on its own distribution, over the whole sample, also if it was trained on a draw."""
        wrong, mass = s.total(task.weight * (h != s.y), task.weight)
        error = wrong / mass
        if error >= 0.5 - NEGLIGIBLE:  # also when h2 = h1 everywhere: under D2 that voter errs on exactly one half
            return Stop("no_edge", f"voter {s.t + 1} errs on {error:.3g} of its distribution")
        s.own.errors = [*s.own.errors, error] if s.t else [error]
        if s.t == 0:  # a perfect voter is kept, and there is nothing left to learn
            end = Stop("perfect", "the first voter makes no error") if wrong == 0 else None
            return Reweigh(np.array([1.0]), {"error": error, "bound": error}, end)
        if s.t == 1:  # two voters have no majority: until there is a third, the first one decides
            return Reweigh(np.array([1.0, 0.0]), {"error": error, "bound": s.own.errors[0]})
        e, end = max(s.own.errors), Stop("max_rounds", "a majority of three has three voters")
        return Reweigh(np.array([1.0, 1.0, 1.0]), {"error": error, "bound": 3 * e**2 - 2 * e**3}, end)


@booster("Schapire 1990", "you want to see where boosting began")  # into the registry, and completes the docstring
@dataclass(eq=False, repr=False)
class MajorityOfThreeClassifier(BoostingClassifier):
    """Schapire's majority of three.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MajorityOfThreeClassifier().fit(X, y)
    >>> [round(float(e), 3) for e in (model.history_["error"][0], 1 - model.score(X, y), model.history_["bound"][-1])]
    [0.079, 0.035, 0.072]
    """

    n_estimators: int = param(3, whole(1))  # a new default for a shared parameter

    def _rule(self) -> Rule:
        return MajorityOfThree()
