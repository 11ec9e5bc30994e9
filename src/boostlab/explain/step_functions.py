"""Shape functions of a vote of stumps, with the data's density and bootstrap bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from boostlab.explain.forest import steps_and_trees
from boostlab.explain.parts import AdditiveParts, parts_of
from boostlab.explain.reference import dense
from boostlab.theory.shapes import ShapeFunction, step

Array = npt.NDArray[Any]
Function = tuple[Array, Array, Array]  # cuts, values, and the value of NaN


@dataclass(frozen=True, eq=False)
class Shape(ShapeFunction):
    """What one feature adds to the score: a step function, less its mean over the reference rows.

    Attributes
    ----------
    feature, name, cuts, values, missing, categories
        As of `boostlab.theory.ShapeFunction`; values have a column an output where there are several.
    density : array of shape (k + 1,), or None
        The share of the rows of X in every interval.
    missing_share : float
        The share of the rows of X that have no value.
    low, high : arrays like values, or None
        A bootstrap band: the central part of what refitted models add in the middle of every interval.
    importance : float
        The mean magnitude of what is added, over X if it is given, else over the intervals.
    """

    density: Array | None = None
    missing_share: float = 0.0
    low: Array | None = None
    high: Array | None = None
    importance: float = 0.0


def shapes(
    model: Any, X: Any = None, y: Any = None, *, bootstrap: int = 0, level: float = 0.9, random_state: int = 0
) -> list[Shape]:
    """Return a vote of stumps as the additive model that it is, the most important feature first.

    Parameters
    ----------
    model : Booster
        Fitted, of stumps.
    X : array-like of shape (n_rows, n_features), optional
        Rows for the density.
    y : array-like of shape (n_rows,), optional
        Their labels, for a bootstrap.
    bootstrap : int, default=0
        How many models to fit to rows drawn with replacement, for bands.
    level : float, default=0.9
        The share of these models that a band holds, at each interval by itself.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    list of Shape

    Examples
    --------
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> shape = shapes(AdaBoostClassifier(n_estimators=20).fit(X, y), X, y, bootstrap=5)[0]
    >>> bool((shape.low <= shape.high).all()), round(float(shape.density.sum()), 6)
    (True, 1.0)
    """
    parts = parts_of(model)
    told = _steps(parts, type(model).__name__)
    x = None if X is None else dense(model._table(X).X, slice(None), np.arange(len(parts.names)))
    others: list[dict[int, Any]] = []
    if bootstrap:
        if X is None or y is None:
            raise ValueError("A bootstrap needs the training rows: give X and y.")
        rng = np.random.default_rng(random_state)
        y = np.asarray(y)
        for _ in range(bootstrap):
            rows = rng.integers(0, len(y), len(y))
            others.append(_steps(parts_of(clone(model).fit(_safe_indexing(X, rows), y[rows])), type(model).__name__))
    found = [_shape(parts, j, told[j], x, [o.get(j) for o in others], level) for j in told]
    return sorted(found, key=lambda s: (-s.importance, s.feature))


def _steps(parts: AdditiveParts, name: str) -> dict[int, Function]:
    """Return every feature's cuts, values and value of NaN, one column a shown score, less their means."""
    width, first = len(parts.outputs), 0
    told: dict[int, Function] = {}
    for part in parts.votes:
        last = first + part.matrix.shape[1]
        _, steps, trees = steps_and_trees(part.forest)
        if trees.n_trees:
            raise ValueError(
                f"{name} asks several features in one tree, so it has no shape functions; use contributions, or stumps."
            )
        for f in steps:
            values, missing = np.zeros((len(f.values), width)), np.zeros(width)
            values[:, first:last] = (f.values - f.mean) @ part.matrix
            missing[first:last] = (f.missing - f.mean) @ part.matrix
            told[f.feature] = (
                _sum(told[f.feature], (f.cuts, values, missing)) if f.feature in told else (f.cuts, values, missing)
            )
        first = last
    return told


def _sum(a: Function, b: Function) -> Function:
    """Return the sum of two step functions."""
    cuts = np.union1d(a[0], b[0])
    at = np.append(cuts, np.inf)
    values = [f[1][np.searchsorted(f[0], at, "left")] for f in (a, b)]
    return cuts, values[0] + values[1], a[2] + b[2]


def _shape(parts: AdditiveParts, j: int, told: Function, x: Array | None, others: list[Any], level: float) -> Shape:
    cuts, values, missing = told
    density, absent = None, 0.0
    weight = np.full(len(values), 1.0 / len(values))
    if x is not None:
        there = x[:, j][~np.isnan(x[:, j])]
        absent = 1.0 - len(there) / max(len(x), 1)
        density = np.bincount(np.searchsorted(cuts, there, "left"), minlength=len(values)) / max(len(there), 1)
        weight = density
    importance = float(weight @ np.abs(values).sum(axis=1))
    low = high = None
    if others:
        at = _middles(cuts)
        drawn = np.stack([np.zeros_like(values) if o is None else step(o[0], o[1], o[2], at) for o in others])
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    one = values.shape[1] == 1

    def flat(a: Any) -> Any:
        return a if a is None or not one else a[..., 0]

    known = parts.categories[j]
    function = j, parts.names[j], cuts, flat(values), flat(missing), None if known is None else tuple(known)
    return Shape(*function, density, absent, flat(low), flat(high), importance)


def _middles(cuts: Array) -> Array:
    """Return a value inside every interval."""
    if not len(cuts):
        return np.zeros(1)
    ends = np.where(np.isfinite(cuts), cuts, np.sign(cuts) * 1e300)
    return np.concatenate([ends[:1], (ends[:-1] + ends[1:]) / 2, [np.nextafter(ends[-1], np.inf)]])
