"""Voters that name a class: what SAMME accepts and AdaBoost.M1 does not, and where both lead."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from boostlab import AdaBoostM1Classifier, SAMMEClassifier


def draw(quick: bool = False) -> plt.Figure:
    rounds = 15 if quick else 150
    X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)
    cases = {
        "SAMME, 8 leaves": SAMMEClassifier(max_leaf_nodes=8, n_estimators=rounds),
        "AdaBoost.M1, 8 leaves": AdaBoostM1Classifier(max_leaf_nodes=8, n_estimators=rounds),
        "AdaBoost.M1, 32 leaves": AdaBoostM1Classifier(max_leaf_nodes=32, n_estimators=rounds),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for number, (name, model) in enumerate(cases.items()):
        model.fit(X, y)
        shown = look(number, every=20)
        t = np.arange(1, model.n_estimators_ + 1)
        left.plot(t, model.history_["error"], label=name, **shown)
        right.plot(t, [100 * np.mean(p != y_test) for p in model.staged_predict(X_test)], label=name, **shown)
    for limit, text in ((0.5, "1/2: AdaBoost.M1 stops"), (0.9, "(K-1)/K: SAMME stops")):
        left.axhline(limit, color="grey", lw=1, linestyle="--")
        left.annotate(text, (rounds, limit), ha="right", va="bottom", color="#555555", fontsize=9)
    left.set(xlabel="round", ylabel="weighted error of the voter", ylim=(0, 1))
    right.set(xlabel="round", ylabel="test error in percent", ylim=(0, 60))
    right.legend(frameon=False)
    tidy(left, right)
    return figure
