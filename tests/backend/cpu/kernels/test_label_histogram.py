"""Sums of several integers a row, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from boostlab.backend.cpu.exact_sums import NO_GUESS
from boostlab.backend.cpu.formulas import shown
from boostlab.backend.cpu.kernels.label_channels import channel_totals, form_channels, turned_totals
from boostlab.backend.cpu.label_histograms import sums_of
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.panel import SMALL, Panel
from boostlab.backend.cpu.threads import AtOnce
from boostlab.contract.criterion import SIGNED, SIZE
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
    w, t = shown(rng.random((97, 3))), shown(rng.normal(size=(97, 3)))
    for sizes, expected in ((False, w * t), (True, w)):
        out = np.empty((3, 97))
        form_channels.shared(1, threads, w, t, sizes, 0, 97, out)
        assert np.array_equal(out, expected)
    q, votes = rng.integers(-(1 << 50), 1 << 50, (3, 97)), rng.choice(np.array([-1, 1], np.int8), 97)
    sums, _ = channel_totals.added(10**9, threads, (3, 2), q, 0, 97)
    assert np.array_equal(sums, np.stack([q.sum(axis=1), np.abs(q).sum(axis=1)], axis=1))
    turned, _ = turned_totals.added(10**9, threads, (3,), q, votes, 0, 97)
    assert np.array_equal(turned, (q * votes).sum(axis=1))


@pytest.mark.parametrize("threads", [1, AtOnce(3)])
@pytest.mark.parametrize(("kind", "n"), [("eight", 700), ("four", 700), ("sparse", 700), ("eight", SMALL // 8)])
@pytest.mark.parametrize("labels", [2, 5])
def test_a_panel_is_the_channels_rounded_together(kind, n, labels, threads):
    rng = np.random.default_rng(labels)
    X = rng.integers(0, 400 if kind == "four" else 5, (n, 11)).astype(float)
    if kind == "sparse":
        X[rng.random(X.shape) < 0.7] = 0.0
    rows, T = Masses(n), scipy.sparse.csr_matrix(X) if kind == "sparse" else X
    codes = Table.of(T, Bins.fit(T, rows, 1000, 1, {}), threads).codes
    weight, target = rng.random((n, labels)), rng.choice([-1.0, 1.0], (n, labels))
    guess, columns = NO_GUESS, [codes.column(j) for j in range(11)]
    for scale in (1.0, 1.0, 1e-9, 0.7):  # guesses that there are not, that fit, that are far off, that nearly fit
        panel = Panel(rows, codes, (SIZE, SIGNED), scale * weight, target, None, guess)
        guess = panel.guess
        q, power, _, _ = rows.whole(np.concatenate([scale * weight, scale * weight * target], axis=1))
        assert panel.power == power
        assert np.array_equal(panel.q, q.T)
        assert np.array_equal(panel.totals, q.sum(axis=0))
        assert panel.grosses == np.abs(q).sum(axis=0).tolist()
    some = np.flatnonzero(rng.random(n) < 0.3).astype(np.int32)
    for members in (np.arange(n, dtype=np.int32), some, some[:1], some[:0]):
        slots, total = np.full((2 * labels, codes.n_slots), 7), np.full(2 * labels, 7)
        panel.among(members, slots, total)
        expected = np.zeros((2 * labels, codes.n_slots), np.int64)
        for j in range(11):
            for c in range(2 * labels):
                np.add.at(expected[c], codes.starts[j] + columns[j][members], q[members, c])
        assert np.array_equal(slots, expected)
        assert np.array_equal(total, q[members].sum(axis=0))
        if len(members) == n:
            panel.now(slots, total)
            assert np.array_equal(slots, expected)
            assert np.array_equal(total, q.sum(axis=0))


@pytest.mark.parametrize("threads", [1, AtOnce(3)])
@pytest.mark.parametrize("second", ["opposite", "the same", "nearly opposite", "another"])
def test_two_labels_that_mirror_each_other_are_summed_once(second, threads, monkeypatch):
    n = SMALL // 8
    rng = np.random.default_rng(3)
    X, rows = rng.integers(0, 5, (n, 11)).astype(float), Masses(n)
    codes = Table.of(X, Bins.fit(X, rows, 1000, 1, {}), threads).codes
    weight, target = np.repeat(rng.random((n, 1)), 2, axis=1), np.repeat(rng.choice([-1.0, 1.0], (n, 1)), 2, axis=1)
    if second != "the same":
        target[:, 1] *= -1.0
    if second == "nearly opposite":
        weight[n // 2, 1] *= 1.5
    elif second == "another":
        weight[:, 1] = rng.random(n)
    panel, summed = Panel(rows, codes, (SIZE, SIGNED), weight, target, None), []
    histograms = codes.histograms
    monkeypatch.setattr(codes, "histograms", lambda q, slots: (summed.append(len(q)), histograms(q, slots)))
    slots, total = np.empty((4, codes.n_slots), np.int64), np.empty(4, np.int64)
    panel.now(slots, total)
    assert summed == [2 if second in ("opposite", "the same") else 4]
    expected = np.zeros((4, codes.n_slots), np.int64)
    for j in range(11):
        for c in range(4):
            np.add.at(expected[c], codes.starts[j] + codes.column(j), panel.q[c])
    assert np.array_equal(slots, expected)
    assert np.array_equal(total, panel.q.sum(axis=1))
