"""Which variables of a kernel may own an array: the others need no count of references."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

from numba.core import ir, types
from numba.core.typing.templates import _IntrinsicTemplate

# What holds no array.
PLAIN = types.Number, types.Boolean, types.NoneType, types.RangeType, types.SliceType, types.RawPointer
PASSED_ON = "build_tuple", "cast", "exhaust_iter", "iternext", "pair_first", "pair_second", "phi", "static_getitem"


def owners(func_ir: Any, typemap: Any) -> frozenset[str]:
    """Return the variables that may hold an array that the function makes, or a part or view of one."""
    assigned = [made for block in func_ir.blocks.values() for made in block.find_insts(ir.Assign)]
    arrays = [made for made in assigned if may_be_array(typemap[made.target.name])]
    found: set[str] = set()
    while (
        new := {made.target.name for made in arrays if _may_own(made.value, typemap) or _holds(made.value, found)}
        - found
    ):
        found |= new
    return frozenset(found)


def _holds(value: Any, found: set[str]) -> bool:
    if isinstance(value, ir.Var):
        return value.name in found
    return isinstance(value, ir.Expr) and any(held.name in found for held in value.list_vars())


def _may_own(value: Any, typemap: Any) -> bool:
    """Return whether an expression of arrays may make one that was not there before."""
    if isinstance(value, ir.Yield):
        return True
    if not isinstance(value, ir.Expr) or value.op in PASSED_ON:
        return False
    if value.op == "call":
        called = typemap[value.func.name]
        return not (isinstance(called, types.NamedTupleClass) or _is_intrinsic(called))
    if value.op in ("getattr", "getiter"):  # a method or field of a tuple, but not the rows of an array
        return isinstance(typemap[value.value.name], types.Array)
    if value.op == "getitem":  # a view, unless the places are an array as well
        return may_be_array(typemap[value.index.name])
    return True


def may_be_array(kind: Any) -> bool:
    """Return whether a value of this type may hold an array."""
    if isinstance(kind, types.BaseTuple):
        return any(map(may_be_array, kind.types))  # type: ignore[attr-defined]
    return not isinstance(kind, PLAIN)


def _is_intrinsic(called: Any) -> bool:
    """Return whether a function is one of our own that is made of instructions, and makes no array."""
    known: tuple[Any, ...] = getattr(called, "templates", (object,))
    return all(
        issubclass(template, _IntrinsicTemplate) and _only_looks(template._definition_func) for template in known
    )


def _only_looks(defined: Any) -> bool:
    return defined.__module__.startswith("boostlab.") and not hasattr(defined, "makes_array")


def without_count(context: Any) -> Any:
    """Return the same context, in which references are not counted."""
    plain = context.subtarget(enable_nrt=False)
    vars(plain).pop("nrt", None)  # made for the other context
    return plain
