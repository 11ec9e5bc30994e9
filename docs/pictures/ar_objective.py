"""AR-Boost figure 4: the objective of a step against α for voters of many errors, ρ = 6."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import GREY, look, tidy


def draw(quick: bool = False) -> plt.Figure:
    rho = 6.0
    alpha = np.linspace(-0.5, 3.0, 200)
    figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
    for number, error in enumerate((0.1, 0.25, 0.4, 0.5, 0.65, 0.8)):
        allowed = "below 1/2" if error < 0.5 else "1/2 or more"
        shown = look(number, points=7)
        ax.plot(
            alpha,
            (1 - error) * np.exp(-alpha) + error * np.exp(alpha) / rho,
            label=f"ε = {error:g} ({allowed})",
            **shown,
        )
        best = 0.5 * np.log(rho * (1 - error) / error)
        ax.plot(best, 2 * np.sqrt(error * (1 - error) / rho), marker="*", markersize=13, color=shown["color"])
    ax.annotate("★ minimum", (0.03, 0.05), xycoords="axes fraction", color=GREY, fontsize=9)
    ax.set(xlabel="coefficient α", ylabel="(1 - ε) exp(-α) + ε exp(α) / ρ", ylim=(0, 2), xlim=(-0.5, 3))
    ax.legend(frameon=False, fontsize=9, ncols=2)
    tidy(ax)
    return figure
