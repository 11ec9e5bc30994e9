"""Colours that colour-blind readers can tell apart (Okabe & Ito 2008), each with its own line style and marker."""

from __future__ import annotations

from typing import Any

import numpy as np

LOOKS = [
    ("#000000", "-", "o"),  # black
    ("#D55E00", "--", "s"),  # vermillion
    ("#0072B2", "-.", "^"),  # blue
    ("#009E73", ":", "D"),  # bluish green
    ("#CC79A7", (0, (5, 1, 1, 1, 1, 1)), "v"),  # reddish purple
    ("#E69F00", (0, (1, 1)), "P"),  # orange
    ("#56B4E9", (0, (8, 2)), "X"),  # sky blue
]


def look(number: int, points: int = 0, every: int = 0) -> dict[str, Any]:
    """Return the look of line number 0, 1, 2, ...; markers everywhere, at about `points` places, or `every` so many."""
    colour, style, marker = LOOKS[number]
    shown: dict[str, Any] = dict(color=colour, linestyle=style, lw=1.8, marker=marker, markersize=4.5)
    if every:
        shown["markevery"] = (number * every // len(LOOKS), every)
    if points:
        shown["markevery"] = (0.02 * (1 + number), 1 / points)  # shares of the axis: staggered, also on a log scale
    return shown


def tidy(*axes: Any) -> None:
    """Light grid, no box."""
    for axis in np.ravel(axes):
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
