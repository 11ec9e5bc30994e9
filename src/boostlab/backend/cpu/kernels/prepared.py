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
ROW = 320  # integers: an array is two and more of them
CHANGING = 256  # from here on, for every number that changes: its place in the row, and which number it is
SAMPLES = 0.1, 0.2  # by which, and whole numbers more, the places of numbers are known


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
    packed, changing = row[:CHANGING], changing or {}
    assert len(changing) <= (ROW - CHANGING) // 2, "more numbers change than a row has places for"
    is_here = np.ones((len(changing), len(packed)), bool)
    for sample in SAMPLES if changing else SAMPLES[:1]:
        given = list(args)
        for c, at in enumerate(changing):
            given[at] = sample + c
        kernel.pack(packed, *given, found=found)
        for c in range(len(changing)):
            is_here[c] &= packed == np.float64(sample + c).view(np.int64)
    for c, which in enumerate(changing.values()):
        (row[CHANGING + 2 * c],) = np.flatnonzero(is_here[c])
        row[CHANGING + 2 * c + 1] = which
    row[NUMBER] = len(changing)
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
