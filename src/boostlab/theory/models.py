"""The one thing that theory needs of a model: its vote."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from boostlab.ensemble.vote import Ensemble


def vote_of(model: Any) -> Ensemble:
    """Return the vote of a fitted booster, or say that there is none."""
    if not hasattr(model, "certificate"):
        raise TypeError(
            f"{type(model).__name__} is not a booster of boostlab, so its vote cannot be asked; the functions of plain "
            "arrays take margins, scores and errors of any model."
        )
    check_is_fitted(model, "n_estimators_")
    vote = model._ensemble
    if not isinstance(vote, Ensemble):
        raise ValueError(
            f"This {type(model).__name__} is {len(model.estimators_)} binary boosters, and theory is about one vote; "
            "ask each of estimators_, whose labels are 0 and 1."
        )
    return vote
