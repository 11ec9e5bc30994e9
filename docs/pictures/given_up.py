"""Weights on flipped rows over the rounds, and the construction of Long & Servedio."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy

import boostlab as bl
from boostlab.datasets import flip_labels, long_servedio

BOOSTERS = {
    "AdaBoost": bl.AdaBoostClassifier(),
    "MadaBoost": bl.MadaBoostClassifier(),
    "FilterBoost": bl.FilterBoostClassifier(),
    "boost by majority": bl.BoostByMajorityClassifier(gamma=0.05, n_estimators=31),
    "BrownBoost": bl.BrownBoostClassifier(target_error=0.3),
    "RobustBoost": bl.RobustBoostClassifier(target_error=0.2),
}


def draw(quick: bool = False) -> plt.Figure:
    repeats = 1 if quick else 10
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
    time = np.linspace(0, 1, 101)
    for number, (name, model) in enumerate(BOOSTERS.items()):
        curves = [hopeless_weight(model, seed, time) for seed in range(repeats)]
        left.plot(time, np.mean(curves, axis=0), label=name, **look(number, points=8))
        model.set_params(callbacks=None)
        rounds = 30 if quick else 400
        errors = np.mean([errors_of(model, seed, rounds) for seed in range(repeats)], axis=0)
        right.plot(np.arange(1, rounds + 1), 100 * errors, label=name, **look(number, points=7))
    left.set(xlabel="share of the rounds that are over", ylabel="weight of a hopeless row, mean row = 1")
    left.set(xlim=(0, 1), ylim=(0, None), title="15 % of the labels flipped")
    right.set(xlabel="rounds", ylabel="test error, %", xscale="log", xlim=(1, None), ylim=(0, None))
    right.set_title("Long & Servedio, 10 % flipped")
    right.legend(frameon=False, loc="lower left")
    tidy(left, right)
    return figure


def hopeless_weight(model: Any, seed: int, time: np.ndarray) -> np.ndarray:
    """Return the mean weight of the flipped rows far inside the other class, over the time of training."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (5000, 3))
    depth = np.abs(X.sum(axis=1))
    X, depth = X[depth > 0.4][:800], depth[depth > 0.4][:800]
    y = X.sum(axis=1) > 0
    told = flip_labels(y, 0.15, random_state=seed)
    hopeless = (told != y) & (depth > np.median(depth[told != y]))
    rule, seen = model._rule(), [1.0]

    def look_on(s: Any) -> None:
        asked = rule.task(s)
        if not isinstance(asked, bl.Stop):
            seen.append(asked.weight[hopeless].mean() / asked.weight.mean())

    model.set_params(callbacks=look_on).fit(X, told)
    return np.interp(time, np.linspace(0, 1, len(seen)), seen)


def errors_of(model: Any, seed: int, rounds: int) -> np.ndarray:
    """Return the test error after every round on the construction; a booster that has ended stays put."""
    X, y = long_servedio(2000, random_state=seed)
    X_test, y_test = long_servedio(4000, random_state=1000 + seed)
    limit = 99 if isinstance(model, bl.BoostByMajorityClassifier) else rounds  # its plan
    fitted = type(model)(**{**model.get_params(deep=False), "n_estimators": limit})
    fitted.fit(X, flip_labels(y, 0.1, random_state=seed))
    curve = [np.mean(p != y_test) for p in fitted.staged_predict(X_test)][:rounds]
    return np.append(curve, np.full(rounds - len(curve), curve[-1]))
