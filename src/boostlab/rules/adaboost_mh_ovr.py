"""AdaBoost.MH as one AdaBoost a class, each against the rest (Zhou 2012, section 2.5)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np
from scipy.special import log_expit

from boostlab.contract import NEGLIGIBLE, Array, Each, Retry, State, Step, Stop, Task
from boostlab.rules.adaboost_mh import AdaBoostMH


@dataclass(frozen=True)
class AdaBoostMHOneVersusRest(AdaBoostMH):
    """K independent AdaBoosts, a voter and a coefficient a class every round; the class with the largest score wins.

    A class whose booster stops keeps its score: for good after a voter without error, else for the round.  One that has
    no edge in the first round scores half the log odds of its share of the sample.

    Parameters
    ----------
    normalise : {"none", "sum_alpha", "probability"}
        A class's score is the sum of alpha h; that divided by the sum of alpha; or it is shown as the logarithm of its
        link 1 / (1 + exp(-2 F)), which is the same order as "none".
    """

    normalise: str = "none"

    needs: ClassVar[str] = "edge"
    labels_only: ClassVar[bool] = True
    each_alone: ClassVar[bool] = True

    def begin(self, s: State) -> None:
        """No class has a voter, and the mean of exp(-Y F) is 1."""
        s.own.Y = np.where(np.arange(s.n_classes)[:, None] == s.codes, np.int8(1), np.int8(-1))  # a row a class
        s.own.alphas, s.own.log_losses = np.zeros(s.n_classes), np.zeros(s.n_classes)
        s.own.done, s.own.silent = np.zeros(s.n_classes, bool), np.zeros(s.n_classes, bool)

    def task(self, s: State) -> list[Task | float]:  # type: ignore[override]
        """Ask for the smallest error of every class under its own exp(-Y F)."""
        F = s.F * s.own.alphas if self.normalise == "sum_alpha" else s.F
        asked: list[Task | float] = []
        for y, f, done, silent in zip(s.own.Y, F.T, s.own.done, s.own.silent, strict=True):
            share = s.total((y > 0).astype(float)) / s.n if silent else 0.5
            asked.append(0.5 * log(share / (1 - share)) if done or silent else Task("edge", s.weigh(-y * f), y))
        return asked

    def step(self, s: State, task: list[Task | float], h: Array) -> Step | Retry | Stop:  # type: ignore[override]
        """Let every class's voter join by its own error."""
        new, errors, done = np.zeros(s.n_classes), np.full(s.n_classes, 0.5), s.own.done.copy()
        for k, (asked, y) in enumerate(zip(task, s.own.Y, strict=True)):
            if isinstance(asked, Task):
                whole, wrong = asked.sums or s.total(asked.weight, asked.weight * (h[:, k] != y))
                if wrong / whole < 0.5 - NEGLIGIBLE:
                    errors[k] = wrong / whole
                    floored = errors[k] or 0.5 / s.size
                    new[k], done[k] = 0.5 * log((1 - floored) / floored), bool((h[:, k] == y).all())
        if not new.any():
            return Stop("no_edge", "no class has a voter whose weighted error is below 0.5")
        if s.t == 0 and (~s.own.silent & (new == 0)).any():
            s.own.silent = new == 0
            return Retry("a class has no voter with an edge, and the log odds of its share take its place")
        s.own.log_losses += np.log((1 - errors) * np.exp(-new) + errors * np.exp(new))
        voted = new > 0
        new[s.own.silent & ~done], s.own.done = 1.0, done | s.own.silent
        before, s.own.alphas = s.own.alphas, s.own.alphas + new
        decays = np.ones(s.n_classes)
        if self.normalise == "sum_alpha":
            new, decays = new / s.own.alphas, before / s.own.alphas
        error, loss = errors[voted].mean(), np.exp(s.own.log_losses).mean()
        facts = {"error": error, "edge": 1 - 2 * error, "objective": loss, "classes": voted.sum()}
        over = Stop("perfect", "every class has a voter that makes no error") if s.own.done.all() else None
        return Step(float(new.mean()), facts, over, each=Each(new, decays))

    def shown(self, F: Array) -> Array:
        """Return the scores, or the logarithms of their links."""
        return log_expit(2.0 * F) if self.normalise == "probability" else F
