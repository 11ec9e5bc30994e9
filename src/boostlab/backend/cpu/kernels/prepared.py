"""Calls that are prepared once and made many times from compiled code, by an address and arguments that stay packed.

So one compiled loop runs the formulas of any rule: it is compiled once, and a formula's own kernel serves it as it is.
A prepared call is a row of integers: the function's address, that of its arguments, how many numbers change from call
to call, the arguments themselves, and at the end where these numbers are.  The caller keeps their arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.functions import bits
from boostlab.backend.cpu.kernels.tasks import PACKED, TASK_ADDRESS, call_at

Array = np.ndarray[Any, Any]

ADDRESS, ARGUMENTS, NUMBER = TASK_ADDRESS, TASK_ADDRESS + 1, TASK_ADDRESS + 2  # places in a row, before what is packed
ROW = 288  # integers: an array is two and more of them
CHANGING = 256  # from here on, for every number that changes: its place in the row, and which number it is
SAMPLES = 0.1, 0.2  # by which the place of a number is known


def prepare(
    row: Array, kernel: Any, args: tuple[Any, ...], found: Array, changing: Mapping[int, int] | None = None
) -> None:
    """Pack a call of a kernel `in_parts`, all of its range, to be made later.

    Parameters
    ----------
    row : int64 array of `ROW` numbers, zero
        Where it is written.
    kernel : InParts
        What is called.
    args : tuple
        Its arguments.
    found : int64 array of shape (1, any)
        Where the call writes what the function returns, floats as their bits.
    changing : mapping, optional
        Which arguments are numbers that the call is made with, and which ones (see `give`).
    """
    packed = row[:CHANGING]
    kernel.pack(packed, *args, found=found)
    for c, (at, which) in enumerate((changing or {}).items()):
        is_here = np.ones(len(packed), bool)
        for number in SAMPLES:
            kernel.pack(packed, *args[:at], number, *args[at + 1 :], found=found)
            is_here &= packed == np.float64(number).view(np.int64)
        (row[CHANGING + 2 * c],) = np.flatnonzero(is_here)
        row[CHANGING + 2 * c + 1], row[NUMBER] = which, c + 1
    row[ARGUMENTS] = row.ctypes.data + PACKED * row.itemsize


@part
def give(calls: Array, which: int, numbers: Array) -> None:
    """Write those of the numbers that a prepared call takes to its arguments."""
    for c in range(CHANGING, CHANGING + 2 * calls[which, NUMBER], 2):
        calls[which, calls[which, c]] = bits(numbers[calls[which, c + 1]])


@part
def make(calls: Array, which: int, part: int, parts: int) -> bool:
    """Make one of so many parts of a prepared call; return whether that went well."""
    return call_at(calls[which, ADDRESS], calls[which, ARGUMENTS], part, parts) == 0


def copy_to_each(calls: Array) -> None:
    """Copy the first rows of prepared calls to the others, each with arguments of its own."""
    calls[1:] = calls[0]
    first = calls.ctypes.data + calls.itemsize * PACKED
    calls[..., ARGUMENTS] = first + calls.itemsize * ROW * np.arange(calls[..., 0].size).reshape(calls.shape[:2])
