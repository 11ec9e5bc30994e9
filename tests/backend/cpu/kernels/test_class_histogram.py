"""Sums per class and slot, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from boostlab.backend.cpu.bin_codes import MANY
from boostlab.backend.cpu.kernels.vote_update import add_names
from boostlab.backend.cpu.masses import Masses
from boostlab.data.table import Bins, Table


@pytest.mark.parametrize("kind", ["eight", "four", "sparse"])
def test_every_row_adds_to_its_class(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 400 if kind == "four" else 5, (700, 11)).astype(float)
    if kind == "sparse":
        X[rng.random(X.shape) < 0.7] = 0.0
    rows = Masses(700)
    T = scipy.sparse.csr_matrix(X) if kind == "sparse" else X
    codes = Table.of(T, Bins.fit(T, rows, 1000, 1, {}), 1).codes
    q, c = rng.integers(0, 1 << 40, 700), rng.integers(0, 3, 700).astype(np.int8)
    columns = [codes.column(j) for j in range(11)]
    for members in (None, np.flatnonzero(rng.random(700) < 0.3).astype(np.int32)):
        slots, totals = codes.class_sums(q, c, 4, members)
        expected = np.zeros((4, codes.n_slots), np.int64)
        for i in range(700) if members is None else members.tolist():
            for j in range(11):
                expected[c[i], codes.starts[j] + columns[j][i]] += q[i]
        assert np.array_equal(slots, expected)
        some = slice(None) if members is None else members
        assert totals.tolist() == [int(q[some][c[some] == k].sum()) for k in range(4)]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["eight", "four"])
def test_two_classes_of_many_rows(kind, threads):
    rng = np.random.default_rng(2)
    n = MANY // 8
    X = rng.integers(0, 400 if kind == "four" else 5, (n, 11)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    codes = Table.of(X, Bins.fit(X, Masses(n), 1000, 1, {}), threads).codes
    assert codes.n_rows * codes.width >= MANY  # or the other way is tested
    q, c = rng.integers(0, 1 << 40, n), rng.integers(0, 2, n).astype(np.int8)
    slots, totals = codes.class_sums(q, c, 2)
    for k in range(2):
        assert totals[k] == q[c == k].sum()
        for j in range(11):
            width = codes.starts[j + 1] - codes.starts[j]
            expected = np.zeros(width, np.int64)
            np.add.at(expected, codes.column(j)[c == k], q[c == k])
            assert np.array_equal(slots[k, codes.starts[j] : codes.starts[j + 1]], expected)


def test_votes_for_classes_are_added_in_order():
    rng = np.random.default_rng(1)
    F, H = rng.normal(size=(20, 3)), rng.integers(0, 3, (4, 20)).astype(np.int8)
    alphas, new = rng.random(4), F.copy()
    add_names(new, alphas, H, 2, 17)
    for alpha, h in zip(alphas, H, strict=True):
        F[np.arange(2, 17), h[2:17]] += alpha
    assert np.array_equal(new, F)
