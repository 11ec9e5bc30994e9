"""Textbook figure 2.7: errors and margins on letter, long after the training error is zero."""

from __future__ import annotations

import matplotlib.pyplot as plt
from real_tables import binary

from boostlab import AdaBoostClassifier
from boostlab.plots import learning_curves, margin_rounds


def draw(quick: bool = False) -> plt.Figure:
    rounds, marks = (30, (2, 10, 30)) if quick else (1000, (5, 100, 1000))
    X, y = binary("letter", quick, positive=list("ABCDEFGHIJKLM"))
    n = len(y) // 2 if quick else 4000
    model = AdaBoostClassifier(max_leaf_nodes=2 if quick else 32, n_estimators=rounds).fit(X[:n], y[:n])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    learning_curves(model, X[:n], y[:n], X[n:], y[n:], measures=["error"], ax=left)
    margin_rounds(model, X[:n], y[:n], [t for t in marks if t <= model.n_estimators_], ax=right)
    return figure
