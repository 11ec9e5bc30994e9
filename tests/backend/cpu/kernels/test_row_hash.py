"""Rows as 64-bit keys against splitmix64 in Python integers."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from boostlab.backend.cpu.kernels.row_hash import dense_keys, finish_keys, keys_up_to, sparse_keys

MASK = 2**64 - 1
CELLS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 3e30, np.nan, -np.nan]) | st.floats(-9, 9, width=32)


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def mixed(key):
    """The finaliser of splitmix64 (Steele, Lea & Flood 2014)."""
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & MASK
    key = (key ^ key >> 27) * 0x94D049BB133111EB & MASK
    return key ^ key >> 31


def key_by_hand(row):
    key = 0
    for j, x in enumerate(row):
        if x != 0:
            own = 0x7FF8000000000000 if x != x else bits(x)
            key += mixed((own + (j + 1) * 0x9E3779B97F4A7C15) & MASK)
    return key & MASK


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=50)
@given(st.data())
def test_keys(dtype, data):
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(CELLS, min_size=d, max_size=d), min_size=n, max_size=n))
    X = np.array(rows, dtype)
    expected = [key_by_hand(row) for row in X.tolist()]
    keys = np.zeros(n + 3, np.uint64)
    dense_keys(X, 2, keys, 0, n)
    assert keys.tolist() == [0, 0, *expected, 0]
    finish_keys(np.zeros(n + 3), keys)
    limit, within = data.draw(st.sampled_from([*keys[2 : 2 + n].tolist(), 2**63])), np.empty(n, bool)
    keys_up_to(X, np.uint64(limit), within, 0, n)
    assert within.tolist() == [key <= limit for key in keys[2 : 2 + n].tolist()]

    stored = sparse.csr_array(X)
    stored.data[::4] = 0.0  # explicit zeros add nothing
    expected = [key_by_hand(row) for row in stored.toarray().tolist()]
    keys = np.zeros(n, np.uint64)
    sparse_keys(stored.data, stored.indices, stored.indptr, 0, n // 2, keys)
    assert keys.tolist() == [*expected[: n // 2], *[0] * (n - n // 2)]
    sparse_keys(stored.data, stored.indices, stored.indptr, n // 2, n, keys)
    assert keys.tolist() == expected


def test_the_constants_are_those_of_splitmix64():
    """The published generator's first numbers from the seed 1234567 (Vigna's reference code)."""
    numbers = [mixed((1234567 + k * 0x9E3779B97F4A7C15) & MASK) for k in range(1, 6)]
    assert numbers == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_labels_are_folded_in():
    keys = np.array([0, 5, 5, 2**64 - 1], np.uint64)
    labels = [0.0, 0.0, 1.0, 1.0]
    expected = [mixed((k + mixed(bits(y) + 1)) & MASK) for k, y in zip(keys.tolist(), labels, strict=True)]
    finish_keys(np.array(labels), keys)
    assert keys.tolist() == expected
    assert len(set(expected)) == 4
