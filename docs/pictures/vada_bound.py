"""VadaBoost figure 1: the cost V of a step and the bound U on it, at two penalties."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from boostlab.plots import variance_bound


def draw(quick: bool = False) -> plt.Figure:
    rng = np.random.default_rng(0)
    w, correct = rng.dirichlet(np.ones(100)), np.arange(100) < 70
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for ax, lam in zip(axes, (0.0, 0.9), strict=True):
        variance_bound(w, correct, lam, ax=ax)
    return figure
