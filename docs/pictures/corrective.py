"""What corrective boosters have reached after every round, and what they know they can still gain."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy

from boostlab import ERLPBoostClassifier, LPBoostClassifier, SoftBoostClassifier, TotalBoostClassifier
from boostlab.datasets import flip_labels, twonorm


def draw(quick: bool = False) -> plt.Figure:
    n, tol = (60, 0.05) if quick else (300, 0.01)
    X, y = twonorm(n, random_state=1)
    noisy = flip_labels(y, 0.1, random_state=1)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=False)
    soft = {
        "LPBoost": LPBoostClassifier(nu=0.2),
        "ERLPBoost": ERLPBoostClassifier(nu=0.2, tol=tol),
        "SoftBoost": SoftBoostClassifier(nu=0.2, tol=tol),
    }
    hard = {
        "LPBoost": LPBoostClassifier(nu=1 / n),
        "ERLPBoost": ERLPBoostClassifier(nu=1 / n, tol=tol),
        "TotalBoost": TotalBoostClassifier(tol=tol),
    }
    looks = dict(zip(("LPBoost", "ERLPBoost", "SoftBoost", "TotalBoost"), range(4), strict=True))
    panels = [("soft margin, ν = 0.2, 10 % of the labels flipped", noisy, soft), ("hard margin, clean labels", y, hard)]
    for axis, (title, labels, models) in zip(axes, panels, strict=True):
        for name, model in models.items():
            model.fit(X, labels)
            reached = model.history_["objective"]
            rounds = np.arange(1, len(reached) + 1)
            axis.plot(rounds, reached, label=f"{name}, {len(reached)} rounds", **look(looks[name], points=6))
        best = models["LPBoost"].history_["objective"][-1]
        axis.axhline(best, color="0.6", lw=1)
        axis.set(title=title, xlabel="rounds", ylabel="objective", xlim=(0, None), ylim=(best - 0.3, best + 0.05))
        axis.title.set_fontsize(10)
        axis.legend(frameon=False, loc="lower right")
    tidy(*axes)
    return figure
