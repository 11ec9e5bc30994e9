"""All stumps by edge, for when the best one is not wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.contract.slots import Slots

Array = npt.NDArray[Any]
Candidate = tuple[int, int, Array, bool]  # feature, cut (-1: categories), low slots, whether the high side votes +1

_NEVER = np.iinfo(np.int64).min


def ranked(slots: Slots, hist: Array, total: int, sides: int, direction: Array | None = None) -> Iterator[Candidate]:
    """Yield stumps, the one with the largest edge first; ties as in `kernels.stump_search.best_edge`.

    Parameters
    ----------
    slots : Slots
        Of the sample.
    hist : array
        The signed weight in every slot.
    total : int
        Its sum over the sample.
    sides : int
        0 takes either orientation, +1 or -1 only the one.
    direction : array of shape (n_slots,), optional
        The same for every cut.
    """
    numeric = np.repeat(~slots.categorical, np.diff(slots.starts))
    widths = np.diff(slots.starts)
    below = np.cumsum(hist)
    below -= np.repeat(np.append(0, below)[slots.starts[:-1]], widths)  # a sparse column of zeros has no slots
    absent = np.repeat(hist[slots.starts[1:] - 1], widths)
    # Slot, side of the missing values, orientation: in this order ties are decided.
    edges = np.full((len(hist), 2, 2), _NEVER)
    for side, (possible, low) in enumerate(((slots.possible, below), (slots.possible_below, below + absent))):
        edge = total - 2 * low
        for k, sign in enumerate((1, -1)):
            if sides in (0, sign):
                kept = possible & numeric if direction is None else possible & numeric & (direction != -sign)
                edges[:, side, k] = np.where(kept, sign * edge, _NEVER)
    plain = _largest_first(edges.reshape(-1))
    subsets = list[tuple[int, int, Array]]()  # those whose turn may have come
    waiting = _largest_first(_bounds(slots, hist))
    bound = next(waiting, None)
    while True:
        best = next(plain, None)
        while True:
            while bound is not None and all(bound[0] >= one[0] for one in (best, *subsets[:1]) if one is not None):
                subsets = sorted([*subsets, *_subsets(slots, hist, bound[1])], key=lambda c: (-c[0], c[1]))
                bound = next(waiting, None)
            if not subsets or not (best is None or _before(subsets[0], best, slots)):
                break
            _, feature, low = subsets.pop(0)
            yield feature, -1, low, True
        if best is None:
            return
        slot, side, orientation = (int(k) for k in np.unravel_index(best[1], edges.shape))
        feature = int(np.searchsorted(slots.starts, slot, side="right")) - 1
        cut = slot - int(slots.starts[feature])
        yield feature, cut, slots.low_slots(feature, cut, side), orientation == 0


def _largest_first(edges: Array) -> Iterator[tuple[int, int]]:
    """Yield (edge, place), equals in their order, without sorting: few are ever asked for.  The edges are used up."""
    while edges.size:
        k = int(edges.argmax())
        edge = int(edges[k])
        if edge == _NEVER:
            return
        yield edge, k
        edges[k] = _NEVER


def _before(subset: tuple[int, int, Array], plain: tuple[int, int], slots: Slots) -> bool:
    feature = int(np.searchsorted(slots.starts, plain[1] // 4, side="right")) - 1
    return (-subset[0], subset[1]) < (-plain[0], feature)


def _bounds(slots: Slots, hist: Array) -> Array:
    """Return for every categorical feature what no edge of its subsets exceeds."""
    bounds = np.full(len(slots.n_bins), _NEVER)
    sizes = np.append(0, np.cumsum(np.abs(hist)))
    whole = sizes[slots.starts[1:]] - sizes[slots.starts[:-1]]
    bounds[slots.categorical] = whole[slots.categorical]
    return bounds


def _subsets(slots: Slots, hist: Array, j: int) -> Iterator[tuple[int, int, Array]]:
    """Yield (edge, feature, low slots) of the best two subsets of a categorical feature."""
    sums, filled = hist[slots.mine(j)], slots.filled[slots.mine(j)]
    if filled.sum() < 2:
        return
    best = slots.signs(j, sums)
    taken = [best]
    for slot in np.flatnonzero(filled)[np.argsort(np.abs(sums[filled]), kind="stable")]:
        other = best.copy()
        other[slot] = ~other[slot]
        if 0 < other[filled].sum() < filled.sum():  # no stump is constant
            taken.append(slots.with_unseen(j, other))
            break
    for low in taken:
        yield int(sums[~low].sum() - sums[low].sum()), j, low
