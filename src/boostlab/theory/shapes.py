"""A stump ensemble is a generalised additive model: one step function a feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostlab.theory.bound import Array
from boostlab.theory.models import vote_of


@dataclass(frozen=True)
class ShapeFunction:
    """What one feature adds to the score: a step function.

    Attributes
    ----------
    feature : int
        The column.
    name : str
        Its name, or x and its number.
    cuts : array of shape (k,)
        Where the steps are; a value equal to a cut is below it.
    values : array of shape (k + 1,) or (k + 1, n_classes)
        What is added between the cuts.  For a categorical column the categories are 0, 1, 2, ... and cuts lie between.
    missing : float or array
        What is added for a missing value.
    categories : tuple, optional
        The categories that the numbers stand for, where the column has any.
    """

    feature: int
    name: str
    cuts: Array
    values: Array
    missing: Any
    categories: tuple[Any, ...] | None = None

    def __call__(self, x: Any) -> Array:
        """Return what values of the feature add to the score."""
        return step(self.cuts, self.values, self.missing, np.asarray(x, dtype=np.float64))


def step(cuts: Array, values: Array, missing: Any, x: Array) -> Array:
    """Return a step function at x."""
    found = values[np.searchsorted(cuts, x, "left")]
    absent = np.isnan(x)
    if absent.any():
        found = found.copy()
        found[absent] = missing
    return found


def shape_functions(model: Any) -> list[ShapeFunction]:
    """Return the step functions whose sum is the model's score, the most important feature first.

    Parameters
    ----------
    model : fitted booster
        Of stumps, with a plain weighted sum.

    Returns
    -------
    list of ShapeFunction
        One for every feature that the vote uses; at x, decision_function = sum of f(x[f.feature]) (with one score a
        class, the scores).

    Examples
    --------
    >>> import numpy as np
    >>> from boostlab import AdaBoostClassifier
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> model = AdaBoostClassifier().fit(X, y)
    >>> total = sum(f(X[:, f.feature]) for f in shape_functions(model))
    >>> bool(np.allclose(total, model.decision_function(X)))
    True
    """
    table = vote_of(model).table
    if table is None:
        raise ValueError(
            f"{type(model).__name__} has no shape functions here: they need stumps as voters and a plain weighted sum "
            "(not trees, pools or WeightBoost)."
        )
    names = getattr(model, "feature_names_in_", None)
    values, missing = (np.ldexp(part.astype(np.float64), -table.power) for part in (table.values, table.missing))
    found = []
    for k, feature in enumerate(table.features.tolist()):
        first, last = int(table.starts[k]), int(table.starts[k + 1])
        own = values[first + k : last + k + 1]  # every feature has one interval more than cuts
        absent = missing[k]
        if own.shape[1] == 1:
            own, absent = own[:, 0], absent[0]
        name = f"x{feature}" if names is None else str(names[feature])
        known = None if model._columns is None else model._columns.categories[feature]
        categories = None if known is None else tuple(known)
        found.append(ShapeFunction(feature, name, table.cuts[first:last], own, absent, categories))
    weight = model.feature_importances_
    return sorted(found, key=lambda f: (-weight[f.feature], f.feature))
