"""Pictures of many data sets: two algorithms against each other, and all of them by rank."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.plots.style import GREY, LOOKS, canvas


def error_scatter(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    names: tuple[str, str] = ("first", "second"),
    labels: Sequence[str] | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Draw the errors of two algorithms against each other, one point a data set (the textbook's figure 2.6).

    Points below the diagonal are data sets on which the second has the lower error.

    Parameters
    ----------
    first, second : array-like of shape (n_sets,)
        Errors, as shares or percentages.
    names : pair of str
        The algorithms.
    labels : sequence of str, optional
        The data sets, to be written beside the points.
    ax : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import plots
    >>> axes = plots.error_scatter([0.1, 0.2, 0.3], [0.2, 0.1, 0.3], ("stumps", "trees"))
    >>> axes.get_xlabel()
    'error of stumps'
    >>> plt.close()
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1 or not len(x):
        raise ValueError(f"Give two rows of errors of the same length; their shapes are {x.shape} and {y.shape}.")
    if not np.isfinite([x, y]).all():
        raise ValueError("Errors are missing; leave out data sets on which an algorithm was not measured.")
    if labels is not None and len(labels) != len(x):
        raise ValueError(f"labels must name each of the {len(x)} data sets, and holds {len(labels)} names.")
    ax = canvas(ax, 4.0, 4.0)
    kinds = {"lower": y < x, "higher": y > x, "equal": y == x}
    for place, (kind, of) in zip((2, 1, 0), kinds.items(), strict=True):
        if of.any():
            colour, _, marker = LOOKS[place]
            label = f"{names[1]} {kind}: {int(of.sum())}"
            ax.scatter(x[of], y[of], s=26, color=colour, marker=marker, alpha=0.85, label=label, zorder=3)
    top = 1.06 * float(max(x.max(), y.max())) or 1.0
    ax.plot([0, top], [0, top], color=GREY, lw=1, linestyle="--")
    for name, a, b in zip([""] * len(x) if labels is None else labels, x, y, strict=True):
        ax.annotate(str(name), (a, b), xytext=(3, 3), textcoords="offset points", fontsize=7, color=GREY)
    ax.set(xlabel=f"error of {names[0]}", ylabel=f"error of {names[1]}", xlim=(0, top), ylim=(0, top), aspect="equal")
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def critical_difference(errors: npt.ArrayLike, names: Sequence[str], *, alpha: float = 0.05, ax: Any = None) -> Any:
    """Draw Demsar's critical-difference diagram: mean ranks, and bars over what Nemenyi's test cannot part.

    Parameters
    ----------
    errors : array-like of shape (n_sets, n_algorithms)
        Errors; equal ones share their ranks.
    names : sequence of str
        The algorithms.
    alpha : float, default=0.05
        Level of the test.
    ax : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Demsar 2006, Statistical comparisons of classifiers over multiple data sets.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import plots
    >>> axes = plots.critical_difference([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [0.1, 0.2, 0.4]], ["a", "b", "c"])
    >>> plt.close()
    """
    table = np.asarray(errors, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(names) or table.shape[1] < 2 or len(table) < 2:
        raise ValueError(
            f"errors must have a line a data set (two or more) and a column for each of {len(names)} names; its shape "
            f"is {table.shape}."
        )
    if not np.isfinite(table).all():
        raise ValueError("errors contains missing values; leave out data sets on which an algorithm was not measured.")
    means, distance = mean_ranks(table), nemenyi_distance(len(names), len(table), alpha)
    order = np.argsort(means, kind="stable")
    k = len(names)
    ax = canvas(ax, 6.0 + 0.1 * max(0, k - 10), 1.0 + 0.2 * k)
    half = (k + 1) // 2
    bars = _cliques(means[order], distance)
    top = max(0.8, 0.5 + 0.22 * len(bars))  # names begin below the bars
    for place, j in enumerate(order):
        left = place < half
        depth = -(top + (place if left else k - 1 - place))
        end = 1 - 0.15 if left else k + 0.15
        ax.plot([means[j], means[j], end], [0, depth, depth], color="black", lw=0.9)
        side = "right" if left else "left"
        shift = -4 if left else 4
        text = f"{names[j]} ({means[j]:.2f})"
        ax.annotate(text, (end, depth), (shift, 0), textcoords="offset points", ha=side, va="center", fontsize=9)
    for number, (a, b) in enumerate(bars):
        height = -0.25 - 0.22 * number
        ax.plot([a - 0.03, b + 0.03], [height, height], color=LOOKS[1][0], lw=3.5, solid_capstyle="butt")
    low = -(half + top - 0.2)
    ax.plot([1, 1 + distance], [low, low], color="black", lw=1.2, marker="|", markersize=9)
    ax.annotate(f"critical difference {distance:.2f}", (1 + distance + 0.15, low), va="center", fontsize=9)
    ax.set(xlim=(1 - 0.2, k + 0.2), ylim=(low - 0.6, 0.4), yticks=[], xticks=range(1, k + 1, 1 if k <= 14 else 2))
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.set_xlabel(f"mean rank over {len(table)} data sets (1 is best)")
    ax.spines["top"].set_position(("data", 0))
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    return ax


def mean_ranks(errors: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return every algorithm's mean rank: 1 is the smallest error, equal errors share the average of their ranks.

    Parameters
    ----------
    errors : array-like of shape (n_sets, n_algorithms)
        Those that differ by rounding only (less than 1e-12) are equal.

    Returns
    -------
    array of shape (n_algorithms,)

    Examples
    --------
    >>> mean_ranks([[0.1, 0.2, 0.2], [0.1, 0.3, 0.2]])
    array([1.  , 2.75, 2.25])
    """
    from scipy.stats import rankdata

    return np.asarray(rankdata(np.round(np.asarray(errors, dtype=np.float64), 12), axis=1).mean(axis=0))


def nemenyi_distance(n_algorithms: int, n_sets: int, alpha: float = 0.05) -> float:
    """Return Nemenyi's critical difference q sqrt(k (k + 1) / (6 N)), q of the studentised range over sqrt 2.

    Parameters
    ----------
    n_algorithms : int
        k.
    n_sets : int
        N.
    alpha : float, default=0.05
        Level of the test.

    Returns
    -------
    float

    Examples
    --------
    >>> round(nemenyi_distance(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - alpha, n_algorithms, np.inf)) / sqrt(2)
    return q * sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_sets))


def _cliques(ranks: Any, distance: float) -> list[tuple[float, float]]:
    """Return the ends of the largest groups of neighbours within the distance."""
    found: list[tuple[float, float]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + distance, "right")) - 1
        if last > first and (not found or ranks[last] > found[-1][1]):
            found.append((float(ranks[first]), float(ranks[last])))
    return found
