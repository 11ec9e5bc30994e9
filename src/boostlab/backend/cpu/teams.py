"""Teams of threads that stay awake between compiled calls.

A thread of a team waits inside a compiled call, without the interpreter lock, by looking (see kernels/tasks.py); after
a while in which nothing has come it sleeps until the next call wakes it.  A call then starts within microseconds,
where handing work to Python threads takes 230 on sixteen of them.
"""

from __future__ import annotations

import os
import threading

import numpy as np
import numpy.typing as npt

from boostlab.backend.cpu.kernels.tasks import new_numbers, serve
from boostlab.backend.cpu.threads import WORTH

Array = npt.NDArray[np.int64]

LOOKS = 20_000  # before a thread sleeps: about a millisecond


class Team:
    """Some threads, and the numbers they look at.

    Parameters
    ----------
    size : int
        Number of threads, the caller's included.
    """

    def __init__(self, size: int) -> None:
        self.size, self.numbers = size, new_numbers()
        self.in_call = 0  # how many parts the call at hand may have; 0: there is none
        self._workspace = np.empty(0, np.int64)
        self.sleeping: dict[int, threading.Lock] = {}  # by the thread's number: to release one wakes its thread
        for k in range(1, size):
            threading.Thread(target=self._work, args=(k,), name=f"boostlab-{k}", daemon=True).start()

    def _work(self, k: int) -> None:
        """Serve as thread k while there is work, else sleep.

        A thread is among the sleeping before it looks whether a call has begun, and a call has begun before it looks
        at the sleeping: one of the two sees the other.
        """
        asleep = threading.Lock()
        asleep.acquire()
        while True:
            self.sleeping[k] = asleep
            if self.in_call <= k or self.sleeping.pop(k, None) is None:  # woken meanwhile: the lock is released
                asleep.acquire()
            serve(self.numbers, k, LOOKS)

    def wake(self, parts: int) -> None:
        """Begin a call of so many parts: wake the threads that take part and sleep."""
        self.in_call = parts
        if self.sleeping:
            for k in range(1, parts):
                asleep = self.sleeping.pop(k, None)
                if asleep is not None:
                    asleep.release()

    def workspace(self, size: int) -> Array:
        """Return workspace for so many integers, the same every time."""
        if len(self._workspace) < size:
            self._workspace = np.empty(size, np.int64)
        return self._workspace[:size]


_free: list[Team] = []  # teams that are not in use
os.register_at_fork(after_in_child=_free.clear) if hasattr(os, "register_at_fork") else None


def worth_waking(parts: int, cells: int) -> int:
    """Return how many of so many parts such a work is best done in: threads that sleep are woken for large works only.

    To wake fifteen threads takes a millisecond or two; to those that are awake a work is handed over in microseconds.
    """
    team = next((free for free in reversed(_free) if free.size >= parts), None)
    if team is not None and not team.sleeping:
        return parts
    affordable = cells // WORTH
    for k in range(1, parts):
        if team is None or k in team.sleeping:
            if affordable == 0:
                return k
            affordable -= 1
    return parts


class team_of:
    """Lend a team of at least this size for one call; calls under way at the same time have a team each.

    A new team has as many threads as calls may want, so that larger ones find it, too.  A class, because a generator
    takes twice the time: a round has a dozen calls.
    """

    __slots__ = ("most", "size", "team")

    def __init__(self, size: int, most: int = 0) -> None:
        self.size, self.most = size, max(size, most)

    def __enter__(self) -> Team:
        team, size = None, self.size
        for free in reversed(_free):
            if free.size >= size:
                team = free
                break
        try:
            if team is not None:
                _free.remove(team)
        except ValueError:  # another thread was faster
            team = None
        self.team = team = team or Team(self.most)
        try:
            team.wake(size)
        except BaseException:  # Ctrl-C: its threads may sleep
            self.__exit__()
            raise
        return team

    def __exit__(self, *why: object) -> None:
        self.team.in_call = 0
        _free.append(self.team)
