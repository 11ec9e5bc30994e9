"""Full trees for labels -1 and +1 in one compiled call: no limit on leaves, so no leaf need wait for another.

A node sums its own rows, feature by feature, into one small histogram that is clean again afterwards; below a few dozen
rows only the slots that are taken are visited.  A tree costs some 5 ns a row, column and level, however many cuts there
are.  Categories that occur in a node are sorted by their mean label there, and a cut parts them as numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from boostlab.backend.cpu.compiling import kernel, part
from boostlab.backend.cpu.kernels.packed_codes import part_rows
from boostlab.backend.cpu.kernels.workspace import copy, integers

Array = np.ndarray[Any, Any]

# What is known of a node; a leaf has the feature -1.  LOWS is where a split of categories says which are low.
FIRST, SIZE, DEPTH, FEATURE, CUT, LOW, HIGH, LOWS = range(8)
FACTS = 8
TINY = np.finfo(float).tiny
SURE = 1 - 1e-14  # of what a cut must explain to be looked at
FEW = 32  # categories that are sorted by hand


@part
def part_cells(cells: Array, feature: int, cut: int, absent: int, side: int, members: Array, space: Array) -> int:
    """Reorder the members so that those below a cut come first, order kept; return how many they are."""
    per_word = cells.shape[2]
    code, position = cells[feature // per_word], feature % per_word
    lows, highs = 0, 0
    for m in range(members.size):
        i = members[m]
        c = np.int64(code[i, position])
        low = (c <= cut) | ((c == absent) & (side == 1))
        members[lows] = i
        space[highs] = i
        lows += low
        highs += not low
    for m in range(highs):
        members[lows + m] = space[m]
    return lows


@part
def worth(minus: int, plus: int, unit: float) -> float:
    """Return what the mean of some labels explains: (w y)^2 / w, rounded as the general search rounds it."""
    whole, signed = (minus + plus) * unit, (plus - minus) * unit
    return signed * signed / max(whole, TINY) if whole > 0.0 else 0.0


@part
def may_explain(a: int, b: int, minus: int, plus: int, bar: float) -> bool:
    """Return whether a cut with so much of both labels below it might explain more than the bar, without a division.

    With s and w the sums of labels and weights on one side, t and v those on the other, it is s^2 / w + t^2 / v: all
    terms are positive, so that products are wrong by some 1e-16 of themselves.
    """
    s, w, t, v = float(b - a), float(a + b), float(plus - b - (minus - a)), float(minus + plus - (a + b))
    return s * s * v + t * t * w >= bar * (w * v)


@part
def mean_label(minus: int, plus: int, unit: float) -> float:
    """Return the mean of some labels; 0 where nothing is."""
    whole = (minus + plus) * unit
    return (plus - minus) * unit / max(whole, TINY) if whole > 0.0 else 0.0


@part
def sorted_places(x: Array) -> Array:
    """Return the places of numbers in ascending order, those of equal ones in theirs.

    Runs are merged in pairs, from runs of one number on: `np.argsort` is faster by a third and takes a second more to
    compile, and few columns have so many categories.
    """
    places, merged = integers(x.size), integers(x.size)
    for i in range(x.size):
        places[i] = i
    width = 1
    while width < x.size:
        for start in range(0, x.size, 2 * width):
            middle, end = min(start + width, x.size), min(start + 2 * width, x.size)
            a, b = start, middle
            for k in range(start, end):
                if a >= middle or (b < end and x[places[b]] < x[places[a]]):
                    merged[k] = places[b]
                    b += 1
                else:
                    merged[k] = places[a]
                    a += 1
        places, merged = merged, places
        width *= 2
    return places


@part
def by_mean(mine: Array, unit: float, order: Array, rank: Array) -> int:
    """Write the slots that something is in by their mean label, of equals the first first; return how many they are."""
    k = 0
    for c in range(mine.shape[0]):
        if mine[c, 0] != 0 or mine[c, 1] != 0:
            order[k], rank[k] = c, mean_label(mine[c, 0], mine[c, 1], unit)
            k += 1
    if k > FEW:
        sorted_ = sorted_places(rank[:k])
        unsorted = integers(k)
        copy(order[:k], unsorted)
        for m in range(k):
            order[m] = unsorted[sorted_[m]]
        return k
    for m in range(1, k):
        c, r, at = order[m], rank[m], m
        while at > 0 and rank[at - 1] > r:
            order[at], rank[at] = order[at - 1], rank[at - 1]
            at -= 1
        order[at], rank[at] = c, r
    return k


@part
def low_categories(
    cells: Array, feature: int, last: int, q: Array, rows: Array, unit: float, filled: Array, masses: Array, low: Array
) -> None:
    """Write which slots of a column are low where the cut comes after the slot `last` in the order of mean labels.

    Slots without rows of the sample go with the missing values, or where there are none with the heavier side.
    """
    per_word, width = cells.shape[2], low.size
    code, position = cells[feature // per_word], feature % per_word
    sums = np.zeros((width, 2), np.int64)
    for m in range(rows.size):
        i = rows[m]
        sums[code[i, position], 1 if q[i] >= 0 else 0] += abs(q[i])
    end = mean_label(sums[last, 0], sums[last, 1], unit)
    below, whole = np.int64(0), np.int64(0)
    for c in range(width):
        mean = mean_label(sums[c, 0], sums[c, 1], unit)
        low[c] = filled[c] and (mean < end or (mean == end and c <= last))
        below += masses[c] * low[c]
        whole += masses[c]
    rest = low[width - 1] if filled[width - 1] else 2 * below > whole
    for c in range(width):
        if not filled[c]:
            low[c] = rest


@part
def most_even(
    cells: Array, widths: Array, categorical: Array, q: Array, rows: Array, unit: float, whole: int, buffers: Any
) -> tuple[int, int]:
    """Return the column and the cut whose lighter side is the heaviest; a column of -1 if every cut has an empty side.

    Of equals the first wins, in the order in which `grow_full` looks for gains.  buffers are a histogram of zeros,
    which is clean again afterwards, and two places for every slot of a column.
    """
    hist, order, rank = buffers
    per_word, feature, cut, best = cells.shape[2], -1, 0, np.int64(0)
    for j in range(widths.size):
        if widths[j] == 0:
            continue
        code, position, mine = cells[j // per_word], j % per_word, hist[: widths[j]]
        for m in range(rows.size):
            i = rows[m]
            mine[code[i, position], np.int64(q[i] >= 0)] += abs(q[i])
        taken = by_mean(mine, unit, order, rank) if categorical[j] else widths[j]
        below = np.int64(0)
        for k in range(taken):
            c = order[k] if categorical[j] else k
            below += mine[c, 0] + mine[c, 1]
            even = min(below, whole - below)
            if even > best:
                feature, cut, best = j, c, even
        mine[:] = 0
    return feature, cut


@part
def add_node(hist: Array, taken: Array, cells: Array, words: Array, q: Array, rows: Array, few: bool) -> bool:
    """Sum some rows of a group of columns; note which slots are taken, if they are few.

    Return whether there is anything but zeros: rows whose codes are all zero are counted first and added at the end.
    """
    per_word = cells.shape[1]
    minus, plus, seen = np.int64(0), np.int64(0), 0
    for m in range(rows.size):
        i = np.uint64(rows[m])  # without a sign: no place is looked at for being negative
        x = q[i]
        if words[i] == 0:
            minus += max(-x, 0)
            plus += max(x, 0)
            continue
        seen += 1
        side, amount = np.uint64(x >= 0), abs(x)
        for position in range(per_word):
            hist[position, cells[i, position], side] += amount
        if few:
            for position in range(per_word):
                c = np.uint64(cells[i, position])
                taken[position, c >> np.uint64(6)] |= np.uint64(1) << (c & np.uint64(63))
    if seen == 0:
        return False
    if seen < rows.size:
        for position in range(per_word):
            hist[position, 0, 0] += minus
            hist[position, 0, 1] += plus
            taken[position, 0] |= np.uint64(1)
    return True


@kernel
def grow_full(
    cells: Array,
    words: Array,
    widths: Array,
    columns: tuple[Array, Array, Array, Array],
    q: Array,
    mass: Array,
    limits: tuple[float, int, float, float],
    grown: tuple[Array, Array, Array, Array],
) -> tuple[int, Array]:
    """Grow a tree by the gini index; return the number of nodes, which are numbered level by level, and low categories.

    cells[group, row, position] are the codes, words[group, row] the same in one number; widths[j] is how many slots
    column j has (0: constant).  Columns are where slots begin, which are categorical, and of slots, whether rows of the
    sample are there and how much of it.  q is weight times label as integers, worth `unit` each.  Limits are `fewest`,
    `deepest`, the unit and the floor: nodes of fewer than `fewest` examples (by mass, or by rows if that is empty) are
    not split; a gain that is not above the floor is none; impure nodes without gain are parted evenly.  What is grown
    is all rows' numbers, which are reordered, and of nodes the facts, the magnitudes of negative and positive q, and
    the gains.
    """
    (starts, categorical, filled, masses), (members, nodes, sums, gains) = columns, grown
    fewest, deepest, unit, floor = limits
    per_word, d, widest = cells.shape[2], widths.size, widths.max()
    hist = np.zeros((per_word, widest + 1, 2), np.int64)
    taken = np.zeros((per_word, widest // 64 + 1), np.uint64)
    space = np.empty_like(members)
    order, rank = np.empty(widest, np.int64), np.empty(widest)
    lows, used = np.empty(64 if categorical.any() else 0, np.bool_), 0
    nodes[0, FIRST], nodes[0, SIZE], nodes[0, DEPTH] = 0, members.size, 0
    n_nodes, node = 1, 0
    while node < n_nodes:
        first, size = nodes[node, FIRST], nodes[node, SIZE]
        rows = members[first : first + size]
        minus, plus, examples = np.int64(0), np.int64(0), 0.0
        for m in range(size):
            i = rows[m]
            minus += max(-q[i], 0)
            plus += max(q[i], 0)
            examples += mass[i] if mass.size else 1.0
        sums[node, 0], sums[node, 1] = minus, plus
        nodes[node, FEATURE] = -1
        if examples < fewest or minus == 0 or plus == 0 or nodes[node, DEPTH] >= deepest:
            node += 1
            continue
        few = 2 * size < widest
        alone = worth(minus, plus, unit)
        feature, cut, best, bar = -1, 0, alone, alone / unit * SURE
        for g in range(cells.shape[0]):
            if not add_node(hist, taken, cells[g], words[g], q, rows, few):
                continue
            for position in range(per_word):
                j = g * per_word + position
                mine = hist[position]
                if j >= d or widths[j] == 0:
                    mine[0, 0] = mine[0, 1] = 0  # a constant column: all codes are 0
                    taken[position, 0] = 0
                    continue
                a, b = np.int64(0), np.int64(0)
                if categorical[j]:
                    taken[position, : widths[j] // 64 + 1] = 0
                    for m in range(by_mean(mine[: widths[j]], unit, order, rank)):
                        c = order[m]
                        a += mine[c, 0]
                        b += mine[c, 1]
                        mine[c, 0] = mine[c, 1] = 0
                        if may_explain(a, b, minus, plus, bar):
                            told = worth(a, b, unit) + worth(minus - a, plus - b, unit)
                            if told > best:
                                feature, cut, best, bar = j, c, told, told / unit * SURE
                elif few:
                    for k in range(widths[j] // 64 + 1):
                        word = taken[position, k]
                        taken[position, k] = 0
                        while word:
                            c = 64 * k + int(trailing_zeros(word))  # type: ignore[call-arg]
                            word &= word - np.uint64(1)
                            a += mine[c, 0]
                            b += mine[c, 1]
                            mine[c, 0] = mine[c, 1] = 0
                            if may_explain(a, b, minus, plus, bar):
                                told = worth(a, b, unit) + worth(minus - a, plus - b, unit)
                                if told > best:
                                    feature, cut, best, bar = j, c, told, told / unit * SURE
                else:
                    taken[position, 0] = 0
                    for c in range(widths[j]):
                        if mine[c, 0] == 0 and mine[c, 1] == 0:
                            continue
                        a += mine[c, 0]
                        b += mine[c, 1]
                        mine[c, 0] = mine[c, 1] = 0
                        if may_explain(a, b, minus, plus, bar):
                            told = worth(a, b, unit) + worth(minus - a, plus - b, unit)
                            if told > best:
                                feature, cut, best, bar = j, c, told, told / unit * SURE
        gain = best / 2 - alone / 2
        if feature < 0 or not gain > floor:
            gain, feature, whole = 0.0, -1, minus + plus
            if worth(np.int64(0), whole, unit) / 2 - alone / 2 > floor:
                buffers = hist[0], order, rank
                feature, cut = most_even(cells, widths, categorical, q, rows, unit, whole, buffers)
        if feature >= 0:
            if categorical[feature]:
                start, width = starts[feature], widths[feature]
                while lows.size < used + width:
                    lows = np.concatenate((lows, np.empty_like(lows)))
                mask = lows[used : used + width]
                low_categories(cells, feature, cut, q, rows, unit, filled[start : start + width], masses[start:], mask)
                low = part_rows(cells[feature // per_word, :, feature % per_word], mask, rows, space)
                nodes[node, LOWS] = used
                used += width
            else:
                low = part_cells(cells, feature, cut, -1, 0, rows, space)
            nodes[node, FEATURE], nodes[node, CUT] = feature, cut
            nodes[node, LOW], nodes[node, HIGH] = n_nodes, n_nodes + 1
            gains[node] = gain
            for child, start, count in ((n_nodes, first, low), (n_nodes + 1, first + low, size - low)):
                nodes[child, FIRST], nodes[child, SIZE] = start, count
                nodes[child, DEPTH] = nodes[node, DEPTH] + 1
            n_nodes += 2
        node += 1
    return n_nodes, lows[:used]


@kernel
def let_leaves_vote(nodes: Array, sums: Array, members: Array, votes: Array) -> int:
    """Write the votes of the leaves' rows, -1 or +1 (of equal sides +1); return the weight of the wrong ones."""
    wrong = np.int64(0)
    for node in range(nodes.shape[0]):
        if nodes[node, FEATURE] < 0:
            vote = 1 if sums[node, 1] >= sums[node, 0] else -1
            wrong += min(sums[node, 0], sums[node, 1])
            for m in range(nodes[node, FIRST], nodes[node, FIRST] + nodes[node, SIZE]):
                votes[members[m]] = vote
    return wrong  # type: ignore[return-value]
