"""Rows of a column counted by stretches of 64-bit keys, which have the order of the numbers (see `data.cut_search`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part

Array = np.ndarray[Any, Any]

SIGN = np.uint64(1 << 63)
MAGNITUDE, INFINITE = np.uint64((1 << 63) - 1), np.uint64(0x7FF << 52)
ALL = np.uint64(64)


@part
def key_of(word: Any) -> Any:
    """Return the key of a number, given its bits; -0.0 has the key of 0.0."""
    if word == SIGN:
        return SIGN
    return ~word if word & SIGN else word | SIGN


@part
def stretch_of(key: Any, low: Array, width: Any) -> int:
    """Return the stretch that a key lies in, -1 if it lies in none; a stretch has 2^width keys."""
    if width == ALL:
        return 0
    first, last = 0, low.size
    while first < last:
        middle = (first + last) >> 1
        if low[middle] <= key:
            first = middle + 1
        else:
            last = middle
    if first == 0 or (key - low[first - 1]) >> width:
        return -1
    return first - 1


@kernel
def count_keys(
    words: Array, mass: Array, low: Array, width: Any, split: Any, rows: Array, sums: Array, first: Array
) -> None:
    """Count rows, given the bits of their numbers, into counters of 2^split keys; without masses each counts once."""
    shift = np.int64(width - split)
    for i in range(words.size):
        if words[i] & MAGNITUDE > INFINITE:
            continue  # NaN
        key = key_of(words[i])
        stretch = stretch_of(key, low, width)
        if stretch < 0:
            continue
        at = (np.int64(stretch) << shift) + np.int64((key - low[stretch]) >> split)
        rows[at] += 1
        sums[at] += mass[i] if mass.size else 1
        first[at] = min(first[at], key)


@kernel
def gather_keys(words: Array, mass: Array, low: Array, width: Any, keys: Array, masses: Array) -> int:
    """Write down the keys, and masses if there are any, of the rows in stretches; return how many there are."""
    n = 0
    for i in range(words.size):
        if words[i] & MAGNITUDE > INFINITE:
            continue
        key = key_of(words[i])
        if stretch_of(key, low, width) >= 0:
            keys[n] = key
            if mass.size:
                masses[n] = mass[i]
            n += 1
    return n
