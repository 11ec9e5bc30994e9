"""Test error against rounds on twonorm, with clean and with flipped training labels."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy

from boostlab import AdaBoostClassifier, BrownBoostClassifier, LogitBoostClassifier, QuadBoostClassifier
from boostlab.datasets import flip_labels, twonorm


def draw(quick: bool = False) -> plt.Figure:
    rounds, repeats, noise = (20, 1, 0.2) if quick else (400, 10, 0.2)
    boosters = {
        "AdaBoost": AdaBoostClassifier(n_estimators=rounds),
        "LogitBoost": LogitBoostClassifier(n_estimators=rounds),
        "QuadBoost (L2)": QuadBoostClassifier(regularizer="l2", strength=4, n_estimators=rounds),
        "BrownBoost": BrownBoostClassifier(target_error=0.25, n_estimators=rounds),
    }
    X_test, y_test = twonorm(500 if quick else 10_000, random_state=99)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for axis, share in zip(axes, (0.0, noise), strict=True):
        for number, (name, model) in enumerate(boosters.items()):
            errors = np.empty((repeats, rounds))
            for r in range(repeats):
                X, y = twonorm(400, random_state=r)
                model.fit(X, flip_labels(y, share, random_state=r))
                curve = [np.mean(p != y_test) for p in model.staged_predict(X_test)]
                errors[r] = np.append(curve, np.full(rounds - len(curve), curve[-1]))  # a stopped booster stays put
            axis.plot(np.arange(1, rounds + 1), 100 * errors.mean(axis=0), label=name, **look(number, points=6))
        axis.set(xscale="log", xlabel="rounds", title=f"{share:.0%} of the training labels flipped", xlim=(1, rounds))
    axes[0].set(ylabel="test error, %", ylim=(0, None))
    axes[1].legend(frameon=False)
    tidy(axes)
    return figure
