"""What the variance penalty does to the losses, and what it does to the test error when labels are noisy."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy

from boostlab import EBBoostClassifier, VadaBoostClassifier
from boostlab.datasets import flip_labels, twonorm


def draw(quick: bool = False) -> plt.Figure:
    rounds, repeats = (10, 1) if quick else (100, 10)
    X_test, y_test = twonorm(500 if quick else 10_000, random_state=99)
    samples = []
    for r in range(repeats):
        X, y = twonorm(400, random_state=r)
        samples.append((X, flip_labels(y, 0.2, random_state=r)))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")

    for number, penalty in enumerate((0.0, 0.5, 2.0, 10.0)):
        spread = np.empty((repeats, rounds))
        for r, (X, y) in enumerate(samples):
            model = VadaBoostClassifier(variance_penalty=penalty, step="exact", n_estimators=rounds).fit(X, y)
            for t, F in enumerate(model.staged_decision_function(X)):
                losses = np.exp(-y * F)
                spread[r, t] = losses.std() / losses.mean()
        name = f"λ = {penalty:g}" + (" (AdaBoost)" if penalty == 0 else "")
        left.plot(np.arange(1, rounds + 1), spread.mean(axis=0), label=name, **look(number, every=20))
    left.set(xlabel="rounds", ylabel="standard deviation / mean of the losses", xlim=(0, rounds), ylim=(0, 1.25))
    left.set_title("the penalty at work (exact step)")
    left.legend(frameon=False, ncols=2)

    grid = [0.0, 0.5, 1.0, 10.0] if quick else [0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0, 2.0, 5.0, 10.0]
    forms = {
        "VadaBoost, step='bound'": lambda p: VadaBoostClassifier(variance_penalty=p, n_estimators=rounds),
        "VadaBoost, step='exact'": lambda p: VadaBoostClassifier(variance_penalty=p, step="exact", n_estimators=rounds),
        "EBBoost": lambda p: EBBoostClassifier(variance_penalty=p, n_estimators=rounds),
    }
    for number, (name, make) in enumerate(forms.items()):
        possible = [p for p in grid if p <= 1 or "bound" not in name]
        errors = [np.mean([np.mean(make(p).fit(X, y).predict(X_test) != y_test) for X, y in samples]) for p in possible]
        right.plot(possible, 100 * np.array(errors), label=name, **look(number))
    right.set_xscale("symlog", linthresh=1)
    right.set(xlabel="λ (linear up to 1)", ylabel="test error, %", xlim=(0, 10), xticks=[0, 0.5, 1, 2, 5, 10])
    right.set_xticklabels(["0", "½", "1", "2", "5", "10"])
    right.set_title(f"after {rounds} rounds, 20 % of the labels flipped")
    right.legend(frameon=False)
    tidy(left, right)
    return figure
