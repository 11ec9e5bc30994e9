"""Rows as 64-bit keys that depend on their content only."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.in_parts import in_parts

Array = np.ndarray[Any, Any]

NAN = np.uint64(0x7FF8000000000000)  # one NaN for all


@part
def _mixed(key: Any) -> Any:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@part
def _cell(x: float, j: int) -> Any:
    """Return what the value x in column j adds to its row's key; a zero of either sign adds nothing."""
    if x == 0.0:
        return np.uint64(0)
    bits = np.float64(x).view(np.uint64)
    if x != x:
        bits = NAN
    return _mixed(bits + np.uint64(j + 1) * np.uint64(0x9E3779B97F4A7C15))


@part
def _key(row: Array) -> Any:
    """Return a row's key before labels are folded in."""
    key = np.uint64(0)
    for j in range(row.size):
        key += _cell(row[j], j)
    return key


@in_parts
def dense_keys(X: Array, start: int, keys: Array, first: int, last: int) -> None:
    """Add the cells of the rows first <= i < last of X to keys[start + i]."""
    for i in range(first, last):
        keys[start + i] += _key(X[i])


@in_parts
def keys_up_to(X: Array, limit: int, out: Array, first: int, last: int) -> None:
    """Write whether the scrambled key of each row is at most a limit (uint64), for first <= i < last."""
    label = _mixed(np.float64(0.0).view(np.uint64) + np.uint64(1))
    for i in range(first, last):
        out[i] = _mixed(_key(X[i]) + label) <= limit


@kernel
def sparse_keys(data: Array, indices: Array, indptr: Array, first: int, last: int, keys: Array) -> None:
    """Add the cells of the rows first <= i < last of a CSR matrix to keys."""
    for i in range(first, last):
        key = np.uint64(0)
        for k in range(indptr[i], indptr[i + 1]):
            key += _cell(data[k], indices[k])
        keys[i] += key


@kernel
def finish_keys(y: Array, keys: Array) -> None:
    """Fold the labels in."""
    for i in range(keys.size):
        keys[i] = _mixed(keys[i] + _mixed(np.float64(y[i]).view(np.uint64) + np.uint64(1)))
