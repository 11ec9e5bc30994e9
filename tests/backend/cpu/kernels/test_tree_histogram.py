"""Histograms of trees, their changes and the parting of rows, against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.kernels import tree_histogram as histogram
from boostlab.backend.cpu.kernels.histogram import follow_eight, follow_four
from boostlab.backend.cpu.kernels.node_rows import join_stretches, part_stretch
from boostlab.backend.cpu.kernels.row_blocks import new_block
from boostlab.backend.cpu.threads import AtOnce
from boostlab.contract.criterion import SIGNED


def some_codes(rng, n, widths, per_word, by_rows=False):
    """Return dense codes of columns with so many slots, the last of each empty."""
    starts = np.append(0, np.cumsum(widths))
    cells = np.zeros(*DenseCodes.shape_of(n, len(widths), 256 if per_word == 8 else 300))
    for j, width in enumerate(widths):
        cells[j // per_word, :, j % per_word] = rng.integers(0, max(width - 1, 1), n)
    return DenseCodes(cells, starts, by_rows=by_rows)


def some_widths(rng, per_word=8):
    return rng.choice([2, 3, 5, 40, 250 if per_word == 8 else 700], int(rng.integers(1, 20)))


def counted(codes, rows, values, first=0, last=None):
    """The histogram in Python integers, of the columns first <= j < last: values[i] has a number a channel."""
    K, per_word = len(values[0]), codes.cells.shape[2]
    hist = [0] * (K * codes.n_slots)
    for i in rows:
        for j in range(first, len(codes.starts) - 1 if last is None else min(last, len(codes.starts) - 1)):
            slot = int(codes.starts[j]) + int(codes.cells[j // per_word, i, j % per_word])
            for c in range(K):
                hist[K * slot + c] += int(values[i][c])
    return hist


def sides(q):
    return [(max(-int(v), 0), max(int(v), 0)) for v in q]


GATHER = {"labels": histogram.gather_labels, "numbers": histogram.gather_numbers, "classes": histogram.gather_classes}


def adder(kind, per_word):
    gather, add = GATHER[kind], (histogram.ADD_CLASSES if kind == "classes" else histogram.ADD_PAIRS)[per_word]

    @njit
    def of(source, words, step, apart, bases, d, K, members, some, start, size, first, last, out):
        block = new_block()
        gather(source, 1, members, some, step, start, size, block)
        more = histogram.look_ahead(members, some, step, start + size, members.size, block)
        add(words, step, apart, bases, d, K, block, size, more, first, last, out)

    return of


ADD = {(kind, per_word): adder(kind, per_word) for kind in GATHER for per_word in (8, 4)}


@pytest.mark.parametrize("per_word", [8, 4])
@pytest.mark.parametrize("kind", GATHER)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), by_rows=st.booleans())
def test_a_block_of_rows_is_added(kind, per_word, seed, by_rows):
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(1, 60)), 3 if kind == "classes" else 2
    codes = some_codes(rng, n, some_widths(rng, per_word), per_word, by_rows)
    d, some = len(codes.starts) - 1, bool(rng.integers(2))
    q, p, classes = rng.integers(-(2**40), 2**40, n), rng.integers(-(2**40), 2**40, n), rng.integers(0, K, n)
    source = {"labels": (q,), "numbers": (q, p), "classes": (np.abs(q), classes)}[kind]
    source = tuple(np.stack([np.zeros_like(x), x]) for x in source)  # those of two trees, of which the second is added
    members = rng.permutation(n).astype(np.int32)
    start, end = sorted(rng.integers(0, n + 1, 2).tolist())
    first, last = sorted(rng.integers(0, len(codes.words) + 1, 2).tolist())
    out = np.zeros(K * codes.n_slots, np.int64)
    bases = codes.read[1] * np.uint64(K)
    ADD[kind, per_word](source, *codes.for_nodes, bases, d, K, members, some, start, end - start, first, last, out)
    one = [[abs(int(q[i])) if c == classes[i] else 0 for c in range(K)] for i in range(n)]
    values = {"labels": sides(q), "numbers": list(zip(q, p, strict=True)), "classes": one}[kind]
    rows = members[start:end] if some else range(start, end)
    assert out.tolist() == counted(codes, rows, values, first * per_word, last * per_word)


@pytest.mark.parametrize("per_word", [8, 4])
@pytest.mark.parametrize("of", ["one", "two", "sides"])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 9))
def test_all_rows_by_a_team(of, per_word, seed, size):
    """More threads than words, than rows, and stretches of the line of cells that are empty."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    codes = some_codes(rng, n, some_widths(rng, per_word), per_word)
    codes.threads = AtOnce(size)
    q, p = rng.integers(-(2**40), 2**40, n), rng.integers(-(2**40), 2**40, n)
    values = {"one": [(v, 0) for v in q.tolist()], "two": list(zip(q, p, strict=True)), "sides": sides(q)}[of]
    wanted = counted(codes, range(n), values)
    assert codes.whole(of, q, p).tolist() == (wanted[::2] if of == "one" else wanted)
    if of == "two":
        out = np.empty((6, 2 * codes.n_slots), np.int64)
        codes.whole_of_each("two", np.stack([q, p, q]), np.stack([p, q, p]), out)
        turned = counted(codes, range(n), list(zip(p, q, strict=True)))
        assert out[::2].tolist() == [wanted, turned, wanted]
        assert [x.tolist() for x in codes.pair_histogram(q, p)] == [wanted[::2], wanted[1::2]]
    elif size > 1:
        assert codes.histogram(q, of == "sides").tolist() == [wanted[c::2] for c in range(1 + (of == "sides"))]


@pytest.mark.parametrize("per_word", [8, 4])
@pytest.mark.parametrize("masses", ["none", "whole", "real"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_changes_are_those_of_the_plain_histogram(masses, per_word, seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 60)), int(rng.integers(5, 40))
    codes = some_codes(rng, n, some_widths(rng, per_word), per_word)
    reads = codes.words.reshape(-1), codes.read[1] * np.uint64(2), len(codes.starts) - 1
    y = rng.choice([-1, 1], n).astype(np.int8)
    counts = rng.integers(0, 4, n).astype(np.int32) if masses == "whole" else np.empty(0, np.int32)
    mass = rng.random(n) if masses == "real" else np.empty(0)
    old = rng.random(n) * rng.integers(0, 2, n)
    new = np.where(rng.random(n) < 0.5, old, rng.random(n) * rng.integers(0, 2, n))
    before, nothing, follow = np.zeros(n, np.int64), np.empty(0, np.int64), histogram.label_changes(per_word)
    follow(*reads, SIGNED, old, y, counts, mass, k, 0, n, before, nothing)
    out = np.zeros(2 * codes.n_slots, np.int64)
    out[:] = codes.whole("sides", before, before)
    after, twin, plain = before.copy(), before.copy(), np.zeros(2 * (codes.n_slots + codes.spare), np.int64)
    changed, turned, minus, plus, rough = follow(*reads, SIGNED, new, y, counts, mass, k, 0, n, after, out)
    other = follow_eight if per_word == 8 else follow_four
    facts = other(*codes.read, SIGNED, new, y, counts, mass, k, True, 0, n, twin, plain)
    assert np.array_equal(after, twin)
    assert (changed, turned, minus, plus) == (facts[0], facts[1], facts[4], facts[5])
    assert math.isclose(rough, facts[6], rel_tol=1e-12)
    assert out.tolist() == counted(codes, range(n), sides(after))


def test_a_changed_sign_is_told():
    codes = some_codes(np.random.default_rng(0), 3, [4], 8)
    reads = codes.words.reshape(-1), codes.read[1] * np.uint64(2), 1
    none = np.empty(0, np.int32), np.empty(0)
    q, w, nothing = np.array([4, -4, 0]), np.ones(3), np.empty(0, np.int64)
    found = histogram.label_changes(8)(*reads, SIGNED, w, np.array([-1, -1, 1], np.int8), *none, 2, 0, 3, q, nothing)
    assert found[:2] == (2, 1)
    assert q.tolist() == [-4, -4, 4]


PART, JOIN = njit(part_stretch), njit(join_stretches)


@given(seed=st.integers(0, 2**32))
def test_a_stretch_is_parted_by_a_team(seed):
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(1, 90)), int(rng.integers(1, 5))
    code, members = rng.integers(0, 5, 100).astype(np.uint8), rng.permutation(100)[:n].astype(np.int32)
    low, before = rng.random(5) < 0.5, members.copy()
    begin, end = sorted(rng.integers(0, n + 1, 2).tolist())
    space, lows, rows = np.full(n, -1, np.int32), np.empty(size, np.int64), end - begin
    for me in range(size):
        part = begin + rows * me // size, begin + rows * (me + 1) // size
        lows[me] = PART(code, low, members, space, *part, me == 0)
    found = {JOIN(lows, me, size, begin, rows, members, space) for me in range(size)}
    mine = before[begin:end].tolist()
    below = [i for i in mine if low[code[i]]]
    assert found == {len(below)}
    assert members[begin:end].tolist() == below + [i for i in mine if not low[code[i]]]
    assert np.array_equal(members[:begin], before[:begin])
    assert np.array_equal(members[end:], before[end:])
