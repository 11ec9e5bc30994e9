"""AR-Boost figure 3: Pima diabetes, five-fold error over ρ, and the errors over rounds at ρ = 4."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy
from real_tables import binary
from sklearn.model_selection import StratifiedKFold, cross_val_score

from boostlab import ARBoostClassifier
from boostlab.plots import learning_curves


def draw(quick: bool = False) -> plt.Figure:
    X, y = binary("pima", quick)
    n, rounds = len(y) // 2, 15 if quick else 100
    grid = (1, 2, 4) if quick else (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    ways = {
        "stumps, weighted rows": dict(resample=False),
        "stumps, drawn rows": dict(resample=True),
        "trees of 32 leaves, drawn rows": dict(max_leaf_nodes=32, resample=True),
    }
    for number, (name, way) in enumerate(ways.items()):
        curve = []
        for rho in grid:
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            model = ARBoostClassifier(rho=rho, n_estimators=rounds, random_state=0, n_jobs=1, **way)
            curve.append(100 * (1 - cross_val_score(model, X[:n], y[:n], cv=folds)))
        left.errorbar(
            grid,
            np.mean(curve, axis=1),
            np.std(curve, axis=1, ddof=1) / np.sqrt(5),
            capsize=2,
            label=name,
            **look(number),
        )
        if not quick or number == 0:
            chosen = ARBoostClassifier(rho="cv_soft_margin", n_estimators=1, random_state=0, **way).fit(X[:n], y[:n])
            soft = chosen.rho_curve_
            middle.plot(soft["rho"], 100 * soft["soft_margin_error"], label=name, **look(number))
    left.set(xlabel="ρ", ylabel="five-fold error, %", ylim=(0, None))
    left.legend(frameon=False, loc="lower right")
    middle.set(xlabel="ρ", ylabel="five-fold soft-margin error, %", ylim=(0, None))
    tidy(left, middle)
    model = ARBoostClassifier(rho=4, max_leaf_nodes=32, resample=True, n_estimators=rounds, random_state=0).fit(
        X[:n], y[:n]
    )
    learning_curves(model, X[:n], y[:n], X[n:], y[n:], measures=["error"], ax=right)
    right.set(title="ρ = 4, trees of 32 leaves, drawn rows", xscale="linear")
    return figure
