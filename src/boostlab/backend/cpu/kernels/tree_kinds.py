"""The kinds of trees that `best_first` grows: by labels, by numbers and by classes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import admit, part
from boostlab.backend.cpu.kernels.best_first import Kind, grower
from boostlab.backend.cpu.kernels.tree_cells import cells_of
from boostlab.backend.cpu.kernels.tree_histogram import gather_classes, gather_labels, gather_numbers
from boostlab.backend.cpu.kernels.tree_search import (
    Buffers,
    Scales,
    SlotColumns,
    arrange_pairs,
    class_search,
    even_search,
    pair_search,
    sums_of_numbers,
    sums_of_sides,
)
from boostlab.backend.cpu.kernels.workspace import clear, doubles
from boostlab.backend.cpu.kernels.workspace import total as sum_of

Array = np.ndarray[Any, Any]


@cache
def labels_grower(cost: Callable[..., Any], explains: float, codes: str) -> Any:
    """Return the growth for labels -1 and +1, by a cost(left, right, gross, numbers) of w and w y.

    source is (q,), the weights times labels; here as below, all have a row a tree.
    """
    sums = sums_of_sides

    @part
    def totals(channels: Array) -> tuple[int, int]:
        return sums(channels[0], channels[1])

    @part
    def alone(total: Any, scales: Scales) -> float:
        return _alone(cost, total, scales)

    @part
    def arrange(hist: Array, columns: SlotColumns, j: int, unit: Array, buffers: Buffers) -> None:
        arrange_pairs(sums, hist, columns, j, unit, buffers)

    @part
    def remaining(alone: float, total: Any, scales: Scales, source: Any, tree: int, rows: Array) -> float:
        return alone - _alone(cost, (total[0], total[0]), scales)

    even = even_search(_both, arrange)
    cheapest = pair_search(cost, sums, explains)
    kind = Kind(*(cells_of(codes, gather_labels), cheapest, even, arrange, totals, alone, _all, remaining, admit(cost)))
    return grower(kind)


@cache
def numbers_grower(cost: Callable[..., Any], explains: float, residual: Callable[..., Any], codes: str) -> Any:
    """Return the growth by a cost of w and w t, of which residual(w, t, sums) says how far a row is from its node.

    source is (q, p, w, t, centres): the integers of both channels, and what they are made of, w and t less a centre.
    """
    sums = sums_of_numbers

    @part
    def totals(channels: Array) -> tuple[int, int]:
        return sums(channels[0], channels[1])

    @part
    def alone(total: Any, scales: Scales) -> float:
        return _alone(cost, total, scales)

    @part
    def arrange(hist: Array, columns: SlotColumns, j: int, unit: Array, buffers: Buffers) -> None:
        arrange_pairs(sums, hist, columns, j, unit, buffers)

    @part
    def remaining(alone: float, total: Any, scales: Scales, source: Any, tree: int, rows: Array) -> float:
        w, t, centre = source[2][tree], source[3][tree], source[4][tree]
        most, whole = 0.0, (total[0] * scales.unit[0], total[1] * scales.unit[1])
        for m in range(rows.size):
            most = max(most, residual(w[rows[m]], t[rows[m]] - centre, whole))
        return most

    even = even_search(_first, arrange)
    cheapest = pair_search(cost, sums, explains)
    stamp = admit(cost, residual)
    kind = Kind(cells_of(codes, gather_numbers), cheapest, even, arrange, totals, alone, _first_of, remaining, stamp)
    return grower(kind)


@cache
def classes_grower(fold: Callable[..., Any], close: Callable[..., Any], codes: str) -> Any:
    """Return the growth for classes, by a cost that folds them, on columns of numbers.

    source is (q, classes), the rows' weights and classes.
    """

    @part
    def totals(channels: Array) -> Array:
        return channels

    @part
    def alone(total: Array, scales: Scales) -> float:
        folded, unit = 0.0, scales.unit[0]
        for c in range(total.size):
            folded = fold(folded, total[c] * unit)
        return close(folded, sum_of(total) * unit, 0.0, 0.0)

    @part
    def arrange(hist: Array, columns: SlotColumns, j: int, unit: Array, buffers: Buffers) -> None:
        """Columns of categories are not served."""

    @part
    def remaining(alone: float, total: Array, scales: Scales, source: Any, tree: int, rows: Array) -> float:
        whole = sum_of(total) * scales.unit[0]
        return alone - close(fold(0.0, whole), whole, 0.0, 0.0)

    even, cheapest, stamp = even_search(_every, arrange), class_search(fold, close), admit(fold, close)
    cells = cells_of(codes, gather_classes, classes=True)
    kind = Kind(cells, cheapest, even, arrange, totals, alone, _all, remaining, stamp)
    return grower(kind)


@part
def _alone(cost: Callable[..., Any], total: Any, scales: Scales) -> float:
    """Return what a node costs."""
    whole = total[0] * scales.unit[0], total[1] * scales.unit[1]
    nothing = doubles(scales.numbers.size)
    clear(nothing)
    return cost(whole, (0.0, 0.0), whole, nothing)


@part
def _both(slots: Array, s: int, n_channels: int) -> int:
    return slots[2 * s] + slots[2 * s + 1]


@part
def _first(slots: Array, s: int, n_channels: int) -> int:
    return slots[2 * s]


@part
def _every(slots: Array, s: int, n_channels: int) -> int:
    return sum_of(slots[n_channels * s : n_channels * (s + 1)])


@part
def _all(channels: Array) -> int:
    return sum_of(channels)


@part
def _first_of(channels: Array) -> int:
    return channels[0]
