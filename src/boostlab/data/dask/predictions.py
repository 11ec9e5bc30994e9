"""Predictions for collections: lazy arrays, a block a partition; scores, summed up where the partitions are."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.dask.clients import chosen_client
from boostlab.data.dask.facts import labels_of, weights_of
from boostlab.data.dask.partitions import Partitions
from boostlab.data.matrix import is_sparse

Array = npt.NDArray[Any]


def lazy_array(model: Any, method: str, X: Any) -> Any:
    """Return a Dask array of what a fitted model's method says of every row.

    Parameters
    ----------
    model : Booster
        Fitted.
    method : str
        "predict", "predict_proba" or "decision_function".
    X : Dask array or frame
        Rows.
    """
    import dask.array as da
    from dask import delayed

    partitions = Partitions.of(X, None, None)
    like = getattr(model, method)(_one_row(partitions.head))[:0]
    sizes = [np.nan] * len(partitions) if hasattr(X, "columns") else X.chunks[0]
    shared = delayed(model, pure=False, traverse=False)
    blocks = [
        da.from_delayed(delayed(_asked)(shared, method, x, like), shape=(n, *like.shape[1:]), meta=like)
        for x, n in zip(partitions.X, sizes, strict=True)
    ]
    return da.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


def score_of(model: Any, X: Any, y: Any, weight: Any, numeric: bool) -> float:
    """Return the share of rows that a fitted classifier is right about, or a regressor's R², by weight.

    Parameters
    ----------
    model : Booster
        Fitted.
    X, y, weight
        Collections with the same partitions; labels and weights as for `fit`.
    numeric : bool
        Whether y holds numbers.
    """
    from dask import compute, delayed

    partitions = Partitions.of(X, y, weight)
    shared, made = delayed(model, pure=False, traverse=False), delayed(_measured, pure=False)
    rows = zip(partitions.X, partitions.y, partitions.weight, strict=True)
    client = chosen_client()
    with nullcontext() if client is None else client.as_current():
        found = np.array(compute(*(made(shared, *one, numeric) for one in rows)))
    mass, mean, spread, wrong = found.T
    if not mass.sum():
        raise ValueError("There are no rows of weight above 0; give at least one.")
    if not numeric:
        return float(1.0 - wrong.sum() / mass.sum())
    spread = spread.sum() + mass @ (mean - mass @ mean / mass.sum()) ** 2  # within partitions, and between
    return float(1.0 - wrong.sum() / spread) if spread else float(not wrong.any())


def _measured(model: Any, X: Any, y: Any, weight: Any, numeric: bool) -> tuple[float, float, float, float]:
    """Return the mass of a partition, mean and spread of its numbers, and what the model is wrong by."""
    y, w = labels_of(y, X.shape[0], numeric), weights_of(weight, X.shape[0])
    w = np.ones(len(y)) if w is None else w
    mass = float(w.sum())
    if not mass:
        return 0.0, 0.0, 0.0, 0.0
    said = _asked(model, "predict", X, y)
    if not numeric:
        return mass, 0.0, 0.0, float(w[said != y].sum())
    mean = float(w @ y) / mass
    return mass, mean, float(w @ (y - mean) ** 2), float(w @ (y - said) ** 2)


def _asked(model: Any, method: str, X: Any, like: Array) -> Array:
    if not X.shape[0]:
        return like
    return getattr(model, method)(X.tocsr() if is_sparse(X) else X)


def _one_row(head: Any) -> Any:
    return head.iloc[:1] if hasattr(head, "iloc") else head[:1]
