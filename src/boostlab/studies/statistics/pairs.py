"""Errors of two or more algorithms on the same splits or data sets, checked before anything is computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_DECIMALS = 12  # differences below this are what is left of rounding: errors are shares of examples


def differences(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """Return a - b, exactly 0 where they differ by rounding only.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Errors of two algorithms on the same splits or data sets.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> differences([0.1 + 0.2, 0.5], [0.3, 0.25]).tolist()
    [0.0, 0.25]
    """
    x, y = np.asarray(a, float), np.asarray(b, float)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(
            f"Paired errors must be two lists of one length; these have the shapes {x.shape} and {y.shape}."
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("Paired errors must be numbers; leave out the pairs in which one is missing.")
    return np.round(x - y, _DECIMALS) + 0.0


def matrix(errors: npt.ArrayLike, least: int = 2) -> Array:
    """Return a table of errors, one row a data set or split and one column an algorithm.

    Parameters
    ----------
    errors : array-like of shape (n, k)
        Without missing values.
    least : int, default=2
        The smallest number of columns.

    Returns
    -------
    array of shape (n, k)
        Rounded, so that errors that differ by rounding only are ties.
    """
    table = np.asarray(errors, float)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < least:
        raise ValueError(
            f"Errors must be a table of at least one row (data sets) and {least} columns (algorithms); "
            f"this has the shape {table.shape}."
        )
    if not np.isfinite(table).all():
        raise ValueError("Errors must be numbers; leave out the data sets or algorithms with missing ones.")
    return np.round(table, _DECIMALS)
