"""Arrays in instructions of LLVM: what describes one, and where its elements are.

The fields are those of Numba (`numba.core.datamodel.ArrayModel`): the owner of the memory and the object of Python,
both of which may be null, how many elements there are and their size, the address, the shape and the strides.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, types

OWNER, OBJECT, NITEMS, ITEM_SIZE, DATA, SHAPE, STRIDES = range(7)


def array_of(
    context: Any,
    builder: Any,
    kind: Any,
    data: Any,
    shape: Sequence[Any],
    strides: Sequence[Any] = (),
    held: Any = None,
) -> Any:
    """Return the description of an array.

    Parameters
    ----------
    kind : types.Array
        What it is.
    data : value
        The address of its first element.
    shape, strides : sequences of values
        As NumPy has them; no strides of an array whose elements lie one behind the other.
    held : value, optional
        An array that has the same owner.
    """
    made = llvm.Constant(context.get_value_type(kind), llvm.Undefined)
    size = context.get_value_type(types.intp)(bytes_of(context, kind.dtype))
    if not strides:
        strides = [size]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
    for field in OWNER, OBJECT:
        null = cgutils.get_null_value(made.type.elements[field])
        made = builder.insert_value(made, null if held is None else builder.extract_value(held, field), field)
    nitems = reduce(lambda x, y: builder.mul(x, y, flags=["nsw"]), shape)
    for field, value in (NITEMS, nitems), (ITEM_SIZE, size), (DATA, data):
        made = builder.insert_value(made, value, field)
    for axis, (length, stride) in enumerate(zip(shape, strides, strict=True)):
        made = builder.insert_value(builder.insert_value(made, length, [SHAPE, axis]), stride, [STRIDES, axis])
    return made


def bytes_of(context: Any, kind: Any) -> int:
    """Return how many bytes a number of this type takes."""
    return int(context.get_abi_sizeof(context.get_data_type(kind)))


def data_of(builder: Any, array: Any) -> Any:
    """Return the address of an array's first element."""
    return builder.extract_value(array, DATA)


def place_of(context: Any, builder: Any, kind: Any, array: Any, *index: Any) -> Any:
    """Return the address of array[index], all of it or its first axes; none of them counts from the end."""
    data = data_of(builder, array)
    if kind.layout != "C":
        shape, strides = (
            [builder.extract_value(array, [field, axis]) for axis in range(kind.ndim)] for field in (SHAPE, STRIDES)
        )
        return cgutils.get_item_pointer2(context, builder, data, shape, strides, kind.layout, list(index))
    terms = []
    for axis, one in enumerate(index):
        inner = [builder.extract_value(array, [SHAPE, later]) for later in range(axis + 1, kind.ndim)]
        terms.append(builder.mul(one, reduce(builder.mul, inner)) if inner else one)
    return builder.gep(data, [reduce(builder.add, terms)])
