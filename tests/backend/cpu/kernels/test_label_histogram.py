"""Sums of several integers a row, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from boostlab.backend.cpu.kernels.label_channels import channel_totals, form_channels, turned_totals
from boostlab.backend.cpu.label_histograms import sums_of
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.threads import AtOnce
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


@pytest.mark.parametrize("threads", [1, AtOnce(3)])
def test_channels_of_rows_and_labels_are_formed_and_summed(threads):
    rng = np.random.default_rng(1)
    w, t = rng.random((97, 3)), rng.normal(size=(97, 3))
    for sizes, expected in ((False, w * t), (True, w)):
        out = np.empty((3, 97))
        form_channels.shared(1, threads, w, t, sizes, 0, 97, out)
        assert np.array_equal(out, expected.T)
    q, votes = rng.integers(-(1 << 50), 1 << 50, (3, 97)), rng.choice(np.array([-1, 1], np.int8), 97)
    sums, _ = channel_totals.added(10**9, threads, (3, 2), q, 0, 97)
    assert np.array_equal(sums, np.stack([q.sum(axis=1), np.abs(q).sum(axis=1)], axis=1))
    turned, _ = turned_totals.added(10**9, threads, (3,), q, votes, 0, 97)
    assert np.array_equal(turned, (q * votes).sum(axis=1))
