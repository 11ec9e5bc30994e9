"""Codes and votes against numpy's own search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.kernels.bins import BLOCK, encode, split_votes


def padded(columns):
    """Cuts as the kernel wants them: each column filled up with infinity to a length of 2^k - 1."""
    flat, starts = [], [0]
    for cuts in columns:
        width = 1
        while width - 1 < len(cuts):
            width *= 2
        flat += [*cuts, *[np.inf] * (width - 1 - len(cuts))]
        starts.append(len(flat))
    missing = np.array([len(cuts) + 1 for cuts in columns], np.int64)
    return np.array(flat, np.float64), np.array(starts, np.int64), missing


def search(X, columns):
    found = [np.searchsorted(cuts, X[:, j].astype(np.float64)) for j, cuts in enumerate(columns)]
    return np.stack([np.where(np.isnan(X[:, j]), len(columns[j]) + 1, f) for j, f in enumerate(found)])


@pytest.mark.parametrize("codes_dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, BLOCK - 1, BLOCK, 2 * BLOCK + 17])
def test_encode(codes_dtype, dtype, rows):
    rng = np.random.default_rng(rows)
    sizes = [0, 1, 2, 3, 4, 6, 7, 8, 31, 32, 127, 128, 254, *([255, 256, 1000] if codes_dtype is np.uint16 else [])]
    X = rng.normal(size=(rows, len(sizes))).astype(dtype)
    columns = [np.unique(rng.normal(size=m)) for m in sizes]
    for j, cuts in enumerate(columns):  # values that equal a cut
        if len(cuts):
            cuts[:] = np.unique(np.where(rng.random(len(cuts)) < 0.5, cuts, cuts.astype(dtype)))
            X[::3, j] = rng.choice(cuts, size=len(X[::3])).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.1] = -np.nan  # a NaN with the other sign bit
    codes = np.zeros((len(sizes), rows), codes_dtype)
    encode(X, *padded(columns), 0, rows, codes)
    assert np.array_equal(codes, search(X, columns))


def test_encode_the_widest_column():
    cuts = np.arange(65_534) + 0.5
    X = np.random.default_rng(0).permutation(65_536)[:, None] - 0.25
    codes = np.zeros((1, len(X)), np.uint16)
    encode(X, *padded([cuts]), 0, len(X), codes)
    assert np.array_equal(codes, search(X, [cuts]))
    assert codes.max() == 65_534


@pytest.mark.parametrize(("first", "last"), [(0, 0), (3, 4), (10, 700), (600, 1300), (1299, 1300)])
def test_encode_only_the_rows_asked_for(first, last):
    rng = np.random.default_rng(2)
    X, columns = rng.normal(size=(1300, 3)), [np.sort(rng.normal(size=9)) for _ in range(3)]
    codes = np.full((3, 1300), 99, np.uint8)
    encode(X, *padded(columns), first, last, codes)
    expected = np.full((3, 1300), 99)
    expected[:, first:last] = search(X, columns)[:, first:last]
    assert np.array_equal(codes, expected)


STRANGE = [0.0, 5e-324, 1e-323, 1e-310, 2.2250738585072014e-308, 1e-300, 1.0, np.nextafter(1.0, 2.0), 1e300, 1.7e308]


@settings(max_examples=100)
@given(st.data())
def test_encode_numbers_at_the_ends_of_the_range(data):
    signed = st.sampled_from(STRANGE) | st.sampled_from([-v for v in STRANGE])  # -0.0 among the values
    cuts = np.unique(data.draw(st.lists(signed, max_size=12))) + 0.0  # cuts have no negative zero
    X = np.array(data.draw(st.lists(signed, min_size=1, max_size=20)))[:, None]
    codes = np.zeros((1, len(X)), np.uint8)
    encode(X, *padded([cuts]), 0, len(X), codes)
    assert codes[0].tolist() == [sum(c < x for c in cuts.tolist()) for x in X[:, 0].tolist()]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_split_votes(dtype):
    top = np.iinfo(dtype).max
    codes = np.array([0, 1, 2, 3, 3, 2, top - 1, top], dtype)
    for cut in (0, 2, 3, int(top) - 1):
        out = np.full(len(codes), np.nan)
        for absent in (2, int(top)):
            split_votes(codes, cut, absent, -0.25, 1.5, 7.0, out)
            assert out.tolist() == [7.0 if c == absent else -0.25 if c <= cut else 1.5 for c in codes.tolist()]
