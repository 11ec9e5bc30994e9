"""The sums of `Codes` where one thread does all the work: the same numbers, without what it takes to share it.

On some hundred rows a kernel takes a few microseconds; asking who shares the work would take ten times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.bin_codes import ALL, NOTHING, Codes, Followed

Array = npt.NDArray[Any]


def sums_of(codes: Codes, q: Array, members: Array | None = None, sided: bool = False) -> tuple[Array, int, int]:
    """Return what `codes.sums` returns."""
    if not codes.one_thread:
        return codes.sums(q, members, sided)
    rows, size = (ALL, codes.n_rows) if members is None else (members, len(members))
    out = np.zeros((1 + sided, int(codes.starts[-1]) + codes.spare), np.int64)
    minus, plus = codes._kernels.sums(*codes.read, q, rows, sided, 0, size, out.reshape(-1))
    return out[:, : codes.starts[-1]], minus, plus


def follow(
    codes: Codes, what: tuple[Any, ...], sided: bool, q: Array, scatter: bool, slots: Array
) -> tuple[Followed, Array | None]:
    """Return what `codes.follow` returns, but the sums of all rows, given those before, and not of the changes.

    The sums before may be changed in place.
    """
    if not codes.one_thread:
        followed, changes = codes.follow(what, sided, q, scatter)
        return followed, None if changes is None else np.add(slots, changes, out=slots)
    room = NOTHING
    if scatter:
        owner = slots.base
        if owner is None or owner.size != (1 + sided) * (codes.n_slots + codes.spare) or not owner.flags.c_contiguous:
            owner = np.zeros((1 + sided, codes.n_slots + codes.spare), np.int64)
            owner[:, : codes.n_slots] = slots
        room = owner.reshape(-1)
        slots = room.reshape(1 + sided, -1)[:, : codes.n_slots]
    found = codes._kernels.follow(*codes.read, *what, sided, 0, codes.n_rows, q, room)
    return Followed(found[0], found[1], found[4], found[5], found[6]), slots if scatter else None
