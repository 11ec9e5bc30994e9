"""The walk to a leaf, of dense and of sparse rows, against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from boostlab.backend.cpu.kernels.sparse_histogram import walk_sparse
from boostlab.backend.cpu.kernels.tree_descent import walk

UNTOUCHED = -77
seeds = st.integers(0, 2**32)


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


def walked(nodes, X, offset=0, rows=None):
    tree, names = arrays(nodes)
    out = np.full(len(X) if rows is None else rows, UNTOUCHED, np.int64)
    walk(X, *tree, offset, out)
    return [names.get(int(i), UNTOUCHED) for i in out]


def walked_sparse(nodes, X, first=0, last=None):
    (feature, threshold, missing_low, children, _, _), names = arrays(nodes)
    out = np.full(X.shape[0], UNTOUCHED, np.int64)
    nodes = feature, threshold, missing_low, children
    walk_sparse(X.data, X.indices, X.indptr, *nodes, first, X.shape[0] if last is None else last, out)
    return [names.get(int(i), UNTOUCHED) for i in out]


def a_tree(rng, depth, counter, columns=4):
    """Column 0 and 1 are numbers, column 2 has four categories, column 3 one."""
    if depth == 0 or rng.random() < 0.2:
        counter[0] += 1
        return counter[0]
    j = int(rng.integers(0, columns))
    rule = float(rng.choice([-1.0, 0.0, 0.5, 1.0, np.inf]))
    if j >= 2:
        rule = [bool(v) for v in rng.random(4 if j == 2 else 1) < 0.5]
    below, above = (a_tree(rng, depth - 1, counter, columns) for _ in range(2))
    return j, rule, bool(rng.random() < 0.5), below, above


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
    leaves = [leaf_by_hand(nodes, row) for row in X]
    assert walked(nodes, X) == leaves
    assert walked(nodes, X[4:20], 7, 40) == [UNTOUCHED] * 7 + leaves[4:20] + [UNTOUCHED] * 17  # a block of rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=60)
@given(seed=seeds)
def test_walk_sparse(dtype, seed):
    rng = np.random.default_rng(seed)
    nodes, n = a_tree(rng, 4, [0], columns=2), 30
    X = rng.choice([-2.0, -1.0, -0.0, 0.0, 0.0, 0.0, 0.5, 0.75, 1.0, 2.0, np.nan], (n, 2)).astype(dtype)
    stored = sparse.csr_array(X)
    stored.data[rng.random(stored.nnz) < 0.2] = 0.0  # explicit zeros
    leaves = [leaf_by_hand(nodes, row) for row in stored.toarray()]
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    assert walked_sparse(nodes, stored) == leaves
    expected = [leaf if first <= i < last else UNTOUCHED for i, leaf in enumerate(leaves)]
    assert walked_sparse(nodes, stored, first, last) == expected


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
def test_a_single_leaf_takes_all_rows(dtype):
    X = np.array([[1.0, np.nan], [np.nan, 0.0]], dtype)
    assert walked(7, X) == [7, 7]
    assert walked_sparse(7, sparse.csr_array(X)) == [7, 7]
