"""From values to bin codes and from codes to votes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True)
def encode(X: Array, cuts: Array, n_cuts: Array, first: int, last: int, codes: Array) -> None:
    """Write codes[j, i] = number of cuts of feature j below X[i, j], for rows first <= i < last.

    Rows go in blocks that stay in the cache while all their features are read, because X is row-major and
    the codes are feature-major.
    """
    block = 2048
    for start in range(first, last, block):
        stop = min(start + block, last)
        for j in range(X.shape[1]):
            row = cuts[j]
            m = n_cuts[j]
            for i in range(start, stop):
                x = X[i, j]
                low, size = 0, m
                while size > 0:  # halving without an early way out: the branch compiles to a move
                    half = size >> 1
                    if row[low + half] < x:
                        low += half + 1
                        size -= half + 1
                    else:
                        size = half
                codes[j, i] = low


@njit(cache=True, nogil=True)
def split_votes(codes: Array, cut: int, left: float, right: float, out: Array) -> None:
    """Write left where codes <= cut, else right."""
    for i in range(codes.size):
        out[i] = left if codes[i] <= cut else right
