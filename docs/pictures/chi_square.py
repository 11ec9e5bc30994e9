"""AR-Boost figure 5: errors, voters' errors and coefficients on the chi-square spheres, with one-sided stumps."""

from __future__ import annotations

import matplotlib.pyplot as plt

from boostlab import ARBoostClassifier, DecisionStump
from boostlab.datasets import chi2_spheres
from boostlab.plots import learning_curves, round_facts


def draw(quick: bool = False) -> plt.Figure:
    rounds = 20 if quick else 100
    X, y = chi2_spheres(2000, random_state=0)
    X_test, y_test = chi2_spheres(500 if quick else 10_000, random_state=99)
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.2), layout="constrained")
    for row, (name, rho) in zip(axes, {"AdaBoost": 1.0, "AR-Boost, ρ = 5": 5.0}.items(), strict=True):
        stump = DecisionStump(polarity="+")
        model = ARBoostClassifier(stump, rho=rho, resample=True, n_estimators=rounds, random_state=0).fit(X, y)
        learning_curves(model, X, y, X_test, y_test, measures=["error"], ax=row[0])
        row[0].set_title(name)
        row[0].set(ylim=(0.2, 0.6), xscale="linear")
        round_facts(model, ["error"], ax=row[1])
        round_facts(model, ["alpha"], ax=row[2])
    return figure
