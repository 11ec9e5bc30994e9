"""Shape functions: a stump ensemble as the additive model that it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostlab.plots.style import GREY, look, name_categories, pyplot, tidy
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

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import AdaBoostClassifier, plots
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> axes = plots.shape_functions(model, most=2)
    >>> len(axes)
    2
    >>> plt.close()
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
        raise ValueError("There is nothing to show: the model kept no voter, or no feature was asked for.")
    columns = min(3, len(shown))
    if axes is None:
        lines = -(-len(shown) // columns)
        grid = dict(figsize=(2.6 * columns, 2.2 * lines), layout="constrained", sharey=True, squeeze=False)
        axes = pyplot().subplots(lines, columns, **grid)[1]
        for spare in axes.ravel()[len(shown) :]:
            spare.set_visible(False)
    axes = np.ravel(np.asarray(axes, dtype=object))[: len(shown)]
    for number, (ax, f) in enumerate(zip(axes, shown, strict=True)):
        _draw(ax, f, model, None if X is None else _column(X, f.feature))
        if number % columns == 0:
            ax.set_ylabel("added to the score")
        ax.margins(y=0.12)  # space for the strokes that mark the rows
    tidy(axes)
    return axes


def _draw(ax: Any, f: ShapeFunction, model: Any, x: Any) -> None:
    n_classes = f.values.shape[1] if f.values.ndim == 2 else 1
    for k in range(n_classes):
        shown = look(2) | dict(linestyle="-") if n_classes == 1 else look(k)
        own = f.values[:, k] if f.values.ndim == 2 else f.values
        (_points if f.categories else _steps)(ax, f, own, x, shown | dict(label=str(model.classes_[k])))
        if x is not None and np.isnan(x).any():  # where no value is: a star on the right edge
            absent = float(np.ravel(f.missing)[k])
            ax.plot(
                1, absent, "*", color=shown["color"], markersize=10, transform=ax.get_yaxis_transform(), clip_on=False
            )
            ax.annotate("missing ", (1, absent), xycoords=ax.get_yaxis_transform(), ha="right", va="bottom", fontsize=8)
    ax.axhline(0, color=GREY, lw=0.9, linestyle=(0, (1, 3)))
    if n_classes > 1:
        ax.legend(frameon=False, fontsize=7)
    ax.set_xlabel(f.name)


def _steps(ax: Any, f: ShapeFunction, values: Any, x: Any, shown: dict[str, Any]) -> None:
    cuts = f.cuts[np.isfinite(f.cuts)]  # an infinite cut parts missing values from all others
    inside = np.concatenate([cuts, [] if x is None else x[np.isfinite(x)]])
    low, high = (float(inside.min()), float(inside.max())) if len(inside) else (0.0, 0.0)
    margin = 0.05 * (high - low) or 0.5
    edges = np.concatenate([[low - margin], cuts, [high + margin]])
    above = values[np.searchsorted(f.cuts, edges[:-1], "right")]
    ax.step(edges, np.append(above, above[-1]), where="post", **shown | dict(marker=""))
    if x is not None:
        ax.plot(x, np.full(len(x), 0.02), "|", color="black", alpha=0.3, transform=ax.get_xaxis_transform())
    ax.set_xlim(edges[0], edges[-1])


def _points(ax: Any, f: ShapeFunction, values: Any, x: Any, shown: dict[str, Any]) -> None:
    """Draw a column of categories: a point each, by name."""
    assert f.categories is not None
    codes = np.arange(len(f.categories))
    at = values[np.searchsorted(f.cuts, codes, "left")]
    ax.vlines(codes, 0, at, color=shown["color"], lw=1.2)
    ax.plot(codes, at, **shown | dict(linestyle="", markersize=7))
    name_categories(ax, codes, f.categories)
    ax.set_xlim(-0.6, len(codes) - 0.4)


def _column(X: Any, j: int) -> Any:
    column = X.iloc[:, j] if hasattr(X, "iloc") else np.asarray(X)[:, j]
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):  # categories: their numbers are the model's own
        return None
