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
    """Takes a part of what was put together from where it came."""

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
