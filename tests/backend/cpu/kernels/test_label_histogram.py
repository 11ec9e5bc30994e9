"""Sums of several integers a row, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from boostlab.backend.cpu.label_histograms import sums_of
from boostlab.backend.cpu.masses import Masses
from boostlab.data.table import Bins, Table


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["eight", "four", "sparse"])
def test_every_row_adds_all_its_integers(kind, threads):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 400 if kind == "four" else 5, (700, 11)).astype(float)
    if kind == "sparse":
        X[rng.random(X.shape) < 0.7] = 0.0
    rows = Masses(700)
    T = scipy.sparse.csr_matrix(X) if kind == "sparse" else X
    codes = Table.of(T, Bins.fit(T, rows, 1000, 1, {}), threads).codes
    q = rng.integers(-(1 << 40), 1 << 40, (700, 5))
    columns = [codes.column(j) for j in range(11)]
    for members in (None, np.flatnonzero(rng.random(700) < 0.3).astype(np.int32)):
        slots, totals = sums_of(codes, q, members)
        some = np.arange(700) if members is None else members
        expected = np.zeros((5, codes.n_slots), np.int64)
        for j in range(11):
            for k in range(5):
                np.add.at(expected[k], codes.starts[j] + columns[j][some], q[some, k])
        assert np.array_equal(slots, expected)
        assert np.array_equal(totals, q[some].sum(axis=0))
