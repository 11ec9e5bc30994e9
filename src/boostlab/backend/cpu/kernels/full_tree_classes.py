"""Full trees for labels of several classes in one compiled call, on numbers without missing values (see `full_tree`).

A node's rows are summed column by column, a place for every class that the node has; slots without rows are never
visited.  Costs are folded over classes as `split_search.search_classes` does, all cuts of a column at once.  A class
without weight adds nothing, so the trees are those of the general strategy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from boostlab.backend.cpu.compiling import admit, kernel, part
from boostlab.backend.cpu.kernels.full_tree import CUT, DEPTH, FEATURE, FIRST, HIGH, LOW, SIZE, part_cells

Array = np.ndarray[Any, Any]
U = np.uint64


@part
def add_column(codes: Array, position: int, rows: Array, q: Array, local: Array, hist: Array, taken: Array) -> None:
    """Sum some rows of a column per slot and class; note which slots are taken, one bit each."""
    for m in range(rows.size):
        i = U(rows[m])
        c = U(codes[i, position])
        hist[c, local[i]] += q[i]
        taken[c >> U(6)] |= U(1) << (c & U(63))


@part
def take_below(hist: Array, taken: Array, n_classes: int, slots: Array, below: Array) -> int:
    """Write the taken slots in order, and what every class has at and below each; clean up; return how many."""
    size = 0
    for k in range(taken.size):
        word = taken[k]
        taken[k] = 0
        while word:
            c = 64 * k + int(trailing_zeros(word))  # type: ignore[call-arg]
            word &= word - U(1)
            slots[size] = c
            for p in range(n_classes):
                before = below[p, size - 1] if size > 0 else np.int64(0)
                below[p, size] = before + hist[c, p]
                hist[c, p] = 0
            size += 1
    return size


@part
def weigh_classes(rows: Array, q: Array, classes: Array, mass: Array, total: Array) -> float:
    """Sum some rows per class; return the number of examples."""
    total[:] = 0
    examples = 0.0
    for m in range(rows.size):
        i = rows[m]
        total[classes[i]] += q[i]
        examples += mass[i] if mass.size else 1.0
    return examples


@part
def most_even_of_classes(
    cells: Array, widths: Array, q: Array, rows: Array, whole: int, weight: Array
) -> tuple[int, int]:
    """Return the column and the cut whose lighter side is the heaviest, as `full_tree.most_even` does."""
    per_word, feature, cut, best = cells.shape[2], -1, 0, np.int64(0)
    for j in range(widths.size):
        code, position, mine, below = cells[j // per_word], j % per_word, weight[: widths[j]], np.int64(0)
        mine[:] = 0
        if widths[j] == 0:
            continue
        for m in range(rows.size):
            mine[code[rows[m], position]] += q[rows[m]]
        for c in range(widths[j]):
            below += mine[c]
            even = min(below, whole - below)
            if even > best:
                feature, cut, best = j, c, even
    return feature, cut


@cache
def class_grower(fold: Callable[..., Any], close: Callable[..., Any]) -> Any:
    """Return the compiled growth for a cost that folds classes."""
    stamp = admit(fold, close)

    @kernel
    def grow_classes(
        cells: Array,
        widths: Array,
        q: Array,
        classes: Array,
        mass: Array,
        fewest: float,
        deepest: int,
        unit: float,
        floor: float,
        members: Array,
        nodes: Array,
        totals: Array,
        gains: Array,
    ) -> int:
        """Grow a tree as `full_tree.grow_full` does, with the arguments of the same names; return the number of nodes.

        q is the weights as integers, classes the rows' classes; totals[node] are the weights of the classes.
        """
        if members.size == 0:
            return stamp
        per_word, n_classes, widest = cells.shape[2], totals.shape[1], widths.max()
        hist, taken = np.zeros((widest + 1, n_classes), np.int64), np.zeros(widest // 64 + 1, np.uint64)
        slots, below = np.empty(widest + 1, np.int64), np.empty((n_classes, widest + 1), np.int64)
        weight, left, right = np.empty(widest + 1, np.int64), np.empty(widest + 1), np.empty(widest + 1)
        space, local, place = np.empty_like(members), np.zeros(q.size, np.uint16), np.zeros(n_classes, np.uint16)
        own = np.empty(n_classes, np.int64)
        nodes[0, FIRST], nodes[0, SIZE], nodes[0, DEPTH] = 0, members.size, 0
        n_nodes, node = 1, 0
        while node < n_nodes:
            first, size = nodes[node, FIRST], nodes[node, SIZE]
            rows, total = members[first : first + size], totals[node]
            examples = weigh_classes(rows, q, classes, mass, total)
            nodes[node, FEATURE] = -1
            present = 0
            for c in range(n_classes):
                place[c] = present
                if total[c] > 0:
                    own[present] = total[c]
                    present += 1
            if examples < fewest or present < 2 or nodes[node, DEPTH] >= deepest:
                node += 1
                continue
            for m in range(size):  # rows without weight may be in any place that there is
                local[rows[m]] = min(place[classes[rows[m]]], np.uint16(present - 1))
            whole, feature, cut, best = own[:present].sum(), -1, 0, np.inf
            for j in range(widths.size):
                if widths[j] == 0:
                    continue
                add_column(cells[j // per_word], j % per_word, rows, q, local, hist, taken)
                cuts = take_below(hist, taken, present, slots, below)
                left[:cuts], right[:cuts], weight[:cuts] = 0.0, 0.0, 0
                for p in range(present):
                    all_, mine = own[p], below[p]
                    for s in range(cuts):
                        b = mine[s]
                        left[s] = fold(left[s], b * unit)
                        right[s] = fold(right[s], (all_ - b) * unit)
                        weight[s] += b
                for s in range(cuts):
                    w = weight[s]
                    cost = close(left[s], w * unit, right[s], (whole - w) * unit)
                    if cost < best:
                        feature, cut, best = j, slots[s], cost
            folded = 0.0
            for p in range(present):
                folded = fold(folded, own[p] * unit)
            alone = close(folded, whole * unit, 0.0, 0.0)
            gain = alone - best
            if feature < 0 or not gain > floor:
                gain, feature = 0.0, -1
                if alone - close(fold(0.0, whole * unit), whole * unit, 0.0, 0.0) > floor:
                    feature, cut = most_even_of_classes(cells, widths, q, rows, whole, weight)
            if feature >= 0:
                low = part_cells(cells, feature, cut, -1, 0, rows, space)
                nodes[node, FEATURE], nodes[node, CUT], gains[node] = feature, cut, gain
                nodes[node, LOW], nodes[node, HIGH] = n_nodes, n_nodes + 1
                for child, start, count in ((n_nodes, first, low), (n_nodes + 1, first + low, size - low)):
                    nodes[child, FIRST], nodes[child, SIZE] = start, count
                    nodes[child, DEPTH] = nodes[node, DEPTH] + 1
                n_nodes += 2
            node += 1
        return n_nodes

    return grow_classes


@kernel
def let_classes_vote(nodes: Array, totals: Array, members: Array, values: Array, votes: Array) -> int:
    """Write every node's heaviest class, of equals the first, and the leaves' votes; return the weight of the wrong."""
    wrong = np.int64(0)
    for node in range(nodes.shape[0]):
        values[node] = totals[node].argmax()
        if nodes[node, FEATURE] < 0:
            wrong += totals[node].sum() - totals[node, values[node]]
            for m in range(nodes[node, FIRST], nodes[node, FIRST] + nodes[node, SIZE]):
                votes[members[m]] = values[node]
    return wrong  # type: ignore[return-value]
