"""VadaBoost for several classes beside SAMME: the cost, and the test error with and without label noise."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy
from real_tables import table
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from boostlab import SAMMEClassifier, VadaBoostClassifier
from boostlab.datasets import flip_labels


def cost(scores: np.ndarray, y: np.ndarray, penalty: float = 0.5) -> float:
    """Return the squared mean of SAMME's losses plus the penalty times their variance."""
    K = scores.shape[1]
    e = np.exp(-scores[np.arange(len(y)), y] * (K - 1) / K)
    return float(e.mean() ** 2 + penalty * e.var())


def draw(quick: bool = False) -> plt.Figure:
    rounds, repeats = (10, 1) if quick else (100, 5)
    X, names = load_wine(return_X_y=True) if quick else table("segmentation")[:2]
    y = np.unique(names, return_inverse=True)[1]
    shared = dict(max_leaf_nodes=3 if quick else 8, n_estimators=rounds)
    cases = {
        "SAMME": SAMMEClassifier(**shared),
        "VadaBoost, bound, λ = 0.1": VadaBoostClassifier(variance_penalty=0.1, **shared),
        "VadaBoost, bound, λ = 0.5": VadaBoostClassifier(variance_penalty=0.5, **shared),
        "VadaBoost, exact, λ = 0.5": VadaBoostClassifier(variance_penalty=0.5, step="exact", **shared),
    }
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    t = np.arange(1, rounds + 1)
    for number, (name, model) in enumerate(cases.items()):
        errors, costs = np.zeros((2, rounds)), np.zeros(rounds)
        for r in range(repeats):
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=r)
            for row, share in zip(errors, (0.0, 0.2), strict=True):
                said = flip_labels(y_train, share, random_state=r)
                model.fit(X_train, said)
                row += [100 * np.mean(p != y_test) / repeats for p in model.staged_predict(X_test)]
            if r == 0:
                costs[:] = [cost(F, said) for F in model.staged_decision_function(X_train)]
        shown = look(number, every=20)
        if "0.1" not in name:
            left.plot(t, costs, label=name, **shown)
        middle.plot(t, errors[0], label=name, **shown)
        right.plot(t, errors[1], label=name, **shown)
    left.set(xlabel="round", ylabel="mean² + ½ variance of the losses", yscale="log")
    left.set_title("the cost for λ = ½, labels flipped")
    for axes, title in ((middle, "clean labels"), (right, "20 % of the training labels flipped")):
        axes.set(xlabel="round", ylabel="test error, %", ylim=(0, 20))
        axes.set_title(title)
    right.legend(frameon=False)
    tidy(left, middle, right)
    return figure
