"""Draw the pictures of the documentation:  make docs."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostClassifier, BrownBoostClassifier, LogitBoostClassifier, QuadBoostClassifier
from boostlab.datasets import flip_labels, twonorm

HERE = Path(__file__).parent / "pictures"

# Okabe and Ito's colours, which colour-blind readers can tell apart; line styles say the same thing again.
STYLES = {
    "AdaBoost": ("#D55E00", "-"),
    "LogitBoost": ("#0072B2", "--"),
    "QuadBoost (L2)": ("#009E73", "-."),
    "BrownBoost": ("#000000", ":"),
}


def noisy_labels(rounds: int = 400, repeats: int = 10, noise: float = 0.2) -> plt.Figure:
    """Test error against rounds on twonorm, with clean and with flipped training labels."""
    boosters = {
        "AdaBoost": AdaBoostClassifier(n_estimators=rounds),
        "LogitBoost": LogitBoostClassifier(n_estimators=rounds),
        "QuadBoost (L2)": QuadBoostClassifier(regularizer="l2", strength=4, n_estimators=rounds),
        "BrownBoost": BrownBoostClassifier(target_error=0.25, n_estimators=rounds),
    }
    X_test, y_test = twonorm(10_000, random_state=99)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for axis, share in zip(axes, (0.0, noise), strict=True):
        for name, model in boosters.items():
            errors = np.empty((repeats, rounds))
            for r in range(repeats):
                X, y = twonorm(400, random_state=r)
                model.fit(X, flip_labels(y, share, random_state=r))
                curve = [np.mean(p != y_test) for p in model.staged_predict(X_test)]
                errors[r] = np.append(curve, np.full(rounds - len(curve), curve[-1]))  # a stopped booster stays put
            colour, style = STYLES[name]
            axis.plot(np.arange(1, rounds + 1), 100 * errors.mean(axis=0), style, color=colour, label=name, lw=1.8)
        axis.set(xscale="log", xlabel="rounds", title=f"{share:.0%} of the training labels flipped", xlim=(1, rounds))
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set(ylabel="test error, %", ylim=(0, None))
    axes[1].legend(frameon=False)
    return figure


PICTURES = {"noisy_labels": noisy_labels}


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        figure = draw()
        figure.savefig(HERE / f"{name}.png", dpi=130)
        print(f"docs/pictures/{name}.png")


if __name__ == "__main__":
    main()
