"""Scores of many trees at once: eight rows walk down a tree side by side, so that they do not wait for memory.

A node is two integers: the bits of its threshold, and where to go: (the left child << 32) + (the column << 1) + (1 if
missing values go right).  The right child follows the left one, and a leaf is its own left child with an infinite
threshold: a row that has arrived stays.  A tree's nodes stay in the first cache for a block of rows, and the block's
rows for all trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostlab.backend.cpu.compiling import inlined
from boostlab.backend.cpu.functions import from_bits
from boostlab.backend.cpu.in_parts import in_parts

Array = np.ndarray[Any, Any]
U = np.uint64

BLOCK, SIDE_BY_SIDE = 64, 8  # rows
ONE, COLUMN = U(1), U(0x7FFFFFFF)


@inlined
def _next(X: Array, i: Any, nodes: Array, node: Any) -> Any:
    """Return the child that row i goes to."""
    link = U(nodes[node, U(1)])
    x = X[i, (link >> ONE) & COLUMN]
    right = (x > from_bits(nodes[node, U(0)])) | ((x != x) & ((link & ONE) > U(0)))
    return (link >> U(32)) + U(right)


@inlined
def _leaf(X: Array, i: Any, nodes: Array, root: Any) -> Any:
    """Return where one row arrives."""
    node, before = root, root + ONE
    while node != before:
        before, node = node, _next(X, i, nodes, node)
    return node


@inlined
def _eight_leaves(X: Array, i: int, nodes: Array, root: int) -> Any:
    """Return where the rows i to i + 7 arrive."""
    a, b, c, d, e, f, g, h = root, root, root, root, root, root, root, root
    moved = True
    while moved:
        a2, b2 = _next(X, i, nodes, a), _next(X, i + U(1), nodes, b)
        c2, d2 = _next(X, i + U(2), nodes, c), _next(X, i + U(3), nodes, d)
        e2, f2 = _next(X, i + U(4), nodes, e), _next(X, i + U(5), nodes, f)
        g2, h2 = _next(X, i + U(6), nodes, g), _next(X, i + U(7), nodes, h)
        moved = ((a2 ^ a) | (b2 ^ b) | (c2 ^ c) | (d2 ^ d) | (e2 ^ e) | (f2 ^ f) | (g2 ^ g) | (h2 ^ h)) != U(0)
        a, b, c, d, e, f, g, h = a2, b2, c2, d2, e2, f2, g2, h2
    return a, b, c, d, e, f, g, h


@inlined
def _add(out: Array, i: int, column: int, votes: Array, names: Array, leaf: int) -> None:
    """Add a leaf's vote to the scores of a row: to all of them, to those of one column, or to that of a class."""
    if column >= 0:
        out[i, U(column)] += votes[leaf, U(0)]
    elif names.size > 0:
        out[i, U(names[leaf])] += votes[leaf, U(0)]
    else:
        for c in range(out.shape[1]):
            out[i, c] += votes[leaf, c]


@in_parts
def add_trees(
    X: Array, nodes: Array, roots: Array, columns: Array, votes: Array, names: Array, first: int, last: int, out: Array
) -> None:
    """Add the votes of trees, one after the other, to the scores of the rows first <= i < last.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        The rows.
    nodes : int64 array of shape (N, 2)
        See the top of this file.
    roots, columns : int64 arrays of shape (T,)
        Every tree's first node, and the score that it votes on; -1 is all of them, or that of the class it names.
    votes : array of shape (N, 1) or (N, n_outputs)
        What every leaf adds, coefficients included.
    names : int64 array of shape (N,), or empty
        The class that a leaf names.
    first, last : int
        The rows.
    out : array of shape (n_rows, n_outputs)
        The scores.
    """
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        whole = start + (stop - start) // SIDE_BY_SIDE * SIDE_BY_SIDE
        for t in range(roots.size):
            root, column = U(roots[t]), columns[t]
            for i in range(U(start), U(whole), U(SIDE_BY_SIDE)):
                a, b, c, d, e, f, g, h = _eight_leaves(X, i, nodes, root)
                _add(out, i, column, votes, names, a)
                _add(out, i + U(1), column, votes, names, b)
                _add(out, i + U(2), column, votes, names, c)
                _add(out, i + U(3), column, votes, names, d)
                _add(out, i + U(4), column, votes, names, e)
                _add(out, i + U(5), column, votes, names, f)
                _add(out, i + U(6), column, votes, names, g)
                _add(out, i + U(7), column, votes, names, h)
            for i in range(U(whole), U(stop)):
                _add(out, i, column, votes, names, _leaf(X, i, nodes, root))
