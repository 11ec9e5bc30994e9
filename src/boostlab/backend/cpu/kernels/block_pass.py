"""Sums and extremes of a formula's values by blocks of rows, in one call: no thread holds the values of all rows.

Every thread has a part of the rows, and of these one block after the other evaluated into workspace of its own, which
stays in its cache.  What is evaluated is a task, called by its address (see kernels/tasks.py).  Without a task the
values are those of one array.  The thread that calls leads one such pass after the other, until every sum is at the
power of two that fits it.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.functions import from_bits
from boostlab.backend.cpu.kernels.fixed_point import flat_fixed, flat_sums_at, top_and_sums_at
from boostlab.backend.cpu.kernels.sum_powers import KNOWN, OPEN, POWER, SETTLED, take_note
from boostlab.backend.cpu.kernels.tasks import (
    PLAN_AT,
    PLAN_SIZE,
    PLANNED,
    PLANNED_AT,
    PLANNER,
    TEAM_NUMBERS,
    TaskShape,
    call_at,
    run_task,
    task_maker,
)
from boostlab.backend.cpu.kernels.totals import largest_part, largest_with, times
from boostlab.backend.cpu.kernels.workspace import array_at, to_read

Array = np.ndarray[Any, Any]

# Places in the plan.  How many parts there are, blocks a part, rows, values a row, labels a value, the rows that a
# block holds (0 where the values of all rows are kept); 0 for sums, or the sign to look for the largest value with; how
# many powers of two a value has; how many counts and masses there are; and where everything is.  AT_INTEGERS is 0 where
# integers are not kept.
PARTS, EACH, ROWS, VALUES, LABELS, BLOCK_ROWS = range(PLAN_SIZE, PLAN_SIZE + 6)
SIGN, POWERS, COUNTS, MASSES = range(PLAN_SIZE + 6, PLAN_SIZE + 10)
AT_BLOCKS, AT_COUNTS, AT_MASSES, AT_POWERS, AT_TOPS, AT_SUMS = range(PLAN_SIZE + 10, PLAN_SIZE + 16)
AT_INTEGERS = PLAN_SIZE + 16
# Of a plan whose passes are led: the team's numbers, the pass as a task, the bits of the number of examples, how it
# ended, after how many passes, and what `take_note` works on.
AT_TEAM, PASS, EXAMPLES, STATE, MADE = range(PLAN_SIZE + 17, PLAN_SIZE + 22)
AT_KNOWN, AT_NUMBERS, AT_FOUND, AT_WANTED, SIZE = range(PLAN_SIZE + 22, PLAN_SIZE + 27)


@part
def block_pass(address: int, part: int) -> None:
    """Do one part of the plan at this address.

    tops, of shape (parts, values), gets the largest magnitudes (NaN where a value is not finite), or the largest values
    with a sign; sums, of shape (parts, powers, values, 2), those of q and |q| as `tops_and_sums` makes them.
    """
    plan = array_at(address, (SIZE,), np.int64)
    each, n, n_values, n_labels, block_rows = plan[EACH], plan[ROWS], plan[VALUES], plan[LABELS], plan[BLOCK_ROWS]
    blocks, mine, apart = plan[PARTS] * each, n_values * n_labels * block_rows, block_rows if block_rows > 0 else n
    out = array_at(plan[AT_BLOCKS] + 8 * part * mine, (mine,), np.float64)
    counts = array_at(plan[AT_COUNTS], (plan[COUNTS],), np.int32)
    mass = array_at(plan[AT_MASSES], (plan[MASSES],), np.float64)
    powers = array_at(plan[AT_POWERS], (plan[POWERS] * n_values,), np.int64)
    tops = array_at(plan[AT_TOPS] + 8 * part * n_values, (n_values,), np.float64)
    sums = array_at(plan[AT_SUMS] + 16 * part * powers.size, (2 * powers.size,), np.int64)
    for v in range(n_values):
        tops[v] = 0.0 if plan[SIGN] == 0 else -np.inf
    for i in range(sums.size):
        sums[i] = 0
    for block in range(part * each, (part + 1) * each):
        first, last = n * block // blocks, n * (block + 1) // blocks
        if plan[PLANNED] != 0 and call_at(plan[PLANNED], plan[PLANNED_AT], block, blocks) != 0:
            raise MemoryError
        if block_rows == 0:
            out = array_at(plan[AT_BLOCKS] + 8 * first, (n_values * n_labels * n - first,), np.float64)
        for v in range(n_values):
            for label in range(n_labels):
                start = (v * n_labels + label) * apart
                x = out[start : start + last - first]
                if plan[SIGN] == 0:
                    _add(x, counts[first:last], mass[first:last], powers, v, n_values, tops, sums)
                    if plan[AT_INTEGERS] != 0 and powers.size > 0:
                        place = plan[AT_INTEGERS] + 8 * ((v * n_labels + label) * n + first)
                        q, power = array_at(place, (last - first,), np.int64), powers[powers.size - n_values + v]
                        flat_fixed(to_read(times(x, mass[first:last])), counts[first:last], 1, power, q)
                else:
                    top = largest_with(x, float(plan[SIGN]))
                    tops[v] = max(tops[v], top) if top == top and tops[v] == tops[v] else np.nan


@part
def _add(x: Array, counts: Array, mass: Array, powers: Array, v: int, n_values: int, tops: Array, sums: Array) -> None:
    """Add a block to the largest magnitude of value v, and to its sums at all powers.

    Mostly there are one or two powers, and no masses: then the block is read once.
    """
    if counts.size == 0 and mass.size == 0 and v < powers.size <= v + 2 * n_values:
        also = v + n_values if v + n_values < powers.size else v
        top, signed, gross, signed_also, gross_also = top_and_sums_at(x, powers[v], powers[also])
        if top == top:
            tops[v] = max(tops[v], top) if tops[v] == tops[v] else np.nan
            sums[2 * v] += signed
            sums[2 * v + 1] += gross
            if also > v:
                sums[2 * also] += signed_also
                sums[2 * also + 1] += gross_also
            return
    top = largest_part(x, counts, mass)
    tops[v] = max(tops[v], top) if top == top and tops[v] == tops[v] else np.nan
    for at in range(v, powers.size, n_values):
        signed, gross = flat_sums_at(to_read(times(x, mass)), counts, 1, powers[at])
        sums[2 * at] += signed
        sums[2 * at + 1] += gross


_task = task_maker(TaskShape(number=1))


@part
def passes(address: int, part: int) -> None:
    """Lead the plan at this address: one pass for extremes; for sums as many as it takes, seldom more than one.

    What all parts have found comes to be where the first part's tops and sums are.
    """
    plan = array_at(address, (SIZE,), np.int64)
    parts, n_values, team = plan[PARTS], plan[VALUES], array_at(plan[AT_TEAM], (TEAM_NUMBERS,), np.int64)
    tops = array_at(plan[AT_TOPS], (parts * n_values,), np.float64)
    numbers = array_at(plan[AT_NUMBERS], (n_values,), np.int64)
    known = array_at(plan[AT_KNOWN], (n_values, KNOWN, 3), np.int64)
    found = array_at(plan[AT_FOUND], (n_values, 3), np.int64)
    wanted = array_at(plan[AT_WANTED], (2, n_values), np.int64)
    plan[MADE] = 0
    for v in range(n_values):
        numbers[v] = 0
    while True:
        plan[MADE] += 1
        if run_task(plan[PASS], plan[PLAN_AT], 0, team, parts, 0) != 0:
            raise MemoryError
        powers = array_at(plan[AT_POWERS], (plan[POWERS] * n_values,), np.int64)
        sums = array_at(plan[AT_SUMS], (2 * parts * powers.size,), np.int64)
        for at in range(n_values, tops.size):
            v = at % n_values
            tops[v] = max(tops[v], tops[at]) if tops[v] == tops[v] and tops[at] == tops[at] else np.nan
        for p in range(1, parts):
            for at in range(2 * powers.size):
                sums[at] += sums[2 * p * powers.size + at]
        plan[STATE] = SETTLED
        if plan[SIGN] == 0:
            size = from_bits(plan[EXAMPLES])
            plan[STATE] = take_note(
                tops[:n_values], sums[: 2 * powers.size], powers, size, known, numbers, found, wanted
            )
            for v in range(n_values):  # kept integers are those of a pass's last power
                kept = powers.size > 0 and powers[powers.size - n_values + v] == found[v, POWER]
                if plan[STATE] == SETTLED and plan[AT_INTEGERS] != 0 and not kept:
                    plan[STATE] = OPEN
        if plan[STATE] != OPEN:
            return
        if plan[BLOCK_ROWS] == 0:
            plan[PLANNED] = 0  # all values are kept: they are there
        plan[POWERS], powers = 1, array_at(plan[AT_POWERS], (n_values,), np.int64)
        for v in range(n_values):
            powers[v] = wanted[1, v]


@kernel
def run_plan(team: Array, parts: int, plan: Array) -> int:
    """Let so many threads follow a plan; return 0, or else something went wrong."""
    return run_task(plan[PLANNER], plan[PLAN_AT], 0, team, parts, 0)


@kernel
def block_pass_address() -> int:
    """Return the address of `block_pass` as a task."""
    return _task(block_pass, (0,), array_at(0, (0, 0), np.int64))[0]


@kernel
def passes_address() -> int:
    """Return the address of `passes` as a task."""
    return _task(passes, (0,), array_at(0, (0, 0), np.int64))[0]
