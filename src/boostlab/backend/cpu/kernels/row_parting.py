"""The rows of one node parted by a team, where trees are grown node by node."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel
from boostlab.backend.cpu.in_parts import in_parts, parts_now
from boostlab.backend.cpu.kernels.node_rows import join_stretches, part_stretch
from boostlab.backend.cpu.kernels.packed_codes import part_rows
from boostlab.backend.cpu.kernels.spin_barrier import meet

Array = np.ndarray[Any, Any]

PARTED = 4  # cells of a histogram, that parting one row costs as much as


@kernel
def part_alone(code: Array, low: Array, members: Array, space: Array) -> int:
    """Do as `part_rows` does."""
    return part_rows(code, low, members, space)


@in_parts
def part_together(
    team: Array, size: int, code: Array, low: Array, members: Array, space: Array, lows: Array, me: int
) -> int:
    """Do as `part_rows` does, each of `size` threads a stretch of the members; lows has a number a thread."""
    n = members.size
    lows[me] = part_stretch(code, low, members, space, n * me // size, n * (me + 1) // size, me == 0)
    if meet(team, size):
        return 0
    return join_stretches(lows, me, size, 0, n, members, space)


def part_members(code: Array, low: Array, members: Array, space: Array, threads: int) -> int:
    """Reorder `members` so that rows whose code is low come first, order kept; return how many they are."""
    size = parts_now(PARTED * len(members), threads)
    if size == 1:
        return int(part_alone(code, low, members, space))
    given = size, code, low, members, space[: len(members)], np.empty(size, np.int64)
    return int(part_together.together(size, lambda team, _: (team, *given)))
