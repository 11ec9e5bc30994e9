"""The losses of the statistical view as functions of the margin, and the weights that they give an example."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy
from scipy.special import expit


def draw(quick: bool = False) -> plt.Figure:
    v = np.linspace(-2.5, 2.5, 26 if quick else 501)
    bump = np.exp(-((v + 0.3) ** 2) / 0.6)
    losses = {
        "exponential: AdaBoost, Real, Gentle": (np.exp(-v), np.exp(-v)),
        "ln(1 + exp(−2v)): LogitBoost": (np.logaddexp(0, -2 * v) / np.log(2), 2 * expit(-2 * v)),
        "ln(1 + exp(−v)): FilterBoost": (np.logaddexp(0, -v) / np.log(2), 2 * expit(-v)),
        "(1 − v)²: L2Boost, QuadBoost": ((1 - v) ** 2, 1 - v),
        "MadaBoost": (np.where(v > 0, np.exp(-np.maximum(v, 0)), 1 - v), np.exp(-np.maximum(v, 0))),
        "BrownBoost, half-way": (_brown(v), bump / np.exp(-(0.3**2) / 0.6)),
        "error": ((v <= 0).astype(float), None),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for number, (name, (loss, weight)) in enumerate(losses.items()):
        left.plot(v, loss, label=name, **look(number, points=6))
        if weight is not None:
            right.plot(v, weight, **look(number, points=6))
    left.set(xlabel="margin v = y F(x)", ylabel="loss, 1 at v = 0", xlim=(-2.5, 2.5), ylim=(0, 5))
    right.set(xlabel="margin v = y F(x)", ylabel="weight, 1 at v = 0", xlim=(-2.5, 2.5), ylim=(-1.6, 5))
    right.axhline(0, color="0.6", lw=0.8, zorder=0)
    left.legend(frameon=False, fontsize=8)
    tidy(left, right)
    return figure


def _brown(v: np.ndarray) -> np.ndarray:
    """Return the potential for c = 0.6 with half of the time left, 1 at v = 0."""
    from scipy.special import erfc

    return erfc((v + 0.3) / np.sqrt(0.6)) / erfc(0.3 / np.sqrt(0.6))
