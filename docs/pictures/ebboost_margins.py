"""EBBoost's slides: margin distributions of AdaBoost, EBBoost and soft-margin boosting, stopped by validation."""

from __future__ import annotations

import matplotlib.pyplot as plt
from real_tables import binary

from boostlab import AdaBoostClassifier, EBBoostClassifier, SoftMarginBoostClassifier
from boostlab.plots import margin_distribution
from boostlab.theory import margin_table


def draw(quick: bool = False) -> plt.Figure:
    figure, axes = plt.subplots(1 if quick else 2, 2, figsize=(9, 6.8), layout="constrained", sharey=True)
    for ax, name in zip(axes.ravel(), ("a5a", "spambase", "waveform_ida", "twonorm"), strict=False):
        X, y = binary(name, quick)
        n, most = len(y) // 4, 20 if quick else 300
        limits = dict(n_estimators=most, early_stopping=True, n_iter_no_change=50)
        models = {
            "AdaBoost": AdaBoostClassifier(**limits),
            "EBBoost, λ = 0.5": EBBoostClassifier(variance_penalty=0.5, **limits),
            "AdaBoost_Reg": SoftMarginBoostClassifier(C=0.1, **limits),
        }
        train, validation = slice(2 * n), slice(2 * n, 3 * n)
        for model in models.values():
            model.fit(X[train], y[train], X_val=X[validation], y_val=y[validation])
        table = margin_table(models, X[train], y[train])
        shown = {f"{row['model']}: {row['mean']:.2f} ± {row['sd']:.2f}": models[row["model"]] for row in table}
        margin_distribution(shown, X[train], y[train], ax=ax)
        ax.set(title=name, xlim=(-0.6, 1))
        ax.legend(frameon=False, fontsize=8.5, title="mean ± sd of the margin", title_fontsize=8.5, loc="lower right")
    return figure
