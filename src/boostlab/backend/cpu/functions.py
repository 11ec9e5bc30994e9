"""The row functions compiled for the CPU: kernels call them by their plain names once this module is imported.

A kernel's file in the cache on disk does not see the source of what the kernel calls: a kernel made of row functions
holds `STAMP`, as `each` does, so that a change of them is noticed.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import lower_builtin, type_callable

from boostlab.backend.cpu.compiling import inlined, kernel
from boostlab.functions import bits as reinterpretation
from boostlab.functions import error, exponential, logarithm, pairs
from boostlab.functions.bits import bits as bits  # kernels import them from here, where they are compiled
from boostlab.functions.bits import from_bits as from_bits

Array = np.ndarray[Any, Any]

PARTS = (pairs, exponential, logarithm, error)


def _sources() -> str:
    try:
        return "".join(inspect.getsource(module) for module in (reinterpretation, *PARTS))
    except OSError:  # no source to be had
        return ""


STAMP = -1 - zlib.crc32(_sources().encode())  # negative, and another one whenever a row function changes


@type_callable(bits)
def _type_bits(context: Any) -> Any:
    return lambda x: types.int64 if x == types.float64 else None


@lower_builtin(bits, types.float64)  # type: ignore[no-untyped-call]
def _lower_bits(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], ir.IntType(64))


@type_callable(from_bits)
def _type_from_bits(context: Any) -> Any:
    return lambda i: types.float64 if i == types.int64 else None


@lower_builtin(from_bits, types.int64)  # type: ignore[no-untyped-call]
def _lower_from_bits(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], ir.DoubleType())


for _module in PARTS:
    for _function in [f for f in vars(_module).values() if getattr(f, "__module__", None) == _module.__name__]:
        inlined(_function)


def each(function: Callable[..., float], *columns: Array) -> Array:
    """Return a row function's value on every row of one or two columns of doubles."""
    out = np.empty_like(columns[0])
    _loop_of(function, len(columns))(*columns, out)
    return out


@cache
def _loop_of(function: Callable[..., float], arguments: int) -> Any:
    stamp = STAMP

    def loop(x: Array, out: Array) -> None:
        for i in range(max(0, stamp), x.size):
            out[i] = function(x[i])

    def loop_of_two(x: Array, y: Array, out: Array) -> None:
        for i in range(max(0, stamp), x.size):
            out[i] = function(x[i], y[i])

    return kernel(loop if arguments == 1 else loop_of_two)
