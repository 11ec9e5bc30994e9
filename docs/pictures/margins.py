"""How close margin-maximising boosters come to the largest minimum margin, and the margins at the end."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy

from boostlab import AdaBoostClassifier, ArcGVClassifier, LPBoostClassifier
from boostlab.datasets import twonorm


def draw(quick: bool = False) -> plt.Figure:
    n, rounds = (30, 40) if quick else (60, 3000)
    X, y = twonorm(n, random_state=1)
    X_test, y_test = twonorm(10_000, random_state=99)
    hard = LPBoostClassifier(nu=1 / n, tol=1e-9).fit(X, y)
    largest = hard.history_["objective"][-1]  # beta*: no vote of stumps has a larger minimum margin
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")

    stepwise = {
        "AdaBoost": AdaBoostClassifier(n_estimators=rounds),
        "arc-gv": ArcGVClassifier(n_estimators=rounds),
        "AdaBoost*, ν = 0.02": ArcGVClassifier(target="smallest_edge", accuracy=0.02, n_estimators=rounds),
    }
    for number, (name, model) in enumerate(stepwise.items()):
        model.fit(X, y)
        sums = np.cumsum(model.estimator_weights_)
        least = [(y * F).min() / S for F, S in zip(model.staged_decision_function(X), sums, strict=True)]
        left.plot(np.arange(1, len(least) + 1), largest - np.array(least), label=name, **look(number, points=5))
    left.axvline(hard.n_estimators_, color=look(3)["color"], linestyle=look(3)["linestyle"], lw=1.5)
    left.annotate(f"LPBoost arrives\n(round {hard.n_estimators_})", (hard.n_estimators_, 1.05), ha="left", fontsize=9)
    left.set(xscale="log", yscale="log", xlabel="rounds", ylabel="β* - minimum margin", xlim=(1, rounds))
    left.legend(frameon=False, loc="lower left")

    ends = {name: model for name, model in stepwise.items() if "*" not in name}
    ends |= {"LPBoost, hard margin": hard, "LPBoost, ν = 0.2": LPBoostClassifier(nu=0.2).fit(X, y)}
    looks = dict(zip(ends, (0, 1, 3, 4), strict=True))
    for name, model in ends.items():
        margins = np.sort(model.margins(X, y))
        error = np.mean(model.predict(X_test) != y_test)
        shares = np.arange(1, n + 1) / n
        right.step(margins, shares, where="post", label=f"{name}: {error:.1%}", **look(looks[name], every=8))
    right.set(xlabel="margin of a training row", ylabel="share of the rows", ylim=(0, 1))
    right.legend(frameon=False, title="test error", loc="lower right")
    tidy(left, right)
    return figure
