"""AR-Boost on the chi-square spheres: voters wrong on more than one half of the weight, and where that leads."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import LOOKS, look, tidy

from boostlab import ARBoostClassifier, DecisionStump
from boostlab.datasets import chi2_spheres


def draw(quick: bool = False) -> plt.Figure:
    rounds, repeats = (20, 1) if quick else (150, 10)
    X, y = chi2_spheres(2000, random_state=0)
    X_test, y_test = chi2_spheres(500 if quick else 10_000, random_state=99)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")

    cases = {
        "one polarity, drawn rows, ρ = 1.2": (DecisionStump(polarity="+"), 1.2, True),
        "both polarities, weighted rows, ρ = 2": (None, 2.0, False),
    }
    for number, (name, (stump, rho, drawn)) in enumerate(cases.items()):
        model = ARBoostClassifier(stump, rho=rho, resample=drawn, n_estimators=rounds, random_state=0).fit(X, y)
        colour, _, marker = LOOKS[2 * number]
        errors = model.history_["error"]
        left.plot(
            np.arange(1, len(errors) + 1), errors, linestyle="", marker=marker, markersize=3.5, color=colour, label=name
        )
    left.axhline(0.5, color="grey", lw=1, linestyle="--")
    left.annotate("1/2: AdaBoost stops here", (0.55 * rounds, 0.5), ha="left", va="bottom", color="#555555", fontsize=9)
    left.set(xlabel="round", ylabel="weighted error of the voter", ylim=(0.3, 0.6), xlim=(0, rounds))
    left.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.12))

    for number, rho in enumerate((1.0, 1.2, 2.0)):
        curves = np.empty((repeats, rounds))
        for r in range(repeats):
            sample = chi2_spheres(2000, random_state=r)
            model = ARBoostClassifier(DecisionStump(polarity="+"), rho=rho, n_estimators=rounds).fit(*sample)
            curve = [np.mean(p != y_test) for p in model.staged_predict(X_test)]
            curves[r] = np.append(curve, np.full(rounds - len(curve), curve[-1]))
        name = f"ρ = {rho:g}" + (" (AdaBoost)" if rho == 1 else "")
        right.plot(np.arange(1, rounds + 1), 100 * curves.mean(axis=0), label=name, **look(number, every=25))
    right.set(xlabel="rounds", ylabel="test error, %", xlim=(0, rounds), title="stumps of one polarity, weighted rows")
    right.legend(frameon=False)
    tidy(left, right)
    return figure
