"""Scores of many trees of at most 64 leaves at once, without a walk (Lucchese et al. 2015, QuickScorer).

The leaves of a tree are the bits of a word, from left to right.  A split that sends a row to the right clears the bits
of the leaves on its left, in any order of the splits; the lowest bit that is left is the row's leaf.  So a split is one
comparison and one `and` for each of a block of rows, side by side in memory, which vector instructions do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from boostlab.backend.cpu.compiling import inlined
from boostlab.backend.cpu.in_parts import in_parts
from boostlab.backend.cpu.kernels.workspace import naturals

Array = np.ndarray[Any, Any]
U = np.uint64

MOST_LEAVES = 64
BLOCK, FEW = 64, 8  # rows; fewer are looked at one by one
EVERY = U(0xFFFFFFFFFFFFFFFF)
# Kinds of splits, and where missing values go.
MISSING_LEFT, MISSING_RIGHT, CATEGORIES_LEFT, CATEGORIES_RIGHT = range(4)

_intrinsic: Any = intrinsic


@_intrinsic
def _lowest(typing: Any, word: Any) -> Any:
    """Return the number of the lowest bit of a word that is set."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), code


@inlined
def _goes_right(x: float, cut: float, kind: int, lows: Array, first: int) -> bool:
    """Return where a split sends a number, or a category."""
    if x != x:
        return kind in (MISSING_RIGHT, CATEGORIES_RIGHT)
    if kind >= CATEGORIES_LEFT:
        return not lows[first + np.int64(x)]
    return x > cut


@inlined
def _clear(x: Array, c: Any, cut: float, kind: int, lows: Array, first: int, left: Any, size: Any, out: Array) -> None:
    """Clear the bits of the leaves on the left of a split on column c for the rows that go right."""
    if kind == MISSING_LEFT:
        for r in range(size):
            out[r] &= left if x[c, r] > cut else EVERY
    elif kind == MISSING_RIGHT:
        for r in range(size):
            out[r] &= EVERY if x[c, r] <= cut else left
    else:
        for r in range(size):
            out[r] &= left if _goes_right(x[c, r], cut, kind, lows, first) else EVERY


@in_parts
def add_masked_trees(
    X: Array,
    features: Array,
    trees: Array,
    splits: Array,
    cuts: Array,
    lefts: Array,
    lows: Array,
    votes: Array,
    names: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Add the votes of trees, one after the other, to the scores of the rows first <= i < last.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        The rows.
    features : int64 array
        The columns that some split reads.
    trees : int64 array of shape (T + 1, 3)
        Every tree's first split and first leaf, and the score that it votes on; -1 is all of them, or that of the class
        it names.
    splits : int64 array of shape (S, 3)
        Every split's place in `features`, its kind, and its first category in `lows`.
    cuts, lefts : arrays of shape (S,)
        Its threshold, and a word that lacks the leaves on its left.
    lows : bool array
        Whether a category goes left.
    votes : array of shape (L, 1) or (L, n_outputs)
        What every leaf adds, coefficients included.
    names : int64 array of shape (L,), or empty
        The class that a leaf names.
    first, last : int
        The rows.
    out : array of shape (n_rows, n_outputs)
        The scores.
    """
    x, leaves = np.zeros((features.size, BLOCK)), naturals(BLOCK)
    for start in range(first, last, BLOCK):
        size = min(BLOCK, last - start)
        for r in range(U(size)):
            for c in range(U(features.size)):
                x[c, r] = X[U(start) + r, U(features[c])]
        for t in range(trees.shape[0] - 1):
            for r in range(size):
                leaves[r] = EVERY
            if size < FEW:
                for r in range(U(size)):
                    word = EVERY
                    for s in range(U(trees[t, 0]), U(trees[t + 1, 0])):
                        here = x[U(splits[s, 0]), r]
                        word &= lefts[s] if _goes_right(here, cuts[s], splits[s, 1], lows, splits[s, 2]) else EVERY
                    leaves[r] = word
            else:
                for s in range(U(trees[t, 0]), U(trees[t + 1, 0])):
                    _clear(x, U(splits[s, 0]), cuts[s], splits[s, 1], lows, splits[s, 2], lefts[s], U(size), leaves)
            base, column = U(trees[t, 1]), trees[t, 2]
            for r in range(U(size)):
                # Not `flat_trees._add`: called here, it makes all of this take twice as long.
                i, leaf = U(start) + r, base + _lowest(leaves[r])
                if column >= 0:
                    out[i, U(column)] += votes[leaf, U(0)]
                elif names.size > 0:
                    out[i, U(names[leaf])] += votes[leaf, U(0)]
                else:
                    for c in range(U(out.shape[1])):
                        out[i, c] += votes[leaf, c]
