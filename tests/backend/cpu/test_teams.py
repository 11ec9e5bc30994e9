"""Which threads a work wakes."""

from __future__ import annotations

import pytest

from boostlab.backend.cpu import teams
from boostlab.backend.cpu.in_parts import parts_now, parts_of
from boostlab.backend.cpu.teams import worth_waking
from boostlab.backend.cpu.threads import WORTH, AtOnce


class Sleepers:
    """A team of which some threads sleep."""

    def __init__(self, size, *asleep):
        self.size, self.sleeping = size, dict.fromkeys(asleep)


@pytest.fixture
def free(monkeypatch):
    """The teams that are not in use."""
    free = []
    monkeypatch.setattr(teams, "_free", free)
    return free


@pytest.mark.parametrize(("cells", "expected"), [(0, 1), (WORTH - 1, 1), (WORTH, 2), (3 * WORTH, 4), (99 * WORTH, 8)])
def test_so_many_sleeping_threads_are_woken_as_have_enough_to_do(free, cells, expected):
    assert worth_waking(8, cells) == expected  # there is no team yet
    free.append(Sleepers(8, *range(1, 8)))
    assert worth_waking(8, cells) == expected


def test_threads_that_are_awake_take_small_works(free):
    free.append(Sleepers(8))
    assert worth_waking(8, 0) == 8
    free[0] = Sleepers(8, 5, 6, 7)
    assert worth_waking(8, 0) == 5
    assert worth_waking(5, 0) == 5
    assert worth_waking(8, 2 * WORTH) == 7
    free.append(Sleepers(4))  # too small
    assert worth_waking(8, 0) == 5
    assert worth_waking(3, 0) == 3


def test_a_number_of_threads_that_is_meant_is_kept(free):
    assert parts_now(1 << 15, AtOnce(4)) == 4
    assert parts_of(1 << 15, 4) == 4
    assert parts_now(1 << 15, 4) == 1
    assert parts_now(1, 4) == 1
