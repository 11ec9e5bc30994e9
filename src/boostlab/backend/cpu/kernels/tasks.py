"""Work in parts that threads take without the interpreter: a task is a function's address and its arguments.

A compiled call packs its arguments, announces the task in numbers that all threads of a team see, and does the first
part; thread k of the team, which waits by looking (`serve`), does part k.  So a thread finds in its own cache what it
wrote when it did the same part of the task before.  Parts that are not begun after a while are done by any thread, and
the next time at once: a thread that sleeps, or that the system has put aside, delays nothing for long.

The ticket of a task is one number: which task it is, how many parts it has, and whether they wait for each other.  Who
raises a part's claim to the number of the task has the part.  A task is written before its ticket, and only after all
parts of the last task are done; so a thread that raises a claim to the number of a ticket reads the task that belongs
to it, however long ago it saw the ticket.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from boostlab.backend.cpu.arrays import NITEMS, STRIDES, data_of, place_of
from boostlab.backend.cpu.building import ShortBuilder
from boostlab.backend.cpu.calling import packer_of
from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.kernels.spin_barrier import (
    ARRIVED,
    BARRIER_NUMBERS,
    BROKEN,
    fetch_add_one,
    load_acquire,
    pause,
)
from boostlab.backend.cpu.kernels.workspace import array_at

Array = np.ndarray[Any, Any]

# Places in a team's numbers, behind those of the barrier; what all threads change is on cache lines of its own.
TICKET, DONE, FAILED, ADDRESS, ARGUMENTS = (
    BARRIER_NUMBERS,
    BARRIER_NUMBERS + 16,
    BARRIER_NUMBERS + 32,
    BARRIER_NUMBERS + 48,
    BARRIER_NUMBERS + 49,
)
LEADER, PARTS, NUMBERS, ITSELF = BARRIER_NUMBERS + 50, BARRIER_NUMBERS + 51, BARRIER_NUMBERS + 52, BARRIER_NUMBERS + 53
CLAIMS, LINE = BARRIER_NUMBERS + 64, 8  # of every part, on a cache line of its own
MOST_PARTS = 256
TEAM_NUMBERS = CLAIMS + LINE * MOST_PARTS
TASK_ADDRESS, PACKED = 0, 3  # places in the numbers that a task is written to
TOGETHER, BITS = 1 << 12, 13  # of a ticket: whether parts wait for each other; bits of this and of the number of parts
PATIENT = 2048  # looks before the processor is left to others
LATE = 256  # looks (some microseconds) after which parts that are not begun are done by others

# Places in a plan, which says what to do with a task's parts: whom to call with the plan, where the plan is (the only
# argument), and the task itself, which the kernel that packs it writes.
PLANNER, PLAN_AT, PLAN, PLANNED, PLANNED_AT, PLAN_SIZE = 0, 1, 2, 3, 4, 5

_intrinsic: Any = intrinsic
_TASK = types.voidptr, types.intp, types.intp  # arguments, the part, how many parts


@_intrinsic
def _raised(typing: Any, array: Any, index: Any, seen: Any, value: Any) -> Any:
    """Set array[index] if it is still what was seen; return whether it was."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = place_of(context, builder, signature.args[0], args[0], args[1])
        both = builder.cmpxchg(place, args[2], args[3], "seq_cst", "seq_cst")
        return builder.extract_value(both, 1)

    return types.boolean(array, types.intp, types.int64, types.int64), code


@_intrinsic
def _announced(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Set array[index], after all that was written before."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = place_of(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], place, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), code


@_intrinsic
def call_at(typing: Any, address: Any, arguments: Any, which: Any, parts: Any) -> Any:
    """Do one part of a task; return 0, or what went wrong."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(types.none, _TASK)
        function = builder.inttoptr(args[0], kind.as_pointer())
        pointer = builder.inttoptr(args[1], cgutils.voidptr_t)
        status, _ = convention.call_function(builder, function, types.none, _TASK, [pointer, args[2], args[3]])
        return builder.sext(status.code, ir.IntType(64))

    return types.int64(types.int64, types.int64, types.intp, types.intp), code


class TaskShape(NamedTuple):
    """What a part of a function's work is, by the places of its arguments (-1: there is none such)."""

    first: int = -1  # the range that parts share
    last: int = -1
    out: int = -1  # what every part has a row of, which is cleared where there are several
    number: int = -1  # the part's own
    kinds: tuple[str, ...] = ()  # "int" or "float": what it returns


def task_maker(shape: TaskShape) -> Any:
    """Return task_of(function, arguments, found), to be used in kernels.

    It returns the address of a function (arguments in memory, the part, how many parts), the address where the
    arguments are (in the call that asks, as long as it lasts) and their size.  What a part returns goes to its row of
    `found`, floats as their bits.  All this is written in instructions: compiled from Python it would take longer than
    most kernels.
    """

    def task_of(typing: Any, function: Any, arguments: Any, found: Any) -> Any:
        given = list(arguments.types)
        seen = list(given)
        if shape.out >= 0:
            row = typing.resolve_function_type(operator.getitem, (given[shape.out], types.intp), {})
            seen[shape.out] = row.return_type
        if shape.number >= 0:
            seen.insert(shape.number, types.intp)
        inner = typing.resolve_function_type(function, tuple(seen), {})

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            convention, packer = context.call_conv, packer_of(context, [*given, found])
            flat = packer.as_arguments(builder, [*cgutils.unpack_tuple(builder, args[1], len(given)), args[2]])
            packed = cgutils.pack_struct(builder, flat)
            slot = cgutils.alloca_once(builder, packed.type)
            builder.store(packed, slot)
            name = builder.module.get_unique_name(f"{builder.function.name}.task")
            task = ir.Function(builder.module, convention.get_function_type(types.none, _TASK), name)
            task.linkage = "internal"
            inside = ShortBuilder(task.append_basic_block("entry"))
            pointer, which, parts = convention.get_arguments(task)
            loaded = inside.load(inside.bitcast(pointer, packed.type.as_pointer()))
            *values, told_to = packer.from_arguments(inside, cgutils.unpack_tuple(inside, loaded, len(flat)))
            if shape.first >= 0:
                first, size = values[shape.first], inside.sub(values[shape.last], values[shape.first])

                def bound(k: Any) -> Any:
                    return inside.add(first, inside.sdiv(inside.mul(size, k), parts))

                values[shape.first], values[shape.last] = bound(which), bound(inside.add(which, _one()))
            if shape.out >= 0:
                outs = values[shape.out]
                length, nitems = (inside.extract_value(outs, field) for field in ([STRIDES, 0], NITEMS))
                some = inside.icmp_signed(">=", nitems, _one())
                with inside.if_then(inside.and_(inside.icmp_signed(">", parts, _one()), some)):
                    start = inside.gep(
                        inside.bitcast(data_of(inside, outs), cgutils.voidptr_t), [inside.mul(which, length)]
                    )
                    cgutils.memset(inside, start, length, 0)
                values[shape.out] = context.get_function(operator.getitem, row)(inside, [values[shape.out], which])
            if shape.number >= 0:
                values.insert(shape.number, which)
            told = context.get_function(function, inner)(inside, values)
            _tell(context, inside, shape.kinds, inner.return_type, told, told_to, which)
            convention.return_value(inside, context.get_dummy_value())
            size = ir.Constant(ir.IntType(64), context.get_abi_sizeof(packed.type))
            places = builder.ptrtoint(task, ir.IntType(64)), builder.ptrtoint(slot, ir.IntType(64)), size
            return context.make_tuple(builder, signature.return_type, places)

        return types.UniTuple(types.int64, 3)(function, arguments, found), code

    return _intrinsic(task_of)


def _one() -> Any:
    return ir.Constant(ir.IntType(64), 1)


def _tell(context: Any, builder: Any, kinds: tuple[str, ...], kind: Any, told: Any, found: Any, which: Any) -> None:
    """Write what a part returns to its row of `found`."""
    if not kinds:
        return
    several = isinstance(kind, types.BaseTuple)
    values = cgutils.unpack_tuple(builder, told, len(kinds)) if several else [told]
    rows = data_of(builder, found)
    for c, (name, of, value) in enumerate(zip(kinds, kind.types if several else [kind], values, strict=True)):
        if name == "float":
            value = builder.bitcast(context.cast(builder, value, of, types.float64), ir.IntType(64))
        else:
            value = context.cast(builder, value, of, types.int64)
        at = builder.add(builder.mul(which, ir.Constant(ir.IntType(64), len(kinds))), ir.Constant(ir.IntType(64), c))
        builder.store(value, builder.gep(rows, [at]))


@part
def _claimed(team: Array, number: int, which: int, others: int) -> bool:
    """Return whether a part of the task of this number was not begun, and is this thread's now.

    A claim is twice the number, and one more if the part is another thread's (`others` is 1).
    """
    before = load_acquire(team, CLAIMS + LINE * which)
    return before >> 1 < number and _raised(team, CLAIMS + LINE * which, before, 2 * number + others)


@part
def _do(team: Array, which: int, parts: int) -> None:
    """Do a part that is this thread's."""
    if call_at(team[ADDRESS], team[ARGUMENTS], which, parts) != 0:  # say, no memory: others would wait for ever
        fetch_add_one(team, FAILED)
        fetch_add_one(team, BROKEN)
    fetch_add_one(team, DONE)


@part
def _do_others(team: Array, ticket: int, always: bool) -> int:
    """Do the parts that are not begun: always, or if their threads came late to the last task; return how many."""
    done, parts = 0, ticket & (TOGETHER - 1)
    for which in range(1, parts):
        late = always or load_acquire(team, CLAIMS + LINE * which) & 1 == 1
        if late and _claimed(team, ticket >> BITS, which, 1):
            _do(team, which, parts)
            done += 1
    return done


@part
def _lead(parts: int, numbers: int, together: int) -> None:
    """Announce the task that a team's numbers name, and see to it that all its parts are done.

    Parts that wait for each other must be done `together`: then this thread does one only.
    """
    team = array_at(numbers, (TEAM_NUMBERS,), np.int64)
    team[ARRIVED], team[BROKEN] = 0, 0
    before, failed = load_acquire(team, DONE), load_acquire(team, FAILED)
    number = (load_acquire(team, TICKET) >> BITS) + 1
    ticket = (number << BITS) | (TOGETHER if together > 0 else 0) | parts
    _announced(team, TICKET, ticket)
    _do(team, 0, parts)
    if together == 0:
        _do_others(team, ticket, False)
    looks = 0
    while load_acquire(team, DONE) < before + parts:
        looks += 1
        if together == 0 and looks % LATE == 0:
            _do_others(team, ticket, True)
        pause(looks > PATIENT)
    if load_acquire(team, FAILED) > failed:
        raise MemoryError


_lead_task = task_maker(TaskShape(number=2))


@kernel
def leader() -> int:
    """Return the address of `_lead`: a task of so many parts, whose arguments are in a team's numbers."""
    return _lead_task(_lead, (0, 0), array_at(0, (0, 0), np.int64))[0]


@_intrinsic
def _keep(typing: Any, array: Any, index: Any, arguments: Any, size: Any) -> Any:
    """Copy packed arguments of so many bytes to an array, from an index on."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = place_of(context, builder, signature.args[0], args[0], args[1])
        packed = builder.inttoptr(args[2], cgutils.voidptr_t)
        cgutils.raw_memcpy(builder, builder.bitcast(place, cgutils.voidptr_t), packed, args[3], 1)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64, types.int64), code


@part
def run_task(address: int, arguments: int, size: int, team: Array, parts: int, together: int) -> int:
    """Do all parts of a task, with a team if there are several; return 0, or else something went wrong.

    Of no parts none is done: the task is written to the team's numbers, where there is space (see `prepared`).
    The leader is called by its address, so that its code is not compiled into every kernel.
    """
    if parts == 1:
        return call_at(address, arguments, 0, 1)
    if parts == 0:
        if size > team.itemsize * (team.size - PACKED):
            return 1
        team[TASK_ADDRESS] = address
        _keep(team, PACKED, arguments, size)
        return 0
    team[ADDRESS], team[ARGUMENTS], team[PARTS] = address, arguments, parts
    return call_at(team[LEADER], team[ITSELF], together, parts)


@part
def run_planned(address: int, arguments: int, size: int, team: Array, parts: int, plan: Array) -> int:
    """Do all parts of a task, as `run_task` does; or, where there is a plan, those of the function that it names.

    That function calls the task by its address, for as many parts of it as it likes: so a loop over blocks of rows is
    compiled once, whatever is evaluated for a block.
    """
    if plan.size == 0:
        return run_task(address, arguments, size, team, parts, 0)
    plan[PLANNED], plan[PLANNED_AT] = address, arguments
    return run_task(plan[PLANNER], plan[PLAN_AT], 0, team, parts, 0)


@kernel
def serve(team: Array, mine: int, looks: int) -> None:
    """Do this thread's part of tasks as they come, and others' that are late, until there were none for so many looks.

    A part that waits for others is done by its own thread only, which waits in no other part meanwhile.
    """
    left, seen = looks, np.int64(0)
    while left > 0:
        ticket, done = load_acquire(team, TICKET), 0
        if ticket != seen:
            seen = ticket
            if mine < ticket & (TOGETHER - 1) and _claimed(team, ticket >> BITS, mine, 0):
                _do(team, mine, ticket & (TOGETHER - 1))
                done = 1
        elif left % LATE == 0 and ticket & TOGETHER == 0:
            done = _do_others(team, ticket, True)
        if done > 0:
            left = looks
        else:
            pause(looks - left > PATIENT)
            left -= 1


def new_numbers() -> Array:
    """Return the numbers that a team shares."""
    numbers = np.zeros(TEAM_NUMBERS, np.int64)
    numbers[LEADER], numbers[NUMBERS] = leader(), numbers.ctypes.data
    numbers[ITSELF] = numbers.ctypes.data + PARTS * numbers.itemsize  # where the leader finds its arguments
    return numbers
