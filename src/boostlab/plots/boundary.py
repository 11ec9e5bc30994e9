"""A vote over two features: where it decides for whom, and its voters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from boostlab.plots.style import LOOKS, canvas, legend


def decision_boundary(
    model: Any,
    X: Any,
    y: Any,
    *,
    voters: bool = False,
    resolution: int = 300,
    limits: tuple[tuple[float, float], tuple[float, float]] | None = None,
    ax: Any = None,
) -> Any:
    """Draw the regions that a model with two features gives to each class, the rows, and its voters' boundaries.

    Parameters
    ----------
    model : fitted classifier
        Of two features; any scikit-learn classifier will do.
    X : array-like of shape (n_rows, 2)
        Rows to show.
    y : array-like of shape (n_rows,)
        Their labels.
    voters : bool, default=False
        Draw the boundaries of the single voters as well; the louder the voter the darker its line.
    resolution : int, default=300
        Points along each side.
    limits : pair of pairs of floats, optional
        The range of either feature that is drawn; by default that of the rows and a little more.  Panels that share
        their axes need the same.
    ax : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from boostlab import AdaBoostClassifier, plots
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> X = X[:, :2]
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> axes = plots.decision_boundary(model, X, y, resolution=20)
    >>> plt.close()
    """
    points, labels = np.asarray(X, dtype=np.float64), column_or_1d(y)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"A picture has two dimensions, and X the shape {points.shape}; give two columns.")
    check_consistent_length(points, labels)
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    margin = 0.08 * np.where(high > low, high - low, 1.0)
    area = np.transpose([low - margin, high + margin]) if limits is None else np.asarray(limits, dtype=np.float64)
    across, up = (np.linspace(ends[0], ends[1], resolution) for ends in area)
    grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
    if hasattr(X, "iloc"):  # the model knows its columns by name
        grid = type(X)(grid, columns=X.columns)
    classes = np.asarray(model.classes_)
    regions = np.searchsorted(classes, model.predict(grid)).reshape(resolution, resolution)
    ax = canvas(ax, 4.2, 3.8)
    colours = [LOOKS[(2, 1, 3, 4, 5, 6, 0)[k % 7]][0] for k in range(len(classes))]
    if voters:
        _voters(ax, model, np.asarray(grid), across, up)
    for k, colour in enumerate(colours):  # class by class: numbers of classes have nothing between them
        inside = (regions == k).astype(np.float64)
        if inside.any():
            ax.contourf(across, up, inside, levels=[0.5, 1.5], colors=[colour], alpha=0.18)
        if inside.any() and not inside.all() and (k or len(classes) > 2):
            ax.contour(across, up, inside, levels=[0.5], colors="black", linewidths=1.4)
    for k, name in enumerate(classes):
        of = labels == name
        marker = LOOKS[(2, 1, 3, 4, 5, 6, 0)[k % 7]][2]
        ax.scatter(*points[of].T, s=16, marker=marker, color=colours[k], edgecolor="white", lw=0.4, label=str(name))
    names = getattr(model, "feature_names_in_", ["first feature", "second feature"])
    ax.set(xlabel=str(names[0]), ylabel=str(names[1]), xlim=across[[0, -1]], ylim=up[[0, -1]])
    legend(ax, title="class", loc="upper right")
    return ax


def _voters(ax: Any, model: Any, grid: Any, across: Any, up: Any) -> None:
    sizes = np.abs(np.asarray(model.estimator_weights_, dtype=np.float64))
    shares = sizes / sizes.max() if len(sizes) and sizes.max() > 0 else sizes
    for strength, voter in zip(shares, model.estimators_, strict=True):
        votes = np.asarray(voter.predict(grid))
        codes = votes if votes.ndim == 1 else votes.argmax(axis=1)
        said = np.unique(codes)
        if len(said) > 1:
            between = (said[1:] + said[:-1]) / 2
            shape = (len(up), len(across))
            ax.contour(
                across,
                up,
                codes.reshape(shape),
                levels=between,
                colors="black",
                linewidths=0.8,
                linestyles="dashed",
                alpha=0.15 + 0.6 * float(strength),
            )
