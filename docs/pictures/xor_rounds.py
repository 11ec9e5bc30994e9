"""Textbook figure 2.3: three rounds of AdaBoost on the XOR problem, with the scores of the nine areas."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostClassifier, VoterPool
from boostlab.datasets import xor
from boostlab.plots import decision_boundary


def basis(feature, cut, above):
    """One of the eight functions of figure 2.4: `above` where the feature exceeds the cut, else -above."""
    return lambda X: np.where(X[:, feature] > cut, above, -above).astype(float)


def draw(quick: bool = False) -> plt.Figure:
    X, y = xor()
    pool = VoterPool([basis(j, cut, up) for j in (0, 1) for cut in (-0.5, 0.5) for up in (1, -1)], complements=False)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
    centres = np.array([(a, b) for a in (-0.85, 0.0, 0.85) for b in (-0.85, 0.0, 0.85)])
    for rounds, ax in enumerate(axes, start=1):
        model = AdaBoostClassifier(pool, n_estimators=rounds).fit(X, y)
        decision_boundary(model, X, y, voters=True, resolution=60 if quick else 300, ax=ax)
        for (a, b), score in zip(centres, model.decision_function(centres), strict=True):
            ax.annotate(f"{score:+.2f}", (a, b - 0.06), ha="center", va="top", fontsize=9)
        ax.get_legend().remove()
        ax.set_title(f"{rounds} round{'s' if rounds > 1 else ''}")
    return figure
