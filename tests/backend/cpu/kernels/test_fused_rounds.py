"""How members of a team share a histogram's slots, against plain sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.fused_rounds import ADDED, FACTS, LINE, STRETCH, add_up, await_slots, share
from boostlab.backend.cpu.kernels.spin_barrier import await_member, tell

Array = np.ndarray[Any, Any]

SIZES = [1, 2, 3, 16]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("slots", [1, 7, 8, 60, 1000])
def test_every_slot_has_one_member(slots, size):
    shares = [share(slots, size, member) for member in range(size)]
    assert [s for begin, end in shares for s in range(begin, end)] == list(range(slots))
    assert all(begin % LINE == 0 for begin, _ in shares)
    assert max(end - begin for begin, end in shares) <= LINE * -(-slots // (LINE * size))


@pytest.mark.parametrize("size", SIZES)
def test_members_add_up_their_slots(size):
    slots = STRETCH + 21  # more than a stretch for the first of them
    outs = np.random.default_rng(size).integers(-(2**58), 2**58, size=(size, slots + 3))
    hist = np.full(slots, 5)
    for me in range(size):
        begin, end = share(slots, size, me)
        add_up(outs, me, hist)
        assert hist[:end].tolist() == outs.sum(axis=0)[:end].tolist()
        assert (hist[end:] == 5).all() or end == slots
        assert begin < end


@in_parts
def waiting(me: int, team: Array, told: Array, slots: int, seen: Array) -> int:
    """The first waits for the slots of the second, and the third says its own after the first has said so."""
    size = told.shape[0]
    if me == 1:
        tell(told, me, ADDED, 7)
    if me == 0:
        begin, end = share(slots, size, 1)
        broken = await_slots(told, begin, end, slots, 7, team)
        seen[0] = told[2, ADDED]
        tell(told, me, ADDED, 7)
        return int(broken)
    if me == 2:
        broken = await_member(told, 0, ADDED, 7, team)
        tell(told, me, ADDED, 7)
        return int(broken)
    return 0


def test_members_with_other_slots_are_not_waited_for():
    told, seen = np.zeros((3, FACTS), np.int64), np.ones(1, np.int64)
    assert waiting.together(3, lambda team, _: (team, told, 1000, seen)) == 0
    assert seen[0] == 0
