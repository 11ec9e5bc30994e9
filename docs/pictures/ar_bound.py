"""AR-Boost figure 6: the bound on the training error against the goodness γ of the voters, for many ρ."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy

from boostlab.theory import arboost_training_error


def draw(quick: bool = False) -> plt.Figure:
    rounds = 20
    figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
    for number, rho in enumerate((1.0, 1.5, 2.0, 4.0, 8.0)):
        limit = rho / (rho + 1)
        gamma = np.linspace(0.0, limit, 120)
        bound = [arboost_training_error([limit - g] * rounds, rho).terms["exponential"] for g in gamma]
        name = f"ρ = {rho:g}" + (" (AdaBoost)" if rho == 1 else "")
        ax.plot(gamma, bound, label=name, **look(number, points=7))
    ax.axhline(1.0, color="grey", lw=0.9, linestyle=(0, (1, 3)))
    ax.set(xlabel="goodness γ = ρ / (ρ + 1) - ε", ylabel=f"bound after {rounds} rounds", yscale="log", ylim=(1e-6, 1e4))
    ax.legend(frameon=False, fontsize=9)
    tidy(ax)
    return figure
