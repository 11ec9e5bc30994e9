"""What theory needs of a model: its vote, and the labels as it numbers them."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted, column_or_1d

from boostlab.ensemble import Ensemble
from boostlab.estimators.complaints import check_labels, one_sentence
from boostlab.estimators.sample import encode_labels
from boostlab.theory.bound import Array


def vote_of(model: Any) -> Ensemble:
    """Return the vote of a fitted booster, or say that there is none."""
    if not hasattr(model, "certificate"):
        raise TypeError(
            f"{type(model).__name__} is not a booster of boostlab, so its vote cannot be asked; the functions of plain "
            "arrays take margins, scores and errors of any model."
        )
    check_is_fitted(model, "n_estimators_")
    vote: Ensemble = model._ensemble
    return vote


def class_codes(model: Any, y: Any, n_rows: int) -> Array:
    """Return the class numbers of the labels of n_rows rows (one column will do), or say what is wrong with them."""
    with one_sentence():
        check_labels(y)
        labels = column_or_1d(y)
        if len(labels) != n_rows:
            raise ValueError(f"X has {n_rows} rows and y has {len(labels)} labels; give one label a row of X.")
        codes: Array = encode_labels(labels, model.classes_, "y")
    return codes
