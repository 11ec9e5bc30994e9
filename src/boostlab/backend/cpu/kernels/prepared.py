"""Calls that are prepared once and made many times from compiled code, by an address and arguments that stay packed.

So one compiled loop runs the formulas of any rule: it is compiled once, and a formula's own kernel serves it as it is.
A prepared call is a row of integers: the function's address, that of its arguments, and the arguments themselves.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.kernels import tasks

Array = np.ndarray[Any, Any]

ADDRESS, ARGUMENTS, PACKED = range(3)  # places in a row; what is packed goes on to its end
ROW = 256  # integers: an array is seven of them


@part
def _record(parts: int, numbers: int, together: int) -> None:
    """Copy the arguments of the call that a team's numbers name, while that call lasts, behind these numbers."""
    team = carray(tasks._pointer(numbers), (tasks.ROOM + ROW,), np.int64)
    size = (team[tasks.SIZE] + 7) // 8
    if size > ROW - PACKED:
        raise MemoryError
    given = carray(tasks._pointer(team[tasks.ARGUMENTS]), (ROW,), np.int64)
    for word in range(size):
        team[tasks.ROOM + PACKED + word] = given[word]


_record_task = tasks.task_maker(tasks.TaskShape(number=2))


@kernel
def recorder() -> int:
    """Return the address of `_record`, which leads a team of nobody."""
    return _record_task(_record, (0, 0), np.empty((0, 0), np.int64))[0]


def new_record() -> Array:
    """Return the numbers that a call is made with to be recorded; its row comes behind them."""
    numbers = np.zeros(tasks.ROOM + ROW, np.int64)
    numbers[tasks.LEADER], numbers[tasks.NUMBERS] = recorder(), numbers.ctypes.data
    numbers[tasks.ITSELF] = numbers.ctypes.data + tasks.PARTS * numbers.itemsize
    return numbers


def recorded(numbers: Array, row: Array) -> None:
    """Write the call that was recorded to a row, which stays where it is."""
    row[:] = numbers[tasks.ROOM :]
    row[ADDRESS], row[ARGUMENTS] = numbers[tasks.ADDRESS], row.ctypes.data + PACKED * row.itemsize


@part
def make(calls: Array, which: int) -> int:
    """Make a prepared call, all of its range; return 0, or else something went wrong."""
    return tasks._call(calls[which, ADDRESS], calls[which, ARGUMENTS], 0, 1)
