"""Workspace of kernels, and other views of arrays, cheap to compile.

NumPy's own functions cost a kernel's first use much: `x.reshape` or `x.view` 0.3 s, `x.sum` or `np.searchsorted` half
a second, an array assigned to a slice 3 s (for the message of an error).  A loop costs 0.1 s or less.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from boostlab.backend.cpu.arrays import NITEMS, OWNER, SHAPE, array_of, bytes_of, data_of
from boostlab.backend.cpu.compiling import part

Array = np.ndarray[Any, Any]

ALIGNED = 32  # bytes

_inside: Any = intrinsic  # what is not Python but instructions


def _workspace(kind: Any) -> Any:
    def workspace(typing: Any, n: Any) -> Any:
        """Return space for n numbers: what `np.empty` does, which takes ten times as long to compile."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            size = builder.mul(args[0], args[0].type(bytes_of(context, kind)))
            owner = context.nrt.meminfo_alloc_aligned_unchecked(builder, size, ALIGNED)
            with cgutils.if_unlikely(builder, cgutils.is_null(builder, owner)):  # type: ignore[no-untyped-call]
                context.call_conv.return_user_exc(builder, MemoryError, ("Allocation failed.",))
            data = builder.bitcast(context.nrt.meminfo_data(builder, owner), context.get_data_type(kind).as_pointer())
            made = array_of(context, builder, signature.return_type, data, [args[0]])
            return builder.insert_value(made, owner, OWNER)

        return types.Array(kind, 1, "C")(types.intp), code

    workspace.makes_array = True  # type: ignore[attr-defined]
    return _inside(workspace)


integers, short_integers, naturals = _workspace(types.int64), _workspace(types.int32), _workspace(types.uint64)
doubles, flags, signs = _workspace(types.float64), _workspace(types.boolean), _workspace(types.int8)


@part
def copy(x: Array, to: Array) -> None:
    """Write a flat array to another."""
    for i in range(x.size):
        to[i] = x[i]


@part
def clear(x: Array) -> None:
    """Let all of a flat array be 0."""
    for i in range(x.size):
        x[i] = 0


@part
def total(x: Array) -> int:
    """Return the sum of integers."""
    found = np.int64(0)
    for i in range(x.size):
        found += x[i]
    return found  # type: ignore[return-value]


@part
def last_at_most(x: Array, value: int) -> int:
    """Return the place of the last of some sorted numbers that is at most `value`, -1 if there is none."""
    low, high = 0, x.size
    while low < high:
        middle = (low + high) // 2
        if x[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low - 1


def _flattening(writes: bool) -> Any:
    @_inside
    def flattened(typing: Any, array: Any) -> Any:
        """Return a C-contiguous array as one of a single dimension."""
        if not array.is_c_contig or (writes and not array.mutable):
            return None

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind, size = signature.return_type, builder.extract_value(args[0], NITEMS)
            made = array_of(context, builder, kind, data_of(builder, args[0]), [size], held=args[0])
            return impl_ret_borrowed(context, builder, kind, made)  # type: ignore[no-untyped-call]

        return types.Array(array.dtype, 1, "C", readonly=not writes)(array), code

    return flattened


to_write, to_read = _flattening(True), _flattening(False)


BLOCK = 1024  # rows whose values a kernel holds at once: 8 KB


@_inside
def row_of_labels(typing: Any, array: Any, i: Any) -> Any:
    """Return the row i of a table that has a label's numbers side by side, of shape (labels, rows).

    The compiler sees that the rows' numbers follow each other: a view that Numba makes has strides read from memory.
    """
    if not array.is_c_contig or array.ndim != 2:
        return None

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, data = signature.return_type, builder.gep(data_of(builder, args[0]), [args[1]])
        labels, rows = (builder.extract_value(args[0], [SHAPE, axis]) for axis in range(2))
        stride = builder.mul(rows, rows.type(bytes_of(context, kind.dtype)))
        made = array_of(context, builder, kind, data, [labels], [stride], held=args[0])
        return impl_ret_borrowed(context, builder, kind, made)  # type: ignore[no-untyped-call]

    return types.Array(array.dtype, 1, "A", readonly=True)(array, types.int64), code


@_inside
def block_of_doubles(typing: Any) -> Any:
    """Return space for a block of values on the stack.

    No array of the caller's can overlap it, so that a loop that writes there may read whatever it likes, and
    uses vectors.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = ir.DoubleType()
        place = cgutils.alloca_once(builder, ir.ArrayType(number, BLOCK))  # type: ignore[no-untyped-call]
        data = builder.bitcast(place, number.as_pointer())
        return array_of(context, builder, signature.return_type, data, [context.get_constant(types.intp, BLOCK)])

    return types.Array(types.float64, 1, "C")(), code


@_inside
def array_at(typing: Any, address: Any, shape: Any, dtype: Any) -> Any:
    """Return the array of this shape and type at an address, whose elements lie one behind the other."""
    kind = types.Array(dtype.dtype, len(shape), "C")

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = builder.inttoptr(args[0], context.get_data_type(kind.dtype).as_pointer())
        return array_of(context, builder, kind, data, cgutils.unpack_tuple(builder, args[1], len(shape)))  # type: ignore[no-untyped-call]

    return kind(types.int64, types.UniTuple(types.intp, len(shape)), dtype), code  # type: ignore[no-untyped-call]
