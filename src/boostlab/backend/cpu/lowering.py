"""From typed instructions to those of LLVM: what kernels do all the time, in fewer of them.

Numba copies an array's whole description to the stack for each of its elements that is read, and an iterator's for each
step: some thirty instructions for what takes eight.  LLVM removes them again, but writing, reading and removing them
was a fifth of the time that compilation takes.  But for references
that are no longer counted the machine code is the same.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections import Counter
from typing import Any

from numba.core import cgutils, ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca

from boostlab.backend.cpu.building import ShortBuilder, remove_unused
from boostlab.backend.cpu.calling import PartCalls, declared, may_fail
from boostlab.backend.cpu.entering import KernelEntry, is_entered
from boostlab.backend.cpu.lowering_arrays import ArrayLower, holds_numbers
from boostlab.backend.cpu.lowering_numbers import NumberLower
from boostlab.backend.cpu.references import may_be_array, owners, without_count


class ShortLower(ArrayLower, NumberLower):
    """Numba's lowering, with shorter forms of what kernels do most."""

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
        if isinstance(inst, ir.StaticSetItem) and holds_numbers(self.typeof(inst.target.name)):
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
        entry = KernelEntry(self.plain or self.context, self.fndesc, self.metadata["may_fail"])
        self.library.add_ir_module(entry.made(release_gil))


def kernel_lower(context: Any, library: Any, described: Any, *args: Any, **options: Any) -> ShortLower:
    """Return the lowering of a kernel."""
    which = KernelLower if is_entered(described.argtypes, described.restype) else ShortLower
    return which(context, library, described, *args, **options)


def part_lower(context: Any, library: Any, described: Any, *args: Any, **options: Any) -> ShortLower:
    """Return the lowering of a part."""
    which = ShortLower if may_be_array(described.restype) else PartLower
    return which(context, library, described, *args, **options)
