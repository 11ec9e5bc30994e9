"""The tree kernels against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.kernels.tree import histogram_of, part_rows, walk

UNTOUCHED = -77
seeds = st.integers(0, 2**32)


# -- sums over some rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 5])
@pytest.mark.parametrize(("d", "first", "last"), [(1, 0, 1), (4, 0, 4), (6, 1, 5), (5, 2, 2)])
def test_histogram_of_some_rows(dtype, channels, d, first, last):
    rng = np.random.default_rng([channels, d, first])
    n, n_bins = 120, 256 if dtype is np.uint8 else 300
    codes = rng.integers(0, n_bins, size=(d, n)).astype(dtype)
    codes[:, 0] = n_bins - 1  # the last bin is used
    q = rng.integers(-(2**53), 2**53, size=(n, channels))
    for size in (0, 1, 50, n):
        members = rng.permutation(n)[:size]
        out = np.full((d, n_bins, channels), UNTOUCHED, np.int64)
        histogram_of(codes, q, members, first, last, out)
        for j in range(d):
            expected = [[0 if first <= j < last else UNTOUCHED] * channels for _ in range(n_bins)]
            for i in members.tolist() if first <= j < last else []:
                for c in range(channels):
                    expected[codes[j, i]][c] += int(q[i, c])
            assert out[j].tolist() == expected


def test_histogram_of_takes_sums_as_large_as_the_fixed_point_makes_them():
    q = np.array([[2**61], [-(2**61)], [2**61 - 1], [3], [5]])
    out = np.zeros((1, 2, 1), np.int64)
    histogram_of(np.array([[0, 0, 0, 1, 1]], np.uint8), q, np.array([3, 2, 1, 0]), 0, 1, out)
    assert out.tolist() == [[[2**61 - 1], [3]]]


# -- parting rows -------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(seed=seeds)
def test_parting_is_stable_and_in_place(seed):
    rng = np.random.default_rng(seed)
    n, n_bins = int(rng.integers(1, 40)), int(rng.integers(1, 9))
    code = rng.integers(0, n_bins, n).astype(rng.choice([np.uint8, np.uint16]))
    low = rng.random(n_bins) < rng.choice([0.0, 0.3, 0.7, 1.0])  # sides may be empty or hold all
    shared = rng.permutation(n)
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    before = shared.tolist()
    n_low = part_rows(code, low, shared[first:last], np.empty(n, np.int64))
    lows = [i for i in before[first:last] if low[code[i]]]
    highs = [i for i in before[first:last] if not low[code[i]]]
    assert n_low == len(lows)
    assert shared.tolist() == before[:first] + lows + highs + before[last:]  # the neighbours stay


@pytest.mark.parametrize(("side", "n_low"), [(True, 5), (False, 0)])
def test_all_on_one_side(side, n_low):
    members = np.array([4, 0, 3, 1, 2])
    assert part_rows(np.zeros(5, np.uint8), np.array([side]), members, np.empty(5, np.int64)) == n_low
    assert members.tolist() == [4, 0, 3, 1, 2]


def test_nobody_to_part():
    assert part_rows(np.zeros(3, np.uint8), np.array([True]), np.empty(0, np.int64), np.empty(3, np.int64)) == 0


# -- walking ------------------------------------------------------------------------------------------------------


def arrays(nodes):
    """Nested tuples as the kernel's arrays: an int is a leaf; else (feature, threshold or lows, missing_low, a, b)."""
    feature, threshold, missing_low, children, lows, names = [], [], [], [], [], {}

    def add(node):
        at = len(feature)
        for column, value in zip(
            (feature, threshold, missing_low, children, lows), (-1, 0.0, False, [0, 0], []), strict=True
        ):
            column.append(value)
        if isinstance(node, int):
            names[at] = node
            return at
        feature[at], missing_low[at] = node[0], node[2]
        if isinstance(node[1], list):
            lows[at] = node[1]
        else:
            threshold[at] = node[1]
        children[at] = [add(node[3]), add(node[4])]
        return at

    add(nodes)
    starts = np.concatenate([[0], np.cumsum([len(m) for m in lows])]).astype(np.int64)
    flat = np.array([v for m in lows for v in m], bool)
    tree = np.array(feature), np.array(threshold), np.array(missing_low), np.array(children, np.int64), starts, flat
    return tree, names


def leaf_by_hand(node, row):
    while not isinstance(node, int):
        j, rule, missing_low, below, above = node
        x = float(row[j])
        if math.isnan(x):
            low = missing_low
        elif isinstance(rule, list):
            low = rule[int(x)]
        else:
            low = x <= rule
        node = below if low else above
    return node


def walked(nodes, X, first=0, last=None):
    tree, names = arrays(nodes)
    out = np.full(len(X), UNTOUCHED, np.int64)
    walk(X, *tree, first, len(X) if last is None else last, out)
    return [names.get(int(i), UNTOUCHED) for i in out]


def a_tree(rng, depth, counter):
    """Column 0 and 1 are numbers, column 2 has four categories, column 3 one."""
    if depth == 0 or rng.random() < 0.2:
        counter[0] += 1
        return counter[0]
    j = int(rng.integers(0, 4))
    rule = float(rng.choice([-1.0, 0.0, 0.5, 1.0, np.inf]))
    if j >= 2:
        rule = [bool(v) for v in rng.random(4 if j == 2 else 1) < 0.5]
    return j, rule, bool(rng.random() < 0.5), a_tree(rng, depth - 1, counter), a_tree(rng, depth - 1, counter)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=60)
@given(seed=seeds)
def test_walk(dtype, seed):
    rng = np.random.default_rng(seed)
    nodes, n = a_tree(rng, 4, [0]), 30
    X = np.column_stack(
        [rng.choice([-2.0, -1.0, 0.0, 0.5, 0.75, 1.0, 2.0], (n, 2)), rng.integers(0, 4, n), np.zeros(n)]
    ).astype(dtype)
    X[rng.random(X.shape) < 0.25] = np.nan
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    expected = [leaf_by_hand(nodes, row) if first <= i < last else UNTOUCHED for i, row in enumerate(X)]
    assert walked(nodes, X, first, last) == expected


def test_a_value_equal_to_the_threshold_goes_low():
    step = np.nextafter(0.1, 1)
    assert walked((0, 0.1, False, 1, 2), np.array([[0.1], [step], [-0.0]])) == [1, 2, 1]


def test_float32_is_compared_as_the_number_it_is():
    x = np.array([[0.1], [16777217.0]], np.float32)  # a little more than 0.1; exactly 16777216
    assert walked((0, 0.1, False, 1, 2), x) == [2, 2]
    assert walked((0, float(x[0, 0]), False, 1, 2), x) == [1, 2]
    assert walked((0, 16777216.5, False, 1, 2), x) == [1, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_values_and_the_cut_at_infinity(dtype):
    X = np.array([[np.nan], [3.0], [np.finfo(dtype).max]], dtype)
    assert walked((0, np.inf, False, 1, 2), X) == [2, 1, 1]  # present against missing
    assert walked((0, np.inf, True, 1, 2), X) == [1, 1, 1]
    assert walked((0, 3.0, True, 1, 2), X) == [1, 1, 2]
    assert walked((0, [False, False, False, True], True, 1, 2), X[:2]) == [1, 1]
    assert walked((0, [True, True, True, False], False, 1, 2), X[:2]) == [2, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_single_leaf_takes_everybody(dtype):
    assert walked(7, np.array([[1.0, np.nan], [np.nan, 0.0]], dtype)) == [7, 7]
