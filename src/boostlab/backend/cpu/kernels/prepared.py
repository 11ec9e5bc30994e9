"""Calls that are prepared once and made many times from compiled code, by an address and arguments that stay packed.

So one compiled loop runs the formulas of any rule: it is compiled once, and a formula's own kernel serves it as it is.
A prepared call is a row of integers: the function's address, that of its arguments, the place of a number that changes
from call to call, and the arguments themselves.  Whoever makes the call keeps their arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.functions import bits
from boostlab.backend.cpu.kernels.tasks import PACKED, TASK_ADDRESS, _call

Array = np.ndarray[Any, Any]

ADDRESS, ARGUMENTS, NUMBER = TASK_ADDRESS, TASK_ADDRESS + 1, TASK_ADDRESS + 2  # places in a row, before what is packed
ROW = 256  # integers: an array is seven of them
SAMPLES = 0.1, 0.2  # by which the place of a number is known


def prepare(row: Array, kernel: Any, args: tuple[Any, ...], found: Array, changing: int | None = None) -> None:
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
    changing : int, optional
        Which argument is a number that the call is made with (see `make_with`).
    """
    kernel.pack(row, *args, found=found)
    if changing is not None:
        is_here = np.ones(len(row), bool)
        for number in SAMPLES:
            kernel.pack(row, *args[:changing], number, *args[changing + 1 :], found=found)
            is_here &= row == np.float64(number).view(np.int64)
        (row[NUMBER],) = np.flatnonzero(is_here)
    row[ARGUMENTS] = row.ctypes.data + PACKED * row.itemsize


@part
def make(calls: Array, which: int) -> bool:
    """Make a prepared call; return whether that went well."""
    return _call(calls[which, ADDRESS], calls[which, ARGUMENTS], 0, 1) == 0


@part
def make_with(calls: Array, which: int, number: float) -> bool:
    """Make a prepared call with a number, if it takes one; return whether that went well."""
    if calls[which, NUMBER] > 0:
        calls[which, calls[which, NUMBER]] = bits(number)
    return make(calls, which)
