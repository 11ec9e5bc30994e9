"""The regularised relatives of AdaBoost on noisy labels: test error against rounds."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy

from boostlab import AdaBoostClassifier, L1BoostClassifier, SoftMarginBoostClassifier, WeightBoostClassifier
from boostlab.datasets import flip_labels, twonorm


def draw(quick: bool = False) -> plt.Figure:
    rounds, repeats = (20, 1) if quick else (400, 10)
    boosters = {
        "AdaBoost": AdaBoostClassifier(),
        "ε-boost, learning_rate = 0.1": AdaBoostClassifier(learning_rate=0.1),
        "ε-boost, fixed_step = 0.01": AdaBoostClassifier(fixed_step=0.01),
        "L1Boost, β = 0.1": L1BoostClassifier(beta=0.1),
        "L1Boost additive, β = 0.1": L1BoostClassifier(beta=0.1, penalty="additive"),
        "WeightBoost, β = 0.5": WeightBoostClassifier(),
        "SoftMarginBoost, C = 0.1": SoftMarginBoostClassifier(C=0.1),
    }
    X_test, y_test = twonorm(500 if quick else 10_000, random_state=99)
    figure, axis = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for number, (name, model) in enumerate(boosters.items()):
        errors = np.empty((repeats, rounds))
        for r in range(repeats):
            X, y = twonorm(400, random_state=r)
            model.set_params(n_estimators=rounds).fit(X, flip_labels(y, 0.2, random_state=r))
            curve = [np.mean(p != y_test) for p in model.staged_predict(X_test)]
            errors[r] = np.append(curve, np.full(rounds - len(curve), curve[-1]))  # a stopped booster stays put
        axis.plot(np.arange(1, rounds + 1), 100 * errors.mean(axis=0), label=name, **look(number, points=6))
    axis.set(xscale="log", xlabel="rounds", ylabel="test error, %", xlim=(1, rounds), ylim=(0, None))
    axis.set_title("twonorm, 20 % of the training labels flipped")
    axis.legend(frameon=False)
    tidy(axis)
    return figure
