"""Codes against numpy's own search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend.cpu.kernels.binning import BLOCK, CROWDED, copy_columns, encode, lay_grids

UNTOUCHED = 99


def padded(columns, cells):
    """Cuts as the kernel wants them: each column filled up with infinity to a length of 2^k, by two at least."""
    flat, starts = [], [0]
    for cuts in columns:
        width = 2
        while width - 2 < len(cuts):
            width *= 2
        flat += [*cuts, *[np.inf] * (width - len(cuts))]
        starts.append(len(flat))
    missing = np.array([len(cuts) + 1 for cuts in columns], np.int64)
    flat, starts, d = np.array(flat, np.float64), np.array(starts, np.int64), len(columns)
    grids = (
        np.empty(d),
        np.empty(d),
        np.full(d, -1),
        np.zeros(d + 1, np.int64),
        np.empty(d * (4 * cells + 1), np.uint16),
    )
    if cells:
        lay_grids(flat, starts[:-1], starts[:-1] + missing - 1, cells, 4 * cells, *grids)
    return flat, starts, grids, missing


def search(X, columns):
    found = [np.searchsorted(cuts, X[:, j].astype(np.float64)) for j, cuts in enumerate(columns)]
    return np.stack([np.where(np.isnan(X[:, j]), len(columns[j]) + 1, f) for j, f in enumerate(found)])


def encoded(X, columns, dtype, offset=0, rows=None, cells=1024, threads=1):
    """Run the kernel; return what it wrote, one row a feature."""
    per_word = 8 if dtype is np.uint8 else 4
    rows = len(X) if rows is None else rows
    codes = np.full((-(-len(columns) // per_word), rows, per_word), UNTOUCHED, dtype)
    whole = X, *padded(columns, cells), offset, codes
    if threads > 1:
        encode.shared(1 << 30, threads, *whole, 0, len(X))
    else:
        encode(*whole, 0, len(X))
    by_feature = codes.transpose(0, 2, 1).reshape(-1, rows)
    assert (by_feature[len(columns) :, offset : offset + len(X)] == 0).all()  # codes of a word without a feature
    return by_feature[: len(columns)]


@pytest.mark.parametrize("codes_dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, BLOCK - 1, BLOCK, 2 * BLOCK + 17])
@pytest.mark.parametrize("cells", [0, 64, 1024])
def test_encode(codes_dtype, dtype, rows, cells):
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
    for threads in (1, 3):
        assert np.array_equal(encoded(X, columns, codes_dtype, cells=cells, threads=threads), search(X, columns))


def test_encode_the_widest_column():
    cuts = np.arange(65_534) + 0.5
    X = np.random.default_rng(0).permutation(65_536)[:, None] - 0.25
    codes = encoded(X, [cuts], np.uint16)
    assert np.array_equal(codes, search(X, [cuts]))
    assert codes.max() == 65_534


@pytest.mark.parametrize(("offset", "size"), [(0, 1300), (0, 0), (3, 1), (10, 700), (600, 700), (1299, 1)])
def test_a_block_of_rows_is_written_where_it_belongs(offset, size):
    rng = np.random.default_rng(2)
    X, columns = rng.normal(size=(size, 3)), [np.sort(rng.normal(size=9)) for _ in range(3)]
    expected = np.full((3, 1300), UNTOUCHED)
    expected[:, offset : offset + size] = search(X, columns)
    assert np.array_equal(encoded(X, columns, np.uint8, offset, 1300), expected)


def test_a_grid_is_for_cuts_that_are_not_crowded():
    uneven = np.append(np.linspace(0, 0.3, 33), 1.0)  # three a cell of 64, one a cell of 256
    columns = [np.linspace(0, 1, 33), np.append(np.linspace(0, 1e-9, 33), 1.0), np.array([]), np.array([3.0]), uneven]
    _, _, (low, scale, most, at, below), _ = padded(columns, 64)
    assert most.tolist() == [1, -1, -1, 1, 1]
    assert np.diff(at).tolist() == [65, 0, 0, 65, 257]
    for j in (0, 4):
        cell, cells = ((columns[j] - low[j]) * scale[j]).astype(int), at[j + 1] - at[j] - 1
        expected = [*(int((cell < c).sum()) for c in range(cells)), len(columns[j]) + 1]  # the last for missing values
        assert below[at[j] : at[j + 1]].tolist() == expected
    assert CROWDED > 1


STRANGE = [0.0, 5e-324, 1e-323, 1e-310, 2.2250738585072014e-308, 1e-300, 1.0, np.nextafter(1.0, 2.0), 1e300, 1.7e308]


@settings(max_examples=50)
@given(st.data())
def test_encode_numbers_at_the_ends_of_the_range(data):
    signed = st.sampled_from(STRANGE) | st.sampled_from([-v for v in STRANGE])  # -0.0 among the values
    cuts = np.unique(data.draw(st.lists(signed, max_size=12))) + 0.0  # cuts have no negative zero
    X = np.array(data.draw(st.lists(signed, min_size=1, max_size=20)))[:, None]
    codes = encoded(X, [cuts], np.uint8, cells=data.draw(st.sampled_from([0, 2, 64])))
    assert codes[0].tolist() == [sum(c < x for c in cuts.tolist()) for x in X[:, 0].tolist()]


@pytest.mark.parametrize("threads", [1, 3])
def test_columns_are_copied_several_at_once(threads):
    X, out = np.arange(1000.0).reshape(100, 10), np.zeros((7, 100))
    copy_columns.shared(1 << 30, threads, X, 1, out, 0, len(X))
    assert np.array_equal(out, X[:, 1:8].T)
