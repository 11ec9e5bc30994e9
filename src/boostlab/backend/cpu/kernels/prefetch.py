"""Asking for memory before it is needed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from boostlab.backend.cpu.arrays import place_of

_inside: Any = intrinsic  # what is not Python but instructions


def _asking(to_write: bool) -> Any:
    """Return the instructions for memory that will be read, or written to."""

    @_inside
    def soon(typing: Any, array: Any, index: Any) -> Any:
        """Say that array[index] will be used soon; nothing happens where there is no such place."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = signature.args[0]
            place = place_of(context, builder, kind, args[0], args[1])
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            fetch = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
            how = [ir.Constant(number, x) for x in (int(to_write), 3, 1)]  # to keep: data
            builder.call(fetch, [builder.bitcast(place, byte), *how])
            return context.get_dummy_value()

        return types.void(array, index), code

    return soon


soon, soon_written = _asking(False), _asking(True)
