"""AR-Boost figure 2: loss functions compared."""

from __future__ import annotations

import matplotlib.pyplot as plt

from boostlab.plots import loss_functions


def draw(quick: bool = False) -> plt.Figure:
    return loss_functions(rho=4).figure
