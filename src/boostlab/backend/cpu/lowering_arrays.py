"""From typed instructions to those of LLVM: elements, slices and sizes of arrays.

Numba copies an array's whole description to the stack for each of its elements that is read: some thirty instructions
for what takes eight.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.cpython.slicing import fix_index
from numba.np.arrayobj import load_item, store_item

from boostlab.backend.cpu.arrays import NITEMS, SHAPE, STRIDES, array_of, place_of
from boostlab.backend.cpu.lowering_numbers import NUMBERS, START, STOP


class ArrayLower(Lower):
    """Shorter forms of what kernels do with arrays."""

    builder: Any

    def _static_getitem(self, resty: Any, expr: Any) -> Any:
        if expr.index_var is None or not holds_numbers(self.typeof(expr.value.name)):
            return None
        return self.lower_getitem(resty, expr, expr.value, expr.index_var, self.fndesc.calltypes[expr])

    def _getattr(self, resty: Any, expr: Any) -> Any:
        """Return the size or shape of an array."""
        kind, builder = self.typeof(expr.value.name), self.builder
        if not isinstance(kind, types.Array) or expr.attr not in ("size", "shape"):
            return None
        array = self.loadvar(expr.value.name)
        if expr.attr == "size":
            return builder.natural(builder.extract_value(array, NITEMS))
        shape = llvm.Constant(self.context.get_value_type(resty), llvm.Undefined)
        for axis in range(kind.ndim):
            size = builder.natural(builder.extract_value(array, [SHAPE, axis]))
            shape = builder.insert_value(shape, size, axis)
        return shape

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an element, or look at some of an array."""
        kind, places = self.typeof(value.name), self._places(index)
        if not holds_numbers(kind) or not places or len(places) > kind.ndim:
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.loadvar(value.name)
        pointer, axes = self._found(kind, array, places)
        if axes:
            shape, strides = zip(*axes, strict=True)
            view = array_of(self.context, self.builder, signature.return_type, pointer, shape, strides, array)
            item = impl_ret_borrowed(self.context, self.builder, signature.return_type, view)
        elif isinstance(kind.dtype, types.Boolean):
            item = self.builder.truth(self.builder.load(pointer))
        else:
            item = load_item(self.context, self.builder, kind, pointer)
        return self.context.cast(self.builder, item, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an element."""
        kind, places = self.typeof(target_var.name), self._places(index_var)
        element = all(isinstance(part, types.Integer) for part, _ in places) and isinstance(signature.args[2], NUMBERS)
        if not holds_numbers(kind) or not element or len(places) != kind.ndim:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self._cast_var(value_var, signature.args[2])
        value = self.context.cast(self.builder, value, signature.args[2], kind.dtype)
        pointer, _ = self._found(kind, self.loadvar(target_var.name), places)
        return store_item(self.context, self.builder, kind, value, pointer)

    def _places(self, index: Any) -> list[tuple[Any, Any]]:
        """Return kind and value of each index, if all of them are integers, and slices of step 1."""
        kind, value = self.typeof(index.name), self.loadvar(index.name)
        if _is_place(kind):
            return [(kind, value)]
        parts = kind.types if isinstance(kind, types.BaseTuple) else ()  # type: ignore[attr-defined]
        if not all(map(_is_place, parts)):
            return []
        return [(part, self.builder.extract_value(value, axis)) for axis, part in enumerate(parts)]

    def _found(self, kind: Any, array: Any, places: list[tuple[Any, Any]]) -> tuple[Any, list[tuple[Any, Any]]]:
        """Return where the first element lies that is asked for, and sizes and strides of the axes that are left."""
        builder, indices, axes = self.builder, [], []
        for axis, (asked, place) in enumerate(places):
            if isinstance(asked, types.Integer):
                index = self._integer(asked, place, array, axis)
            else:
                index, size = self._bounds(place, builder.extract_value(array, [SHAPE, axis]))
                axes.append((size, builder.extract_value(array, [STRIDES, axis])))
            indices.append(index)
        whole = range(len(places), kind.ndim)
        axes += [tuple(builder.extract_value(array, [field, axis]) for field in (SHAPE, STRIDES)) for axis in whole]
        return place_of(self.context, builder, kind, array, *indices), axes

    def _integer(self, kind: Any, place: Any, array: Any, axis: int) -> Any:
        index = self.context.cast(self.builder, place, kind, types.intp if kind.signed else types.uintp)
        if not kind.signed or self.builder.is_natural(index):
            return index
        return fix_index(self.builder, index, self.builder.extract_value(array, [SHAPE, axis]))

    def _bounds(self, place: Any, size: Any) -> tuple[Any, Any]:
        """Return the begin of a slice of step 1, and its length."""
        builder, bounds, zero = self.builder, [], size.type(0)
        for field in (START, STOP):
            bound = builder.extract_value(place, field)
            if not builder.is_natural(bound):
                bound = fix_index(builder, bound, size)
                bound = builder.select(builder.icmp_signed("<", bound, zero), zero, bound)
            if bound is not zero and not (isinstance(bound, llvm.Constant) and bound.constant == 0):
                bound = builder.select(builder.icmp_signed(">", bound, size), size, bound)
            bounds.append(bound)
        first, last = bounds
        if isinstance(first, llvm.Constant):
            return first, builder.natural(last)
        length = builder.sub(last, first)
        return first, builder.natural(builder.select(builder.icmp_signed("<=", length, zero), zero, length))


def _is_place(kind: Any) -> bool:
    return isinstance(kind, types.Integer) or (isinstance(kind, types.SliceType) and not kind.has_step)


def holds_numbers(kind: Any) -> bool:
    """Return whether a type is that of arrays of numbers."""
    return isinstance(kind, types.Array) and isinstance(kind.dtype, NUMBERS)
