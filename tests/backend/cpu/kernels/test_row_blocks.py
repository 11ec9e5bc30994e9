"""Blocks of rows, their words and what is asked for meanwhile, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.kernels import row_blocks
from boostlab.backend.cpu.kernels.tree_histogram import ADD_PAIRS, gather_numbers, look_ahead

STRIP, AT_ONCE = njit(row_blocks.read_strip), njit(row_blocks.words_at_once)
NEW, WORD, LOOK = njit(row_blocks.new_block), njit(row_blocks.read_word), njit(look_ahead)
BLOCK, ADD = row_blocks.BLOCK, ADD_PAIRS[8]


def block_of(rows):
    block = NEW()
    block.rows[: len(rows)] = rows
    return block


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_words_are_copied(seed):
    rng = np.random.default_rng(seed)
    words, size = rng.integers(0, 2**63, 900).astype(np.uint64), int(rng.integers(1, BLOCK + 1))
    rows = rng.integers(0, len(words) - row_blocks.STRIP + 1, size)
    block = block_of(rows)
    WORD(words, block, size)
    assert np.array_equal(block.words[:size], words[rows])
    STRIP(words, block, size)
    for at in range(row_blocks.STRIP):
        assert np.array_equal(block.words[at * BLOCK : at * BLOCK + size], words[rows + at])


@pytest.mark.parametrize(
    ("step", "apart", "g", "last", "wanted"),
    [
        (1, 90, 0, 7, 1),  # a word's rows lie side by side
        (8, 1, 0, 7, 7),
        (8, 1, 3, 4, 1),  # no other word is wanted
        (8, 1, 1, 7, 1),  # a strip would end behind the row
        (12, 1, 0, 12, 8),
        (12, 1, 8, 12, 1),
        (16, 1, 8, 13, 5),
        (2, 1, 0, 2, 1),
    ],
)
def test_how_many_words_are_read(step, apart, g, last, wanted):
    assert AT_ONCE(step, apart, g, last) == wanted


def test_the_rows_of_the_next_block():
    members, block = np.random.default_rng(0).permutation(3 * BLOCK).astype(np.int32), NEW()
    for first, last in ((0, 5), (7, 7), (9, 3 * BLOCK)):
        size = LOOK(members, True, 8, first, last, block)
        assert size == min(BLOCK, last - first)
        assert block.following[:size].tolist() == [8 * int(i) for i in members[first : first + size]]
    assert LOOK(members, False, 8, 0, 5, block) == 0  # rows that follow each other
    assert LOOK(members, True, 1, 0, 5, block) == 0


@njit
def summed(source, words, step, apart, bases, d, members, out):
    """Sum all members, block after block."""
    block, start = row_blocks.new_block(), 0
    while start < members.size:
        many = min(BLOCK, members.size - start)
        gather_numbers(source, 0, members, True, step, start, many, block)
        more = look_ahead(members, True, step, start + many, members.size, block)
        ADD(words, step, apart, bases, d, 2, block, many, more, 0, -(-d // 8), out)
        start += many


@pytest.mark.parametrize("columns", [3, 16, 50, 130])
@pytest.mark.parametrize("by_rows", [False, True])
def test_several_blocks_and_strips(columns, by_rows):
    rng = np.random.default_rng(columns)
    n, width = 2 * BLOCK + 300, 5
    cells = np.zeros(*DenseCodes.shape_of(n, columns, 256))
    cells[:] = rng.integers(0, width, cells.shape)
    codes = DenseCodes(cells, width * np.arange(columns + 1), by_rows=by_rows)
    q, p = rng.integers(-(2**40), 2**40, (2, 1, n))
    members = np.flatnonzero(rng.random(n) < 0.9).astype(np.int32)
    out = np.zeros(2 * (codes.n_slots + codes.spare), np.int64)
    summed((q, p), *codes.for_nodes, codes.read[1] * np.uint64(2), columns, members, out)
    for j in range(columns):
        code = cells[j // 8, members, j % 8]
        for s in range(width):
            mine = members[code == s]
            assert out[2 * (width * j + s) :][:2].tolist() == [int(q[0, mine].sum()), int(p[0, mine].sum())]
