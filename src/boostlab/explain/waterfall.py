"""A waterfall: from the mean score to a row's, one bar a feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boostlab.plots.style import GREY, LOOKS, canvas

if TYPE_CHECKING:
    from boostlab.explain.words import Explanation


def waterfall(told: Explanation, ax: Any, most: int) -> Any:
    """Draw an explanation.

    Parameters
    ----------
    told : Explanation
        Of one row.
    ax : matplotlib Axes or None
        Where to draw.
    most : int
        How many features to name.
    """
    lines = told.lines(most)
    ax = canvas(ax, 6.0, 0.9 + 0.36 * (len(lines) + 1))
    up, down = LOOKS[2][0], LOOKS[1][0]
    at = told.base
    for k, (_, value) in enumerate(lines):
        ax.barh(k, value, left=at, color=up if value > 0 else down, height=0.7)
        end = at + value
        if k + 1 < len(lines):
            ax.plot([end, end], [k - 0.35, k + 1.35], color=GREY, lw=0.8)
        ax.annotate(f" {value:+.3g} ", (max(at, end), k), va="center", ha="left", fontsize=8)
        at = end
    ax.axvline(told.base, color=GREY, lw=0.9, linestyle=(0, (1, 3)))
    ax.set_yticks(range(len(lines)), [words for words, _ in lines], fontsize=8)
    ax.invert_yaxis()
    ax.use_sticky_edges = False  # space for the numbers beside the bars
    ax.margins(x=0.15, y=0.02)
    ax.set_xlabel(f"score for {told.contributions.output_names[told.output]}: {told.base:.3g} → {told.score:.3g}")
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax
