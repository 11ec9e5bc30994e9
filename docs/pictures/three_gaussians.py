"""Textbook figure 2.5: one tree, AdaBoost of ten trees, and the ten trees, on three normal clouds."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostM2Classifier
from boostlab.datasets import three_gaussians
from boostlab.plots import decision_boundary


def draw(quick: bool = False) -> plt.Figure:
    X, y = three_gaussians(300, random_state=0)
    X_test, y_test = three_gaussians(1000 if quick else 20_000, random_state=1)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
    for ax, (name, rounds, voters) in zip(
        axes, [("one tree", 1, False), ("AdaBoost.M2, 10 trees", 10, False), ("with its trees", 10, True)], strict=True
    ):
        model = AdaBoostM2Classifier(max_leaf_nodes=8, n_estimators=rounds).fit(X, y)
        decision_boundary(model, X, y, voters=voters, resolution=60 if quick else 300, ax=ax)
        ax.set_title(f"{name}: {np.mean(model.predict(X_test) != y_test):.1%} test error")
    return figure
