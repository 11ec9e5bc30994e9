"""Kernels that threads share: every row once, sums add up, parts meet, nothing is waited for in vain."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numba.core import event

from boostlab.backend.cpu import in_parts as in_parts_module
from boostlab.backend.cpu import teams
from boostlab.backend.cpu.in_parts import PART, adding, in_parts
from boostlab.backend.cpu.kernels.spin_barrier import BARRIER_NUMBERS, await_all, end_turn, meet, pause, take_turn, tell
from boostlab.backend.cpu.threads import AtOnce

Array = np.ndarray[Any, Any]


@in_parts
def visit(first: int, last: int, part: int, seen: Array, who: Array) -> tuple[int, float]:
    """Count visits, write who came, and return how many rows there were and half of it."""
    for i in range(first, last):
        seen[i] += 1
        who[i] = part
    return last - first, (last - first) / 2


@adding
def remainders(x: Array, first: int, last: int, out: Array) -> int:
    """Add every number to the sum of its remainder by five."""
    for i in range(first, last):
        out[x[i] % 5] += x[i]
    return last - first


@adding
def only_count(first: int, last: int, out: Array) -> int:
    """Add nothing."""
    return last - first


@in_parts
def together(me: int, team: Array, size: int, rounds: int, told: Array) -> int:
    """Every part says how far it is; none may go on before all have said it."""
    for r in range(rounds):
        told[me] = r
        if meet(team, size):
            return -1
        for p in range(size):
            if told[p] != r:
                return -2
        if meet(team, size):
            return -1
    return rounds


@in_parts
def taking_turns(me: int, team: Array, rounds: int, turns: Array, held: Array) -> int:
    """Every part holds a place, leaves the processor to others, and counts how often it is not the only one there."""
    disturbed = 0
    for _ in range(rounds):
        if take_turn(turns, team):
            return -1
        held[0] = me
        pause(True)
        disturbed += held[0] != me
        end_turn(turns)
    return disturbed


@in_parts
def telling(me: int, team: Array, rounds: int, told: Array) -> int:
    """Every part says what it has and of which round it is; all see what all have."""
    for r in range(1, rounds + 1):
        told[me, 0] = r * me
        tell(told, me, 1, r)
        if await_all(told, 1, r, team):
            return -1
        for p in range(told.shape[0]):
            if told[p, 0] != r * p:
                return -2
        tell(told, me, 2, r)
        if await_all(told, 2, r, team):
            return -1
    return rounds


@in_parts
def failing_to_tell(me: int, team: Array, told: Array, who: int) -> int:
    """One member fails, and the others wait for what it has to say."""
    if me == who:
        raise MemoryError
    tell(told, me, 0, 1)
    return 1 if await_all(told, 0, 1, team) else 0


@in_parts
def failing(me: int, team: Array, size: int, who: int) -> int:
    """One member fails, and the others wait for it."""
    if me == who:
        raise MemoryError
    return 1 if meet(team, size) else 0


@pytest.fixture
def awake(monkeypatch):
    """No thread need be woken."""
    monkeypatch.setattr(in_parts_module, "worth_waking", lambda parts, cells: parts)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 17, 1000])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("cells", [0, PART - 1, 3 * PART, 100 * PART])
@pytest.mark.usefixtures("awake")
def test_every_row_once(size, threads, cells):
    seen, who = np.zeros(size, np.int64), np.zeros(size, np.int64)
    told = visit.shared(cells, threads, 0, size, seen, who)
    assert (seen == 1).all()
    assert len(told) == max(1, min(threads, size, cells // PART))
    assert sum(n for n, _ in told) == size
    assert [n / 2 for n, _ in told] == [half for _, half in told]
    assert max(n for n, _ in told) - min(n for n, _ in told) <= 1
    assert (np.diff(who) >= 0).all()


def test_a_part_of_the_rows():
    seen, who = np.zeros(100, np.int64), np.zeros(100, np.int64)
    visit.shared(1, AtOnce(3), 10, 40, seen, who)
    assert np.flatnonzero(seen).tolist() == list(range(10, 40))
    assert sorted(set(who[10:40].tolist())) == [0, 1, 2]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("cells", "slots"), [(0, 5), (100 * PART, 5), (8 * PART, PART), (PART, PART)])
@pytest.mark.usefixtures("awake")
def test_sums_of_the_parts_add_up(threads, cells, slots):
    x = np.random.default_rng(0).integers(-(2**60), 2**60, 1000)  # sums that wrap around, as integers do
    for _ in range(2):  # the second time in workspace that holds what was left in it
        out, told = remainders.added(cells, threads, (slots,), x, 0, len(x))
        expected = np.zeros(slots, np.int64)
        np.add.at(expected, x % 5, x)
        assert np.array_equal(out, expected)
        # A part's own sums must be worth adding up: at least four cells of work a slot.
        assert len(told) == max(1, min(threads, cells // PART, 1 + cells // (4 * slots)))


def test_called_alone_it_adds_to_what_is_there():
    out = np.arange(5)
    assert remainders(np.array([5, 6, 11]), 0, 3, out) == 3
    assert out.tolist() == [5, 18, 2, 3, 4]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_team_waits_for_all(size):
    told = np.zeros(size, np.int64)
    for _ in range(3):
        assert together.together(size, lambda team, _: (team, size, 100, told)) == 100
        assert (told == 99).all()


def test_threads_that_sleep_are_woken():
    """Between calls threads fall asleep, at every moment there is: no call may wait for one that has missed it."""
    told, rng = np.zeros(3, np.int64), np.random.default_rng(0)
    together.together(3, lambda team, _: (team, 3, 2, told))
    for seconds in rng.uniform(0.0, 0.004, 150):
        time.sleep(seconds)
        assert together.together(3, lambda team, _: (team, 3, 2, told)) == 2


def test_calls_at_the_same_time_have_teams_of_their_own():
    def run(_):
        told = np.zeros(3, np.int64)
        return [together.together(3, lambda team, _: (team, 3, 5, told)) for _ in range(10)]

    with ThreadPoolExecutor(4) as others:
        assert list(others.map(run, range(4))) == [[5] * 10] * 4
    assert len(teams._free) <= 8


@pytest.mark.parametrize("who", [0, 1, 2])
def test_a_member_that_fails_does_not_leave_the_others_waiting(who):
    with pytest.raises(MemoryError, match="found no memory"):
        failing.together(3, lambda team, _: (team, 3, who))
    with pytest.raises(MemoryError):
        failing_to_tell.together(3, lambda team, _: (team, np.zeros((3, 1), np.int64), who))
    told = np.zeros(3, np.int64)
    assert together.together(3, lambda team, _: (team, 3, 5, told)) == 5


def test_one_has_its_turn_at_a_time():
    turns, held = np.zeros(BARRIER_NUMBERS, np.int64), np.zeros(1, np.int64)
    for _ in range(20):
        assert taking_turns.together(3, lambda team, _: (team, 200, turns, held)) == 0


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_see_what_members_tell(size):
    told = np.zeros((size, 8), np.int64)
    assert telling.together(size, lambda team, _: (team, 200, told)) == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_has_threads_of_its_own():
    told = np.zeros(2, np.int64)
    together.together(2, lambda team, _: (team, 2, 5, told))
    child = os.fork()
    if child == 0:  # pragma: no cover - the parent sees the exit status only
        os._exit(0 if together.together(2, lambda team, _: (team, 2, 5, told)) == 5 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_parts_that_add_nothing_clear_nothing():
    """Rows of an empty array have a stride all the same."""
    workspace = np.arange(100)
    with teams.team_of(3) as team:
        team._workspace = workspace
    out, told = only_count.added(10**9, AtOnce(3), (0,), 0, 30)
    assert out.shape == (0,)
    assert told == [(10,)] * 3
    assert workspace.tolist() == list(range(100))


class _TeamsInCalls(event.Listener):
    """Notes whenever something is compiled whether a team waits for parts."""

    def __init__(self, team: teams.Team) -> None:
        self.team, self.seen = team, list[bool]()

    def on_start(self, what: event.Event) -> None:
        self.seen.append(self.team.in_call)

    def on_end(self, what: event.Event) -> None:
        pass


@pytest.mark.parametrize("how", ["shared", "added", "together"])
def test_no_thread_waits_for_parts_while_a_kernel_is_compiled(how):
    with teams.team_of(2) as team:
        pass
    seen = _TeamsInCalls(team)

    def plain(first: int, last: int) -> int:
        return last - first

    def sums(first: int, last: int, out: Array) -> int:
        out[0] += last - first
        return last - first

    def met(me: int, team: Array, size: int) -> int:
        return -1 if meet(team, size) else size

    for function in (plain, sums, met):  # not one that a run before has compiled
        function.__qualname__ += f"_{time.time_ns():x}"
    with event.install_listener("numba:compile", seen):
        if how == "shared":
            assert in_parts(plain).shared(10 * PART, 2, 0, 9) == [(4,), (5,)]
        elif how == "added":
            assert adding(sums).added(10 * PART, 2, (1,), 0, 9)[0].tolist() == [9]
        else:
            assert in_parts(met).together(2, lambda numbers, workspace: (numbers, 2)) == 2
    assert seen.seen
    assert not any(seen.seen)
