"""Histograms and the best edge against dictionaries and Python integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.kernels.histogram import best_edge, histogram, histogram_channels

UNTOUCHED = -77


def counted(codes, q, n_bins):
    """Sums per feature and bin, in Python integers."""
    out = [[0] * n_bins for _ in codes]
    for j, code in enumerate(codes.tolist()):
        for b, v in zip(code, q.tolist(), strict=True):
            out[j][b] += v
    return out


def random_codes(rng, d, n, n_bins, dtype):
    codes = rng.integers(0, n_bins, size=(d, n)).astype(dtype)
    codes[:, 0] = n_bins - 1  # the last bin is used
    return codes


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize(
    ("d", "first", "last"), [(1, 0, 1), (2, 0, 2), (5, 0, 5), (6, 0, 6), (7, 1, 6), (7, 2, 3), (7, 3, 5), (4, 2, 2)]
)
def test_histogram(dtype, d, first, last):
    rng = np.random.default_rng([d, first, last])
    n_bins = 256 if dtype is np.uint8 else 300
    codes = random_codes(rng, d, 500, n_bins, dtype)
    q = rng.integers(-(2**52), 2**52, size=500)
    out = np.full((d, n_bins), UNTOUCHED, np.int64)
    histogram(codes, q, first, last, out)
    expected = counted(codes, q, n_bins)
    for j in range(d):
        assert out[j].tolist() == (expected[j] if first <= j < last else [UNTOUCHED] * n_bins)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 5])
@pytest.mark.parametrize(("d", "first", "last"), [(1, 0, 1), (3, 0, 3), (5, 1, 4), (5, 2, 2)])
def test_histogram_channels(dtype, channels, d, first, last):
    rng = np.random.default_rng([channels, d, first])
    n_bins = 20
    codes = random_codes(rng, d, 200, n_bins, dtype)
    q = rng.integers(-(2**52), 2**52, size=(200, channels))
    out = np.full((d, n_bins, channels), UNTOUCHED, np.int64)
    histogram_channels(codes, q, first, last, out)
    for c in range(channels):
        expected = counted(codes, q[:, c], n_bins)
        for j in range(d):
            assert out[j, :, c].tolist() == (expected[j] if first <= j < last else [UNTOUCHED] * n_bins)


def test_sums_as_large_as_the_fixed_point_makes_them():
    q = np.array([2**61, -(2**61), 2**61 - 1, 3])
    out = np.zeros((1, 2), np.int64)
    histogram(np.array([[0, 0, 0, 1]], np.uint8), q, 0, 1, out)
    assert out.tolist() == [[2**61 - 1, 3]]


def enumerate_edges(hist, n_bins, total, sides):
    """Every stump in the order of the tie rule; a later one must be strictly better."""
    best = None
    for j, row in enumerate(hist.tolist()):
        for cut in range(int(n_bins[j]) - 1):
            below = sum(row[: cut + 1])
            for polarity in (+1, -1):
                if sides in (0, polarity):
                    edge = polarity * ((total - below) - below)
                    if best is None or edge > best[0]:
                        best = edge, j, cut, polarity
    return best


def best_numeric_edge(hist, n_bins, total, sides):
    """The kernel on numeric features without missing values: a slot for those, but nobody in it."""
    hist = np.concatenate([hist, np.zeros((len(hist), 1), np.int64)], axis=1)
    hist[np.arange(len(hist)), n_bins] = 0
    filled = np.arange(hist.shape[1]) < n_bins[:, None]
    feature, cut, side, edge = best_edge(hist, n_bins, filled, np.zeros(len(hist), bool), total, sides)
    assert side == 0
    return feature, cut, edge


@settings(max_examples=300)
@given(st.data())
def test_best_edge_takes_the_first_of_the_best(data):
    d, widest = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    n_bins = np.array(data.draw(st.lists(st.integers(1, widest), min_size=d, max_size=d)), np.int64)
    size = data.draw(st.sampled_from([1, 3, 2**57]))  # small numbers: many ties
    # All features split one and the same set of rows, so every row of the histogram has the same sum.
    total = data.draw(st.integers(-4, 4)) * size
    hist = np.zeros((d, widest), np.int64)
    for j in range(d):
        cells = data.draw(st.lists(st.integers(-3, 3), min_size=int(n_bins[j]) - 1, max_size=int(n_bins[j]) - 1))
        hist[j, : n_bins[j]] = [*(c * size for c in cells), total - sum(cells) * size]
        hist[j, n_bins[j] :] = 999  # never to be read
    for sides in (0, 1, -1):
        expected = enumerate_edges(hist, n_bins, total, sides)
        feature, cut, edge = best_numeric_edge(hist, n_bins, total, sides)
        if expected is None:
            assert feature == -1
            continue
        worth, j, b, polarity = expected
        assert (feature, cut) == (j, b)
        assert edge == polarity * worth  # signed as the edge of the stump that votes +1 above
        if sides == 0:
            assert (edge >= 0) == (polarity > 0)


def test_best_edge_ties_by_hand():
    hist = np.array([[1, -1, 1], [-1, 1, 1], [1, 1, -1]], np.int64)  # total 1; edges -1 1 | 3 1 | -1 -3
    n_bins = np.full(3, 3, np.int64)
    assert best_numeric_edge(hist, n_bins, 1, 0) == (1, 0, 3)  # -3 of the last feature is as good but later
    assert best_numeric_edge(hist, n_bins, 1, 1) == (1, 0, 3)
    assert best_numeric_edge(hist, n_bins, 1, -1) == (2, 1, -3)
    assert best_numeric_edge(hist[::-1].copy(), n_bins, 1, 0) == (0, 1, -3)
    assert best_numeric_edge(hist[[0, 0]].copy(), n_bins[:2], 1, 0) == (0, 0, -1)  # first feature, then first cut
    assert best_numeric_edge(np.zeros((2, 3), np.int64), n_bins[:2], 0, 0) == (0, 0, 0)
