"""Blocks of a node's rows: where their words of codes are, and copies of these that lie side by side.

A node's rows are far apart in memory.  The words of a block are copied first, some words of columns at once where a row
has them side by side, so that what adds rows to a histogram reads one word after the other and leaves the histogram in
the first cache.  While it adds, it asks for the rows of the next block: a core waits for memory where it has nothing
else to do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boostlab.backend.cpu.compiling import part
from boostlab.backend.cpu.kernels.prefetch import soon
from boostlab.backend.cpu.kernels.workspace import integers, naturals

Array = np.ndarray[Any, Any]
U = np.uint64

BLOCK = 1024  # rows
AHEAD = 16  # rows, whose words are read where they are
FAR = 256  # rows, whose values come from memory
STRIP = 8  # words, those of a cache line
CHUNK = 64  # rows that are added between two looks ahead


class RowBlock(NamedTuple):
    """Some rows of a node (where their words begin), and what they add: two values each, or one and its class."""

    rows: Array
    classes: Array
    values: Array
    words: Array  # of a strip, a word's for all rows side by side
    following: Array  # the rows of the next block


@part
def new_block() -> RowBlock:
    """Return workspace for a block."""
    block = RowBlock(
        naturals(BLOCK + AHEAD), naturals(BLOCK), integers(2 * BLOCK + 2), naturals(STRIP * BLOCK), naturals(BLOCK)
    )
    for row in range(BLOCK, BLOCK + AHEAD):
        block.rows[row] = 0  # that are prefetched after the last
    return block


@part
def ask(words: Array, rows: Array, first: int, last: int, g: int) -> None:
    """Ask for the words that begin with word g of some rows of a block."""
    for k in range(first, last):
        soon(words, rows[k] + U(g))


@part
def words_at_once(step: int, apart: int, g: int, last: int) -> int:
    """Return how many words are read together, of those from g to last - 1: a strip, or one."""
    return 1 if apart > 1 or last - g == 1 or g + STRIP > step else min(STRIP, last - g)


@part
def read_word(w: Array, block: RowBlock, size: int) -> None:
    """Copy one word of a block, those of its rows side by side."""
    rows, to = block.rows, block.words
    for k in range(U(size)):
        soon(w, rows[k + U(AHEAD)])
        to[k] = w[rows[k]]


@part
def read_strip(w: Array, block: RowBlock, size: int) -> None:
    """Copy a strip of words of a block, a word after the other."""
    rows, to, n = block.rows, block.words, U(BLOCK)
    for k in range(U(size)):
        i = rows[k]
        a, b, c, d = w[i], w[i + U(1)], w[i + U(2)], w[i + U(3)]
        e, f, g, h = w[i + U(4)], w[i + U(5)], w[i + U(6)], w[i + U(7)]
        to[k], to[n + k], to[U(2) * n + k], to[U(3) * n + k] = a, b, c, d
        to[U(4) * n + k], to[U(5) * n + k], to[U(6) * n + k], to[U(7) * n + k] = e, f, g, h
