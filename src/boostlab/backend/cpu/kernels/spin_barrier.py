"""How threads inside compiled calls wait for each other.

Waking a Python thread takes some 50 microseconds, and a round of boosting has two moments at which all must have
finished.  So a team of threads takes many rounds in one call and waits by looking: at one counter that every member
raises when it arrives (`meet`), or at what each member has written (`tell`, `await_member`), where others need what it
found anyway and some need not wait for all.
"""

from __future__ import annotations

import platform
import sys
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from boostlab.backend.cpu.arrays import place_of
from boostlab.backend.cpu.compiling import part

Array = np.ndarray[Any, Any]

ARRIVED, BROKEN, BARRIER_NUMBERS = 0, 16, 32  # places in a team's numbers, on cache lines of their own
SERVED = 16  # of turns (see `take_turn`), beside those who have arrived
PATIENT = 4096  # looks before the processor is left to others
BRIEF = 64  # the same where waiting is rare, or takes longer than to leave the processor and come back

_PAUSE = "llvm.x86.sse2.pause" if platform.machine().lower() in ("x86_64", "amd64") else None
_YIELD = None if sys.platform == "win32" else "sched_yield"


_inside: Any = intrinsic  # what is not Python but instructions


@_inside
def fetch_add_one(typing: Any, array: Any, index: Any) -> Any:
    """Add 1 to array[index] at once and for all; return what was there."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = place_of(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", place, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(array, types.intp), code


@_inside
def load_acquire(typing: Any, array: Any, index: Any) -> Any:
    """Return array[index] as others have left it."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(place_of(context, builder, signature.args[0], args[0], args[1]), "acquire", 8)

    return types.int64(array, types.intp), code


@_inside
def _told(typing: Any, told: Any, member: Any, place: Any) -> Any:
    """Return told[member, place] as the member has left it, and see all that it wrote before."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(place_of(context, builder, signature.args[0], *args), "acquire", 8)

    return types.int64(told, types.intp, types.intp), code


@_inside
def tell(typing: Any, told: Any, me: Any, place: Any, value: Any) -> Any:
    """Set told[me, place], after all that this thread wrote before."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        where = place_of(context, builder, signature.args[0], *args[:3])
        builder.store_atomic(args[3], where, "release", 8)
        return context.get_dummy_value()

    return types.void(told, types.intp, types.intp, types.int64), code


@_inside
def pause(typing: Any, long: Any) -> Any:
    """Do nothing for a moment; for a longer one if asked."""

    def call(builder: Any, name: str, kind: Any) -> None:
        function = ir.FunctionType(kind, [])
        builder.call(cgutils.get_or_insert_function(builder.module, function, name), [])  # type: ignore[no-untyped-call]

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if _PAUSE is not None:
            call(builder, _PAUSE, ir.VoidType())
        if _YIELD is not None:
            with builder.if_then(args[0]):
                call(builder, _YIELD, ir.IntType(32))
        return context.get_dummy_value()

    return types.void(types.boolean), code


@part
def _meet_at(numbers: Array, size: int, team: Array, patient: int) -> bool:
    ticket = fetch_add_one(numbers, ARRIVED)
    all_here = ticket - ticket % size + size
    looks = 0
    while load_acquire(numbers, ARRIVED) < all_here:
        if load_acquire(team, BROKEN) > 0:
            return True
        looks += 1
        pause(looks > patient)
    return bool(load_acquire(team, BROKEN) > 0)


@part
def meet(team: Array, size: int) -> bool:
    """Wait until all `size` members are here; return whether the team is broken, and all should return."""
    return _meet_at(team, size, team, PATIENT)


@part
def meet_some(numbers: Array, size: int, team: Array) -> bool:
    """Do so for some members of a team, who have numbers of their own to meet by, 0 at first."""
    return _meet_at(numbers, size, team, BRIEF)


@part
def take_turn(turns: Array, team: Array) -> bool:
    """Wait until all who asked before have had their turn; return whether the team is broken, and all should return."""
    mine, looks = fetch_add_one(turns, ARRIVED), 0
    while load_acquire(turns, SERVED) < mine:
        if load_acquire(team, BROKEN) > 0:
            return True
        looks += 1
        pause(looks > BRIEF)
    return False


@part
def end_turn(turns: Array) -> None:
    """Let the next have its turn."""
    fetch_add_one(turns, SERVED)


@part
def await_member(told: Array, member: int, place: int, value: int, team: Array) -> bool:
    """Wait until told[member, place] is at least `value`; return whether the team is broken, and all should return."""
    looks = 0
    while _told(told, member, place) < value:
        if load_acquire(team, BROKEN) > 0:
            return True
        looks += 1
        pause(looks > PATIENT)
    return False


@part
def await_all(told: Array, place: int, value: int, team: Array) -> bool:
    """Do so for every member."""
    broken = False
    for p in range(told.shape[0]):
        broken |= await_member(told, p, place, value, team)
    return broken
