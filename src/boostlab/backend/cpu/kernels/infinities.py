"""How many numbers are infinite: vectors compare them faster than NumPy adds them up, and NaN may be among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.in_parts import in_parts

Array = np.ndarray[Any, Any]


@in_parts
def infinities(x: Array, infinity: float, first: int, last: int) -> int:
    """Return how many of the numbers first <= i < last are infinity, which is of their type, or minus infinity."""
    mine, found = x[first:last], 0
    for i in range(mine.size):
        found += abs(mine[i]) == infinity
    return found
