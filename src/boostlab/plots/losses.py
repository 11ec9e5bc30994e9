"""Pictures of formulas: loss functions, and VadaBoost's bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostlab.plots.style import canvas, legend, look, tidy
from boostlab.theory.variance import vada_U, vada_V


def loss_functions(rho: float = 4.0, *, limits: tuple[float, float] = (-2.0, 2.0), ax: Any = None) -> Any:
    """Draw loss functions of the margin y F: 0/1, exponential, logistic, hinge, quadratic, AR-Boost's.

    AR-Boost's exp(-y F - λ|y - h|) is drawn for a voter h that agrees with F: it is the exponential loss for positive
    margins and 1/ρ of it for negative ones.

    Parameters
    ----------
    rho : float, default=4.0
        AR-Boost's ρ, at least 1.
    limits : pair of floats, default=(-2, 2)
        Range of the margin.
    ax : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import plots
    >>> axes = plots.loss_functions(rho=4)
    >>> len(axes.get_lines()) > 3
    True
    >>> plt.close()
    """
    if not rho >= 1:
        raise ValueError(f"rho={rho!r} is not possible; it must be at least 1.")
    ax = canvas(ax)
    v = np.unique(np.concatenate([np.linspace(*limits, 401), [-1e-9, 1e-9]]))
    curves = {
        "0/1": (v <= 0).astype(np.float64),
        "exponential (AdaBoost)": np.exp(-v),
        "logistic (LogitBoost)": np.log1p(np.exp(-2 * v)) / np.log(2),
        "hinge (LPBoost)": np.maximum(1 - v, 0),
        "quadratic (QuadBoost)": (1 - v) ** 2,
        f"AR-Boost, ρ = {rho:g}": np.where(v > 0, np.exp(-v), np.exp(-v) / rho),
    }
    for number, (name, curve) in enumerate(curves.items()):
        ax.plot(v, curve, label=name, **look(number, points=6))
    ax.set(xlabel="margin y F(x)", ylabel="loss", ylim=(0, 4), xlim=limits)
    legend(ax)
    tidy(ax)
    return ax


def variance_bound(
    w: Sequence[float] | Any,
    correct: Sequence[bool] | Any,
    lam: float,
    *,
    limits: tuple[float, float] = (-0.6, 0.8),
    ax: Any = None,
) -> Any:
    """Draw VadaBoost's cost V and its bound U against the step α (VadaBoost's figure 1), with both minima.

    Parameters
    ----------
    w : array-like of shape (n,)
        Weights of the rows.
    correct : array-like of shape (n,)
        Truth values: where the voter is right.
    lam : float in [0, 1]
        λ.
    limits : pair of floats, default=(-0.6, 0.8)
        Range of the step.
    ax : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import plots
    >>> axes = plots.variance_bound([0.4, 0.3, 0.3], [True, True, False], 0.5)
    >>> plt.close()
    """
    ax = canvas(ax)
    alpha = np.linspace(*limits, 201)
    for number, (name, f) in enumerate({"bound U": vada_U, "cost V": vada_V}.items()):
        curve = f(alpha, w, lam, correct).value
        ax.plot(alpha, curve, label=name, **look(number + 1, points=6))
        least = int(np.argmin(curve))
        ax.plot(alpha[least], curve[least], linestyle="", marker="*", markersize=12, color=look(number + 1)["color"])
    ax.set(xlabel="step α", ylabel="relative cost", title=f"λ = {lam:g}", xlim=limits)
    legend(ax)
    tidy(ax)
    return ax
