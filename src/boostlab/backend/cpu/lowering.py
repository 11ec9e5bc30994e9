"""From typed instructions to those of LLVM: what kernels do all the time, in fewer of them.

Numba copies an array's whole description to the stack for each of its elements that is read, and an iterator's for each
step: some thirty instructions for what takes eight.  LLVM removes them again, but writing, reading and removing them
was a fifth of the time that compilation takes.  But for references
that are no longer counted the machine code is the same.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import operator
import sys
from collections import Counter
from functools import reduce
from typing import Any, ClassVar

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, ir, types
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.core.typing.templates import signature as signature_of
from numba.cpython.slicing import fix_index
from numba.np.arrayobj import load_item, store_item

from boostlab.backend.cpu.building import ShortBuilder, remove_unused
from boostlab.backend.cpu.calling import DATA, NITEMS, SHAPE, STRIDES, PartCalls, declared, may_fail
from boostlab.backend.cpu.entering import Entry, is_entered
from boostlab.backend.cpu.references import may_be_array, owners, without_count

KEPT_BY_A_VIEW = 0, 1, 3  # the owner of the memory, the object of Python, the size of an item
START, STOP, STEP = 0, 1, 2  # of a range or slice
NUMBERS = types.Number, types.Boolean
CHOICES = {min: operator.lt, max: operator.gt}  # how the second one wins


class ShortLower(Lower):
    """Numba's lowering, with shorter forms of what kernels do most."""

    operators: ClassVar[dict[Any, Any]] = {}

    def setup_function(self, described: Any) -> None:
        """Begin the function."""
        self.function = self._declared(described)
        self.entry_block = self.function.append_basic_block("entry")
        self.builder = ShortBuilder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def _declared(self, described: Any) -> Any:
        return self.context.declare_function(self.module, described)

    def lower_normal_function(self, described: Any) -> None:
        """Lower the function, and leave out what nothing uses."""
        super().lower_normal_function(described)
        for function in self.module.functions:
            remove_unused(function)

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Make the function that Python calls, which holds its arguments by itself."""
        self.context = self.plain or self.context
        super().create_cpython_wrapper(release_gil)
        self.context = self.counting

    # -- variables -------------------------------------------------------------------------------------------------

    def init(self) -> None:
        """Find the variables that own arrays; all may where one is returned."""
        self.counting, self.plain = self.context, None
        if self.context.enable_nrt and not may_be_array(self.fndesc.restype) and self.generator_info is None:
            self.owners, self.plain = owners(self.func_ir, self.fndesc.typemap), without_count(self.context)
        super().init()

    def lower_inst(self, inst: Any) -> Any:
        """Lower one instruction, and count references to what the function owns only."""
        if isinstance(inst, ir.Del) and not (self.context.enable_nrt and self._is_counted(inst.value)):
            return None
        if self.plain is not None and isinstance(inst, ir.Assign) and not self._is_counted(inst.target.name):
            self.context = self.plain
        try:
            return self._lower_inst(inst)
        finally:
            self.context = self.counting

    def _is_counted(self, name: str) -> bool:
        return bool(self.context.enable_nrt) and (self.plain is None or name in self.owners)

    def _lower_inst(self, inst: Any) -> Any:
        if isinstance(inst, ir.StaticSetItem) and _holds_numbers(self.typeof(inst.target.name)):
            return self.lower_setitem(inst.target, inst.index_var, inst.value, self.fndesc.calltypes[inst])
        return super().lower_inst(inst)

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables that are one value all the time, and need no place: assigned once, before every use."""
        self._blk_local_varmap: dict[str, Any] = {}
        self._singly_assigned_vars: set[str] = set()
        if self.generator_info is not None:
            return
        blocks = self.func_ir.blocks
        made = [(assign.target.name, at) for at, block in blocks.items() for assign in block.find_insts(ir.Assign)]
        where, times = dict(made), Counter(name for name, _ in made)
        once = {name for name, n in times.items() if n == 1} - must_use_alloca(blocks)
        earlier = compute_cfg_from_blocks(blocks).dominators()
        for at, used in compute_use_defs(blocks).usemap.items():  # what a block has not made itself, or not yet
            once -= {
                name
                for name in used & once
                if self._is_counted(name) or where[name] >= at or where[name] not in earlier[at]
            }
        self._singly_assigned_vars = once

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a value, without a look at the one before, whose references are not counted."""
        if self.context.enable_nrt or self._disable_sroa_like_opt or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Make a place for a variable; its size is asked for by debuggers only."""
        if self._disable_sroa_like_opt:
            return super().alloca_lltype(name, lltype, datamodel)
        return cgutils.alloca_once(self.builder, lltype, name=name)

    # -- expressions -----------------------------------------------------------------------------------------------

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Lower one expression."""
        made = getattr(self, f"_{expr.op}", lambda *_: None)(resty, expr)
        return super().lower_expr(resty, expr) if made is None else made

    def _static_getitem(self, resty: Any, expr: Any) -> Any:
        if expr.index_var is None or not _holds_numbers(self.typeof(expr.value.name)):
            return None
        return self.lower_getitem(resty, expr, expr.value, expr.index_var, self.fndesc.calltypes[expr])

    def _getattr(self, resty: Any, expr: Any) -> Any:
        if not isinstance(self.typeof(expr.value.name), types.Array) or expr.attr not in ("size", "shape"):
            return None
        return self.builder.extract_value(self.loadvar(expr.value.name), NITEMS if expr.attr == "size" else SHAPE)

    def _pair_first(self, resty: Any, expr: Any) -> Any:
        return None if self.context.enable_nrt else self.builder.extract_value(self.loadvar(expr.value.name), 0)

    def _pair_second(self, resty: Any, expr: Any) -> Any:
        return None if self.context.enable_nrt else self.builder.extract_value(self.loadvar(expr.value.name), 1)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Lower an operator, whose code for two kinds of numbers is looked up once."""
        signature = self.fndesc.calltypes[expr]
        plain = all(isinstance(kind, NUMBERS) for kind in signature.args)
        if not plain or expr.static_lhs is not ir.UNDEFINED or expr.static_rhs is not ir.UNDEFINED:
            return super().lower_binop(resty, expr, op)
        asked = op, signature.args
        if asked not in self.operators:
            function = self.context.typing_context.resolve_value_type(op)
            called = function.get_call_type(self.context.typing_context, signature.args, {})
            self.operators[asked] = called, self.context.get_function(function, called)
        called, found = self.operators[asked]
        operands = [self._cast_var(x, kind) for x, kind in zip((expr.lhs, expr.rhs), signature.args, strict=True)]
        made = found._imp(self.context, self.builder, called, operands, loc=None)
        self.context.add_linking_libs(getattr(found, "libs", ()))
        return self.context.cast(self.builder, made, signature.return_type, resty)

    # -- arrays ----------------------------------------------------------------------------------------------------

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an element, or look at some of an array."""
        kind, places = self.typeof(value.name), self._places(index)
        if not _holds_numbers(kind) or not places or len(places) > kind.ndim:
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.loadvar(value.name)
        pointer, axes = self._found(kind, array, places)
        if axes:
            view = self._view(array, pointer, axes, signature.return_type)
            item = impl_ret_borrowed(self.context, self.builder, signature.return_type, view)
        else:
            item = load_item(self.context, self.builder, kind, pointer)
        return self.context.cast(self.builder, item, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an element."""
        kind, places = self.typeof(target_var.name), self._places(index_var)
        element = len(places) == kind.ndim and all(isinstance(part, types.Integer) for part, _ in places)
        if not _holds_numbers(kind) or not element or not isinstance(signature.args[2], NUMBERS):
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
        return self._pointer(kind, array, indices), axes

    def _integer(self, kind: Any, place: Any, array: Any, axis: int) -> Any:
        index = self.context.cast(self.builder, place, kind, types.intp if kind.signed else types.uintp)
        if not kind.signed or _is_natural(index):
            return index
        return fix_index(self.builder, index, self.builder.extract_value(array, [SHAPE, axis]))

    def _bounds(self, place: Any, size: Any) -> tuple[Any, Any]:
        """Return the begin of a slice of step 1, and its length."""
        builder, bounds, zero = self.builder, [], size.type(0)
        for field in (START, STOP):
            bound = builder.extract_value(place, field)
            if not _is_natural(bound):
                bound = fix_index(builder, bound, size)
                bound = builder.select(builder.icmp_signed("<", bound, zero), zero, bound)
            bounds.append(builder.select(builder.icmp_signed(">", bound, size), size, bound))
        length = builder.sub(bounds[1], bounds[0])
        return bounds[0], builder.select(builder.icmp_signed("<=", length, zero), zero, length)

    def _pointer(self, kind: Any, array: Any, indices: list[Any]) -> Any:
        builder, data = self.builder, self.builder.extract_value(array, DATA)
        if kind.layout != "C":
            shape = cgutils.unpack_tuple(builder, builder.extract_value(array, SHAPE), kind.ndim)
            strides = cgutils.unpack_tuple(builder, builder.extract_value(array, STRIDES), kind.ndim)
            return cgutils.get_item_pointer2(self.context, builder, data, shape, strides, kind.layout, indices)
        terms = []
        for axis, index in enumerate(indices):
            inner = [builder.extract_value(array, [SHAPE, later]) for later in range(axis + 1, kind.ndim)]
            terms.append(builder.mul(index, reduce(builder.mul, inner)) if inner else index)
        return builder.gep(data, [reduce(builder.add, terms)])

    def _view(self, array: Any, pointer: Any, axes: list[tuple[Any, Any]], kind: Any) -> Any:
        """Return the description of a view."""
        builder = self.builder
        made = llvm.Constant(self.context.get_value_type(kind), llvm.Undefined)
        for field in KEPT_BY_A_VIEW:
            made = builder.insert_value(made, builder.extract_value(array, field), field)
        nitems = reduce(lambda x, y: builder.mul(x, y, flags=["nsw"]), [size for size, _ in axes])
        made = builder.insert_value(builder.insert_value(made, nitems, NITEMS), pointer, DATA)
        for axis, (size, stride) in enumerate(axes):
            made = builder.insert_value(builder.insert_value(made, size, [SHAPE, axis]), stride, [STRIDES, axis])
        return made

    # -- loops -----------------------------------------------------------------------------------------------------

    def _call(self, resty: Any, expr: Any) -> Any:
        """Make a range or slice of step 1, or choose one of two numbers."""
        kinds, called = self.fndesc.calltypes[expr].args, self.typeof(expr.func.name)
        if is_choice(called, kinds):
            return self._choice(called.typing_key, resty, expr)
        if isinstance(resty, types.RangeType) and self._steps_by_one(expr):
            bounds = [self._cast_var(bound, kind) for bound, kind in zip(expr.args, kinds, strict=True)]
            return self._steps(resty, [bounds[0].type(0), *bounds][-2:])
        if isinstance(resty, types.SliceType) and not resty.has_step and len(expr.args) == 2:
            word = self.context.get_value_type(types.intp)
            bounds = [
                word(default) if kind is types.none else self._cast_var(bound, kind)
                for default, bound, kind in zip((0, sys.maxsize), expr.args, kinds, strict=True)
            ]
            return self._steps(resty, bounds)
        return None

    def _choice(self, name: Any, resty: Any, expr: Any) -> Any:
        first, second = (self._cast_var(x, resty) for x in expr.args)
        better = self.context.get_function(CHOICES[name], signature_of(types.boolean, resty, resty))
        return self.builder.select(better(self.builder, (second, first)), second, first)

    def _steps(self, kind: Any, bounds: list[Any]) -> Any:
        made = llvm.Constant(self.context.get_value_type(kind), llvm.Undefined)
        for field, value in enumerate([*bounds, bounds[0].type(1)]):
            made = self.builder.insert_value(made, value, field)
        return made

    def _steps_by_one(self, expr: Any) -> bool:
        called = self.typeof(expr.func.name)
        return getattr(called, "typing_key", None) is range and not expr.kws and not expr.vararg and len(expr.args) < 3

    def _getiter(self, resty: Any, expr: Any) -> Any:
        """Count the steps of a range."""
        if not isinstance(resty, types.RangeIteratorType) or not self._is_made_here(expr.value):
            return None
        builder, steps = self.builder, self.loadvar(expr.value.name)
        start, stop, step = (builder.extract_value(steps, field) for field in (START, STOP, STEP))
        at, left = cgutils.alloca_once(builder, start.type), cgutils.alloca_once(builder, start.type)
        builder.store(start, at)
        difference = builder.sub(stop, start)
        with builder.if_else(builder.not_(builder.icmp_signed(">", difference, start.type(0)))) as (none, some):
            with none:
                builder.store(start.type(0), left)
            with some:
                builder.store(difference, left)
        made = llvm.Constant(self.context.get_value_type(resty), llvm.Undefined)
        for field, value in enumerate((at, stop, step, left)):
            made = builder.insert_value(made, value, field)
        return made

    def _is_made_here(self, steps: Any) -> bool:
        try:
            made = self.func_ir.get_definition(steps.name)
        except KeyError:
            return False
        return isinstance(made, ir.Expr) and made.op == "call" and self._steps_by_one(made)

    def _iternext(self, resty: Any, expr: Any) -> Any:
        """Take the next step of a range."""
        if not isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
            return None
        builder, steps = self.builder, self.loadvar(expr.value.name)
        at, step, left = (builder.extract_value(steps, field) for field in (0, 2, 3))
        count, value = builder.load(left), builder.load(at)
        goes_on = builder.icmp_signed(">", count, count.type(0))
        with builder.if_then(goes_on):
            builder.store(builder.sub(count, count.type(1), flags=["nsw"]), left)
            builder.store(builder.add(value, step), at)
        made = llvm.Constant(self.context.get_value_type(resty), llvm.Undefined)
        return builder.insert_value(builder.insert_value(made, value, 0), goes_on, 1)


class PartLower(ShortLower):
    """The lowering of a part that returns no array: it is called as `calling` says."""

    @property
    def call_conv(self) -> Any:
        """How it is called."""
        return PartCalls(self.context)

    def _declared(self, described: Any) -> Any:
        return declared(self.context, self.module, described)

    def lower(self) -> None:
        """Lower it, and note whether it may fail."""
        super().lower()
        self.metadata["may_fail"] = may_fail(self.function)


class KernelLower(PartLower):
    """The lowering of a kernel that Python calls as `entering` says."""

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Make the function that Python calls."""
        entry = Entry(self.plain or self.context, self.fndesc, self.metadata["may_fail"])
        self.library.add_ir_module(entry.made(release_gil))


def kernel_lower(context: Any, library: Any, described: Any, *args: Any, **options: Any) -> ShortLower:
    """Return the lowering of a kernel."""
    which = KernelLower if is_entered(described.argtypes, described.restype) else ShortLower
    return which(context, library, described, *args, **options)


def part_lower(context: Any, library: Any, described: Any, *args: Any, **options: Any) -> ShortLower:
    """Return the lowering of a part."""
    which = ShortLower if may_be_array(described.restype) else PartLower
    return which(context, library, described, *args, **options)


def is_choice(called: Any, kinds: tuple[Any, ...]) -> bool:
    """Return whether a call is that of min or max for two numbers of one type."""
    numbers = len(kinds) == 2 and all(isinstance(kind, types.Integer | types.Float) for kind in kinds)
    key = getattr(called, "typing_key", None) if isinstance(called, types.Function) else None
    return numbers and any(key is name for name in CHOICES) and types.unliteral(kinds[0]) == types.unliteral(kinds[1])


def _is_natural(value: Any) -> bool:
    """Return whether a number is known not to be negative."""
    return isinstance(value, llvm.Constant) and isinstance(value.constant, int) and value.constant >= 0


def _is_place(kind: Any) -> bool:
    return isinstance(kind, types.Integer) or (isinstance(kind, types.SliceType) and not kind.has_step)


def _holds_numbers(kind: Any) -> bool:
    return isinstance(kind, types.Array) and isinstance(kind.dtype, NUMBERS)
