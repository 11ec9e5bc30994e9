"""Instructions of LLVM that are not written: what is known already, and what nothing uses.

Descriptions of arrays, tuples and ranges are put together and taken apart again all the time.  LLVM sees through that,
but two fifths of all instructions that it would read are such.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from llvmlite.ir import instructions as made  # type: ignore[import-untyped]

UNUSED = "insertvalue", "extractvalue", "load", "getelementptr", "bitcast", "icmp", "select", "add", "sub", "mul"


class ShortBuilder(llvm.IRBuilder):
    """Takes a part of what was put together from where it came, and knows which integers are not negative."""

    def __init__(self, block: Any) -> None:
        super().__init__(block)
        self._natural: set[int] = set()  # the identities of such numbers, and of where they are kept

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Return a part of a structure."""
        asked = tuple(idx) if isinstance(idx, tuple | list) else (idx,)
        while isinstance(agg, made.InsertValue):
            put = tuple(agg.indices)
            if asked[: len(put)] == put:
                agg, asked = agg.value, asked[len(put) :]
                if not asked:
                    return agg
            elif put[: len(asked)] == asked:
                break  # some of what is asked for was put in
            else:
                agg = agg.aggregate
        return super().extract_value(agg, list(asked), name=name)

    def is_natural(self, value: Any) -> bool:
        """Return whether a number is known not to be negative."""
        if isinstance(value, llvm.Constant):
            return isinstance(value.constant, int) and 0 <= value.constant < 1 << (value.type.width - 1)
        return id(value) in self._natural

    def natural(self, value: Any) -> Any:
        """Take note that a number is not negative; return it.

        Instructions and arguments keep their identities as long as the function is written, constants may not.
        """
        if not isinstance(value, llvm.Constant):
            self._natural.add(id(value))
        return value

    def add(self, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        """Add two numbers."""
        return self._like_both(super().add(lhs, rhs, name, flags), lhs, rhs, flags)

    def mul(self, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        """Multiply two numbers."""
        return self._like_both(super().mul(lhs, rhs, name, flags), lhs, rhs, flags)

    def select(self, cond: Any, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        """Choose one of two values."""
        return self._like_both(super().select(cond, lhs, rhs, name, flags), lhs, rhs)

    def _like_both(self, value: Any, first: Any, second: Any, flags: Any = ("nsw",)) -> Any:
        return self.natural(value) if "nsw" in flags and self.is_natural(first) and self.is_natural(second) else value

    def truth(self, value: Any) -> Any:
        """Return whether a number is not 0."""
        return self.icmp_unsigned("!=", value, value.type(0))


def place_for(builder: Any, kind: Any) -> Any:
    """Return a place on the stack for a value that is written before it is read."""
    with builder.goto_entry_block():
        return builder.alloca(kind)


def remove_unused(function: Any) -> None:
    """Remove the instructions whose values nothing uses, and those that only they use."""
    times = Counter(id(used) for block in function.blocks for one in block.instructions for used in _used(one))
    for block in reversed(function.blocks):
        kept = []
        for one in reversed(block.instructions):
            if one.opname in UNUSED and times[id(one)] == 0 and "volatile" not in one.flags:
                times.subtract(id(used) for used in _used(one))
            else:
                kept.append(one)
        block.instructions[:] = reversed(kept)


def _used(one: Any) -> Iterator[Any]:
    yield from one.operands
    if isinstance(one, made.PhiInstr):
        yield from (value for value, _ in one.incomings)
