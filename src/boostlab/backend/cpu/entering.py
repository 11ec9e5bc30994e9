"""How Python calls a kernel: arguments are taken apart without a question after each, but for one at the end.

The dispatcher has looked at their types already.  Numba's own wrapper asks five questions about an argument and holds a
reference to it, which is most of the code of a small kernel.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, types

from boostlab.backend.cpu.building import ShortBuilder, place_for, remove_unused
from boostlab.backend.cpu.calling import declared, packer_of, returned

NUMBERS = types.Integer, types.Float, types.Boolean


def is_entered(kinds: Any, returned: Any) -> bool:
    """Return whether a kernel of these arguments, which returns that, is called as here."""
    return all(map(_is_taken, kinds)) and (returned == types.none or _is_number(returned))


def _is_taken(kind: Any) -> bool:
    if isinstance(kind, types.Tuple | types.UniTuple):
        return all(map(_is_taken, kind))
    return isinstance(kind, NUMBERS) or (isinstance(kind, types.Array) and kind.ndim > 0)


def _is_number(kind: Any) -> bool:
    if isinstance(kind, types.Tuple | types.UniTuple):
        return all(map(_is_number, kind))
    return isinstance(kind, NUMBERS)


class KernelEntry:
    """The function that Python calls.

    Parameters
    ----------
    context : CPUContext
        In which references are not counted.
    described : FunctionDescriptor
        The kernel.
    fails : bool
        Whether it may end with an error.
    """

    def __init__(self, context: Any, described: Any, fails: bool) -> None:
        self.context, self.described, self.fails = context, described, fails
        self.module = context.create_module("wrapper")
        pointer = context.get_argument_type(types.pyobject)
        kind = llvm.FunctionType(pointer, [pointer] * 3)
        self.function = llvm.Function(self.module, kind, described.llvm_cpython_wrapper_name)
        self.builder = ShortBuilder(self.function.append_basic_block("entry"))
        self.api = context.get_python_api(self.builder)
        self.bad: list[Any] = []  # what says that an array was none

    def made(self, nogil: bool) -> Any:
        """Return the module with the function."""
        context, builder, api, described = self.context, self.builder, self.api, self.described
        objects = [api.alloca_obj() for _ in described.argtypes]
        size = len(objects)
        parsed = api.unpack_tuple(self.function.args[1], described.qualname, size, size, *objects)
        self._leave(builder.icmp_unsigned("==", parsed, parsed.type(0)))
        values = [self._taken(builder.load(one), kind) for one, kind in zip(objects, described.argtypes, strict=True)]
        wrong = cgutils.is_not_null(builder, api.err_occurred())
        for status in self.bad:
            wrong = builder.or_(wrong, builder.icmp_unsigned("!=", status, status.type(0)))
        self._leave(wrong)
        kernel = declared(context, self.module, described)
        place, error = (place_for(builder, kernel.args[at].type.pointee) for at in range(2))
        given = packer_of(context, described.argtypes).as_arguments(builder, values)
        thread = api.save_thread() if nogil else None
        code = builder.call(kernel, [place, error, *given], attrs=("noinline",))
        if nogil:
            api.restore_thread(thread)
        if self.fails:
            status = context.call_conv._get_return_status(builder, code, builder.load(error))
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.raise_error(builder, api, status)
                builder.ret(api.get_null_object())
        found = returned(context, builder, described.restype, builder.load(place))
        builder.ret(self._told(found, described.restype))
        remove_unused(self.function)
        return self.module

    def _leave(self, condition: Any) -> None:
        """End with the error that Python knows of."""
        with cgutils.if_unlikely(self.builder, condition):
            self.builder.ret(self.api.get_null_object())

    def _taken(self, one: Any, kind: Any) -> Any:
        """Return the value of an object."""
        builder, api, taken = self.builder, self.api, self.context.get_value_type(kind)
        if isinstance(kind, types.Array):
            place = place_for(builder, taken)
            self.bad.append(api.numba_array_adaptor(one, builder.bitcast(place, api.voidptr)))
            return builder.load(place)
        if isinstance(kind, types.BaseTuple):
            made = llvm.Constant(taken, llvm.Undefined)
            for at, part in enumerate(kind):  # type: ignore[arg-type, var-annotated]
                made = builder.insert_value(made, self._taken(api.tuple_getitem(one, at), part), at)
            return made
        if isinstance(kind, types.Boolean):
            truth = api.object_istrue(one)
            return builder.icmp_signed("!=", truth, truth.type(0))
        if isinstance(kind, types.Float):
            value = api.float_as_double(one)
            return value if value.type == taken else builder.fptrunc(value, taken)
        number = api.number_long(one)
        value = (api.long_as_longlong if kind.signed else api.long_as_ulonglong)(number)
        api.decref(number)
        return value if value.type == taken else builder.trunc(value, taken)

    def _told(self, value: Any, kind: Any) -> Any:
        """Return the object of a value."""
        builder, api = self.builder, self.api
        if kind == types.none:
            return api.make_none()
        if isinstance(kind, types.BaseTuple):
            made = api.tuple_new(len(kind))
            for at, part in enumerate(kind):  # type: ignore[arg-type, var-annotated]
                api.tuple_setitem(made, at, self._told(builder.extract_value(value, at), part))
            return made
        if isinstance(kind, types.Boolean):
            return api.bool_from_bool(value)
        if isinstance(kind, types.Float):
            return api.float_from_double(value if kind == types.float64 else builder.fpext(value, llvm.DoubleType()))
        if value.type.width < 64:
            value = (builder.sext if kind.signed else builder.zext)(value, llvm.IntType(64))
        return (api.long_from_longlong if kind.signed else api.long_from_ulonglong)(value)
