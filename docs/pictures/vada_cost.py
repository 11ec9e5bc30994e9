"""VadaBoost figure 2: cost against iterations, MNIST 3 against 8."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from real_tables import folder, stand_in

from boostlab import AdaBoostClassifier, EBBoostClassifier, VadaBoostClassifier
from boostlab.plots import costs


def digits(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    if quick:
        return stand_in()
    stored = np.load(folder() / "mnist_10k.npz")
    chosen = np.isin(stored["labels"], (3, 8))
    images, labels = stored["images"][chosen], stored["labels"][chosen]
    return images.reshape(len(images), -1)[::2], np.where(labels[::2] == 3, 1, -1)


def draw(quick: bool = False) -> plt.Figure:
    X, y = digits(quick)
    rounds = 20 if quick else 200
    models = {
        "AdaBoost (squared)": AdaBoostClassifier(n_estimators=rounds),
        "VadaBoost, λ = 0": VadaBoostClassifier(variance_penalty=0.0, n_estimators=rounds),
        "VadaBoost, λ = 0.5": VadaBoostClassifier(variance_penalty=0.5, n_estimators=rounds),
        "EBBoost, λ = 0.5": EBBoostClassifier(variance_penalty=0.5, n_estimators=rounds),
    }
    fitted = {name: model.fit(X, y) for name, model in models.items()}
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    costs(fitted, X, y, ax=left)
    costs(fitted, X, y, normalised=True, ax=right)
    return figure
