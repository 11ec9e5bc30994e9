"""Tables that are collections of Dask, which is not imported to find that out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask array or frame: a table in partitions that are computed elsewhere."""
    dask = sys.modules.get("dask")
    return dask is not None and hasattr(X, "__dask_graph__") and bool(dask.is_dask_collection(X))


def lazily(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a method of rows give a lazy array where it is asked about a Dask collection."""

    @wraps(method)
    def wrapper(self: Any, X: Any) -> Any:
        if not is_collection(X):
            return method(self, X)
        from boostlab.data.dask.predictions import lazy_array

        return lazy_array(self, method.__name__, X)

    return wrapper


def score_of_collection(model: Any, X: Any, y: Any, sample_weight: Any, numeric: bool) -> float:
    """Return a model's score on a Dask collection."""
    from boostlab.data.dask.predictions import score_of

    return score_of(model, X, y, sample_weight, numeric)
