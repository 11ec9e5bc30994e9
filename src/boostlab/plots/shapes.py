"""Shape functions: a stump ensemble as the additive model that it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostlab.plots.style import GREY, look, pyplot, tidy
from boostlab.theory.shapes import ShapeFunction
from boostlab.theory.shapes import shape_functions as functions_of


def shape_functions(
    model: Any, X: Any = None, features: Sequence[int | str] | None = None, *, most: int = 6, axes: Any = None
) -> Any:
    """Draw what every feature adds to the score: one step function a feature, the most important first.

    Parameters
    ----------
    model : fitted booster
        Of stumps.
    X : array-like of shape (n_rows, n_features), optional
        Rows to mark along the bottom, so that one sees where there are data.
    features : sequence of int or str, optional
        Which features, by number or name.
    most : int, default=6
        How many to show, if `features` is not given.
    axes : array of matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    array of matplotlib Axes, one a feature
    """
    known = functions_of(model)
    shown = known[:most]
    if features is not None:
        by_name: dict[Any, ShapeFunction] = {f.name: f for f in known} | {f.feature: f for f in known}
        unused = [f for f in features if f not in by_name]
        if unused:
            raise ValueError(
                f"The vote does not use the feature {unused[0]!r}; it uses {', '.join(f.name for f in known)}."
            )
        shown = [by_name[f] for f in features]
    if not shown:
        raise ValueError("The model kept no voter, so there are no shape functions.")
    if axes is None:
        columns = min(3, len(shown))
        lines = -(-len(shown) // columns)
        grid = dict(figsize=(2.6 * columns, 2.2 * lines), layout="constrained", sharey=True, squeeze=False)
        axes = pyplot().subplots(lines, columns, **grid)[1]
        for spare in axes.ravel()[len(shown) :]:
            spare.set_visible(False)
    axes = np.ravel(np.asarray(axes, dtype=object))[: len(shown)]
    for number, (ax, f) in enumerate(zip(axes, shown, strict=True)):
        _draw(ax, f, model, None if X is None else _column(X, f.feature))
        if number == 0:
            ax.set_ylabel("added to the score")
    tidy(axes)
    return axes


def _draw(ax: Any, f: ShapeFunction, model: Any, x: Any) -> None:
    inside = f.cuts if x is None else np.concatenate([f.cuts, x[np.isfinite(x)]])
    low, high = float(inside.min()), float(inside.max())
    room = 0.05 * (high - low) or 0.5
    edges = np.concatenate([[low - room], f.cuts, [high + room]])
    values = f.values if f.values.ndim == 2 else f.values[:, None]
    for k in range(values.shape[1]):
        shown = look(2 if values.shape[1] == 1 else k) | dict(marker="")
        label = str(model.classes_[k]) if values.shape[1] > 1 else None
        ax.step(edges, np.append(values[:, k], values[-1, k]), where="post", label=label, **shown)
    ax.axhline(0, color=GREY, lw=0.9, linestyle=(0, (1, 3)))
    if x is not None:
        ax.plot(x, np.full(len(x), 0.02), "|", color="black", alpha=0.3, transform=ax.get_xaxis_transform())
    if values.shape[1] > 1:
        ax.legend(frameon=False, fontsize=7)
    ax.set(xlabel=f.name, xlim=edges[[0, -1]])


def _column(X: Any, j: int) -> Any:
    column = X.iloc[:, j] if hasattr(X, "iloc") else np.asarray(X)[:, j]
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):  # categories: their numbers are the model's own
        return None
