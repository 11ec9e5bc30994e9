"""How pictures look: colours that colour-blind readers can tell apart, and a style and a marker for every line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

# Okabe & Ito 2008.
LOOKS: list[tuple[str, Any, str]] = [
    ("#000000", "-", "o"),  # black
    ("#D55E00", "--", "s"),  # vermillion
    ("#0072B2", "-.", "^"),  # blue
    ("#009E73", ":", "D"),  # bluish green
    ("#CC79A7", (0, (5, 1, 1, 1, 1, 1)), "v"),  # reddish purple
    ("#E69F00", (0, (1, 1)), "P"),  # orange
    ("#56B4E9", (0, (8, 2)), "X"),  # sky blue
]
GREY = "#555555"
LONGEST = 18  # letters of a category's name
SHADES = "cividis"  # a scale of colours that is seen as dark to light also by the colour-blind


def look(number: int, points: int = 0, every: int = 0) -> dict[str, Any]:
    """Return the look of line number 0, 1, 2, ...: keyword arguments of matplotlib's `plot`.

    Parameters
    ----------
    number : int
        Which line; after seven the colours come again, with other styles and markers.
    points : int, default=0
        Show markers at about so many places of the axis instead of at all points.
    every : int, default=0
        Show a marker at every so many points.

    Returns
    -------
    dict

    Examples
    --------
    >>> look(1)["color"], look(1)["marker"]
    ('#D55E00', 's')
    """
    lap, place = divmod(number, len(LOOKS))
    colour = LOOKS[place][0]
    style, marker = LOOKS[(place + lap) % len(LOOKS)][1], LOOKS[(place + 2 * lap) % len(LOOKS)][2]
    shown: dict[str, Any] = dict(color=colour, linestyle=style, lw=1.8, marker=marker, markersize=4.5)
    if every:
        shown["markevery"] = (place * every // len(LOOKS), every)
    if points:
        shown["markevery"] = (0.02 * (1 + place), 1 / points)  # shares of the axis: staggered, also on a log scale
    return shown


def tidy(*axes: Any) -> None:
    """Give axes a light grid and no box.

    Parameters
    ----------
    *axes : matplotlib Axes, or arrays of them

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import plots
    >>> figure, axes = plt.subplots()
    >>> plots.tidy(axes)
    >>> axes.spines["top"].get_visible()
    False
    >>> plt.close()
    """
    for group in axes:
        for axis in np.ravel(np.asarray(group, dtype=object)):
            axis.grid(alpha=0.3)
            axis.spines[["top", "right"]].set_visible(False)


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'boostlab.plots needs matplotlib, which is not installed; install it with: pip install "boostlab[plots]"'
        ) from error
    return plt


def canvas(ax: Any = None, width: float = 5.0, height: float = 3.5) -> Any:
    """Return the axes to draw on: those given, or new ones of a size that fits a column."""
    if ax is not None:
        return ax
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def legend(ax: Any, **where: Any) -> None:
    """Add a legend without a frame, if there is anything to name."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize=9, **where)


def name_categories(ax: Any, places: Any, names: Sequence[Any]) -> None:
    """Name places along the bottom by categories that can be read: shortened, and upright where they are many.

    Parameters
    ----------
    ax : matplotlib Axes
        Where.
    places : array
        One a category.
    names : sequence
        The categories.
    """
    texts = [str(name) if len(str(name)) <= LONGEST else f"{str(name)[: LONGEST - 1]}…" for name in names]
    fitting = 28 / max(len(texts), 1)  # letters that fit between two places, about
    upright = max(map(len, texts), default=0) > fitting
    ax.set_xticks(places, texts, rotation=90 if upright else 0, fontsize=8 if len(texts) <= 12 else 6)
