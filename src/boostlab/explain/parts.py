"""A fitted booster as sums: its forest, what turns raw scores into shown ones, and the names of both ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from boostlab.ensemble.vote import Ensemble, shown
from boostlab.explain.forest import Forest, forest_of
from boostlab.explain.reference import shares
from boostlab.reductions.reduced import Reduced

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class AdditivePart:
    """One vote of a model: shown scores = base + raw scores @ matrix."""

    forest: Forest
    matrix: Array
    base: Array


@dataclass(frozen=True, eq=False)
class AdditiveParts:
    """All votes of a model, side by side, and what people call their columns and scores."""

    votes: Sequence[AdditivePart]
    names: list[str]
    outputs: list[str]
    categories: list[list[Any] | None]

    @property
    def used(self) -> Array:
        """The features that some vote splits."""
        return np.unique(np.concatenate([np.empty(0, np.int64), *(p.forest.used for p in self.votes)]))


def parts_of(model: Any) -> AdditiveParts:
    """Return a fitted booster as sums, or say why it is none.

    Parameters
    ----------
    model : Booster
        Fitted.
    """
    if not hasattr(model, "contributions"):
        raise TypeError(f"{type(model).__name__} is not a booster of boostlab; only these are opened here.")
    check_is_fitted(model, "n_estimators_")
    return AdditiveParts(_votes(model), feature_names(model), _outputs(model), _categories(model))


def feature_names(model: Any) -> list[str]:
    """Return the columns' names, or x and their numbers."""
    given = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if given is None else [str(n) for n in given]


def _categories(model: Any) -> list[list[Any] | None]:
    return [None] * model.n_features_in_ if model._columns is None else list(model._columns.categories)


def forest_and_shares(model: Any) -> Forest:
    """Return the forest of a booster with one vote; how its training rows part is counted once."""
    known: Forest | None = model.__dict__.get("_forest")
    if known is not None:
        return known
    forest = forest_of(model._ensemble, type(model).__name__)
    if model.__dict__.get("_low_share") is None and model.__dict__.get("_reference") is not None:
        model._low_share = shares(forest, model._reference)
        model._reference = None
    low_share = model.__dict__.get("_low_share")
    if low_share is not None:
        forest = forest.with_shares(low_share)
    model._forest = forest
    return forest


def linear_map(vote: Ensemble, width: int) -> Array:
    """Return the matrix by which raw scores become those of `decision_function`."""
    F = vote.rule.gathered(np.eye(width))
    assert F is not None
    one = vote.rule.n_outputs == "one"
    out = shown(vote.rule, F[:, 0] if one else F)
    return np.asarray(out, np.float64).reshape(width, -1)


def _votes(model: Any) -> list[AdditivePart]:
    vote = model._ensemble
    if not isinstance(vote, Reduced):
        return [_part(model, float(getattr(model, "baseline_", 0.0)))]
    priors = vote.form.priors()
    return [
        _part(one, 0.0 if len(one._ensemble) else float(p)) for one, p in zip(model.estimators_, priors, strict=True)
    ]


def _part(model: Any, constant: float) -> AdditivePart:
    forest = forest_and_shares(model)
    matrix = linear_map(model._ensemble, forest.width)
    return AdditivePart(forest, matrix, np.full(matrix.shape[1], constant))


def _outputs(model: Any) -> list[str]:
    """Return what every shown score is for."""
    if model._numeric:
        return ["the prediction"]
    labels = [str(c) for c in model.classes_]
    vote = model._ensemble
    if not isinstance(vote, Reduced):
        return [labels[1]] if len(labels) == 2 else labels
    if vote.form.decoder == "strongest":
        return labels
    return problems(labels, vote.form.code)


def problems(labels: list[str], code: Array) -> list[str]:
    """Return what the binary problems of a code ask: one set of classes over another."""

    def side(column: list[int], sign: int) -> str:
        return " or ".join(label for label, s in zip(labels, column, strict=True) if s == sign)

    return [f"{side(column, 1)} over {side(column, -1)}" for column in code.T.tolist()]
