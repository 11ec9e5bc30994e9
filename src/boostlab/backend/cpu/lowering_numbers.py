"""From typed instructions to those of LLVM: numbers, ranges, and which of two numbers to take.

Numba divides whole numbers in six blocks with four places on the stack, and copies an iterator for each step.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import operator
import sys
from typing import Any, ClassVar

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import ir, types
from numba.core.lowering import Lower
from numba.core.typing.templates import signature as signature_of

from boostlab.backend.cpu.building import place_for

START, STOP, STEP = 0, 1, 2  # of a range or slice
NUMBERS = types.Number, types.Boolean
CHOICES = {min: operator.lt, max: operator.gt}  # how the second one wins
QUOTIENTS, REMAINDERS = (operator.floordiv, operator.ifloordiv), (operator.mod, operator.imod)


class NumberLower(Lower):
    """Shorter forms of what kernels do with numbers."""

    builder: Any
    operators: ClassVar[dict[Any, Any]] = {}

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
        if op in QUOTIENTS + REMAINDERS and _are_integers(signature):
            x, y = (self._cast_var(one, signature.return_type) for one in (expr.lhs, expr.rhs))
            made = self._divided(x, y, signature.return_type, op in QUOTIENTS)
            return self.context.cast(self.builder, made, signature.return_type, resty)
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

    def _divided(self, x: Any, y: Any, kind: Any, quotient: bool) -> Any:
        """Return the quotient, rounded down, or the remainder; 0 where there is none."""
        builder, zero, one = self.builder, x.type(0), x.type(1)
        natural = builder.is_natural(x) and builder.is_natural(y)
        if not isinstance(y, llvm.Constant) or y.constant in (0, -1):
            none = builder.icmp_unsigned("==", y, zero)
            if kind.signed and not natural:  # the least number has no opposite
                opposite = builder.and_(
                    builder.icmp_signed("==", x, x.type(kind.minval)), builder.icmp_signed("==", y, y.type(-1))
                )
                none = builder.or_(none, opposite)
            x, y = builder.select(none, zero, x), builder.select(none, one, y)
        if not kind.signed:
            return builder.udiv(x, y) if quotient else builder.urem(x, y)
        rest = builder.srem(x, y)
        if natural:
            return builder.natural(builder.sdiv(x, y) if quotient else rest)
        below = builder.and_(builder.truth(rest), builder.icmp_signed("<", builder.xor(rest, y), zero))
        if quotient:
            return builder.sub(builder.sdiv(x, y), builder.zext(below, x.type))
        return builder.add(rest, builder.select(below, y, zero))

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
        at, left = place_for(builder, start.type), place_for(builder, start.type)
        if builder.is_natural(start):
            builder.natural(at)
        builder.store(start, at)
        steps, none = builder.sub(stop, start), start.type(0)
        builder.store(builder.select(builder.icmp_signed(">", steps, none), steps, none), left)
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
        if builder.is_natural(at):
            builder.natural(value)
        goes_on = builder.icmp_signed(">", count, count.type(0))
        with builder.if_then(goes_on):
            builder.store(builder.sub(count, count.type(1), flags=["nsw"]), left)
            builder.store(builder.add(value, step), at)
        made = llvm.Constant(self.context.get_value_type(resty), llvm.Undefined)
        return builder.insert_value(builder.insert_value(made, value, 0), goes_on, 1)


def _are_integers(signature: Any) -> bool:
    kinds = {types.unliteral(kind) for kind in (*signature.args, signature.return_type)}
    return len(kinds) == 1 and all(isinstance(kind, types.Integer) for kind in kinds)


def is_choice(called: Any, kinds: tuple[Any, ...]) -> bool:
    """Return whether a call is that of min or max for two numbers of one type."""
    numbers = len(kinds) == 2 and all(isinstance(kind, types.Integer | types.Float) for kind in kinds)
    key = getattr(called, "typing_key", None) if isinstance(called, types.Function) else None
    return numbers and any(key is name for name in CHOICES) and types.unliteral(kinds[0]) == types.unliteral(kinds[1])
