"""AR-Boost figure 1: boundaries of AR-Boost and AdaBoost on noisy training rows, and on test rows."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from boostlab import ARBoostClassifier, DecisionStump
from boostlab.datasets import flip_labels
from boostlab.plots import decision_boundary


def clouds(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    return rng.normal(size=(n, 2)) + 1.2 * y[:, None], y


def draw(quick: bool = False) -> plt.Figure:
    X, clean = clouds(150, 0)
    y = flip_labels(clean, 0.1, random_state=0)
    X_test, y_test = clouds(150, 1)
    many, truth = clouds(1000 if quick else 20_000, 2)
    figure, axes = plt.subplots(2, 2, figsize=(8, 6.6), layout="constrained", sharex=True, sharey=True)
    for column, (name, rho) in enumerate({"AR-Boost, ρ = 1.5": 1.5, "AdaBoost": 1.0}.items()):
        stump = DecisionStump(polarity="+")
        model = ARBoostClassifier(stump, rho=rho, resample=True, n_estimators=60, random_state=0).fit(X, y)
        for row, (rows, labels, where) in enumerate([(X, y, "training"), (X_test, y_test, "test")]):
            ax = axes[row, column]
            decision_boundary(model, rows, labels, resolution=60 if quick else 300, ax=ax)
            error = np.mean(model.predict(X) != y) if row == 0 else np.mean(model.predict(many) != truth)
            ax.set_title(f"{name}: {error:.1%} {where} error")
    return figure
