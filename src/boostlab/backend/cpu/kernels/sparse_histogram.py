"""Sparse tables: cuts, codes and sums in time proportional to what is stored.

Only cells whose code differs from that of zero are kept.  What the others add to a histogram is known without looking
at them: the total less what is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import kernel, part

Array = np.ndarray[Any, Any]
U = np.uint64


@kernel
def sparse_cuts(
    data: Array,
    rows: Array,
    indptr: Array,
    mass: Array,
    whole: int,
    limit: int,
    begins: Array,
    first: int,
    last: int,
    lows: Array,
    highs: Array,
    found: Array,
    distinct: Array,
) -> None:
    """Find between which neighbouring values the columns first <= j < last of a CSC matrix are to be cut.

    The neighbours go to lows and highs from begins[j] on, their number to found[j], the number of distinct values to
    distinct[j].  mass holds integer masses and is empty where every row counts once; whole is their sum.  Zeros that
    are not stored count like the others.
    """
    for j in range(first, last):
        mine = data[indptr[j] : indptr[j + 1]]
        alike = True
        for k in range(1, mine.size):
            alike = alike and mine[k] == mine[0]
        order = np.arange(mine.size) if alike else np.argsort(mine)  # NaN comes last
        zeros = whole
        for k in range(indptr[j], indptr[j + 1]):
            zeros -= mass[rows[k]] if mass.size > 0 else 1
        values = np.empty(order.size + 1, np.float64)
        below = np.empty(order.size + 1, np.int64)
        size, seen, pending = 0, 0, zeros > 0
        for k in range(order.size + 1):
            x, m = np.inf, 0
            if k < order.size and not np.isnan(data[indptr[j] + order[k]]):
                at = indptr[j] + order[k]
                x, m = float(data[at]), mass[rows[at]] if mass.size > 0 else 1
            if pending and x >= 0.0:
                seen += zeros
                if size == 0 or values[size - 1] != 0.0:
                    values[size] = 0.0
                    size += 1
                below[size - 1] = seen
                pending = False
            if x == np.inf:
                break
            seen += m
            if size == 0 or values[size - 1] != x:
                values[size] = x
                size += 1
            below[size - 1] = seen
        distinct[j], at = size, begins[j]
        if size <= limit:
            for k in range(size - 1):
                lows[at + k], highs[at + k] = values[k], values[k + 1]
            found[j] = max(size - 1, 0)
            continue
        k, picked = 1, 0
        for e in range(size - 1):
            share = below[e] / seen
            if share >= k / limit:
                lows[at + picked], highs[at + picked] = values[e], values[e + 1]
                picked += 1
                while k < limit and share >= k / limit:
                    k += 1
            if k == limit:
                break
        found[j] = picked


@kernel
def sparse_codes(data: Array, indptr: Array, cuts: Array, starts: Array, zero: Array, codes: Array) -> None:
    """Write the bin of every stored value of a CSC matrix (NaN: the number of bins), and of a zero in each column."""
    for j in range(zero.size):
        mine = cuts[starts[j] : starts[j + 1]]
        zero[j] = np.searchsorted(mine, 0.0)
        for k in range(indptr[j], indptr[j + 1]):
            x = np.float64(data[k])
            codes[k] = mine.size + 1 if np.isnan(x) else np.searchsorted(mine, x)


@kernel
def keep_nonzero(
    rows: Array, codes: Array, indptr: Array, zero: Array, new_rows: Array, new_codes: Array, new_indptr: Array
) -> None:
    """Copy the stored cells whose code is not that of zero."""
    to = 0
    for j in range(zero.size):
        new_indptr[j] = to
        for k in range(indptr[j], indptr[j + 1]):
            if codes[k] != zero[j]:
                new_rows[to], new_codes[to] = rows[k], codes[k]
                to += 1
    new_indptr[zero.size] = to


@kernel
def slots_by_rows(rows: Array, codes: Array, indptr: Array, starts: Array, by_rows: Array, slots: Array) -> None:
    """Turn columns into rows: row i has the slots[by_rows[i]:by_rows[i + 1]], in the order of the columns."""
    n = by_rows.size - 1
    by_rows[:] = 0
    for k in range(rows.size):
        by_rows[rows[k] + 1] += 1
    for i in range(n):
        by_rows[i + 1] += by_rows[i]
    for j in range(indptr.size - 1):
        for k in range(indptr[j], indptr[j + 1]):
            i = rows[k]
            slots[by_rows[i]] = starts[j] + codes[k]
            by_rows[i] += 1
    for i in range(n, 0, -1):
        by_rows[i] = by_rows[i - 1]
    by_rows[0] = 0


@part
def add_sparse(slots: Array, by_rows: Array, q: Array, rows: Array, first: int, last: int, out: Array) -> None:
    """Add q[k] to the stored slots of row k (of row rows[k] unless that is empty), for first <= k < last."""
    some = rows.size > 0
    for k in range(first, last):
        i = np.int64(rows[k]) if some else k
        v = q[k]
        for p in range(np.uint64(by_rows[i]), np.uint64(by_rows[i + 1])):
            out[np.uint64(slots[p])] += v


@kernel
def restore_zeros(out: Array, starts: Array, zero: Array, total: int) -> None:
    """Do as `give_zeros` does."""
    give_zeros(out, starts, zero, total)


@part
def give_zeros(out: Array, starts: Array, zero: Array, total: int) -> None:
    """Give the slot of zero in every column that has slots what is missing to the total."""
    for j in range(zero.size):
        if starts[j] == starts[j + 1]:
            continue
        rest = total
        for s in range(starts[j], starts[j + 1]):
            rest -= out[s]
        out[starts[j] + zero[j]] += rest


@kernel
def walk_sparse(
    data: Array,
    indices: Array,
    indptr: Array,
    feature: Array,
    threshold: Array,
    missing_low: Array,
    children: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Write the leaf of the rows first <= i < last of a CSR matrix: the twin of `walk` without categories."""
    for i in range(first, last):
        mine, base, node = indices[indptr[i] : indptr[i + 1]], indptr[i], 0
        while feature[node] >= 0:
            k = np.searchsorted(mine, feature[node])
            x = np.float64(data[base + k]) if k < mine.size and mine[k] == feature[node] else 0.0
            low = missing_low[node] if np.isnan(x) else x <= threshold[node]
            node = children[node, 0] if low else children[node, 1]
        out[i] = node


# -- growth of trees -----------------------------------------------------------------------------------------------


@part
def give_zero(hist: Array, start: int, end: int, zero: int, totals: Array) -> None:
    """Do as `give_zeros` does for one column, whose channels lie side by side."""
    K = totals.size
    for c in range(K):
        rest = totals[c]
        for s in range(start, end):
            rest -= hist[K * s + c]
        hist[K * (start + zero) + c] += rest


@part
def first_from(x: Array, at: Any, end: Any, value: int) -> Any:
    """Return the first place from `at` on of some ascending numbers that are at least `value`, or the end.

    It is looked for in steps that double, so that a near one is found in a few and a far one in not many more.
    """
    if at >= end or x[at] >= value:
        return at
    low, step = at, U(1)
    while low + step < end and x[low + step] < value:
        low += step
        step += step
    low, high = low + U(1), min(low + step, end)
    while low < high:
        middle = (low + high) >> U(1)
        if x[middle] < value:
            low = middle + U(1)
        else:
            high = middle
    return low


@part
def part_stored(
    row_of: Array,
    code_of: Array,
    low: Array,
    zero_low: bool,
    members: Array,
    space: Array,
    first: int,
    last: int,
    stay: bool,
) -> int:
    """Do as `part_stretch` does by a column of stored cells; all other rows are low or none of them is.

    Rows ascend, those of a node as those of a column: what lies between two stored rows of the node is copied at once.
    """
    mine, to = members[first:last], space[first:last]
    low_to = mine if stay else to
    size, end = U(last - first), U(row_of.size)
    m, at, lows = U(0), U(0), U(0)
    while m < size:
        at = first_from(row_of, at, end, mine[m])
        stop = first_from(mine, m, size, row_of[at]) if at < end else size
        if zero_low:
            if not stay or lows < m:  # else they are where they belong
                for k in range(stop - m):
                    low_to[lows + k] = mine[m + k]
            lows += stop - m
        else:
            for k in range(m, stop):
                to[size - U(1) - k + lows] = mine[k]
        m = stop
        if at < end and m < size and row_of[at] == mine[m]:
            i = mine[m]
            low_to[lows] = i  # never behind row m of the stretch
            to[size - U(1) - m + lows] = i  # the last place that is still free
            lows += U(low[U(code_of[at])])
            m, at = m + U(1), at + U(1)
    return np.int64(lows)  # type: ignore[return-value]
