"""Parts of kernels: compiled as far as a kernel needs them, which is linked with them and optimised as a whole.

Numba optimises whatever a kernel calls and emits its machine code, although only the kernel is ever called: a third of
the time that compilation takes.  A part stops before that.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any, ClassVar

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.ir_utils import build_definitions
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import IRLegalization, NativeLowering, NopythonRewrites, PreLowerStripPhis
from numba.core.typing.templates import signature
from numba.core.untyped_passes import (
    InlineClosureLikes,
    InlineInlinables,
    IRProcessing,
    LiteralUnroll,
    ReconstructSSA,
    WithLifting,
)

from boostlab.backend.cpu.calling import insert_part
from boostlab.backend.cpu.lowering import kernel_lower, part_lower
from boostlab.backend.cpu.lowering_numbers import is_choice
from boostlab.backend.cpu.references import may_be_array, owners, without_count

ENVIRONMENT = "_ZN08NumbaEnv"
# Kernels have no closures, nor `with`, nor expressions of whole arrays, which rewrites would fuse.  How long variables
# live is asked once, at the end.
IDLE = (InlineClosureLikes, InlineInlinables, IRProcessing, LiteralUnroll, WithLifting, NopythonRewrites)


class _Code(JITCodeLibrary):
    """The code of a kernel: optimised as a whole only, not function by function before."""

    def _optimize_functions(self, module: Any) -> None:
        """Say how data lie in memory."""
        module.data_layout = self._codegen._data_layout


class _Linked(_Code):
    """The code of a part, to be linked into a kernel's."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel."""

    def _finalize_final_module(self) -> None:
        """Emit nothing."""
        self._finalize_dynamic_globals()
        self._finalized = True


# -- references ----------------------------------------------------------------------------------------------------


def _uncounting(state: Any) -> Any:
    """Return the context that a function is lowered in: without a count of references, if it owns no array.

    The caller holds the arguments, and all that the function reads is part of them.  To count every view of an array
    would take an eighth of the time of compilation, and time in each call.
    """
    if may_be_array(state.return_type) or owners(state.func_ir, state.typemap):
        return state.targetctx
    return without_count(state.targetctx)


# -- types ---------------------------------------------------------------------------------------------------------


class _Typing:
    """Numba's typing, which remembers what it found.

    It tries one rule after the other, those of arrays included, each time that two numbers are added: a fifteenth of
    the time that compilation takes, for some hundred different questions.  And it asks for the type of each call anew
    until all types of a function are known.
    """

    known: ClassVar[dict[Any, Any]] = {}  # of operators, which mean the same in all functions

    def __init__(self, context: Any) -> None:
        self.context = context
        self.found: dict[Any, Any] = {}  # of what this function calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self.context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a function for arguments of these types."""
        if kws:
            return self.context.resolve_function_type(function, args, kws)
        if is_choice(function, args):
            return signature(*[types.unliteral(args[0])] * 3)
        numbers = all(isinstance(kind, types.Number | types.Boolean) for kind in args)
        memory = self.known if numbers and _is_operator(function) else self.found
        asked = function, tuple(args)
        if asked not in memory:
            found = self.context.resolve_function_type(function, args, kws)
            if found is None or not found.return_type.is_precise():
                return found
            memory[asked] = found
        return memory[asked]


def _is_operator(function: Any) -> bool:
    known_by = function.key[0] if isinstance(function, types.Function) else None
    return known_by is bool or getattr(known_by, "__module__", None) == "_operator"


# -- passes --------------------------------------------------------------------------------------------------------


@register_pass(mutates_CFG=True, analysis_only=False)
class _SingleAssignment(ReconstructSSA):
    """One assignment for every variable."""

    _name = "single_assignment"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = reconstruct_ssa(state.func_ir)
        self._patch_locals(state)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _NoPhis(PreLowerStripPhis):
    """Assignments where blocks end in place of choices where they begin."""

    _name = "no_phis"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lifetimes(IRLegalization):
    """The end of every variable's life, of a function that counts references."""

    _name = "lifetimes"

    def run_pass(self, state: Any) -> bool:
        state.targetctx = _uncounting(state)
        return not state.targetctx.enable_nrt or bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """From typed instructions to those of LLVM, and no further."""

    _name = "lowering_of_a_part"
    lowering_class = staticmethod(part_lower)

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = library = _Linked(context.codegen(), state.func_id.func_qualname)
        library.enable_object_caching()
        state.flags.no_compile = True
        super().run_pass(state)
        described, helper, _, env = state.cr
        if not state.flags.forceinline and compute_cfg_from_blocks(state.func_ir.blocks).loops():
            # With others inlined around it a loop lacks registers: fits take up to 7 % longer.
            library.get_function(described.mangled_name).add_function_attribute("noinline")
        name = described.qualname.split(".")[-1]
        known_by = _dynfunc.make_function(described.lookup_module(), name, "part of a kernel", 0, env, (library,))
        if not may_be_array(described.restype):
            insert_part(context, known_by, described, library, state.metadata["may_fail"])
        else:
            context.insert_user_function(known_by, described, [library])
        state["cr"] = _LowerResult(described, helper, known_by, env)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):
    """From typed instructions to machine code, that of the parts included."""

    _name = "lowering_of_a_kernel"
    lowering_class = staticmethod(kernel_lower)

    def run_pass(self, state: Any) -> bool:
        state.library = _Code(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        super().run_pass(state)
        for variable in state.library._final_module.global_variables:  # where parts look for objects of Python
            if variable.name.startswith(ENVIRONMENT) and (known := lookup_environment(variable.name)) is not None:
                state.library.codegen.set_env(variable.name, known)
        return True


class _Flags(Flags):
    """Options of a compilation, equal where they mean the same for a function of Numba's that is called.

    Numba looks such functions up by all options, some forty of them, each time that it meets one, and compiles `max`
    anew for a kernel and for a part of it.
    """

    def _inherited(self) -> tuple[Any, ...]:
        known = self._values  # what was not asked for is not there, or false
        return bool(known.get("forceinline")), known.get("error_model"), known.get("fastmath") or None, known.get("nrt")

    def __hash__(self) -> int:
        return hash(self._inherited()[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Flags) and self._inherited() == other._inherited()


OURS = {ReconstructSSA: _SingleAssignment, PreLowerStripPhis: _NoPhis, IRLegalization: _Lifetimes}


class KernelCompiler(CompilerBase):
    """Numba's passes, but for those that have nothing to do in a kernel."""

    lowering: ClassVar[Any] = _KernelLowering

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags, self.state.typingctx = _Flags(self.state.flags), _Typing(self.state.typingctx)

    def define_pipelines(self) -> list[Any]:
        """Return the passes for a kernel."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        used = [(which, why) for which, why in passes.passes if which not in IDLE]
        ours = {**OURS, NativeLowering: self.lowering}
        passes.passes = [(ours.get(which, which), why) for which, why in used]
        passes.finalize()
        return [passes]


class PartCompiler(KernelCompiler):
    """Numba's passes, the last one exchanged."""

    lowering: ClassVar[Any] = _Lowering
