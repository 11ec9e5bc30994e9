"""Textbook figure 2.8: AdaBoost and arc-gv on clean1: the depth of their trees, and their margins with stumps."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy
from real_tables import binary

from boostlab import AdaBoostClassifier, ArcGVClassifier
from boostlab.plots import margin_distribution


def draw(quick: bool = False) -> plt.Figure:
    X, y = binary("musk1", quick)
    rounds = 15 if quick else 500
    kinds = {"AdaBoost": AdaBoostClassifier, "arc-gv": ArcGVClassifier}
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for number, (name, kind) in enumerate(kinds.items()):
        model = kind(max_leaf_nodes=16, n_estimators=rounds).fit(X, y)
        depth = np.cumsum([tree.depth for tree in model.estimators_])
        left.plot(np.arange(1, len(depth) + 1), depth, label=name, **look(number, points=6))
    left.set(xlabel="rounds", ylabel="cumulative depth of trees of 16 leaves")
    left.legend(frameon=False)
    tidy(left)
    models = {name: kind(n_estimators=rounds).fit(X, y) for name, kind in kinds.items()}
    margin_distribution({f"{name}, stumps": model for name, model in models.items()}, X, y, ax=right)
    right.set_xlim(-0.1, 0.4)
    return figure
