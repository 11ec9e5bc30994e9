"""How kernels call their parts: arrays by address and shape, and with an error passed on only where one may occur.

Numba passes seven numbers and more for an array, gives every call a place of its own for an error, and asks five
questions about its end.  For the parts of a kernel, which nothing else calls, two numbers and one question do.  What
LLVM need not remove again takes no time to write and to read.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core.callconv import CPUCallConv
from numba.core.datamodel.packer import ArgPacker

from boostlab.backend.cpu.arrays import DATA, SHAPE, STRIDES, array_of, data_of
from boostlab.backend.cpu.building import place_for

BYTE = llvm.IntType(8)


class _ArrayAsArgument:
    """An array as an argument: its address and shape, and its strides if they do not follow.

    Its owner is not passed: the caller holds it as long as the call lasts, and the part returns no array.
    """

    def __init__(self, context: Any, kind: Any) -> None:
        self.context, self.kind = context, kind
        self.fields = (SHAPE,) if kind.layout == "C" else (SHAPE, STRIDES)

    def get_argument_type(self) -> tuple[Any, ...]:
        """Return the types of what is passed."""
        whole = self.context.get_value_type(self.kind)
        return whole.elements[DATA], *(self.context.get_value_type(types.intp),) * (len(self.fields) * self.kind.ndim)

    def as_argument(self, builder: Any, array: Any) -> tuple[Any, ...]:
        """Return what is passed."""
        axes = range(self.kind.ndim)
        numbers = (builder.extract_value(array, [field, axis]) for field in self.fields for axis in axes)
        return data_of(builder, array), *numbers

    def from_argument(self, builder: Any, passed: Sequence[Any]) -> Any:
        """Return the array."""
        end = 1 + self.kind.ndim
        return array_of(self.context, builder, self.kind, passed[0], passed[1:end], passed[end:])


class _TruthAsArgument:
    """A truth value as an argument: a byte."""

    def get_argument_type(self) -> Any:
        """Return the type of what is passed."""
        return BYTE

    def as_argument(self, builder: Any, value: Any) -> Any:
        """Return what is passed."""
        return builder.zext(value, BYTE)

    def from_argument(self, builder: Any, passed: Any) -> Any:
        """Return the value."""
        return builder.icmp_unsigned("!=", passed, BYTE(0))


class _TupleAsArgument:
    """A tuple, some of whose parts are such."""

    def __init__(self, parts: Sequence[Any], whole: Any) -> None:
        self.parts, self.whole = parts, whole

    def get_argument_type(self) -> tuple[Any, ...]:
        """Return the types of what is passed."""
        return tuple(part.get_argument_type() for part in self.parts)

    def as_argument(self, builder: Any, value: Any) -> tuple[Any, ...]:
        """Return what is passed."""
        return tuple(part.as_argument(builder, builder.extract_value(value, at)) for at, part in enumerate(self.parts))

    def from_argument(self, builder: Any, passed: Sequence[Any]) -> Any:
        """Return the tuple."""
        made = llvm.Constant(self.whole, llvm.Undefined)
        for at, (part, some) in enumerate(zip(self.parts, passed, strict=True)):
            made = builder.insert_value(made, part.from_argument(builder, some), at)
        return made


class _Packer(ArgPacker):
    """What is passed for arguments of these kinds."""

    def __init__(self, context: Any, kinds: Sequence[Any]) -> None:
        self.known = {kind: _model(context, kind) for kind in kinds}
        super().__init__(self, kinds)

    def lookup(self, kind: Any) -> Any:
        """Return how a kind is passed."""
        return self.known[kind]


def _model(context: Any, kind: Any) -> Any:
    model = context.data_model_manager.lookup(kind)
    if isinstance(kind, types.Boolean):
        return _TruthAsArgument()
    if isinstance(kind, types.Array) and kind.ndim > 0:
        return _ArrayAsArgument(context, kind)
    if isinstance(kind, types.BaseTuple) and any(isinstance(part, types.Array | types.Boolean) for part in kind):  # type: ignore[attr-defined]
        return _TupleAsArgument([_model(context, part) for part in kind], model.get_value_type())  # type: ignore[attr-defined]
    return model


_packers: dict[tuple[Any, ...], _Packer] = {}


def packer_of(context: Any, kinds: Sequence[Any]) -> _Packer:
    """Return what is passed for arguments of these kinds."""
    asked = tuple(kinds)
    if asked not in _packers:
        _packers[asked] = _Packer(context, asked)
    return _packers[asked]


class PartCalls(CPUCallConv):
    """How parts are called: Numba's convention with fewer arguments."""

    def _get_arg_packer(self, kinds: Sequence[Any]) -> _Packer:
        return packer_of(self.context, kinds)


def declared(context: Any, module: Any, described: Any) -> Any:
    """Return a part as a function of a module."""
    known = module.globals.get(described.mangled_name)
    if known is not None:
        return known
    calls = PartCalls(context)
    function = llvm.Function(
        module, calls.get_function_type(described.restype, described.argtypes), described.mangled_name
    )
    calls.decorate_function(function, described.args, described.argtypes)
    if described.inline:
        function.attributes.add("alwaysinline")
    return function


def returned(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return what a function has returned, as it is handled."""
    if isinstance(kind, types.Boolean):
        return builder.icmp_unsigned("!=", value, value.type(0))
    return context.get_returned_value(builder, kind, value)


def may_fail(function: Any) -> bool:
    """Return whether a function that is complete may end with an error."""
    ends = [block.terminator for block in function.blocks]
    codes = [end.return_value for end in ends if isinstance(end, llvm.instructions.Ret)]
    return any(not isinstance(code, llvm.Constant) or code.constant != 0 for code in codes)


def insert_part(context: Any, known_by: Any, described: Any, library: Any, fails: bool) -> None:
    """Let kernels call a part."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = declared(context, builder.module, described)
        place = place_for(builder, function.args[0].type.pointee)
        packed = packer_of(context, described.argtypes).as_arguments(builder, args)
        code = builder.call(function, [place, builder.function.args[1], *packed])
        if fails:
            with cgutils.if_unlikely(builder, builder.icmp_unsigned("!=", code, code.type(0))):
                builder.ret(code)
        return returned(context, builder, described.restype, builder.load(place))

    call.signature = described.argtypes  # type: ignore[attr-defined]
    call.libs = (library,)  # type: ignore[attr-defined]
    context._defns[known_by].append(call, described.argtypes)
