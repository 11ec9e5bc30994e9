"""
A booster of your own
=====================

A booster is a rule (what the next voter looks at, how much its vote counts, when to stop) and an estimator that gives
it parameters.  This one is AdaBoost whose votes have a ceiling.  Stumps, trees, early stopping, several classes, staged
output and exact sums come with it; :doc:`/add_your_own_booster` explains every line.
"""

# %%
from dataclasses import dataclass
from math import log

import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostClassifier
from boostlab.boosters.base import BoostingClassifier
from boostlab.boosters.exponential import Exponential
from boostlab.boosters.params import number, param
from boostlab.boosters.registry import booster
from boostlab.contract import Rule, State
from boostlab.datasets import flip_labels, twonorm
from boostlab.plots import look, tidy


@dataclass(frozen=True)
class Capped(Exponential):
    """alpha = min(cap, (1/2) ln((1 - eps) / eps))."""

    cap: float = 0.1

    def vote(self, s: State, error: float) -> float:
        """Return the step of AdaBoost, or the cap."""
        return min(self.cap, 0.5 * log((1 - error) / error))


@booster("ours", "early voters should not be the loudest", family="variance_penalising")
@dataclass(eq=False, repr=False)
class CappedBoostClassifier(BoostingClassifier):
    """AdaBoost with a ceiling on the votes.

    Parameters
    ----------
    cap : float, default=0.1
        The largest coefficient.
    {shared}
    """

    cap: float = param(0.1, number(0, brackets="(]"))

    def _rule(self) -> Rule:
        return Capped(self.cap)


# %%
X, clean = twonorm(400, random_state=0)
y = flip_labels(clean, 0.2, random_state=0)
X_test, y_test = twonorm(3000, random_state=1)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
models = {"AdaBoost": AdaBoostClassifier(n_estimators=150), "capped": CappedBoostClassifier(n_estimators=150)}
for place, (name, model) in enumerate(models.items()):
    model.fit(X, y)
    errors = [100 * np.mean(said != y_test) for said in model.staged_predict(X_test)]
    axes.plot(np.arange(1, len(errors) + 1), errors, label=name, **look(place, points=6))
axes.set(xscale="log", xlabel="rounds", ylabel="test error, % (a fifth of the labels flipped)")
axes.legend(frameon=False)
tidy(axes)
