"""The sums of `Codes` where one thread does all the work: the same numbers, without what it takes to share it.

On some hundred rows a kernel takes a few microseconds; asking who shares the work would take ten times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.data.codes import ALL, NOTHING, Codes, Followed

Array = npt.NDArray[Any]


def sums_of(codes: Codes, q: Array, members: Array | None = None, sided: bool = False) -> tuple[Array, int, int]:
    """Return what `codes.sums` returns."""
    if not codes.lonely:
        return codes.sums(q, members, sided)
    rows, size = (ALL, codes.n_rows) if members is None else (members, len(members))
    out = np.zeros((1 + sided, int(codes.starts[-1]) + codes.spare), np.int64)
    minus, plus = codes._kernels.sums(*codes.read, q, rows, sided, 0, size, out.reshape(-1))
    return out[:, : codes.starts[-1]], minus, plus


def follow(codes: Codes, what: tuple[Any, ...], sided: bool, q: Array, scatter: bool) -> tuple[Followed, Array | None]:
    """Return what `codes.follow` returns."""
    if scatter or not codes.lonely:
        return codes.follow(what, sided, q, scatter)
    found = codes._kernels.follow(*codes.read, *what, sided, 0, codes.n_rows, q, NOTHING)
    return Followed(found[0], found[1], found[4], found[5], found[6]), None
