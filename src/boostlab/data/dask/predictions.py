"""Predictions for collections: lazy arrays, a block a partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

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


def _asked(model: Any, method: str, X: Any, like: Array) -> Array:
    if not X.shape[0]:
        return like
    return getattr(model, method)(X.tocsr() if is_sparse(X) else X)


def _one_row(head: Any) -> Any:
    return head.iloc[:1] if hasattr(head, "iloc") else head[:1]
