"""The cuts of long columns, without sorting all of their values.

Values are counted by cells over their range, as for a counting sort.  Only the values of cells where a quantile falls,
and of the next ones, whose smallest value ends a cut, are then scattered and sorted: 1.2 ns a value against 5 to 40 of
a full sort.

Threads share the columns in groups, and each group the rows of a column.  A group has little space for values to put in
order; a column that needs more, say of few different values, waits for its turn with space that all groups share.  So
the memory is the same for any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.marked_cells import RANKED, cut_all, cut_cells, mark, put_in_order
from boostlab.backend.cpu.kernels.spin_barrier import end_turn, fetch_add_one, meet_some, take_turn
from boostlab.backend.cpu.kernels.value_cells import extremes, lay_in_cells, middle_of, scale_of
from boostlab.backend.cpu.kernels.workspace import clear, doubles, short_integers

Array = np.ndarray[Any, Any]

BLOCK = 2048  # values that are looked through at once

WHOLE = -1  # in place of a number of cuts: the column is to be sorted
TURN, MANY, ALL, STATE, GROUP_NUMBERS = 16, 18, 19, 20, 32  # places in a group's numbers, behind the one it meets by
ORDERED, CROWDED = 1, -1  # what the state may be: all values are put in order, or there are too many in a cell


@part
def _add_up(counts: Array, first: int, last: int, start: int, end: int, total: Array) -> None:
    """Let total be how many values of some cells all members have, and counts[p] how many those before p have."""
    out, mine = total[start:end], counts[first][start:end]
    for c in range(out.size):
        out[c], mine[c] = mine[c], 0
    for p in range(first + 1, last):
        mine = counts[p][start:end]
        for c in range(out.size):
            before = out[c]
            out[c], mine[c] = before + mine[c], before


@part
def _count(values: Array, mass: Array, scale: Array, n_cells: int, cells: Array, count: Array, heavy: Array) -> None:
    """Count the values of every cell, and their masses.

    The last values come first, because they are in the cache after a look at all; and the first are after this one.
    """
    clear(count)
    clear(heavy)
    for block in range((values.size - 1) // BLOCK, -1, -1):
        start = block * BLOCK
        some = values[start : start + BLOCK]
        lay_in_cells(some, scale, n_cells, cells)
        if mass.size == 0:
            for i in range(some.size):
                count[np.uint64(cells[i])] += 1
            continue
        weights = mass[start : start + BLOCK]
        for i in range(some.size):
            c = np.uint64(cells[i])
            count[c] += 1
            heavy[c] += weights[i]


@part
def _scatter(
    values: Array,
    mass: Array,
    scale: Array,
    n_cells: int,
    cells: Array,
    chosen: Array,
    marked: Array,
    place: Array,
    out: Array,
    to: Array,
) -> None:
    """Scatter the values of the marked cells, and their masses, from place[cell] on.

    Of some values after the other first those are listed that are wanted, without a branch.  Their cells are found
    anew: that takes less than to keep those of a whole column, and no memory.
    """
    for start in range(0, values.size, BLOCK):
        some, few = values[start : start + BLOCK], np.uint64(0)
        lay_in_cells(some, scale, n_cells, cells)
        for i in range(some.size):
            chosen[few] = i
            few += np.uint64(marked[np.uint64(cells[i])])
        for k in range(few):
            i = chosen[k]
            c = np.uint64(cells[i])
            at = np.uint64(place[c])
            out[at] = some[i]
            if mass.size > 0:
                to[at] = mass[start + i]
            place[c] = at + np.uint64(1)


@part
def _wanted(facts: Array, many: int) -> int:
    """Return how many values are in marked cells."""
    return facts[many - 1, 1] if many > 0 else 0


@part
def _cut_columns(
    columns: Array,
    mass: Array,
    limit: int,
    n_cells: int,
    which: Array,
    turns: Array,
    numbers: Array,
    spaces: Any,
    shares: Any,
    counts: Array,
    heavy: Array,
    totals: Array,
    marks: Array,
    notes: Array,
    ranges: Array,
    points: Array,
    ranks: Array,
    found: Array,
    team: Array,
    me: int,
) -> None:
    """Do what `cut_columns` says, as the part `me`."""
    groups, parts, n = numbers.shape[0], counts.shape[0], columns.shape[1]
    group = me * groups // parts
    first, last = -(-group * parts // groups), -(-(group + 1) * parts // groups)
    size, mine, told = last - first, me - first, numbers[group]
    start, end = n * mine // size, n * (mine + 1) // size
    some_mass, low_cell, high_cell = mass[start:end], n_cells * mine // size, n_cells * (mine + 1) // size
    count, marked, facts, scale = totals[group], marks[group], notes[group], ranges[me, 2]
    cells, chosen, ranking = short_integers(BLOCK), short_integers(BLOCK), doubles(2 * RANKED)
    turn = 0
    while True:
        turn = 1 - turn  # a member that is late may look for the last one's number
        if mine == 0:
            told[TURN + turn] = fetch_add_one(turns[0], 0)
        if meet_some(told, size, team) or told[TURN + turn] >= which.size:
            return
        j = which[told[TURN + turn]]
        values = columns[j][start:end]
        extremes(values, ranges[me, 0], ranges[me, 1])
        if meet_some(told, size, team):
            return
        low, high = np.inf, -np.inf
        for p in range(first, last):
            low, high = min(low, np.float64(ranges[p, 0, 0])), max(high, np.float64(ranges[p, 1, 0]))
        middle, width = middle_of(columns[j])
        found[j] = WHOLE
        if not scale_of(low, high, middle, width, n_cells, scale):
            continue
        _count(values, some_mass, scale, n_cells, cells, counts[me], heavy[me])
        if meet_some(told, size, team):
            return
        _add_up(counts, first, last, low_cell, high_cell, count)
        if mass.size > 0:
            for p in range(first + 1, last):
                for c in range(low_cell, high_cell):
                    heavy[first, c] += heavy[p, c]
        if meet_some(told, size, team):
            return
        if mine == 0:
            some = 0
            for c in range(n_cells):
                some += count[c] > 0
            told[STATE] = ORDERED if some <= limit else 0
            weights = heavy[first] if mass.size > 0 else count
            told[MANY], told[ALL] = mark(count, weights, n_cells, limit, some <= limit, marked, facts)
            if _wanted(facts, told[MANY]) > shares[0].shape[1] and take_turn(turns[1], team):
                return
        if meet_some(told, size, team):
            return
        many, every = told[MANY], told[STATE] == ORDERED
        for m in range(many):  # from how many values earlier members have there, to where this one's start
            counts[me, facts[m, 5]] += facts[m, 0]
        wants = _wanted(facts, many)
        waits = wants > shares[0].shape[1]
        space, upto = (spaces[0], spaces[1]) if waits else (shares[0][group], shares[1][group])
        _scatter(values, some_mass, scale, n_cells, cells, chosen, marked, counts[me], space, upto)
        if meet_some(told, size, team):
            return
        if not put_in_order(facts, mine, many, size, space, upto, ranking):
            told[STATE] = CROWDED
        if meet_some(told, size, team):
            return
        if mine > 0:
            continue
        if told[STATE] != CROWDED:
            all_, cuts = told[ALL], 0 if many == 0 else -1
            if many > 0 and every:
                cuts = cut_all(space, wants, limit, points[j], ranks[j])
            if cuts < 0:
                cuts = cut_cells(space, upto, facts, many, all_, limit, points[j], ranks[j])
            ranks[j, cuts], ranks[j, cuts + 1], found[j] = all_, n, cuts
        if waits:
            end_turn(turns[1])


@in_parts
def cut_columns(
    columns: Array,
    mass: Array,
    limit: int,
    n_cells: int,
    which: Array,
    turns: Array,
    numbers: Array,
    spaces: Any,
    shares: Any,
    counts: Array,
    heavy: Array,
    totals: Array,
    marks: Array,
    notes: Array,
    ranges: Array,
    points: Array,
    ranks: Array,
    found: Array,
    team: Array,
    part: int,
) -> None:
    """Write the cuts of some columns, and how many they are, or else WHOLE.

    Every group of parts takes the next column that none has taken, and its members share the rows, the cells, and the
    marked cells.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
        A column's values side by side.
    mass : int64 array
        Of the rows; empty where each is 1.
    limit : int
        One more than the largest number of cuts.
    n_cells : int
        How many cells values are laid in, fewer than 2^16.
    which : int64 array
        The columns to cut.
    turns : int64 array of shape (3, BARRIER_NUMBERS)
        How many columns have been taken, and how many groups have had the space that all share; zeros.
    numbers : int64 array of shape (n_groups, GROUP_NUMBERS)
        What the members of a group tell each other; zeros.
    spaces : tuple of arrays of shape (n_rows,)
        Space that all groups share, for values to put in order, and their masses (int64; empty where there are none).
    shares : tuple of arrays of shape (n_groups, any)
        Space of each group.
    counts, heavy : int32 and int64 arrays of shape (n_parts, n_cells + 1)
        Workspace for how many values of a part are in every cell, and their masses (empty where there are none).
    totals, marks : int64 and bool arrays of shape (n_groups, n_cells + 1)
        Workspace for how many values of a column are in every cell, and which of these are marked.
    notes : int64 array of shape (n_groups, 2 * limit, 6)
        Workspace for the facts of marked cells.
    ranges : array of shape (n_parts, 3, ABREAST)
        Workspace for the extremes of a part's values, and how a column is laid in cells.
    points : array of shape (n_columns, limit)
        Where cuts go.
    ranks : int64 array of shape (n_columns, limit + 1)
        Where the number of values below each cut goes, then that of numbers and that of rows.
    found : int64 array of shape (n_columns,)
        Where their number goes.
    team : int64 array
        The numbers that the team meets by.
    """
    given = columns, mass, limit, n_cells, which, turns, numbers, spaces, shares
    work = counts, heavy, totals, marks, notes, ranges
    _cut_columns(*given, *work, points, ranks, found, team, part)


@in_parts
def cut_columns_together(
    columns: Array,
    mass: Array,
    limit: int,
    n_cells: int,
    which: Array,
    turns: Array,
    numbers: Array,
    spaces: Any,
    shares: Any,
    counts: Array,
    heavy: Array,
    totals: Array,
    marks: Array,
    notes: Array,
    ranges: Array,
    points: Array,
    ranks: Array,
    found: Array,
    team: Array,
    me: int,
) -> int:
    """Do so where groups have several members, who wait for each other."""
    given = columns, mass, limit, n_cells, which, turns, numbers, spaces, shares
    work = counts, heavy, totals, marks, notes, ranges
    _cut_columns(*given, *work, points, ranks, found, team, me)
    return 0
